//! `parley join`: somebody in a room, as a person in a browser is. Nothing is decoded: what comes is counted.
//!
//! | module | what |
//! |---|---|
//! | [`listen`] | receives everybody else, and says who is there and what comes of them |
//! | [`choice`] | which tracks of a catalog are received |
//! | [`tally`] | what came of one track |
//! | [`say`] | lines for people, lines of JSON |
mod choice;
mod listen;
mod say;
mod tally;

use crate::exit::Exit;
use crate::media::dial::Ends;
use crate::media::link::Session;
use crate::media::place::Room;
use crate::publish::{Source, feed, unfit};
use crate::room::Arrival;
use crate::stop::Stop;
use crate::watch::{Output, nobody_reads};
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Joins a room, publishes a video where one is given, and receives everybody else's pictures and voices. Until Ctrl-C.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// https://HOST/r/ROOM
    #[arg(value_name = "WHERE")]
    room: Room,
    /// MP4 or MPEG-TS to publish in real time [nothing: only receive]
    #[arg(long, value_name = "FILE")]
    publish: Option<PathBuf>,
    /// Begin the file again at its end
    #[arg(long = "loop", requires = "publish")]
    again: bool,
    /// The name that others see
    #[arg(long, value_name = "NAME", default_value = "parley")]
    name: String,
    /// Once a second, one line of JSON about each track, instead of lines for people
    #[arg(long)]
    log: bool,
    #[command(flatten)]
    session: Session,
}

impl Flags {
    /// Is there until told to go, or until trying again cannot help.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        crate::runtime::run(self.join())
    }

    async fn join(self) -> anyhow::Result<Exit> {
        let mut stop = Stop::new()?;
        let source = match self.publish {
            None => None,
            Some(file) => match Source::open(Some(file), self.again).await {
                Ok(source) => Some(source),
                Err(why) => return unfit(why),
            },
        };
        let (out, into) = (moq_tokio::origin::spawn(), moq_tokio::origin::spawn());
        let publish = source.as_ref().map(|_| out.consume());
        let ends = Ends { publish, subscribe: Some(into.clone()), ..Ends::default() };
        let arrival = tokio::select! {
            arrival = Arrival::join(&self.name, self.room, self.session.into(), ends, source.is_some()) => arrival,
            () = stop.told() => return Ok(Exit::Done),
        };
        let mut arrival = match arrival {
            Ok(arrival) => arrival,
            Err(ending) => return Ok(ending.say()),
        };
        let seen = arrival.room.clone().context("a room was joined")?;
        let (is_up, name) = (arrival.link.is_up(), arrival.broadcast.clone());
        let publishing = async {
            let Some(source) = source else { return std::future::pending().await };
            feed(source, out.create_broadcast(name.as_str())?, is_up, &mut Stop::new()?).await?;
            eprintln!("parley: everything is published");
            Ok(())
        };
        let mut output = Output::open(Path::new("-"))?;
        let listening = listen::listen(into.consume(), seen, self.log, &mut output);
        let exit = tokio::select! {
            // Ctrl-C ends the broadcast before anything else.
            biased;
            exit = arrival.link.keep() => Ok(exit),
            Err(why) = publishing => unfit(why),
            () = stop.told() => Ok(Exit::Done),
            heard = listening => match heard {
                Err(why) if nobody_reads(&why) => Ok(Exit::Done),
                heard => heard.map(|()| Exit::Done),
            },
        };
        arrival.leave().await;
        exit
    }
}
