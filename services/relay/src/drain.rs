//! Drains a pod: it accepts no more clients, closes its sockets in paced batches, and ends within a known time. Rule STR-70.
use crate::relay::Relay;
use crate::start::Running;
use parley_net::codes::Code;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep, timeout};

/// The pause between two batches.
const BATCH_INTERVAL: Duration = Duration::from_millis(50);
/// The wait for the announcement that the media server drains. NATS may be disconnected.
const ANNOUNCEMENT_TIMEOUT: Duration = Duration::from_secs(2);

/// Receives SIGTERM and SIGINT from its creation on. A signal that arrives while the relay starts is kept, and does not end the process.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Installs the handlers. Call it before another process can know of this one.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }
}

/// Waits for a signal, then drains. A second signal ends the process at once.
pub async fn on_signal(Signals { mut terminate, mut interrupt }: Signals, running: Running) {
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

/// Drains until every client has left, for at most `drain.window` and `socket.closeTimeout`; then leaves the other pods.
pub async fn run(running: &Running) {
    let began = Instant::now();
    running.relay.begin_drain();
    let (all, ()) = tokio::join!(streams(&running.relay), media(running));
    if let Some(cluster) = &running.cluster {
        cluster.leave().await;
    }
    tracing::info!(all, ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX), "drained");
}

/// Sends media clients to another relay, after signaling was informed that it must send no more here.
async fn media(running: &Running) {
    let Some(media) = &running.relay.media else { return };
    let announcing = running.announcing.lock().take();
    if let Some(announcing) = announcing {
        let _ = timeout(ANNOUNCEMENT_TIMEOUT, announcing).await;
    }
    let peers = running.cluster.as_ref().map(|cluster| cluster.shared.peers.borrow().clone());
    media.drain(&peers.unwrap_or_default()).await;
}

/// Closes every socket. Returns whether all clients left in time.
async fn streams(relay: &Relay) -> bool {
    let clients = relay.clients.all();
    tracing::info!(sockets = clients.len(), "draining");
    let window = Duration::from_millis(relay.limits.drain_window);
    let batches = window.as_millis().div_ceil(BATCH_INTERVAL.as_millis()).max(1);
    let batch = clients.len().div_ceil(usize::try_from(batches).unwrap_or(usize::MAX)).max(1);
    for batch in clients.chunks(batch) {
        for client in batch {
            client.reader.close(Code::Goaway);
        }
        sleep(BATCH_INTERVAL).await;
    }
    let wait = Duration::from_millis(relay.limits.close_timeout) + Duration::from_secs(1);
    let left = async {
        while relay.clients.count() > 0 || relay.addresses.total() > 0 {
            // Includes the clients that were admitted while the drain began.
            for client in relay.clients.all() {
                client.reader.close(Code::Goaway);
            }
            sleep(BATCH_INTERVAL).await;
        }
    };
    timeout(wait, left).await.is_ok()
}
