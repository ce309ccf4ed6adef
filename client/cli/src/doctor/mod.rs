//! `parley doctor`: checks from here what a Parley host does for its users, and what passes between several. [`Check`] lists the checks.
//!
//! | module | content |
//! |---|---|
//! | [`checks`] | one file for each check |
//! | [`report`] | the findings, for people and for programs |
//! | [`site`] | the host, and the connections that the checks open |
//! | [`guest`] | a participant in a room |
//! | [`allocation`] | an allocation on a TURN server, and a packet through it |
mod allocation;
mod checks;
mod guest;
mod report;
mod site;

use crate::connect::ConnectOptions;
use crate::exit::Exit;
use crate::stop::Stop;
use anyhow::{Context, ensure};
use checks::{clock, dns, health, join, media, stream, tls, turn};
use clap::ValueEnum;
use report::{CheckResult, Finding, Report};
use serde::Serialize;
use site::Site;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use url::Url;

/// The pause before a check that failed is repeated.
const REPEAT_INTERVAL: Duration = Duration::from_millis(500);

/// Checks a Parley host from this machine, or several, such as the regions of an installation, and what passes between each two:
/// `parley doctor https://call.example.com`.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// https://HOST, or http:// on this machine itself
    #[arg(value_name = "URL", value_parser = origin, required = true, num_args = 1..=MAX_HOSTS)]
    hosts: Vec<Url>,
    /// Run only these checks
    #[arg(long, value_enum, value_delimiter = ',', value_name = "CHECK,…", conflicts_with = "skip")]
    only: Vec<Check>,
    /// Skip these checks
    #[arg(long, value_enum, value_delimiter = ',', value_name = "CHECK,…")]
    skip: Vec<Check>,
    /// Write one JSON object at the end instead of lines
    #[arg(long)]
    json: bool,
    /// The token for the check of streams, if the relays require one
    #[arg(long, env = "PARLEY_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Wait up to this long for a pod to answer before the first check, and repeat checks that fail within that time
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    wait: u64,
    #[command(flatten)]
    connect: ConnectOptions,
}

/// More than an installation has regions.
const MAX_HOSTS: usize = 16;

/// The checks, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// The name of the host has an address
    Dns,
    /// The host accepts connections, and browsers trust its certificate
    Tls,
    /// The clock of the host is right
    Clock,
    /// The edge answers
    Health,
    /// Two participants join a room, one sends the other a message, and both leave
    Join,
    /// Each address of TURN relays a packet
    Turn,
    /// A message that is published to a stream is received
    Stream,
    /// A broadcast that is published is received, over QUIC and over WebSocket
    Media,
}

impl Check {
    async fn run_check(self, site: &Site) -> CheckResult {
        match self {
            Check::Dns => dns::check(site).await,
            Check::Tls => tls::check(site).await,
            Check::Clock => clock::check(site).await,
            Check::Health => health::check(site).await,
            Check::Join => join::check(site).await,
            Check::Turn => turn::check(site).await,
            Check::Stream => stream::check(site).await,
            Check::Media => media::check(site).await,
        }
    }

    /// The check of what passes from one host to another, where there is one.
    async fn run_between(self, one: &Site, other: &Site) -> Option<CheckResult> {
        Some(match self {
            Check::Clock => clock::compare(one, other).await,
            Check::Join => join::meet(one, other).await,
            Check::Stream => stream::cross(one, other).await,
            Check::Media => media::cross(one, other).await,
            Check::Dns | Check::Tls | Check::Health | Check::Turn => return None,
        })
    }

    /// The longest duration of the check. A later answer would not help a user who waits for a call.
    fn limit(self) -> Duration {
        Duration::from_secs(match self {
            Check::Dns => 5,
            Check::Tls | Check::Clock | Check::Health | Check::Join | Check::Stream => 10,
            // Each of several addresses and each of the two transports has a shorter limit of its own.
            Check::Turn | Check::Media => 20,
        })
    }
}

