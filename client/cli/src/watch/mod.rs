//! `parley watch`: writes a broadcast to a player or a file, or a line about each of its frames.
//!
//! | module | content |
//! |---|---|
//! | [`media`] | one broadcast as fragmented MP4, and its successor if it is lost |
//! | [`log`] | JSON lines about the frames of all selected broadcasts |
//! | [`frames`] | receives the tracks of a broadcast |
//! | [`selection`] | which broadcasts are watched, and their changes |
//! | [`withdrawal`] | when the subscriptions to a withdrawn broadcast end |
pub mod frames;
mod log;
mod media;
pub mod selection;
mod withdrawal;

use crate::exit::Exit;
use crate::media::dial::Broadcasts;
use crate::media::link::Flags as LinkFlags;
use crate::media::url::MediaUrl;
use crate::stop::Stop;
use anyhow::Context;
use selection::Selection;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio::io::{AsyncWriteExt, Stdout, stdout};

/// Watches a live broadcast or a room: `parley watch https://HOST/live/NAME | ffplay -`.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// https://HOST/live/NAME, https://HOST/r/ROOM, or a relay's own https://HOST:PORT/?jwt=TOKEN
    #[arg(value_name = "WHERE")]
    url: MediaUrl,
    /// Where to write fragmented MP4; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Write one JSON line about each frame instead of media
    #[arg(long)]
    log: bool,
    /// In a room: the participant to watch [media: the first that publishes; --log: all others]
    #[arg(long, value_name = "ID")]
    participant: Option<String>,
    #[command(flatten)]
    client_flags: crate::room::ClientFlags,
    #[command(flatten)]
    link: LinkFlags,
}

/// An output.
pub enum Output {
    /// A file.
    File(File),
    /// Standard output.
    Stdout(Stdout),
}

impl Flags {
    /// Watches until the broadcast ends or the output is closed.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        crate::runtime::run(self.watch())
    }

    async fn watch(self) -> anyhow::Result<Exit> {
        let mut stop = Stop::new()?;
        let mut output = Output::open(&self.output)?;
        let origin = moq_tokio::origin::spawn();
        let broadcasts = Broadcasts { subscribe: Some(origin.clone()), ..Broadcasts::default() };
        let client = tokio::select! {
            client = self.client_flags.prepare(self.url, self.link, broadcasts, false) => client?,
            () = stop.requested() => return Ok(Exit::Done),
        };
        let mut client = match client {
            Ok(client) => client,
            Err(exit) => return Ok(exit),
        };
        let selection = Selection::new(&client, self.participant);
        let mut is_up = client.link.is_up();
        let writing = async {
            is_up.wait_for(|up| *up).await?;
            match self.log {
                true => log::write(origin.consume(), selection, is_up, &mut output).await,
                false => media::write(origin.consume(), selection, is_up, &mut output).await,
            }
        };
        let exit = tokio::select! {
            exit = client.link.keep() => Ok(exit),
            written = writing => match written {
                Err(why) if is_broken_pipe(&why) => Ok(Exit::Done),
                written => written.map(|()| Exit::Done),
            },
            () = stop.requested() => Ok(Exit::Done),
        };
        client.leave().await;
        exit
    }
}

impl Output {
    /// Opens a file, or standard output if the path is "-".
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Output::Stdout(stdout()));
        }
        Ok(Output::File(File::create(path).with_context(|| path.display().to_string())?))
    }

    /// Writes all bytes.
    pub async fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        match self {
            Output::File(file) => file.write_all(bytes).context("the output"),
            Output::Stdout(stdout) => {
                async { stdout.write_all(bytes).await.and(stdout.flush().await) }.await.context("standard output")
            }
        }
    }
}

/// Whether an output was closed by its reader.
pub fn is_broken_pipe(why: &anyhow::Error) -> bool {
    why.downcast_ref::<std::io::Error>().is_some_and(|why| why.kind() == ErrorKind::BrokenPipe)
}
