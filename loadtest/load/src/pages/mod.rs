//! `parley-load pages`: visitors of one page, as the service sees them. Each has a socket, and announces that it holds the page or subscribes
//! to it. No visitor connects with another, and no page is made.
//!
//! | module | content |
//! |---|---|
//! | [`visitors`] | all visitors, and what the service sent to each |
//! | [`report`] | the result |
mod report;
mod visitors;

use crate::output::Output;
use crate::{process, runtime};
use anyhow::ensure;
use parley_cli::{ConnectOptions, Exit, PageAddress};
use report::{Change, Memory, Report, Stage, Stages};
use std::num::NonZeroU64;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};
use url::Url;
use visitors::{Traffic, Visitors};

/// Fills a page with visitors who hold or want it, and reports how soon each of them receives the exact count.
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    /// https://HOST; several for several pods, over which visitors are spread
    #[arg(value_name = "HOST", required = true)]
    hosts: Vec<Url>,
    /// How many visitors hold the page
    #[arg(long, default_value_t = 880, value_name = "N")]
    holders: usize,
    /// How many visitors want it
    #[arg(long, default_value_t = 0, value_name = "N")]
    readers: usize,
    /// The page [a random address]
    #[arg(long, value_name = "ADDRESS")]
    page: Option<PageAddress>,
    /// The size of the page that holders announce
    #[arg(long, default_value = "1048576", value_name = "BYTES")]
    bytes: NonZeroU64,
    /// How many visitors arrive per second
    #[arg(long, default_value_t = 100.0, value_name = "N")]
    per_second: f64,
    /// How long they stay once all have the exact count; with --pid, also how long memory is read before they arrive
    #[arg(long = "for", default_value_t = 10.0, value_name = "SECONDS")]
    seconds: f64,
    /// How many holders leave after that, at once
    #[arg(long, default_value_t = 0, value_name = "N")]
    depart: usize,
    /// After this time without the exact count a visitor is late
    #[arg(long, default_value_t = 2000, value_name = "MS")]
    late: u64,
    /// Processes of the server, separated by commas, whose memory to report
    #[arg(long = "pid", value_name = "PID", value_delimiter = ',')]
    pids: Vec<u32>,
    #[command(flatten)]
    connect: ConnectOptions,
    #[command(flatten)]
    output: Output,
}

/// How long to wait for the exact count after a visitor is late.
const GIVE_UP_AFTER: Duration = Duration::from_secs(10);
/// The time between two checks whether all visitors have the exact count.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);
/// The time between two readings of the memory of the server.
const MEMORY_INTERVAL: Duration = Duration::from_millis(500);
/// How long a server may take to release the memory of visitors who left.
const RELEASE_TIME: Duration = Duration::from_secs(5);

impl Flags {
    /// Runs the load. Not exact where a visitor was refused or lost, or was late to receive the exact count.
    pub fn run(self) -> anyhow::Result<Exit> {
        let all = self.holders + self.readers;
        ensure!(all > 0, "--holders and --readers must be at least 1 together");
        ensure!(self.depart < self.holders.max(1), "--depart must be less than --holders");
        ensure!(self.per_second > 0.0 && self.per_second.is_finite(), "--per-second must be above 0");
        ensure!((0.0..=86_400.0).contains(&self.seconds), "--for must be 0 to 86400");
        let report = runtime::block_on(self.measure())?;
        self.output.report(&report.table(), &report)?;
        Ok(Exit::of_load(report.exact, false))
    }

    async fn measure(&self) -> anyhow::Result<Report> {
        let stay_time = Duration::from_secs_f64(self.seconds);
        let before = self.least_resident_kb(stay_time).await?;
        let page = self.page.unwrap_or_else(|| PageAddress::of(&fastrand::u128(..).to_string()));
        let visitors = Visitors::new(page, self.bytes);
        self.arrive(&visitors).await;
        let arrival = Change { since: visitors.last_arrival(), traffic: Traffic::default() };
        let came = self.until_exact(&visitors, (self.holders, self.readers), &arrival).await;
        let stay = Change { since: Instant::now(), traffic: visitors.traffic() };
        let (with, ()) = tokio::join!(self.least_resident_kb(stay_time), sleep(stay_time));
        let with = with?;
        let stayed = Stage::idle(&stay, visitors.traffic(), visitors.present());
        let went = match self.depart {
            0 => None,
            count => {
                visitors.reset_counts();
                let departure = Change { since: Instant::now(), traffic: visitors.traffic() };
                visitors.remove_holders(count);
                Some(self.until_exact(&visitors, (self.holders - count, self.readers), &departure).await)
            }
        };
        let (errors, closed, most_at_once) = (visitors.errors(), visitors.closed(), visitors.most_at_once());
        drop(visitors);
        let memory = match self.pids.is_empty() {
            true => None,
            false => {
                sleep(RELEASE_TIME).await;
                Some(Memory::new(before, with, process::total_resident_kb(&self.pids)?, most_at_once))
            }
        };
        Ok(Report::new(self, page, Stages { came, stayed, went }, memory, errors, closed))
    }

    /// The least resident memory of the server during this time, as a garbage collector releases memory late. Without processes it is 0 at once.
    async fn least_resident_kb(&self, duration: Duration) -> anyhow::Result<u64> {
        let until = Instant::now() + duration;
        let mut least = process::total_resident_kb(&self.pids)?;
        while !self.pids.is_empty() && Instant::now() < until {
            sleep_until(until.min(Instant::now() + MEMORY_INTERVAL)).await;
            least = least.min(process::total_resident_kb(&self.pids)?);
        }
        Ok(least)
    }

    /// Adds all visitors at their rate, and waits until they are connected.
    async fn arrive(&self, visitors: &Visitors) {
        let began = Instant::now();
        for number in 0..self.holders + self.readers {
            #[allow(clippy::cast_precision_loss, reason = "a count of visitors fits")]
            sleep_until(began + Duration::from_secs_f64(number as f64 / self.per_second)).await;
            visitors.add(&self.hosts[number % self.hosts.len()], &self.connect, number < self.holders);
        }
        visitors.until_connected().await;
    }

    /// Waits until each visitor has the exact count.
    async fn until_exact(&self, visitors: &Visitors, expected: (usize, usize), change: &Change) -> Stage {
        let late = Duration::from_millis(self.late);
        let until = change.since + late + GIVE_UP_AFTER;
        while !visitors.all_have(expected) && Instant::now() < until {
            sleep(CHECK_INTERVAL).await;
        }
        Stage::of(visitors, expected, change, late)
    }
}