impl Flags {
    /// Runs the checks one after the other. A failure does not stop the others.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        crate::runtime::run(self.check())
    }

    async fn check(self) -> anyhow::Result<Exit> {
        let mut stop = Stop::new()?;
        let chosen = |check: &Check| !self.skip.contains(check) && (self.only.is_empty() || self.only.contains(check));
        let checks: Vec<_> = Check::value_variants().iter().copied().filter(chosen).collect();
        ensure!(!checks.is_empty(), "no check is selected");
        let site = |host: Url| Site::new(host, self.connect.clone(), self.token.clone());
        let sites: Vec<_> = self.hosts.into_iter().map(site).collect();
        let run = check_all(&sites, &checks, Duration::from_secs(self.wait), self.json);
        let result = tokio::select! { result = run => Some(result), () = stop.requested() => None };
        for site in sites {
            site.close().await;
        }
        match result {
            Some(Ok(true)) => Ok(Exit::Done),
            Some(Ok(false)) => Ok(Exit::CheckFailed),
            Some(Err(why)) => Err(why),
            None => Ok(Exit::Failed),
        }
    }
}

/// Repeats a check that fails, until this time: the edge may find a relay some seconds after the first pod.
async fn repeat(run: impl AsyncFn() -> CheckResult, until: Instant) -> CheckResult {
    loop {
        let result = run().await;
        if !report::has_failed(&result) || Instant::now() >= until {
            return result;
        }
        sleep(REPEAT_INTERVAL).await;
    }
}

/// Checks each host, then from each to each other one. Returns whether no check failed.
async fn check_all(sites: &[Site], checks: &[Check], wait: Duration, json: bool) -> anyhow::Result<bool> {
    let mut ok = true;
    for site in sites {
        let mut report = Report::new(&site.url, json);
        if sites.len() > 1 {
            report.head();
        }
        let until = Instant::now() + wait;
        health::wait_for_answer(site, wait).await;
        for check in checks {
            report.begin(*check);
            let run = async || {
                let result = timeout(check.limit(), check.run_check(site)).await;
                result.unwrap_or_else(|_| Err(Finding::timed_out(check.limit())))
            };
            report.add(*check, repeat(run, until).await);
        }
        ok &= report.finish()?;
    }
    for (one, other) in sites.iter().flat_map(|one| sites.iter().map(move |other| (one, other))) {
        if one.url == other.url {
            continue;
        }
        let mut report = Report::between(&one.url, &other.url, json);
        report.head();
        for check in checks {
            report.begin(*check);
            let result = timeout(check.limit(), check.run_between(one, other)).await;
            match result.unwrap_or_else(|_| Some(Err(Finding::timed_out(check.limit())))) {
                Some(result) => report.add(*check, result),
                None => report.clear(),
            }
        }
        ok &= report.finish()?;
    }
    Ok(ok)
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
    fn the_url_of_any_page_identifies_a_host() {
        for text in ["https://h", "https://h/", "https://h/r/abcd-efgh-jkmn-pqrs?x#y"] {
            assert_eq!(origin(text).unwrap().as_str(), "https://h/");
        }
        assert_eq!(origin("http://[::1]:8080").unwrap().as_str(), "http://[::1]:8080/");
        for bad in ["", "h", "h:443", "wss://h", "https://u:p@h/", "file:///x"] {
            assert!(origin(bad).is_err(), "{bad}");
        }
    }

    #[tokio::test]
    async fn a_check_that_fails_is_repeated_until_it_does_not_or_the_time_is_over() {
        let runs = std::cell::Cell::new(0);
        let third_works = async || {
            runs.set(runs.get() + 1);
            if runs.get() < 3 {
                Err(Finding::fail("NOT_READY (503)", "wait"))
            } else {
                Ok(vec![Finding::ok("it works")])
            }
        };
        let later = Instant::now() + Duration::from_secs(30);
        assert!(!report::has_failed(&repeat(third_works, later).await));
        assert_eq!(runs.get(), 3);
        runs.set(0);
        assert!(report::has_failed(&repeat(third_works, Instant::now()).await));
        assert_eq!(runs.get(), 1);
        let warns = async || Err(Finding::warn("the relay requires a token", "pass one"));
        assert!(!report::has_failed(&repeat(warns, later).await));
    }
}
