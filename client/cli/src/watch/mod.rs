//! `parley watch`: a broadcast to a player or a file, or a line about each of its frames.
//!
//! | module | what |
//! |---|---|
//! | [`media`] | one broadcast as fragmented MP4, and its successor where it was lost |
//! | [`log`] | lines about frames, of every broadcast that is watched |
//! | [`frames`] | what comes of a broadcast's tracks |
//! | [`wanted`] | which broadcasts those are, as they come and go |
pub mod frames;
mod log;
mod media;
pub mod wanted;

use crate::exit::Exit;
use crate::media::dial::Ends;
use crate::media::link::Flags as LinkFlags;
use crate::media::place::Place;
use crate::stop::Stop;
use anyhow::Context;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio::io::{AsyncWriteExt, Stdout, stdout};
use wanted::Wanted;

/// Watches a live broadcast or a room: `parley watch https://HOST/live/NAME | ffplay -`.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// https://HOST/live/NAME, https://HOST/r/ROOM, or a relay's own https://HOST:PORT/?jwt=TOKEN
    #[arg(value_name = "WHERE")]
    place: Place,
    /// Where to write fragmented MP4; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Instead of media, one line of JSON about each frame
    #[arg(long)]
    log: bool,
    /// In a room: whom to watch [media: the first who publishes; --log: everybody else]
    #[arg(long, value_name = "ID")]
    participant: Option<String>,
    #[command(flatten)]
    seat: crate::room::Seat,
    #[command(flatten)]
    link: LinkFlags,
}

/// Where it is written.
pub enum Output {
    /// A file.
    File(File),
    /// Standard output.
    Stdout(Stdout),
}

impl Flags {
    /// Watches until the broadcast ends, or nobody reads.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        crate::runtime::run(self.watch())
    }

    async fn watch(self) -> anyhow::Result<Exit> {
        let mut stop = Stop::new()?;
        let mut output = Output::open(&self.output)?;
        let origin = moq_tokio::origin::spawn();
        let ends = Ends { subscribe: Some(origin.clone()), ..Ends::default() };
        let arrival = tokio::select! {
            arrival = self.seat.take(self.place, self.link, ends, false) => arrival?,
            () = stop.told() => return Ok(Exit::Done),
        };
        let mut arrival = match arrival {
            Ok(arrival) => arrival,
            Err(exit) => return Ok(exit),
        };
        let wanted = Wanted::new(&arrival, self.participant);
        let mut is_up = arrival.link.is_up();
        let written = async {
            is_up.wait_for(|up| *up).await?;
            match self.log {
                true => log::write(origin.consume(), wanted, is_up, &mut output).await,
                false => media::write(origin.consume(), wanted, is_up, &mut output).await,
            }
        };
        let exit = tokio::select! {
            exit = arrival.link.keep() => Ok(exit),
            written = written => match written {
                Err(why) if nobody_reads(&why) => Ok(Exit::Done),
                written => written.map(|()| Exit::Done),
            },
            () = stop.told() => Ok(Exit::Done),
        };
        arrival.leave().await;
        exit
    }
}

impl Output {
    /// A file, or standard output where it is "-".
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Output::Stdout(stdout()));
        }
        Ok(Output::File(File::create(path).with_context(|| path.display().to_string())?))
    }

    /// Writes it all.
    pub async fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        match self {
            Output::File(file) => file.write_all(bytes).context("the output"),
            Output::Stdout(stdout) => {
                async { stdout.write_all(bytes).await.and(stdout.flush().await) }.await.context("standard output")
            }
        }
    }
}

/// Whether an output ended because nobody takes it any more.
pub fn nobody_reads(why: &anyhow::Error) -> bool {
    why.downcast_ref::<std::io::Error>().is_some_and(|why| why.kind() == ErrorKind::BrokenPipe)
}
