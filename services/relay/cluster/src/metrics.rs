//! The Prometheus metrics of the links of a pod. Rule STR-98.
use super::counts::Counts;
use parley_metrics::Families;

/// Appends the metrics of links.
pub fn write(out: &mut Families, counts: &Counts) {
    out.gauge("parley_relay_nats_connected", "1 while NATS is connected", counts.nats_connected.get());
    out.counter(
        "parley_relay_nats_invalid_messages_total",
        "Messages on NATS that did not match their schema",
        counts.invalid.get(),
    );
    let refused = [("FOREIGN", counts.foreign.get()), ("ADDRESS", counts.unreachable.get())];
    out.by_code("parley_relay_lease_refusals_total", "Leases that were refused", refused.into_iter());
    out.counter(
        "parley_relay_revocation_refusals_total",
        "Revocations of other pods that were refused: pod.revocations, pod.departures",
        counts.revocation_refusals.get(),
    );
    out.gauge("parley_relay_links_receiving", "Open links over which this pod receives", counts.receiving.get());
    out.gauge("parley_relay_links_sending", "Open links over which this pod sends", counts.sending.get());
    out.gauge(
        "parley_relay_link_subscriptions",
        "Subscriptions of other pods to topics of this pod",
        counts.subscriptions.get(),
    );
    out.counter(
        "parley_relay_link_subscription_refusals_total",
        "Subscriptions over link.subscriptions",
        counts.subscription_refusals.get(),
    );
    out.counter(
        "parley_relay_upgrade_hold_timeouts_total",
        "Answers to upgrades that were held for the whole of link.subscribeTimeout",
        counts.upgrade_hold_timeouts.get(),
    );
    out.counter("parley_relay_link_sent_messages_total", "Messages sent to other pods", counts.sent.get());
    out.counter("parley_relay_link_sent_bytes_total", "Bytes of them, with headers", counts.sent_bytes.get());
    out.counter("parley_relay_link_received_messages_total", "Messages from other pods", counts.received.get());
    out.counter("parley_relay_link_received_bytes_total", "Bytes of them, with headers", counts.received_bytes.get());
    out.counter(
        "parley_relay_link_late_messages_total",
        "Messages that arrived after the last subscription had ended",
        counts.late.get(),
    );
    out.counter(
        "parley_relay_link_dropped_messages_total",
        "Messages dropped for slow or ended links",
        counts.dropped.get(),
    );
    out.gauge("parley_relay_link_queued_messages", "Messages that wait for links", counts.queued.get());
    out.gauge("parley_relay_link_queued_bytes", "Bytes that wait for links", counts.queued_bytes.get());
    let ends = counts.ends().map(|(end, times)| (end.name(), times));
    out.by_code("parley_relay_link_ended_total", "Links that ended or were refused", ends);
    out.histogram(
        "parley_relay_hop_seconds",
        "From a publisher's message here to its last byte on a link, and half the link's round trip",
        &counts.hop,
    );
    out.histogram(
        "parley_relay_upgrade_hold_seconds",
        "Time for which answers to upgrades waited for other pods",
        &counts.upgrade_hold,
    );
}
