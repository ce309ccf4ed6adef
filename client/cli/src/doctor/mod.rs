//! `parley doctor`: what a Parley host does for somebody who comes from here. [`Check`] lists the checks.
//!
//! | module | what |
//! |---|---|
//! | [`checks`] | one file for each check |
//! | [`report`] | what they found, for people and for programs |
//! | [`site`] | the host, and what has to be put back when the checks are over |
//! | [`guest`] | somebody in a room |
//! | [`allocation`] | an address of a TURN server, and a packet through it |
mod allocation;
mod checks;
mod guest;
mod report;
mod site;

use crate::exit::Exit;
use crate::reach::Reach;
use crate::stop::Stop;
use anyhow::{Context, ensure};
use checks::{clock, dns, health, join, media, stream, tls, turn};
use clap::ValueEnum;
use report::{Finding, Looked, Report};
use serde::Serialize;
use site::Site;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::timeout;
use url::Url;

/// Checks a Parley host from where you are: `parley doctor https://call.example.com`.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// https://HOST, or http:// on this machine itself
    #[arg(value_name = "URL", value_parser = origin)]
    host: Url,
    /// Make these checks and no others
    #[arg(long, value_enum, value_delimiter = ',', value_name = "CHECK,…", conflicts_with = "skip")]
    only: Vec<Check>,
    /// Leave these checks out
    #[arg(long, value_enum, value_delimiter = ',', value_name = "CHECK,…")]
    skip: Vec<Check>,
    /// Instead of lines, one JSON object at the end
    #[arg(long)]
    json: bool,
    /// For the stream, where the host's relays ask for tokens
    #[arg(long, env = "PARLEY_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Wait until the host answers before the first check, but no longer
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    wait: u64,
    #[command(flatten)]
    reach: Reach,
}

/// All checks, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// The host's name leads somewhere
    Dns,
    /// It takes connections, and a browser believes its certificate
    Tls,
    /// Its clock is right
    Clock,
    /// Its edge answers
    Health,
    /// Two people meet in a room, one tells the other something, and both leave
    Join,
    /// Every address of TURN relays a packet
    Turn,
    /// A message that is published to a stream is heard
    Stream,
    /// A broadcast that is published is seen, over QUIC and over WebSocket
    Media,
}

impl Check {
    async fn look(self, site: &Site) -> Looked {
        match self {
            Check::Dns => dns::look(site).await,
            Check::Tls => tls::look(site).await,
            Check::Clock => clock::look(site).await,
            Check::Health => health::look(site).await,
            Check::Join => join::look(site).await,
            Check::Turn => turn::look(site).await,
            Check::Stream => stream::look(site).await,
            Check::Media => media::look(site).await,
        }
    }

    /// The longest it may take: an answer that comes later helps nobody who waits for a call.
    fn limit(self) -> Duration {
        Duration::from_secs(match self {
            Check::Dns => 5,
            Check::Tls | Check::Clock | Check::Health | Check::Join | Check::Stream => 10,
            // Each of several addresses, and each of two transports, has a limit of its own below this.
            Check::Turn | Check::Media => 20,
        })
    }
}

impl Flags {
    /// Makes the checks one after the other; one that fails stops no other.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        crate::runtime::run(self.check())
    }

    async fn check(self) -> anyhow::Result<Exit> {
        let mut stop = Stop::new()?;
        let chosen = |check: &Check| !self.skip.contains(check) && (self.only.is_empty() || self.only.contains(check));
        let checks: Vec<_> = Check::value_variants().iter().copied().filter(chosen).collect();
        ensure!(!checks.is_empty(), "no check is left to make");
        let mut report = Report::new(&self.host, self.json);
        let site = Site::new(self.host, self.reach, self.token);
        let answers = health::answers(&site, Duration::from_secs(self.wait));
        tokio::select! { () = answers => {}, () = stop.told() => return Ok(Exit::Failed) }
        for check in checks {
            report.begin(check);
            let looked = tokio::select! {
                looked = timeout(check.limit(), check.look(&site)) => looked,
                () = stop.told() => {
                    site.tidy().await;
                    return Ok(Exit::Failed);
                }
            };
            report.enter(check, looked.unwrap_or_else(|_| Err(Finding::late(check.limit()))));
        }
        site.tidy().await;
        report.end()
    }
}

fn origin(text: &str) -> anyhow::Result<Url> {
    const FORM: &str = "must be https://HOST or https://HOST:PORT";
    let mut url: Url = text.parse().context(FORM)?;
    ensure!(matches!(url.scheme(), "https" | "http") && url.has_host(), FORM);
    ensure!(url.username().is_empty() && url.password().is_none(), FORM);
    url.set_path("/");
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_given_by_any_of_its_pages() {
        for text in ["https://h", "https://h/", "https://h/r/abcd-efgh-jkmn-pqrs?x#y"] {
            assert_eq!(origin(text).unwrap().as_str(), "https://h/");
        }
        assert_eq!(origin("http://[::1]:8080").unwrap().as_str(), "http://[::1]:8080/");
        for bad in ["", "h", "h:443", "wss://h", "https://u:p@h/", "file:///x"] {
            assert!(origin(bad).is_err(), "{bad}");
        }
    }
}
