//! The links of a pod in Prometheus' text format. Rule STR-98.
use super::counts::{Counts, Histogram};
use std::fmt::Write;

/// What crossed so far. Every name begins with `parley_relay_`.
pub fn text(counts: &Counts) -> String {
    let mut out = String::with_capacity(4096);
    let mut one = |name: &str, kind: &str, help: &str, value: u64| {
        let _ = write!(
            out,
            "# HELP parley_relay_{name} {help}\n# TYPE parley_relay_{name} {kind}\nparley_relay_{name} {value}\n"
        );
    };
    one("nats_connected", "gauge", "1 while NATS is there", counts.bus.get());
    one("nats_broken_messages_total", "counter", "Messages on NATS that no pod would send", counts.broken.get());
    one(
        "refused_revocations_total",
        "counter",
        "Revocations of other pods over pod.revocations",
        counts.overfull.get(),
    );
    one("links_hearing", "gauge", "Open links over which this pod hears another", counts.hears.get());
    one("links_sending", "gauge", "Open links over which this pod sends to another", counts.sends.get());
    one("link_wants", "gauge", "Topics that other pods want, once for each pod", counts.asked.get());
    one("link_refused_wants_total", "counter", "Wants over link.wants", counts.refused.get());
    one("held_overdue_total", "counter", "Answers to upgrades held for all of link.wantTime", counts.overdue.get());
    one("link_sent_messages_total", "counter", "Messages sent to other pods", counts.sent.get());
    one("link_sent_bytes_total", "counter", "Bytes of them, with headers", counts.sent_bytes.get());
    one("link_received_messages_total", "counter", "Messages from other pods", counts.received.get());
    one("link_received_bytes_total", "counter", "Bytes of them, with headers", counts.received_bytes.get());
    one(
        "link_late_messages_total",
        "counter",
        "Messages that came when nobody wanted them any more",
        counts.late.get(),
    );
    one("link_dropped_messages_total", "counter", "Messages dropped for slow or ended links", counts.dropped.get());
    one("link_queued_messages", "gauge", "Messages that wait for links", counts.queued.get());
    one("link_queued_bytes", "gauge", "Their bytes, each link's counted", counts.queued_bytes.get());
    let name = "parley_relay_link_ended_total";
    let _ = write!(out, "# HELP {name} Links that ended or were refused\n# TYPE {name} counter\n");
    for (end, times) in counts.ends().filter(|(_, times)| *times > 0) {
        let _ = writeln!(out, "{name}{{code=\"{}\"}} {times}", end.name());
    }
    histogram(
        &mut out,
        "hop_seconds",
        "From a publisher's message here to its last byte on a link, and half the link's round trip",
        &counts.hop,
    );
    histogram(&mut out, "held_seconds", "For how long answers to upgrades were held for other pods", &counts.held);
    out
}

fn histogram(out: &mut String, name: &str, help: &str, histogram: &Histogram) {
    let name = format!("parley_relay_{name}");
    let (count, microseconds) = histogram.sum();
    let _ = write!(out, "# HELP {name} {help}\n# TYPE {name} histogram\n");
    for (bound, within) in histogram.buckets() {
        let _ = writeln!(out, "{name}_bucket{{le=\"{}\"}} {within}", seconds(bound));
    }
    let _ = write!(
        out,
        "{name}_bucket{{le=\"+Inf\"}} {count}\n{name}_sum {}\n{name}_count {count}\n",
        seconds(microseconds)
    );
}

#[allow(clippy::cast_precision_loss, reason = "shown with a few digits")]
fn seconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1e6
}
