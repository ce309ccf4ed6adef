//! Where reports are written.
use anyhow::Context;
use serde::Serialize;
use std::path::PathBuf;

/// A table for people, JSON for programs.
#[derive(Clone, Debug, clap::Args)]
pub struct Output {
    /// Also write the report as JSON to this file; -: to standard output, without the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Output {
    fn is_json_only(&self) -> bool {
        self.json.as_ref().is_some_and(|path| path.as_os_str() == "-")
    }

    /// Prints the table of a report, and writes the report as JSON, where the user asked for it.
    pub fn report(&self, table: &str, report: &impl Serialize) -> anyhow::Result<()> {
        self.print(table);
        self.write(report)
    }

    /// Prints text for people, unless standard output is for JSON.
    pub fn print(&self, text: &str) {
        if !self.is_json_only() {
            print!("{text}");
        }
    }

    /// Writes a line of JSON about progress, where standard output is for JSON.
    pub fn line(&self, progress: &impl Serialize) {
        if self.is_json_only() {
            // A struct of numbers is always JSON.
            println!("{}", serde_json::to_string(progress).unwrap_or_default());
        }
    }

    /// Writes a report as JSON, where the user asked for it.
    pub fn write(&self, report: &impl Serialize) -> anyhow::Result<()> {
        let json = serde_json::to_string(report)?;
        match &self.json {
            Some(_) if self.is_json_only() => println!("{json}"),
            Some(path) => std::fs::write(path, json + "\n").with_context(|| path.display().to_string())?,
            None => {}
        }
        Ok(())
    }
}
