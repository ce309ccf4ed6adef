//! The periodic sweep over all sockets: rates for statistics, pings and timeouts. It replaces several timers for each socket
//! by one for the pod. Rules STR-12, STR-30, STR-31, STR-42, STR-43, STR-113 and STR-114.
use crate::relay::Relay;
use crate::relay::clients::Client;
use parley_net::codes::Code;
use parley_net::ws::close;
use parley_net::ws::frame::Opcode;
use parley_streams::queue::Frame;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The longest interval, in milliseconds, with which tokens are checked: a socket closes within a second after its token ended.
const TOKEN_CHECK_INTERVAL: u64 = 500;

/// Sweeps until the pod ends.
pub async fn run(relay: Arc<Relay>) {
    let limits = &relay.limits;
    let shortest = [limits.ping_interval, limits.idle_timeout, limits.reader_stall_timeout, limits.message_timeout];
    // Frequent enough that no timeout is late by more than a quarter of it.
    let longest = if relay.access.is_some() { TOKEN_CHECK_INTERVAL } else { 1000 };
    let every = shortest.iter().min().map_or(longest, |shortest| (shortest / 4).clamp(10, longest));
    let mut last = relay.now();
    loop {
        tokio::time::sleep(Duration::from_millis(every)).await;
        let now = relay.now();
        let measured = now - last >= 1000;
        let clients = relay.clients.all();
        for client in &clients {
            if measured {
                client.measure(Duration::from_millis(now - last).as_secs_f64(), now);
            }
            check(client, &relay, now);
        }
        shed_begun_messages(&clients, &relay);
        if measured {
            last = now;
        }
    }
}

/// A message that is partly sent cannot be dropped. If such messages alone exceed the limit of all queues, this ends the connections of the
/// readers that accepted nothing for the longest time.
fn shed_begun_messages(clients: &[Arc<Client>], relay: &Relay) {
    if !relay.backlog.is_over() {
        return;
    }
    let begun =
        |client: &Arc<Client>| client.reader.begun().map(|(message, progress)| (progress, message, client.clone()));
    let mut all: Vec<_> = clients.iter().filter_map(begun).collect();
    all.sort_unstable_by_key(|(progress, ..)| std::cmp::Reverse(*progress));
    let (mut counted, mut bytes) = (HashSet::new(), 0);
    for (_, message, client) in &all {
        // Readers of one topic share a message.
        if counted.insert(message.as_ptr()) {
            bytes += message.len() as u64;
        }
        if bytes > relay.backlog.limit() {
            client.reader.abort_with(Code::MemoryLimitExceeded);
        }
    }
}

fn check(client: &Client, relay: &Relay, now: u64) {
    let limits = &relay.limits;
    let ended = client.grant.as_ref().zip(relay.access.as_ref()).and_then(|(grant, access)| access.ended(grant));
    let received = client.received.load(Relaxed);
    let silence = now.saturating_sub(received);
    let reassembling = client.reassembling.load(Relaxed);
    relay.counters.dropped.add(client.reader.trim());
    if let Some(code) = ended {
        client.reader.close_now(code);
    } else if silence >= limits.idle_timeout {
        client.reader.close_now(Code::IdleTimeout);
    } else if client.reader.is_stalled(now.saturating_sub(limits.reader_stall_timeout)) {
        client.reader.close_now(Code::SlowConsumer);
    } else if reassembling > 0 && now.saturating_sub(reassembling) > limits.message_timeout {
        client.reader.close_now(Code::MessageTimeout);
    } else if silence >= limits.ping_interval && client.pinged.load(Relaxed) <= received {
        client.pinged.store(now, Relaxed);
        client.reader.control(Frame::Ping, close::control(Opcode::Ping, b""), now);
    }
}
