//! `parley page`: pages that exist as long as a visitor holds them, from a terminal. Rules cited as `PAGE-n` are those of
//! `services/protocol/SPEC.md`.
//!
//! | module | content |
//! |---|---|
//! | [`make`], [`hold`], [`get`] | the commands |
//! | [`visitor`] | what the commands share: pages, and connections with other visitors |
//! | [`socket`], [`message`] | the socket to the service, and messages to the service and to visitors |
//! | [`state`] | one page: its state, and its known holders |
//! | [`swarm`], [`bitfield`] | one page and its peers: requests for chunks, and chunks that are sent |
//! | [`link`] | a connection: a data channel, or a topic of the stream relay |
//! | [`chunk_store`], [`manifest`], [`seal`], [`address`] | the page itself |
//! | [`log`] | output for people and for programs |
mod address;
mod bitfield;
mod chunk_store;
#[cfg(test)]
mod fixtures;
mod get;
mod hold;
mod link;
mod log;
mod make;
mod manifest;
mod message;
mod seal;
pub mod socket;
mod state;
mod swarm;
mod visitor;

use crate::connect::ConnectOptions;
use crate::exit::Exit;
use crate::host_url::host_of;
pub use address::Address;
use address::PageUrl;
use anyhow::{Context, ensure};
use std::process::ExitCode;
use url::Url;

/// Makes, holds and fetches pages that exist as long as a visitor holds them.
#[derive(Debug, clap::Subcommand)]
pub enum Page {
    /// Make a page of a file, print its URL and serve it until Ctrl-C
    Make(make::Flags),
    /// Fetch pages from their holders and serve them until Ctrl-C
    Hold(hold::Flags),
    /// Fetch a page from its holders into a file
    Get(get::Flags),
}

/// Flags of all page commands.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Session {
    /// Write JSON lines about changes instead of text
    #[arg(long)]
    log: bool,
    /// Most bytes of all pages together [as many as the service allows]
    #[arg(long, value_name = "BYTES")]
    memory: Option<u64>,
    #[command(flatten)]
    connect: ConnectOptions,
}

impl Page {
    /// Runs the command.
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

/// The host that all URLs have in common.
fn common_host(pages: &[PageUrl], host: Option<&Url>) -> anyhow::Result<Url> {
    let hosts: Vec<Url> = pages.iter().filter_map(|page| page.host.clone()).chain(host.map(host_of)).collect();
    let host = hosts.first().context("the host is missing: give the URL of a page, or --host https://HOST")?;
    ensure!(hosts.iter().all(|other| other == host), "all pages must be of one host");
    Ok(host.clone())
}

/// A broken pipe is not an error: the reader of standard output ended.
fn ignore_broken_pipe(exit: anyhow::Result<Exit>) -> anyhow::Result<Exit> {
    match exit {
        Err(why) if crate::watch::is_broken_pipe(&why) => Ok(Exit::Done),
        exit => exit,
    }
}
