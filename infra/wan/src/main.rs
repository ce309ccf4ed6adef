//! `wan-link`: joins two network namespaces by a link with delay, jitter, loss and a rate.
mod carry;
mod clock;
mod direction;
mod end;
mod settings;
mod values;

use anyhow::{Context, ensure};
use carry::Lane;
use clap::Parser;
use direction::{Counts, Direction};
use end::End;
use serde::Serialize;
use settings::{Change, Settings};
use std::io::Write;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader, stdin};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use values::{Both, Way, both, loss, rate, time};

/// Joins two network namespaces by a link with delay, jitter, loss and a rate.
///
/// Every setting takes one value for both directions, or two: from A to B, and back, as in `--rate 5mbit,50mbit`. A line on stdin changes one
/// (`delay 80ms`, `loss 0`, `rate none`) or cuts the link and mends it (`down`, `up`). It ends with stdin, or by SIGTERM or SIGINT.
#[derive(Debug, Parser)]
#[command(name = "wan-link", version)]
struct Flags {
    /// One end: a namespace, the device to make in it, and its address
    #[arg(long, value_name = "NS,DEV,ADDRESS/BITS")]
    a: End,
    /// The other end
    #[arg(long, value_name = "NS,DEV,ADDRESS/BITS")]
    b: End,
    /// How long a packet takes one way: 45ms
    #[arg(long, default_value = "0", value_name = "TIME", value_parser = both(time))]
    delay: Both<Duration>,
    /// By how much that is more or less, at random; packets stay in order
    #[arg(long, default_value = "0", value_name = "TIME", value_parser = both(time))]
    jitter: Both<Duration>,
    /// How likely a packet is lost, 0 to 1
    #[arg(long, default_value = "0", value_name = "CHANCE", value_parser = both(loss))]
    loss: Both<f64>,
    /// How much fits through: 20mbit; what would wait longer than 200 ms is dropped
    #[arg(long, default_value = "none", value_name = "RATE", value_parser = both(rate))]
    rate: Both<Option<f64>>,
    /// What chance begins with, so that the same packets are lost again
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
}

/// What is written when packets get through.
#[derive(Serialize)]
struct Ready {
    ready: bool,
    /// Whether it runs before everything else; otherwise a busy machine adds milliseconds.
    realtime: bool,
}

/// What is written at the end.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ended {
    a_to_b: Counts,
    b_to_a: Counts,
}

fn main() -> ExitCode {
    match run(&Flags::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("wan-link: {why:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: &Flags) -> anyhow::Result<()> {
    let is_root = rustix::process::geteuid().is_root();
    ensure!(is_root, "it makes devices in network namespaces: run it as root");
    let realtime = before_everything_else();
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(link(flags, realtime));
    // Not dropped, which would wait for another line on stdin.
    runtime.shutdown_background();
    print(&ended?)
}

/// Carries packets until a signal ends it.
async fn link(flags: &Flags, realtime: bool) -> anyhow::Result<Ended> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut lines = BufReader::new(stdin()).lines();
    let (failed, mut failures) = mpsc::unbounded_channel();

    let seed = flags.seed.unwrap_or_else(|| fastrand::u64(..));
    let lane = |way| Arc::new(Lane::new(Direction::new(flags.settings(way), seed ^ way as u64)));
    let (there, back) = (lane(Way::There), lane(Way::Back));
    let (a, b) = (Arc::new(flags.a.open()?), Arc::new(flags.b.open()?));
    carry::start(&there, &a, &b, &failed)?;
    carry::start(&back, &b, &a, &failed)?;
    print(&Ready { ready: true, realtime })?;

    loop {
        tokio::select! {
            line = lines.next_line() => match line.context("stdin")? {
                None => break,
                Some(line) => match line.parse::<Change>() {
                    Ok(change) => {
                        there.change(change, Way::There);
                        back.change(change, Way::Back);
                    }
                    Err(why) => eprintln!("wan-link: {why}"),
                },
            },
            Some(why) = failures.recv() => return Err(why),
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
        }
    }
    Ok(Ended { a_to_b: there.counts(), b_to_a: back.counts() })
}

impl Flags {
    fn settings(&self, way: Way) -> Settings {
        Settings {
            delay: self.delay.of(way),
            jitter: self.jitter.of(way),
            loss: self.loss.of(way),
            rate: self.rate.of(way),
            up: true,
        }
    }
}

/// Every thread that is started from now on runs as soon as it can; false where that is not granted.
fn before_everything_else() -> bool {
    let id = std::process::id().to_string();
    let asked = Command::new("chrt").args(["--fifo", "--pid", "5", &id]).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

/// A line of JSON on stdout.
fn print(what: &impl Serialize) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, what)?;
    Ok(writeln!(out)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, error::ErrorKind};

    const ENDS: [&str; 5] = ["wan-link", "--a", "one,wan0,10.80.0.1/30", "--b", "two,wan0,10.80.0.2/30"];

    fn flags(more: &[&str]) -> Result<Flags, clap::Error> {
        Flags::try_parse_from(ENDS.iter().chain(more))
    }

    #[test]
    fn every_command_line_makes_sense() {
        Flags::command().debug_assert();
    }

    #[test]
    fn a_link_is_a_wire_unless_told_otherwise() {
        let wire = Settings { delay: Duration::ZERO, jitter: Duration::ZERO, loss: 0.0, rate: None, up: true };
        assert_eq!(flags(&[]).unwrap().settings(Way::There), wire);
        assert_eq!(flags(&[]).unwrap().seed, None);
    }

    #[test]
    fn each_direction_has_its_own_settings() {
        let given = ["--delay", "45ms", "--jitter", "2ms,0", "--loss", "0.05,0.1", "--rate", "5mbit,none"];
        let given = flags(&given).unwrap();
        let (delay, jitter) = (Duration::from_millis(45), Duration::from_millis(2));
        let there = Settings { delay, jitter, loss: 0.05, rate: Some(5e6), up: true };
        let back = Settings { delay, jitter: Duration::ZERO, loss: 0.1, rate: None, up: true };
        assert_eq!(given.settings(Way::There), there);
        assert_eq!(given.settings(Way::Back), back);
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_the_flag_that_has_it() {
        for (flag, value) in [("--delay", "45"), ("--jitter", "1h"), ("--loss", "5"), ("--rate", "0"), ("--seed", "x")]
        {
            let refused = flags(&[flag, value]).unwrap_err().to_string();
            assert!(refused.contains(flag), "{refused}");
        }
        let lacking = Flags::try_parse_from(&ENDS[..3]).unwrap_err();
        assert_eq!(lacking.kind(), ErrorKind::MissingRequiredArgument);
    }
}
