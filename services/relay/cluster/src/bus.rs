//! The connection to NATS, on which pods exchange leases, revocations and requests for codes. A disconnect ends nothing: the
//! client reconnects without limit, and open links stay. Rules STR-90, STR-97, STR-117 and STR-118,
//! and BUS-9 to BUS-11 of the protocol.
use super::counts::Counts;
use super::lease::Lease;
use anyhow::Context;
pub use async_nats::Subscriber;
use async_nats::client::RequestErrorKind;
use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, Event, Request};
use bytes::Bytes;
use futures_util::StreamExt;
use parley_protocol::subjects::{relay_lease_subject, relay_public_lease_subject};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// How to connect to NATS.
#[derive(Clone, Debug)]
pub struct Nats {
    /// The servers, separated by commas: `nats://host:4222` or, with TLS, `tls://host:4222`.
    pub servers: String,
    /// The user and the password, if the server requires them.
    pub login: Option<(String, Secret)>,
    /// A PEM file with the CAs that certify the servers, read whenever the client connects. With it the connection begins with the TLS
    /// handshake, and no other CA is trusted.
    pub ca: Option<PathBuf>,
}

/// A value that is not shown in debug output.
#[derive(Clone)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret(..)")
    }
}

/// The interval of pings. A dead server is detected within three of them.
const PING: Duration = Duration::from_secs(1);
/// The longest pause between two attempts to connect.
const MAX_RECONNECT_DELAY: Duration = Duration::from_secs(1);

/// The number of received messages that wait on one subscription; further ones are lost.
const SUBSCRIPTION_CAPACITY: usize = 4096;

/// The connection of a pod to NATS.
#[derive(Clone)]
pub struct Bus {
    client: Client,
    connects: watch::Receiver<u64>,
}

/// The reason for which a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestError {
    /// No process is subscribed to the subject.
    NoResponders,
    /// NATS is disconnected, or the answer did not arrive in time.
    Unavailable,
}

impl Bus {
    /// Connects to NATS, which may be unreachable yet.
    pub async fn join(nats: &Nats, pod: &str) -> anyhow::Result<Self> {
        let servers: Vec<&str> = nats.servers.split(',').map(str::trim).collect();
        let (connected, connects) = watch::channel(0);
        let mut options = ConnectOptions::new()
            .name(format!("parley-relay {pod}"))
            // NATS allows only this pod to subscribe there: other pods would read the passes that answer its requests.
            .custom_inbox_prefix(format!("_INBOX_relay.{pod}"))
            .ping_interval(PING)
            .connection_timeout(PING * 2)
            .subscription_capacity(SUBSCRIPTION_CAPACITY)
            .reconnect_delay_callback(|_| MAX_RECONNECT_DELAY.mul_f64(rand::random()))
            .event_callback(move |event| {
                if event == Event::Connected {
                    connected.send_modify(|count| *count += 1);
                }
                log(&event);
                std::future::ready(())
            })
            .retry_on_initial_connect();
        if let Some((user, Secret(password))) = &nats.login {
            options = options.user_and_password(user.clone(), password.clone());
        }
        if let Some(ca) = &nats.ca {
            options = options.add_root_certificates(ca.clone()).tls_first();
        }
        let client = options.connect(&servers[..]).await.context("cannot use the nats servers")?;
        Ok(Self { client, connects })
    }

    /// Whether NATS is connected.
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Changes whenever the client connects.
    pub fn connects(&self) -> watch::Receiver<u64> {
        self.connects.clone()
    }

    /// Subscribes to a subject. The subscription is renewed whenever the client connects.
    pub async fn subscribe(&self, subject: &str) -> anyhow::Result<Subscriber> {
        self.client.subscribe(subject.to_owned()).await.context("nats: cannot subscribe")
    }

    /// Publishes a message. Returns false if NATS is disconnected; the message is not published later.
    pub async fn publish(&self, subject: &str, bytes: Vec<u8>) -> bool {
        let publishing = self.client.publish(subject.to_owned(), bytes.into());
        self.is_connected() && timeout(PING, publishing).await.is_ok_and(|published| published.is_ok())
    }

