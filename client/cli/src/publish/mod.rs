//! `parley publish`: a video file, or what ffmpeg writes, as a broadcast.
//!
//! | module | what |
//! |---|---|
//! | [`source`] | reads the input, in real time where it is a file, in pieces that `parley_containers::import` takes |
//! | [`packets`] | when a piece of MPEG-TS is due |
mod packets;
mod source;

use crate::exit::Exit;
use crate::media::dial::Ends;
use crate::media::link::Flags as LinkFlags;
use crate::media::place::Place;
use crate::stop::Stop;
use moq_net::broadcast;
use parley_containers::import::Import;
pub use source::Source;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// How long the end of what was published may take to the relay, and about how long from there to those who watch.
const LAST_WORDS: Duration = Duration::from_secs(2);
const PASSED_ON: Duration = Duration::from_millis(250);

/// Publishes a video: H.264, VP8, VP9 or AV1, with AAC or Opus.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// https://HOST/live/NAME, https://HOST/r/ROOM, or a relay's own https://HOST:PORT/?jwt=TOKEN
    #[arg(value_name = "WHERE")]
    place: Place,
    /// MP4 or MPEG-TS, played in real time [standard input: fragmented MP4 or MPEG-TS, as it comes]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Begin the file again at its end
    #[arg(long = "loop", requires = "file")]
    again: bool,
    #[command(flatten)]
    seat: crate::room::Seat,
    #[command(flatten)]
    link: LinkFlags,
}

impl Flags {
    /// Publishes until the input ends.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        crate::runtime::run(self.publish())
    }

    async fn publish(self) -> anyhow::Result<Exit> {
        let mut stop = Stop::new()?;
        let source = match Source::open(self.file, self.again).await {
            Ok(source) => source,
            Err(why) => return unfit(why),
        };
        let origin = moq_tokio::origin::spawn();
        let ends = Ends { publish: Some(origin.consume()), ..Ends::default() };
        let arrival = tokio::select! {
            arrival = self.seat.take(self.place, self.link, ends, true) => arrival?,
            () = stop.told() => return Ok(Exit::Done),
        };
        let mut arrival = match arrival {
            Ok(arrival) => arrival,
            Err(exit) => return Ok(exit),
        };
        let broadcast = origin.create_broadcast(arrival.broadcast.as_str())?;
        let is_up = arrival.link.is_up();
        let exit = tokio::select! {
            exit = arrival.link.keep() => Ok(exit),
            fed = feed(source, broadcast, is_up, &mut stop) => fed.map_or_else(unfit, |()| Ok(Exit::Done)),
        };
        arrival.leave().await;
        exit
    }
}

/// Publishes from the first connection on, until the input ends or somebody says so. What is due while there is none is missed.
pub async fn feed(
    mut source: Source,
    mut broadcast: broadcast::Producer,
    mut is_up: watch::Receiver<bool>,
    stop: &mut Stop,
) -> anyhow::Result<()> {
    let mut import = Import::new(&mut broadcast, source.form())?;
    tokio::select! { _ = is_up.wait_for(|up| *up) => {}, () = stop.told() => return Ok(()) }
    broadcast.announce(moq_net::origin::Route::default())?;
    loop {
        let piece = tokio::select! { piece = source.next() => piece?, () = stop.told() => None };
        let Some(piece) = piece else { break };
        import.decode(&piece)?;
    }
    import.finish()?;
    // A relay that hears that the broadcast is gone cuts off what it has not passed on yet.
    let demand = broadcast.demand();
    let taken = async {
        let _late = timeout(LAST_WORDS, demand.unused()).await;
        sleep(PASSED_ON).await;
    };
    tokio::select! { () = taken => {}, () = stop.told() => {} }
    broadcast.close();
    Ok(())
}

/// An input that cannot be read may be there the next time; one that cannot be published will not.
pub fn unfit(why: anyhow::Error) -> anyhow::Result<Exit> {
    if why.chain().any(|cause| cause.is::<std::io::Error>()) {
        return Err(why);
    }
    eprintln!("parley: the input cannot be published: {why:#}");
    Ok(Exit::Unfit)
}
