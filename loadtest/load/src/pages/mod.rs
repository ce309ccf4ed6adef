//! `parley load pages`: visitors of one page, as far as the service sees them. Each has a socket and says that it holds the page, or wants
//! it; nobody connects with anybody, and no page is made.
//!
//! | module | what |
//! |---|---|
//! | [`visitors`] | all of them, and what each was told |
//! | [`report`] | what came of it |
mod report;
mod visitors;

use crate::exit::Exit;
use crate::output::Output;
use crate::process;
use anyhow::ensure;
use parley_cli::page::address::Address;
use parley_cli::reach::Reach;
use report::{Memory, Report, Told};
use std::num::NonZeroU64;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};
use url::Url;
use visitors::{Crowd, Tally};

/// Fills a page with visitors who hold or want it, and reports how soon all know how many they are, and what that costs.
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    /// https://HOST, several for several pods; visitors go to them in turn
    #[arg(value_name = "HOST", required = true)]
    hosts: Vec<Url>,
    /// Who hold the page
    #[arg(long, default_value_t = 880, value_name = "N")]
    holders: usize,
    /// Who want it
    #[arg(long, default_value_t = 0, value_name = "N")]
    readers: usize,
    /// The page [any]
    #[arg(long, value_name = "ADDRESS")]
    page: Option<Address>,
    /// How large it is said to be
    #[arg(long, default_value = "1048576", value_name = "BYTES")]
    bytes: NonZeroU64,
    /// How many come in a second
    #[arg(long, default_value_t = 100.0, value_name = "N")]
    per_second: f64,
    /// How long they stay once all know
    #[arg(long = "for", default_value_t = 10.0, value_name = "SECONDS")]
    seconds: f64,
    /// How many holders leave after that, at once
    #[arg(long, default_value_t = 0, value_name = "N")]
    depart: usize,
    /// Whoever does not know by then is late
    #[arg(long, default_value_t = 2000, value_name = "MS")]
    late: u64,
    /// Processes of the server, by commas, for their memory
    #[arg(long = "pid", value_name = "PID", value_delimiter = ',')]
    pids: Vec<u32>,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    output: Output,
}

/// Whoever does not know by then, after it was late already, never will.
const NEVER: Duration = Duration::from_secs(10);
/// Between two looks whether all know.
const LOOK: Duration = Duration::from_millis(10);
/// What a server may take to forget visitors who are gone.
const FORGETTING: Duration = Duration::from_secs(5);

impl Flags {
    /// Runs the load; fails where somebody was refused or lost, or did not know in time how many there are.
    pub fn run(self) -> anyhow::Result<Exit> {
        let all = self.holders + self.readers;
        ensure!(all > 0, "--holders and --readers must be at least 1 together");
        ensure!(self.depart < self.holders.max(1), "--depart must be less than --holders");
        ensure!(self.per_second > 0.0 && self.per_second.is_finite(), "--per-second must be above 0");
        ensure!((0.0..=86_400.0).contains(&self.seconds), "--for must be 0 to 86400");
        crate::runtime::block_on(async {
            let report = self.play().await?;
            self.output.say(&report.table());
            self.output.write(&report)?;
            Ok(if report.exact { Exit::Done } else { Exit::Inexact })
        })
    }

    async fn play(&self) -> anyhow::Result<Report> {
        let before = self.memory()?;
        let page = self.page.unwrap_or_else(|| Address::of(&fastrand::u128(..).to_string()));
        let crowd = Crowd::new(page, self.bytes);
        let began = Instant::now();
        for number in 0..self.holders + self.readers {
            #[allow(clippy::cast_precision_loss, reason = "a count of people")]
            sleep_until(began + Duration::from_secs_f64(number as f64 / self.per_second)).await;
            crowd.come(&self.hosts[number % self.hosts.len()], &self.reach, number < self.holders);
        }
        crowd.until_settled().await;
        let came = self.told(&crowd, (self.holders, self.readers), crowd.last_came(), Tally::default()).await;
        let (stay, at) = (crowd.tally(), Instant::now());
        sleep(Duration::from_secs_f64(self.seconds)).await;
        let stayed = Told::idle(at.elapsed(), crowd.tally() - stay, crowd.here());
        let with = self.memory()?;
        let went = match self.depart {
            0 => None,
            some => {
                crowd.begin_anew();
                let (at, before) = (Instant::now(), crowd.tally());
                crowd.depart(some);
                Some(self.told(&crowd, (self.holders - some, self.readers), at, before).await)
            }
        };
        let (errors, closed, most) = (crowd.errors(), crowd.closed(), crowd.most());
        drop(crowd);
        let memory = match self.pids.is_empty() {
            true => None,
            false => {
                sleep(FORGETTING).await;
                Some(Memory::new(before, with, self.memory()?, most))
            }
        };
        Ok(Report::new(self, page, [came, stayed], went, memory, errors, closed))
    }

    /// Waits until everybody knows how many there are.
    async fn told(&self, crowd: &Crowd, expected: (usize, usize), since: Instant, before: Tally) -> Told {
        let until = since + Duration::from_millis(self.late) + NEVER;
        while !crowd.all_know(expected) && Instant::now() < until {
            sleep(LOOK).await;
        }
        Told::of(crowd, expected, since, Duration::from_millis(self.late), before)
    }

    fn memory(&self) -> anyhow::Result<u64> {
        self.pids.iter().map(|pid| process::memory(*pid).map(|memory| memory.resident_kb)).sum()
    }
}
