//! Leaving: take nobody, send everybody elsewhere in paced batches, end within a known time. Rule STR-70.
use crate::relay::{Relay, Running};
use parley_net::codes::Code;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep, timeout};

/// Between two batches.
const PACE: Duration = Duration::from_millis(50);
/// NATS may be away.
const LAST_WORD: Duration = Duration::from_secs(2);

/// SIGTERM and SIGINT, from the moment it is made on: one that comes while the relay starts is not lost, and does not end it.
pub struct Told {
    terminate: Signal,
    interrupt: Signal,
}

impl Told {
    /// Made before anybody can know of the process.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }
}

/// Waits for a signal, then drains. A second one ends the process at once.
pub async fn when_told(Told { mut terminate, mut interrupt }: Told, running: Running) {
    tokio::select! {
        _ = terminate.recv() => {},
        _ = interrupt.recv() => {},
    }
    tokio::select! {
        () = run(&running) => {},
        _ = terminate.recv() => tracing::warn!("second signal: exiting"),
        _ = interrupt.recv() => tracing::warn!("second signal: exiting"),
    }
}

/// Drains: done when every client is gone, or after `drain.window` and `socket.closeTimeout`; then leaves the other pods.
pub async fn run(running: &Running) {
    let began = Instant::now();
    running.relay.begin_drain();
    let (all, ()) = tokio::join!(streams(&running.relay), media(running));
    if let Some(cluster) = &running.cluster {
        cluster.leave().await;
    }
    tracing::info!(all, ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX), "drained");
}

/// Sends the clients of media to another relay, once signaling was told to send nobody here.
async fn media(running: &Running) {
    let Some(media) = &running.relay.media else { return };
    let telling = running.telling.lock().take();
    if let Some(telling) = telling {
        let _ = timeout(LAST_WORD, telling).await;
    }
    let others = running.cluster.as_ref().map(|cluster| cluster.shared.others.borrow().clone());
    media.drain(&others.unwrap_or_default()).await;
}

/// Closes every socket; whether all are gone.
async fn streams(relay: &Relay) -> bool {
    let everyone = relay.clients.all();
    tracing::info!(sockets = everyone.len(), "draining");
    let window = Duration::from_millis(relay.limits.drain_window);
    let batches = window.as_millis().div_ceil(PACE.as_millis()).max(1);
    let batch = everyone.len().div_ceil(usize::try_from(batches).unwrap_or(usize::MAX)).max(1);
    for some in everyone.chunks(batch) {
        for client in some {
            client.reader.close(Code::Goaway);
        }
        sleep(PACE).await;
    }
    let patience = Duration::from_millis(relay.limits.close_timeout) + Duration::from_secs(1);
    let gone = async {
        while relay.clients.count() > 0 || relay.addresses.total() > 0 {
            // Whoever came in while the drain began is told too.
            for client in relay.clients.all() {
                client.reader.close(Code::Goaway);
            }
            sleep(PACE).await;
        }
    };
    timeout(patience, gone).await.is_ok()
}
