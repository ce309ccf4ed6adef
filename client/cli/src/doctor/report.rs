//! The findings of the checks.
use super::Check;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::time::Duration;
use url::Url;

/// The verdict of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "as they say")]
pub enum Verdict {
    Ok,
    Warn,
    Fail,
}

/// A finding of a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    verdict: Verdict,
    said: String,
    /// The measurements by name; `ms` is a duration.
    figures: BTreeMap<&'static str, f64>,
    /// What to do, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

/// The findings of a check, or the one that ended it early.
pub type CheckResult = Result<Vec<Finding>, Finding>;

/// Whether a check found something that does not work.
pub fn has_failed(result: &CheckResult) -> bool {
    let findings = result.as_ref().map_or_else(std::slice::from_ref, Vec::as_slice);
    findings.iter().any(|finding| finding.verdict == Verdict::Fail)
}

impl Finding {
    /// A success.
    pub fn ok(said: impl Into<String>) -> Self {
        Self { verdict: Verdict::Ok, said: said.into(), figures: BTreeMap::new(), advice: None }
    }

    /// A success with something to improve.
    pub fn warn(said: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { verdict: Verdict::Warn, advice: Some(advice.into()), ..Self::ok(said) }
    }

    /// A failure.
    pub fn fail(said: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { verdict: Verdict::Fail, advice: Some(advice.into()), ..Self::ok(said) }
    }

    /// A check that exceeded its limit.
    pub fn timed_out(limit: Duration) -> Self {
        let advice = "Something on the path drops packets without an error, such as a firewall; the checks \
                      before this one show where.";
        Self::fail(format!("no answer within {} s", limit.as_secs()), advice)
    }

    /// Adds the duration, also to the text.
    pub fn took(mut self, time: Duration) -> Self {
        let ms = rounded(time.as_secs_f64() * 1e3, 100.0);
        self.said = format!("{}: {ms} ms", self.said);
        self.figure("ms", ms)
    }

    /// Adds a measurement, for programs.
    pub fn figure(mut self, name: &'static str, figure: f64) -> Self {
        self.figures.insert(name, figure);
        self
    }
}

/// Rounds to multiples of 1 / `parts`.
pub fn rounded(figure: f64, parts: f64) -> f64 {
    (figure * parts).round() / parts
}

/// The findings of all checks.
#[derive(Serialize)]
pub struct Report {
    host: Url,
    /// The other host, if the checks are between the two.
    #[serde(rename = "with", skip_serializing_if = "Option::is_none")]
    other: Option<Url>,
    /// Whether no check failed.
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

/// Moves the cursor to the beginning of the line and clears it (ECMA-48, EL).
const ERASE: &str = "\r\x1b[K";

impl Report {
    /// A report about a host. `json`: it is written at the end, instead of line by line.
    pub fn new(host: &Url, json: bool) -> Self {
        Self { host: host.clone(), other: None, ok: true, findings: Vec::new(), json }
    }

    /// A report about what passes from one host to another.
    pub fn between(host: &Url, other: &Url, json: bool) -> Self {
        Self { other: Some(other.clone()), ..Self::new(host, json) }
    }

    /// Writes which hosts the following lines are about.
    pub fn head(&self) {
        if !self.json {
            let other = self.other.as_ref().map(|other| format!(" → {other}")).unwrap_or_default();
            let _ = writeln!(stdout(), "{}{other}", self.host);
        }
    }

    /// Shows on a terminal which check runs.
    pub fn begin(&self, check: Check) {
        if stderr().is_terminal() {
            eprint!("{ERASE}…     {}", name(check));
        }
    }

    /// Takes back what [`Report::begin`] showed.
    pub fn clear(&self) {
        if stderr().is_terminal() {
            eprint!("{ERASE}");
        }
    }

    /// Adds the result of a check, and writes it.
    pub fn add(&mut self, check: Check, result: CheckResult) {
        self.clear();
        for finding in result.unwrap_or_else(|finding| vec![finding]) {
            self.ok &= finding.verdict != Verdict::Fail;
            if !self.json {
                // A closed output does not stop the checks.
                let _ = stdout().write_all(line(check, &finding).as_bytes());
            }
            self.findings.push(Entry { check, finding });
        }
    }

    /// Writes the report as JSON if requested. Returns whether no check failed.
    pub fn finish(self) -> anyhow::Result<bool> {
        if self.json {
            println!("{}", serde_json::to_string(&self)?);
        }
        Ok(self.ok)
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
        report.add(Check::Health, Ok(vec![Finding::ok("it answers").took(Duration::from_micros(1_234))]));
        report
    }

    #[test]
    fn a_line_has_check_verdict_and_measurement_and_the_next_the_advice() {
        let ok = Finding::ok("it answers").took(Duration::from_micros(1_234));
        assert_eq!(line(Check::Health, &ok), "ok    health  it answers: 1.23 ms\n");
        let fail = Finding::fail("no answer", "Start it.");
        assert_eq!(line(Check::Tls, &fail), "fail  tls     no answer\n              Start it.\n");
    }

    #[test]
    fn json_has_the_same_content() {
        let json = serde_json::to_value(report()).unwrap();
        let finding = serde_json::json!({
            "check": "health", "verdict": "ok", "said": "it answers: 1.23 ms", "figures": { "ms": 1.23 }
        });
        assert_eq!(json, serde_json::json!({ "host": "https://h/", "ok": true, "findings": [finding] }));
    }

    #[test]
    fn only_a_failure_makes_the_command_fail() {
        let mut warned = report();
        warned.add(Check::Clock, Ok(vec![Finding::warn("it is late", "Set it.")]));
        assert!(warned.finish().unwrap());
        let mut failed = report();
        failed.add(Check::Join, Err(Finding::timed_out(Duration::from_secs(10))));
        failed.add(Check::Stream, Ok(vec![Finding::ok("received")]));
        assert!(!failed.finish().unwrap());
    }
}