    /// Sends a request, and waits for the answer for at most `wait`.
    pub async fn request(&self, subject: &str, bytes: Vec<u8>, wait: Duration) -> Result<Bytes, RequestError> {
        if !self.is_connected() {
            return Err(RequestError::Unavailable);
        }
        // An inbox of its own: the shared inbox of the client keeps an entry for every request without an answer.
        let request = Request::new().payload(bytes.into()).inbox(self.client.new_inbox()).timeout(None);
        match timeout(wait, self.client.send_request(subject.to_owned(), request)).await {
            Ok(Ok(answer)) => Ok(answer.payload),
            Ok(Err(error)) if error.kind() == RequestErrorKind::NoResponders => Err(RequestError::NoResponders),
            Ok(Err(_)) | Err(_) => Err(RequestError::Unavailable),
        }
    }

    /// Waits until published messages are written to the socket. Returns false if they were not.
    pub async fn flush(&self) -> bool {
        timeout(PING, self.client.flush()).await.is_ok_and(|flushed| flushed.is_ok())
    }
}

/// The leases of a region, or those for other regions. Each pod publishes on a subject that ends with its region and name; NATS permits it no other.
pub(crate) struct Leases {
    bus: Bus,
    subject: String,
    own: Lease,
    received: Subscriber,
    counts: Arc<Counts>,
}

impl Leases {
    /// Subscribes to the leases of the region.
    pub async fn of_region(bus: Bus, region: &str, own: &Lease, counts: Arc<Counts>) -> anyhow::Result<Self> {
        let received = bus.subscribe(&relay_lease_subject(region, "*")).await?;
        Ok(Self { bus, subject: relay_lease_subject(region, &own.pod), own: own.clone(), received, counts })
    }

    /// Subscribes to the leases of all regions for other regions. `own`: the lease of this pod for them; `pod`: its name in its region.
    pub async fn of_all_regions(
        bus: Bus,
        region: &str,
        pod: &str,
        own: &Lease,
        counts: Arc<Counts>,
    ) -> anyhow::Result<Self> {
        let received = bus.subscribe(&relay_public_lease_subject("*", "*")).await?;
        Ok(Self { bus, subject: relay_public_lease_subject(region, pod), own: own.clone(), received, counts })
    }

    /// Publishes the lease of this pod. Nothing is published while NATS is disconnected: a delayed lease would be outdated.
    pub async fn publish(&self, lease: &Lease) {
        self.bus.publish(&self.subject, lease.bytes()).await;
    }

    /// Waits for the next lease. Skips and counts messages that are not leases, leases on the subject of another pod, and leases with
    /// an address that no pod can have.
    pub async fn next(&mut self) -> Lease {
        loop {
            match self.received.next().await {
                Some(message) => match Lease::read(&message.payload) {
                    Some(lease) if !self.is_of(&lease, &message.subject) => self.counts.foreign.add(1),
                    Some(lease) if !lease.is_reachable_from(self.own.link.ip()) => self.counts.unreachable.add(1),
                    Some(lease) if self.is_of_other_port(&lease) => {}
                    Some(lease) => return lease,
                    None => self.counts.invalid.add(1),
                },
                // Only the end of the client ends a subscription.
                None => std::future::pending().await,
            }
        }
    }

    fn is_of(&self, lease: &Lease, subject: &str) -> bool {
        lease.reach.region.is_some() == self.own.reach.region.is_some() && lease.is_of_subject(subject)
    }

    /// Whether it is what another pod of this region says to other regions.
    fn is_of_other_port(&self, lease: &Lease) -> bool {
        let region = &lease.reach.region;
        region.is_some() && *region == self.own.reach.region && lease.pod != self.own.pod
    }
}

fn log(event: &Event) {
    match event {
        Event::Connected => tracing::info!("NATS connected"),
        Event::Disconnected => tracing::warn!("NATS disconnected: links stay open, new pods are not discovered"),
        other => tracing::warn!(%other, "nats"),
    }
}
