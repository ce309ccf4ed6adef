//! What the checks found.
use super::Check;
use crate::exit::Exit;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::time::Duration;
use url::Url;

/// How well it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "as they say")]
pub enum Verdict {
    Ok,
    Warn,
    Fail,
}

/// One thing that a check found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    verdict: Verdict,
    said: String,
    /// What was measured, by name; `ms` where it is a time.
    figures: BTreeMap<&'static str, f64>,
    /// What to do, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

/// All that a check found, or what ended it early.
pub type Looked = Result<Vec<Finding>, Finding>;

impl Finding {
    /// All is well.
    pub fn ok(said: impl Into<String>) -> Self {
        Self { verdict: Verdict::Ok, said: said.into(), figures: BTreeMap::new(), advice: None }
    }

    /// It works, and something could be better.
    pub fn warn(said: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { verdict: Verdict::Warn, advice: Some(advice.into()), ..Self::ok(said) }
    }

    /// It does not work.
    pub fn fail(said: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { verdict: Verdict::Fail, advice: Some(advice.into()), ..Self::ok(said) }
    }

    /// A check that did not end in its time.
    pub fn late(limit: Duration) -> Self {
        let advice = "Something on the way answers nothing at all, such as a firewall that drops packets; the checks \
                      before this one say how far it is.";
        Self::fail(format!("no answer within {} s", limit.as_secs()), advice)
    }

    /// With the time it took, which is also said.
    pub fn took(mut self, time: Duration) -> Self {
        let ms = rounded(time.as_secs_f64() * 1e3, 100.0);
        self.said = format!("{}: {ms} ms", self.said);
        self.figure("ms", ms)
    }

    /// With something measured, which programs read.
    pub fn figure(mut self, name: &'static str, figure: f64) -> Self {
        self.figures.insert(name, figure);
        self
    }
}

/// A figure without digits that mean nothing: `parts` of one.
pub fn rounded(figure: f64, parts: f64) -> f64 {
    (figure * parts).round() / parts
}

/// What all checks found.
#[derive(Serialize)]
pub struct Report {
    host: Url,
    /// Whether nothing failed.
    ok: bool,
    findings: Vec<Entry>,
    #[serde(skip)]
    json: bool,
}

#[derive(Serialize)]
struct Entry {
    check: Check,
    #[serde(flatten)]
    finding: Finding,
}

/// Goes to the beginning of the line and clears it (ECMA-48, EL).
const ERASE: &str = "\r\x1b[K";

impl Report {
    /// About a host; `json`: written at the end, instead of line by line.
    pub fn new(host: &Url, json: bool) -> Self {
        Self { host: host.clone(), ok: true, findings: Vec::new(), json }
    }

    /// Whoever looks on is told what is going on.
    pub fn begin(&self, check: Check) {
        if stderr().is_terminal() {
            eprint!("{ERASE}…     {}", name(check));
        }
    }

    /// Enters what a check found, and says so.
    pub fn enter(&mut self, check: Check, looked: Looked) {
        if stderr().is_terminal() {
            eprint!("{ERASE}");
        }
        for finding in looked.unwrap_or_else(|finding| vec![finding]) {
            self.ok &= finding.verdict != Verdict::Fail;
            if !self.json {
                // Nobody has to read it.
                let _ = stdout().write_all(line(check, &finding).as_bytes());
            }
            self.findings.push(Entry { check, finding });
        }
    }

    /// All of it, and how the command ends.
    pub fn end(self) -> anyhow::Result<Exit> {
        if self.json {
            println!("{}", serde_json::to_string(&self)?);
        }
        Ok(if self.ok { Exit::Done } else { Exit::Unwell })
    }
}

fn name(check: Check) -> String {
    format!("{check:?}").to_lowercase()
}

fn line(check: Check, finding: &Finding) -> String {
    let verdict = format!("{:?}", finding.verdict).to_lowercase();
    let line = format!("{verdict:<5} {:<7} {}\n", name(check), finding.said);
    match &finding.advice {
        Some(advice) => format!("{line}{:14}{advice}\n", ""),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let mut report = Report::new(&"https://h/".parse().unwrap(), true);
        report.enter(Check::Health, Ok(vec![Finding::ok("it answers").took(Duration::from_micros(1_234))]));
        report
    }

    #[test]
    fn a_line_tells_check_verdict_and_figure_and_the_next_what_to_do() {
        let ok = Finding::ok("it answers").took(Duration::from_micros(1_234));
        assert_eq!(line(Check::Health, &ok), "ok    health  it answers: 1.23 ms\n");
        let fail = Finding::fail("nobody answers", "Start it.");
        assert_eq!(line(Check::Tls, &fail), "fail  tls     nobody answers\n              Start it.\n");
    }

    #[test]
    fn json_tells_the_same() {
        let json = serde_json::to_value(report()).unwrap();
        let finding = serde_json::json!({
            "check": "health", "verdict": "ok", "said": "it answers: 1.23 ms", "figures": { "ms": 1.23 }
        });
        assert_eq!(json, serde_json::json!({ "host": "https://h/", "ok": true, "findings": [finding] }));
    }

    #[test]
    fn only_what_fails_makes_the_command_fail() {
        let mut warned = report();
        warned.enter(Check::Clock, Ok(vec![Finding::warn("it is late", "Set it.")]));
        assert_eq!(warned.end().unwrap(), Exit::Done);
        let mut failed = report();
        failed.enter(Check::Join, Err(Finding::late(Duration::from_secs(10))));
        failed.enter(Check::Stream, Ok(vec![Finding::ok("heard")]));
        assert_eq!(failed.end().unwrap(), Exit::Unwell);
    }
}
