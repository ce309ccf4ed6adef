//! Paths of frames: from the network namespace of publishers to that of watchers.
use super::delays::Delays;
use crate::latency::Latency;
use serde::Serialize;
use std::collections::BTreeMap;

/// The frames that went from publishers in one place to watchers in one. A place is a network namespace, or empty: that of this process.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Path {
    from: String,
    to: String,
    frames: u64,
    latency_ms: Latency,
    mean_ms: f64,
    /// The mean difference between the delays of two consecutive frames of a track.
    jitter_ms: f64,
}

impl Path {
    /// For a table.
    pub fn summary(&self) -> String {
        let Self { from, to, latency_ms, jitter_ms, .. } = self;
        format!("{from} to {to}: {}, jitter {jitter_ms:.3}", latency_ms.summary())
    }
}

/// Delays, by the places of publishers and watchers.
#[derive(Default)]
pub struct Paths<'a>(BTreeMap<(&'a str, &'a str), Delays>);

impl<'a> Paths<'a> {
    /// Adds the delays of a watcher.
    pub fn add(&mut self, from: &'a str, to: &'a str, delays: &Delays) -> anyhow::Result<()> {
        if let Some(known) = self.0.get_mut(&(from, to)) {
            return known.add(delays);
        }
        self.0.insert((from, to), delays.clone());
        Ok(())
    }

    /// For the report, without those that no frame took.
    pub fn report(&self) -> Vec<Path> {
        let taken = self.0.iter().filter(|(_, delays)| !delays.histogram().is_empty());
        let path = |(&(from, to), delays): (&(&str, &str), &Delays)| Path {
            from: from.to_owned(),
            to: to.to_owned(),
            frames: delays.histogram().len(),
            latency_ms: Latency::of(delays.histogram()),
            mean_ms: delays.mean() / 1e6,
            jitter_ms: delays.mean_change() / 1e6,
        };
        taken.map(path).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_told_apart_by_both_places() {
        let mut delays = Delays::new().unwrap();
        let mut paths = Paths::default();
        paths.add("eu", "us", &delays).unwrap();
        delays.record(4_000_000);
        for (from, to) in [("eu", "eu"), ("us", "eu"), ("eu", "eu")] {
            paths.add(from, to, &delays).unwrap();
        }
        let found = paths.report();
        let found: Vec<_> = found.iter().map(|path| (&*path.from, &*path.to, path.frames, path.mean_ms)).collect();
        assert_eq!(found, [("eu", "eu", 2, 4.0), ("us", "eu", 1, 4.0)]);
    }
}
