//! `parley page`: pages that exist while somebody holds them, from a terminal. Rules cited as `PAGE-n` are those of
//! `services/protocol/SPEC.md`.
//!
//! | module | what |
//! |---|---|
//! | [`make`], [`hold`], [`get`] | the commands |
//! | [`visitor`] | what they have in common: pages, and connections with others about them |
//! | [`socket`], [`message`] | what is said to the service and to others |
//! | [`state`] | one page: how far it is, and who else might give it |
//! | [`swarm`], [`bits`] | one page among those who are connected: who is asked for which chunk, who is served |
//! | [`link`] | a connection: a data channel, or a topic of the stream relay |
//! | [`copy`], [`manifest`], [`seal`], [`address`] | what a page is |
//! | [`log`] | what is said of all this |
pub mod address;
mod bits;
mod copy;
#[cfg(test)]
mod fixtures;
mod get;
mod hold;
mod link;
mod log;
mod make;
mod manifest;
pub mod message;
mod seal;
pub mod socket;
mod state;
mod swarm;
mod visitor;

use crate::exit::Exit;
use crate::reach::Reach;
use address::Place;
use anyhow::{Context, ensure};
use std::process::ExitCode;
use url::Url;

/// Makes, holds and fetches pages that exist while somebody holds them.
#[derive(Debug, clap::Subcommand)]
pub enum Page {
    /// Make a page of a file, print its link, and hold it until Ctrl-C
    Make(make::Flags),
    /// Fetch pages from whoever holds them, and hold them until Ctrl-C
    Hold(hold::Flags),
    /// Fetch a page from whoever holds it into a file
    Get(get::Flags),
}

/// What all of them take.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Session {
    /// Lines of JSON about what changes, instead of lines for people
    #[arg(long)]
    log: bool,
    /// Most bytes of all pages together [as many as the service allows]
    #[arg(long, value_name = "BYTES")]
    memory: Option<u64>,
    #[command(flatten)]
    reach: Reach,
}

impl Page {
    /// Runs it.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        crate::runtime::run(async {
            match self {
                Page::Make(flags) => flags.run().await,
                Page::Hold(flags) => flags.run().await,
                Page::Get(flags) => flags.run().await,
            }
        })
    }
}

/// The one host of all places.
fn host_of(places: &[Place], host: Option<&Url>) -> anyhow::Result<Url> {
    let hosts: Vec<Url> = places.iter().filter_map(|place| place.host.clone()).chain(host.map(address::host)).collect();
    let host = hosts.first().context("which host? Give a page's link, or --host https://HOST")?;
    ensure!(hosts.iter().all(|other| other == host), "all pages must be of one host");
    Ok(host.clone())
}

/// A broken pipe is no failure: nobody reads the output any more.
fn unless_unread(exit: anyhow::Result<Exit>) -> anyhow::Result<Exit> {
    match exit {
        Err(why) if crate::watch::nobody_reads(&why) => Ok(Exit::Done),
        exit => exit,
    }
}
