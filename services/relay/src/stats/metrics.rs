//! Prometheus' text format. Rule STR-63.
use crate::access::Access;
use crate::relay::Relay;
use std::fmt::Write;

/// The metrics of a pod.
pub fn text(relay: &Relay) -> String {
    let mut out = Text(String::with_capacity(4096));
    let count = &relay.counters;
    out.gauge("parley_relay_sockets", "Open WebSockets on topics", relay.clients.count() as u64);
    out.gauge("parley_relay_connections", "TCP connections, before and after the upgrade", relay.addresses.total());
    out.gauge(
        "parley_relay_waiting",
        "WebSockets whose token has yet to come",
        relay.access.as_ref().map_or(0, Access::waiting),
    );
    out.gauge("parley_relay_topics", "Topics with a client", relay.topics.count() as u64);
    out.gauge("parley_relay_queued_messages", "Messages that wait in readers' queues", relay.backlog.messages());
    out.gauge("parley_relay_queued_bytes", "Their bytes, each reader's counted", relay.backlog.bytes());
    out.gauge("parley_relay_replay_bytes", "Messages that topics keep for late joiners", relay.topics.kept().bytes());
    out.gauge("parley_relay_assembly_bytes", "Memory that holds incomplete messages", relay.assembly.bytes());
    out.gauge("parley_relay_draining", "1 while the pod drains", u64::from(relay.is_draining()));
    out.counter("parley_relay_opened_total", "WebSockets opened", count.opened.get());
    out.counter("parley_relay_received_messages_total", "Messages from publishers", count.received.get());
    out.counter("parley_relay_received_bytes_total", "Payload from publishers", count.received_bytes.get());
    out.counter("parley_relay_delivered_messages_total", "Deliveries to readers' sockets", count.delivered.get());
    out.counter("parley_relay_delivered_bytes_total", "Payload delivered", count.delivered_bytes.get());
    out.counter("parley_relay_dropped_messages_total", "Messages dropped for slow readers", count.dropped.get());
    out.counter("parley_relay_discarded_messages_total", "Messages sent on /out/ topics", count.discarded.get());
    out.by_code("parley_relay_refused_total", "Requests and upgrades refused", count.refused.iter());
    out.by_code("parley_relay_closed_total", "WebSockets the relay closed", count.closed.iter());
    if relay.settings.cluster.is_some() {
        out.0.push_str(&crate::cluster::metrics::text(&relay.links));
    }
    out.0
}

struct Text(String);

impl Text {
    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n");
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} counter\n{name} {value}\n");
    }

    fn by_code(&mut self, name: &str, help: &str, values: impl Iterator<Item = (crate::codes::Code, u64)>) {
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} counter\n");
        for (code, value) in values.filter(|(_, value)| *value > 0) {
            let _ = writeln!(self.0, "{name}{{code=\"{}\"}} {value}", code.name());
        }
    }
}
