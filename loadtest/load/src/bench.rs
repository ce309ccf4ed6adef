//! `parley bench streams`: rows of `parley load streams`.
use crate::exit::Exit;
use crate::output::Output;
use crate::streams::plan::{Place, Shape, Times, VOID_ABOVE};
use crate::streams::{Plan, Report, run};
use serde::Serialize;

/// Runs the rows one after the other.
#[derive(Debug, clap::Args)]
pub struct Flags {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    times: Times,
    /// Only this row; may be given again
    #[arg(long = "row", value_name = "NAME", value_parser = ROWS.map(|(name, _)| name))]
    rows: Vec<String>,
    #[command(flatten)]
    output: Output,
}

/// 1.1 Mbit/s at 30 frames a second.
const fn video(topics: usize, readers: usize) -> Shape {
    Shape { topics, readers, bytes: 4583, rate: 30.0, window: 1 }
}

/// Paced, as in a closed loop the generator would be the slower half.
const fn paced(readers: usize, bytes: usize, rate: f64) -> Shape {
    Shape { topics: 1, readers, bytes, rate, window: 1 }
}

const ROWS: [(&str, Shape); 7] = [
    ("video-1-to-100", video(1, 100)),
    ("video-1-to-300", video(1, 300)),
    ("video-1-to-500", video(1, 500)),
    ("video-20-to-300", video(20, 15)),
    // One at a time, so that each wakes the server once. Paced, the generator sleeps once a server has caught up, then sends a heap.
    ("100B-1-to-1", Shape { topics: 1, readers: 1, bytes: 100, rate: 0.0, window: 1 }),
    ("100B-1-to-100", paced(100, 100, 500.0)),
    ("1MB-1-to-1", paced(1, 1_000_000, 100.0)),
];

#[derive(Serialize)]
struct Row {
    row: &'static str,
    #[serde(flatten)]
    report: Report,
}

impl Flags {
    /// Runs them; fails where one was not exact.
    pub fn run(self) -> anyhow::Result<Exit> {
        self.output.say(&format!("{:<16} {}\n", "row", Report::COLUMNS));
        let mut rows = Vec::new();
        for (row, shape) in
            ROWS.into_iter().filter(|(row, _)| self.rows.is_empty() || self.rows.iter().any(|name| name == row))
        {
            let report = run(&Plan { place: self.place.clone(), shape, times: self.times, void_above: VOID_ABOVE })?;
            self.output.say(&format!("{row:<16} {}\n", report.columns()));
            rows.push(Row { row, report });
        }
        self.output.write(&rows)?;
        let verdicts = || rows.iter().map(|row| row.report.verdict());
        let worst =
            verdicts().find(|exit| *exit == Exit::Inexact).or_else(|| verdicts().find(|exit| *exit == Exit::Void));
        Ok(worst.unwrap_or(Exit::Done))
    }
}
