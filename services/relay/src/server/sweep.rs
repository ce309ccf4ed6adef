//! Once a second over all sockets: rates for statistics, pings, and those whose time is up. One timer for the pod instead of
//! several for each socket. Rules STR-12, STR-30, STR-31, STR-42, STR-43, STR-113 and STR-114.
use crate::relay::Relay;
use crate::stats::Client;
use parley_net::codes::Code;
use parley_net::ws::close;
use parley_net::ws::frame::Opcode;
use parley_streams::queue::Frame;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// A token's end or revocation is noticed within this, so that its socket is gone within a second.
const TOKENS: u64 = 500;

/// Sweeps until the pod ends.
pub async fn run(relay: Arc<Relay>) {
    let limits = &relay.limits;
    let shortest = [limits.ping_interval, limits.idle_timeout, limits.reader_stall_timeout, limits.message_timeout];
    // Often enough that no time-out is late by more than a quarter of itself.
    let rarest = if relay.access.is_some() { TOKENS } else { 1000 };
    let every = shortest.iter().min().map_or(rarest, |shortest| (shortest / 4).clamp(10, rarest));
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
        relieve(&clients, &relay);
        if measured {
            last = now;
        }
    }
}

/// Messages that were begun cannot be dropped. Where they alone are more than all queues may hold, those readers are broken off
/// whose sockets took nothing for the longest time.
fn relieve(clients: &[Arc<Client>], relay: &Relay) {
    if !relay.backlog.is_over() {
        return;
    }
    let begun =
        |client: &Arc<Client>| client.reader.begun().map(|(message, progress)| (progress, message, client.clone()));
    let mut all: Vec<_> = clients.iter().filter_map(begun).collect();
    all.sort_unstable_by_key(|(progress, ..)| std::cmp::Reverse(*progress));
    let (mut counted, mut held) = (HashSet::new(), 0);
    for (_, message, client) in &all {
        // Readers of one topic hold the same message.
        if counted.insert(message.as_ptr()) {
            held += message.len() as u64;
        }
        if held > relay.backlog.limit() {
            client.reader.break_off(Code::MemoryLimitExceeded);
        }
    }
}

fn check(client: &Client, relay: &Relay, now: u64) {
    let limits = &relay.limits;
    let over = client.grant.as_ref().zip(relay.access.as_ref()).and_then(|(grant, access)| access.over(grant));
    let heard = client.heard.load(Relaxed);
    let quiet = now.saturating_sub(heard);
    let assembling = client.assembling.load(Relaxed);
    relay.counters.dropped.add(client.reader.trim());
    if let Some(code) = over {
        client.reader.cut(code);
    } else if quiet >= limits.idle_timeout {
        client.reader.cut(Code::IdleTimeout);
    } else if client.reader.is_stuck(now.saturating_sub(limits.reader_stall_timeout)) {
        client.reader.cut(Code::SlowConsumer);
    } else if assembling > 0 && now.saturating_sub(assembling) > limits.message_timeout {
        client.reader.cut(Code::MessageTimeout);
    } else if quiet >= limits.ping_interval && client.pinged.load(Relaxed) <= heard {
        client.pinged.store(now, Relaxed);
        client.reader.control(Frame::Ping, close::control(Opcode::Ping, b""), now);
    }
}
