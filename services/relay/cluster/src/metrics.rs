//! What the links of a pod tell Prometheus. Rule STR-98.
use super::counts::Counts;
use parley_metrics::Text;

/// What crossed so far.
pub fn write(out: &mut Text, counts: &Counts) {
    out.gauge("parley_relay_nats_connected", "1 while NATS is there", counts.bus.get());
    out.counter(
        "parley_relay_nats_broken_messages_total",
        "Messages on NATS that no pod would send",
        counts.broken.get(),
    );
    let refused = [("FOREIGN", counts.foreign.get()), ("ADDRESS", counts.unreachable.get())];
    out.by_code("parley_relay_refused_leases_total", "Leases that were not taken", refused.into_iter());
    out.counter(
        "parley_relay_refused_revocations_total",
        "Revocations of other pods over pod.revocations or pod.departures",
        counts.overfull.get(),
    );
    out.gauge("parley_relay_links_hearing", "Open links over which this pod hears another", counts.hears.get());
    out.gauge("parley_relay_links_sending", "Open links over which this pod sends to another", counts.sends.get());
    out.gauge("parley_relay_link_wants", "Topics that other pods want, once for each pod", counts.asked.get());
    out.counter("parley_relay_link_refused_wants_total", "Wants over link.wants", counts.refused.get());
    out.counter(
        "parley_relay_held_overdue_total",
        "Answers to upgrades held for all of link.wantTime",
        counts.overdue.get(),
    );
    out.counter("parley_relay_link_sent_messages_total", "Messages sent to other pods", counts.sent.get());
    out.counter("parley_relay_link_sent_bytes_total", "Bytes of them, with headers", counts.sent_bytes.get());
    out.counter("parley_relay_link_received_messages_total", "Messages from other pods", counts.received.get());
    out.counter("parley_relay_link_received_bytes_total", "Bytes of them, with headers", counts.received_bytes.get());
    out.counter(
        "parley_relay_link_late_messages_total",
        "Messages that came when nobody wanted them any more",
        counts.late.get(),
    );
    out.counter(
        "parley_relay_link_dropped_messages_total",
        "Messages dropped for slow or ended links",
        counts.dropped.get(),
    );
    out.gauge("parley_relay_link_queued_messages", "Messages that wait for links", counts.queued.get());
    out.gauge("parley_relay_link_queued_bytes", "Their bytes, each link's counted", counts.queued_bytes.get());
    let ends = counts.ends().map(|(end, times)| (end.name(), times));
    out.by_code("parley_relay_link_ended_total", "Links that ended or were refused", ends);
    out.histogram(
        "parley_relay_hop_seconds",
        "From a publisher's message here to its last byte on a link, and half the link's round trip",
        &counts.hop,
    );
    out.histogram(
        "parley_relay_held_seconds",
        "For how long answers to upgrades were held for other pods",
        &counts.held,
    );
}
