//! The Prometheus metrics of the links of a pod. Rules STR-98 and STR-145.
use super::cluster::LinkCounts;
use super::counts::Counts;
use parley_metrics::Families;

/// Appends the metrics of links.
pub fn write(out: &mut Families, links: &LinkCounts) {
    write_refusals(out, links);
    write_region(out, &links.region);
    write_ocean(out, &links.ocean);
}

/// What is counted for links of both scopes together.
fn write_refusals(out: &mut Families, LinkCounts { region, ocean }: &LinkCounts) {
    let both = |of: fn(&Counts) -> u64| of(region) + of(ocean);
    out.gauge("parley_relay_nats_connected", "1 while NATS is connected", region.nats_connected.get());
    out.counter(
        "parley_relay_nats_invalid_messages_total",
        "Messages on NATS that did not match their schema",
        both(|counts| counts.invalid.get()),
    );
    let refused = [
        ("FOREIGN", both(|counts| counts.foreign.get())),
        ("ADDRESS", both(|counts| counts.unreachable.get())),
        ("FULL", both(|counts| counts.full.get())),
    ];
    out.by_code("parley_relay_lease_refusals_total", "Leases that were refused", refused.into_iter());
    out.counter(
        "parley_relay_revocation_refusals_total",
        "Revocations of other pods that were refused: pod.revocations, pod.departures",
        region.revocation_refusals.get(),
    );
    out.counter(
        "parley_relay_link_subscription_refusals_total",
        "Subscriptions over link.subscriptions or pod.topics",
        both(|counts| counts.subscription_refusals.get()),
    );
    out.counter(
        "parley_relay_link_late_messages_total",
        "Messages that arrived after the last subscription had ended",
        both(|counts| counts.late.get()),
    );
    out.counter(
        "parley_relay_ocean_duplicate_messages_total",
        "Messages of other regions that had come by another port before",
        both(|counts| counts.duplicates.get()),
    );
    let ends = region.ends().zip(ocean.ends()).map(|((end, near), (_, far))| (end.name(), near + far));
    out.by_code("parley_relay_link_ended_total", "Links that ended or were refused", ends);
}

fn write_region(out: &mut Families, counts: &Counts) {
    out.gauge("parley_relay_links_receiving", "Open links over which this pod receives", counts.receiving.get());
    out.gauge("parley_relay_links_sending", "Open links over which this pod sends", counts.sending.get());
    out.gauge(
        "parley_relay_link_subscriptions",
        "Subscriptions of other pods to topics of this pod",
        counts.subscriptions.get(),
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
        "parley_relay_link_dropped_messages_total",
        "Messages dropped for slow or ended links",
        counts.dropped.get(),
    );
    out.gauge("parley_relay_link_queued_messages", "Messages that wait for links", counts.queued.get());
    out.gauge("parley_relay_link_queued_bytes", "Bytes that wait for links", counts.queued_bytes.get());
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

fn write_ocean(out: &mut Families, counts: &Counts) {
    out.gauge(
        "parley_relay_ocean_links_receiving",
        "Open links over which this pod receives from other regions",
        counts.receiving.get(),
    );
    out.gauge(
        "parley_relay_ocean_links_sending",
        "Open links over which this pod sends to other regions",
        counts.sending.get(),
    );
    out.gauge(
        "parley_relay_ocean_subscriptions",
        "Subscriptions of other regions to topics at this pod",
        counts.subscriptions.get(),
    );
    out.counter("parley_relay_ocean_sent_messages_total", "Messages sent to other regions", counts.sent.get());
    out.counter("parley_relay_ocean_sent_bytes_total", "Bytes of them, with headers", counts.sent_bytes.get());
    out.counter("parley_relay_ocean_received_messages_total", "Messages from other regions", counts.received.get());
    out.counter("parley_relay_ocean_received_bytes_total", "Bytes of them, with headers", counts.received_bytes.get());
    out.counter(
        "parley_relay_ocean_dropped_messages_total",
        "Messages dropped for slow or ended links to other regions",
        counts.dropped.get(),
    );
    out.gauge(
        "parley_relay_ocean_queued_messages",
        "Messages that wait for links to other regions",
        counts.queued.get(),
    );
    out.gauge(
        "parley_relay_ocean_queued_bytes",
        "Bytes that wait for links to other regions",
        counts.queued_bytes.get(),
    );
    out.histogram(
        "parley_relay_ocean_hop_seconds",
        "From a message on the port of its region to its last byte on a link, and half the link's round trip",
        &counts.hop,
    );
}
