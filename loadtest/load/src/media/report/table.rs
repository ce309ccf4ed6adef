//! The result of a load of media, as a table for people.
use super::{Frames, Report, Watcher};
use crate::latency::Latency;
use crate::media::plan::Shape;
use std::fmt::Write;

/// How many of the watchers with the highest latency the table lists.
const LISTED_WATCHERS: usize = 5;

impl Report {
    /// As a table for people.
    pub fn table(&self) -> String {
        let mut out = String::new();
        for (name, value) in self.deliveries().into_iter().chain(self.times()) {
            let _ = writeln!(out, "{name:<12} {value}");
        }
        self.list_watchers(&mut out);
        out
    }

    fn deliveries(&self) -> Vec<(&'static str, String)> {
        let Shape { publishers, watchers, room, .. } = self.shape;
        let who = room.map_or_else(|| format!("{publishers} to {watchers}"), |people| format!("room of {people}"));
        let what = if self.audio { "audio" } else { "video" };
        let Frames { expected, delivered, ratio, missing, duplicated, out_of_order, corrupt, extra, .. } = self.frames;
        let Frames { skipped_groups, freezes, longest_freeze_ms, .. } = self.frames;
        let steady = &self.steady;
        vec![
            ("load", format!("{who}, {what} of {:.2} Mbit/s, {} relays", self.megabits_per_second, self.relays)),
            ("delivered", format!("{delivered} of {expected} frames: ratio {ratio:.6}")),
            (
                "wrong",
                format!(
                    "{missing} missing, {duplicated} duplicated, {corrupt} corrupt, {out_of_order} out of order, {extra} extra, {} lost",
                    self.closed
                ),
            ),
            (
                "skipped",
                format!("{skipped_groups} groups; {freezes} freezes, the longest of {longest_freeze_ms:.0} ms"),
            ),
            (
                "steady",
                format!(
                    "{:.0} frames per second, {:.1} Mbit/s over {:.1} s",
                    steady.deliveries_per_second, steady.megabits_per_second, steady.seconds
                ),
            ),
        ]
    }

    fn times(&self) -> Vec<(&'static str, String)> {
        let mut rows = vec![
            ("latency", self.latency_ms.summary()),
            ("first frame", self.first_frame_ms.map_or("none".to_owned(), |times| times.summary())),
            ("round trip", self.rtt_ms.map_or("unknown".to_owned(), |times| times.summary())),
            ("jitter", self.jitter_ms.summary()),
            ("packets", format!("{} sent by publishers and watchers, {} lost", self.packets.sent, self.packets.lost)),
        ];
        let told_apart = self.paths.iter().filter(|_| self.paths.len() > 1);
        rows.extend(told_apart.map(|path| ("path", path.summary())));
        rows.extend(self.server.as_ref().map(|server| ("server", server.summary())));
        rows.push(("generator", self.generator.summary(self.void)));
        if self.interrupted {
            rows.push(("interrupted", "ended by Ctrl-C".to_owned()));
        }
        rows
    }

    fn list_watchers(&self, out: &mut String) {
        let mut worst: Vec<(usize, &Watcher)> = self.each.iter().enumerate().collect();
        worst.sort_by(|(_, one), (_, other)| other.latency_ms.p99.total_cmp(&one.latency_ms.p99));
        let _ = writeln!(
            out,
            "\nhighest latency     delivered  missing  skipped  freezes    p50 ms    p99 ms    first ms  relay"
        );
        for (index, Watcher { relay, frames, latency_ms, first_frame_ms, .. }) in
            worst.into_iter().take(LISTED_WATCHERS)
        {
            let Frames { delivered, missing, skipped_groups, freezes, .. } = frames;
            let first = first_frame_ms.map_or("never".to_owned(), |first| format!("{first:.0}"));
            let Latency { p50, p99, .. } = latency_ms;
            let _ = writeln!(
                out,
                "{index:>17} {delivered:>11} {missing:>8} {skipped_groups:>8} {freezes:>8} {p50:>9.3} {p99:>9.3} {first:>11}  {relay}"
            );
        }
    }
}
