//! `parley publish`: publishes a video file, or the output of ffmpeg, as a broadcast.
//!
//! | module | content |
//! |---|---|
//! | [`source`] | reads the input in parts that `parley_containers::import` accepts; a file in real time |
//! | [`packets`] | when a part of MPEG-TS is due |
mod packets;
mod source;

use crate::exit::Exit;
use crate::media::dial::Broadcasts;
use crate::media::link::Flags as LinkFlags;
use crate::media::url::MediaUrl;
use crate::stop::Stop;
use moq_net::broadcast;
use parley_containers::import::Import;
pub use source::Source;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// How long the relay may take to receive the end of the broadcast, and about how long it takes to pass it on to subscribers.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);
const FORWARD_TIME: Duration = Duration::from_millis(250);

/// Publishes a video: H.264, VP8, VP9 or AV1, with AAC or Opus.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// https://HOST/live/NAME, https://HOST/r/ROOM, or a relay's own https://HOST:PORT/?jwt=TOKEN
    #[arg(value_name = "WHERE")]
    url: MediaUrl,
    /// MP4 or MPEG-TS, published in real time [standard input: fragmented MP4 or MPEG-TS, as it arrives]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Repeat the file from its beginning
    #[arg(long = "loop", requires = "file")]
    again: bool,
    #[command(flatten)]
    client_flags: crate::room::ClientFlags,
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
            Err(why) => return input_error(why),
        };
        let origin = moq_tokio::origin::spawn();
        let broadcasts = Broadcasts { publish: Some(origin.consume()), ..Broadcasts::default() };
        let client = tokio::select! {
            client = self.client_flags.prepare(self.url, self.link, broadcasts, true) => client?,
            () = stop.requested() => return Ok(Exit::Done),
        };
        let mut client = match client {
            Ok(client) => client,
            Err(exit) => return Ok(exit),
        };
        let broadcast = origin.create_broadcast(client.broadcast.as_str())?;
        let is_up = client.link.is_up();
        let exit = tokio::select! {
            exit = client.link.keep() => Ok(exit),
            fed = feed(source, broadcast, is_up, &mut stop) => fed.map_or_else(input_error, |()| Ok(Exit::Done)),
        };
        client.leave().await;
        exit
    }
}

/// Publishes from the first connection on, until the input ends or the user stops the command. Media that is due without a connection is skipped.
pub async fn feed(
    mut source: Source,
    mut broadcast: broadcast::Producer,
    mut is_up: watch::Receiver<bool>,
    stop: &mut Stop,
) -> anyhow::Result<()> {
    let mut import = Import::new(&mut broadcast, source.form())?;
    tokio::select! { _ = is_up.wait_for(|up| *up) => {}, () = stop.requested() => return Ok(()) }
    broadcast.announce(moq_net::origin::Route::default())?;
    loop {
        let part = tokio::select! { part = source.next() => part?, () = stop.requested() => None };
        let Some(part) = part else { break };
        import.decode(&part)?;
    }
    import.finish()?;
    // A relay drops what it has not passed on yet when a broadcast is closed.
    let demand = broadcast.demand();
    let flushed = async {
        let _late = timeout(FLUSH_TIMEOUT, demand.unused()).await;
        sleep(FORWARD_TIME).await;
    };
    tokio::select! { () = flushed => {}, () = stop.requested() => {} }
    broadcast.close();
    Ok(())
}

/// An input that cannot be read is an error: it may be readable the next time. One that cannot be published has an exit code of its own.
pub fn input_error(why: anyhow::Error) -> anyhow::Result<Exit> {
    if why.chain().any(|cause| cause.is::<std::io::Error>()) {
        return Err(why);
    }
    eprintln!("parley: the input cannot be published: {why:#}");
    Ok(Exit::InvalidInput)
}
