//! `parley join`: a participant in a room, as a browser is one. Received media is counted and not decoded.
//!
//! | module | content |
//! |---|---|
//! | [`listen`] | receives the other participants, and reports who is in the room and what arrives |
//! | [`track_selection`] | which tracks of a catalog are received |
//! | [`tally`] | the statistics of one track |
//! | [`output`] | text for people, JSON lines |
mod listen;
mod output;
mod tally;
mod track_selection;

use crate::exit::Exit;
use crate::media::dial::Broadcasts;
use crate::media::link::SessionFlags;
use crate::media::url::RoomUrl;
use crate::publish::{Source, feed, input_error};
use crate::room::MediaClient;
use crate::stop::Stop;
use crate::watch::{Output, is_broken_pipe};
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Joins a room, publishes a video if one is given, and receives the video and audio of every other participant until Ctrl-C.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// https://HOST/r/ROOM
    #[arg(value_name = "WHERE")]
    room: RoomUrl,
    /// MP4 or MPEG-TS to publish in real time [without it: only receive]
    #[arg(long, value_name = "FILE")]
    publish: Option<PathBuf>,
    /// Repeat the file from its beginning
    #[arg(long = "loop", requires = "publish")]
    again: bool,
    /// The name that the other participants see
    #[arg(long, value_name = "NAME", default_value = "parley")]
    name: String,
    /// Once a second, one JSON line about each track instead of text
    #[arg(long)]
    log: bool,
    #[command(flatten)]
    session: SessionFlags,
}

impl Flags {
    /// Stays until the user stops the command or retrying cannot help.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        crate::runtime::run(self.join())
    }

    async fn join(self) -> anyhow::Result<Exit> {
        let mut stop = Stop::new()?;
        let source = match self.publish {
            None => None,
            Some(file) => match Source::open(Some(file), self.again).await {
                Ok(source) => Some(source),
                Err(why) => return input_error(why),
            },
        };
        let (outgoing, incoming) = (moq_tokio::origin::spawn(), moq_tokio::origin::spawn());
        let publish = source.as_ref().map(|_| outgoing.consume());
        let broadcasts = Broadcasts { publish, subscribe: Some(incoming.clone()), ..Broadcasts::default() };
        let client = tokio::select! {
            client = MediaClient::join(&self.name, self.room, self.session.into(), broadcasts, source.is_some()) => client,
            () = stop.requested() => return Ok(Exit::Done),
        };
        let mut client = match client {
            Ok(client) => client,
            Err(end) => return Ok(end.report()),
        };
        let view = client.room.clone().context("a room was joined")?;
        let (is_up, name) = (client.link.is_up(), client.broadcast.clone());
        let publishing = async {
            let Some(source) = source else { return std::future::pending().await };
            feed(source, outgoing.create_broadcast(name.as_str())?, is_up, &mut Stop::new()?).await?;
            eprintln!("parley: the file is published");
            Ok(())
        };
        let mut output = Output::open(Path::new("-"))?;
        let listening = listen::listen(incoming.consume(), view, self.log, &mut output);
        let exit = tokio::select! {
            // The branches are polled in this order: Ctrl-C ends `publishing` first, so that the broadcast is closed before the session.
            biased;
            exit = client.link.keep() => Ok(exit),
            Err(why) = publishing => input_error(why),
            () = stop.requested() => Ok(Exit::Done),
            listened = listening => match listened {
                Err(why) if is_broken_pipe(&why) => Ok(Exit::Done),
                listened => listened.map(|()| Exit::Done),
            },
        };
        client.leave().await;
        exit
    }
}
