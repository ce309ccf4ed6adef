//! `parley-load bench`: named rows of [`streams`](crate::streams), which `make bench-streams` measures.
use crate::durations::{Durations, VoidAbove};
use crate::output::Output;
use crate::streams::plan::{Endpoints, Shape};
use crate::streams::{Plan, Report, run};
use crate::usage::MAX_GENERATOR_SHARE;
use parley_cli::Exit;
use serde::Serialize;

/// Runs the rows of `make bench-streams`, one after the other.
#[derive(Debug, clap::Args)]
pub struct Flags {
    #[command(flatten)]
    endpoints: Endpoints,
    #[command(flatten)]
    durations: Durations,
    /// Only this row; repeatable
    #[arg(long = "row", value_name = "NAME", value_parser = ROWS.map(|(name, _)| name))]
    rows: Vec<String>,
    #[command(flatten)]
    output: Output,
}

/// 1.1 Mbit/s in 30 messages a second.
const fn video(topics: usize, readers: usize) -> Shape {
    Shape { topics, readers, bytes: 4583, rate: 30.0, window: 1 }
}

/// At a fixed rate: in a closed loop the generator would limit the rate, not the server.
const fn paced(readers: usize, bytes: usize, rate: f64) -> Shape {
    Shape { topics: 1, readers, bytes, rate, window: 1 }
}

const ROWS: [(&str, Shape); 7] = [
    ("video-1-to-100", video(1, 100)),
    ("video-1-to-300", video(1, 300)),
    ("video-1-to-500", video(1, 500)),
    ("video-20-to-300", video(20, 15)),
    // A closed loop of one message, so that each message wakes the server once. At a fixed rate the generator sleeps
    // whenever the server has caught up, and then sends several messages at once.
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
    /// Runs the rows. Not exact where one row was not.
    pub fn run(self) -> anyhow::Result<Exit> {
        self.output.print(&format!("{:<16} {}\n", "row", Report::COLUMNS));
        let mut rows = Vec::new();
        for (row, shape) in ROWS.into_iter().filter(|(row, _)| self.is_selected(row)) {
            let (endpoints, durations) = (self.endpoints.clone(), self.durations);
            let report =
                run(&Plan { endpoints, shape, durations, void_above: VoidAbove { share: MAX_GENERATOR_SHARE } })?;
            self.output.print(&format!("{row:<16} {}\n", report.columns()));
            rows.push(Row { row, report });
        }
        self.output.write(&rows)?;
        let has = |exit| rows.iter().any(|row| row.report.exit() == exit);
        Ok(Exit::of_load(!has(Exit::Inexact), has(Exit::Void)))
    }

    fn is_selected(&self, row: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|name| name == row)
    }
}
