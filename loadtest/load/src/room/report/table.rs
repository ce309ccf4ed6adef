//! The result of a load of a room, as a table for people.
use super::{Frames, Loss, Report, Steady};
use crate::room::plan::Shape;
use std::fmt::Write;

impl Report {
    /// As a table for people.
    pub fn table(&self) -> String {
        let mut out = String::new();
        for (name, value) in self.deliveries().into_iter().chain(self.times()) {
            let _ = writeln!(out, "{name:<12} {value}");
        }
        out
    }

    fn deliveries(&self) -> Vec<(&'static str, String)> {
        let Shape { participants, bitrate, fps, speakers, tiles } = self.shape;
        let published = format!("{bitrate} kbit/s at {fps} frames per second, {speakers} speakers");
        let relays: Vec<_> = self.relays.iter().map(|(relay, count)| format!("{count} on {relay}")).collect();
        let Steady { seconds, deliveries_per_second, megabits_per_second, .. } = self.window;
        let frames = |Frames { expected, delivered }: Frames| format!("{delivered} of {expected} frames");
        let Loss { share, each } = self.loss;
        vec![
            ("room", format!("{participants} participants, each watches at most {tiles}: {published}")),
            ("relays", relays.join(", ")),
            (
                "window",
                format!(
                    "{deliveries_per_second:.0} frames per second, {megabits_per_second:.1} Mbit/s over {seconds:.1} s"
                ),
            ),
            ("video", frames(self.video)),
            ("audio", frames(self.audio)),
            ("lost", format!("{:.3} % of all; per participant {}", share * 100.0, each.summary(100.0, "%"))),
            (
                "wrong",
                format!(
                    "{} corrupt, {} duplicated, {} out of order, {} extra, {} closed, {} groups skipped",
                    self.corrupt, self.duplicated, self.out_of_order, self.extra, self.closed, self.skipped_groups
                ),
            ),
        ]
    }

    fn times(&self) -> Vec<(&'static str, String)> {
        let mut rows = vec![
            ("delay", self.delay_ms.summary()),
            ("round trip", self.rtt_ms.summary()),
            ("jitter", self.jitter_ms.summary(1.0, "ms")),
            ("freezes", format!("{}, the longest of {:.0} ms", self.freezes.count, self.freezes.longest_ms)),
            ("late", format!("{} joins", self.late_joins)),
            ("generator", self.generator.summary(self.void)),
        ];
        if self.interrupted {
            rows.push(("interrupted", "ended by Ctrl-C".to_owned()));
        }
        rows
    }
}
