//! Prometheus' text format.
use crate::Histogram;
use std::fmt::Write;

/// A page of metrics.
#[derive(Default)]
pub struct Text(String);

impl Text {
    /// What goes up and down.
    pub fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.one(name, "gauge", help, value);
    }

    /// What only grows.
    pub fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.one(name, "counter", help, value);
    }

    /// A counter for each code that came up.
    pub fn by_code(&mut self, name: &str, help: &str, values: impl Iterator<Item = (&'static str, u64)>) {
        self.head(name, "counter", help);
        for (code, value) in values.filter(|(_, value)| *value > 0) {
            let _ = writeln!(self.0, "{name}{{code=\"{code}\"}} {value}");
        }
    }

    /// How many took how long.
    pub fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.head(name, "histogram", help);
        let (count, microseconds) = histogram.sum();
        for (bound, within) in histogram.buckets() {
            let _ = writeln!(self.0, "{name}_bucket{{le=\"{}\"}} {within}", seconds(bound));
        }
        let sum = seconds(microseconds);
        let _ = write!(self.0, "{name}_bucket{{le=\"+Inf\"}} {count}\n{name}_sum {sum}\n{name}_count {count}\n");
    }

    /// A page that another crate wrote: the media relay's.
    pub fn page(&mut self, page: &str) {
        self.0.push_str(page);
    }

    /// All of it.
    pub fn finish(self) -> String {
        self.0
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: u64) {
        self.head(name, kind, help);
        let _ = writeln!(self.0, "{name} {value}");
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }
}

#[allow(clippy::cast_precision_loss, reason = "shown with a few digits")]
fn seconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1e6
}
