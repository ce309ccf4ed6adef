//! NATS, on which pods hear each other's leases and revocations, and ask each other for codes. Its absence ends nothing: the
//! client goes on trying for ever, and what links there are stay. Rules STR-90, STR-97, STR-117 and STR-118,
//! and BUS-9 to BUS-11 of the protocol.
use super::counts::Counts;
use super::lease::Lease;
use anyhow::Context;
use async_nats::client::RequestErrorKind;
use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, Event, Request, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt;
use parley_protocol::subjects::relay_lease_subject;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// Where NATS is, and who this pod is there.
#[derive(Clone, Debug)]
pub struct Nats {
    /// `nats://host:4222` or, with TLS, `tls://host:4222`, several by commas.
    pub servers: String,
    /// The user and the password, where the server wants one.
    pub login: Option<(String, Secret)>,
    /// A file with the CAs that certify the servers (PEM), read whenever the client connects. With it nothing is read before the
    /// handshake of TLS, and no other CA counts.
    pub ca: Option<PathBuf>,
}

/// What must not be shown.
#[derive(Clone)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret(..)")
    }
}

/// A dead server is found within three pings.
const PING: Duration = Duration::from_secs(1);
/// Between two attempts to connect, at most.
const PAUSE: Duration = Duration::from_secs(1);

/// Messages of one kind that wait here for their turn; those beyond are lost.
const WAITING: usize = 4096;

/// A pod's place on the bus.
#[derive(Clone)]
pub struct Bus {
    client: Client,
    connects: watch::Receiver<u64>,
}

/// Why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// Nobody hears it.
    Nobody,
    /// The server is away, or the answer is not there in time.
    Away,
}

impl Bus {
    /// Joins the bus. NATS need not be there yet.
    pub async fn join(nats: &Nats, pod: &str) -> anyhow::Result<Self> {
        let servers: Vec<&str> = nats.servers.split(',').map(str::trim).collect();
        let (connected, connects) = watch::channel(0);
        let mut options = ConnectOptions::new()
            .name(format!("parley-relay {pod}"))
            // The server lets this pod alone listen there: others would read the passes that answer its questions.
            .custom_inbox_prefix(format!("_INBOX_relay.{pod}"))
            .ping_interval(PING)
            .connection_timeout(PING * 2)
            .subscription_capacity(WAITING)
            .reconnect_delay_callback(|_| PAUSE.mul_f64(rand::random()))
            .event_callback(move |event| {
                if event == Event::Connected {
                    connected.send_modify(|times| *times += 1);
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

    /// Whether the server is there.
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Changes whenever the server is there again.
    pub fn connects(&self) -> watch::Receiver<u64> {
        self.connects.clone()
    }

    /// Hears a subject, whenever the server is there.
    pub async fn hear(&self, subject: &str) -> anyhow::Result<Subscriber> {
        self.client.subscribe(subject.to_owned()).await.context("nats: cannot subscribe")
    }

    /// Says something to whoever hears the subject. False: the server is away, and nothing is said later.
    pub async fn say(&self, subject: &str, bytes: Vec<u8>) -> bool {
        let saying = self.client.publish(subject.to_owned(), bytes.into());
        self.is_connected() && timeout(PING, saying).await.is_ok_and(|said| said.is_ok())
    }

    /// Asks whoever hears the subject, and waits that long for the answer.
    pub async fn ask(&self, subject: &str, bytes: Vec<u8>, patience: Duration) -> Result<Bytes, Unanswered> {
        if !self.is_connected() {
            return Err(Unanswered::Away);
        }
        // An inbox of its own: the client's shared one keeps an entry for every question that has no answer.
        let question = Request::new().payload(bytes.into()).inbox(self.client.new_inbox()).timeout(None);
        match timeout(patience, self.client.send_request(subject.to_owned(), question)).await {
            Ok(Ok(answer)) => Ok(answer.payload),
            Ok(Err(why)) if why.kind() == RequestErrorKind::NoResponders => Err(Unanswered::Nobody),
            Ok(Err(_)) | Err(_) => Err(Unanswered::Away),
        }
    }

    /// Waits until what was said is on the wire. False: it is not.
    pub async fn flush(&self) -> bool {
        timeout(PING, self.client.flush()).await.is_ok_and(|flushed| flushed.is_ok())
    }
}

/// The leases of a region. Each pod publishes on a subject that ends with its name, and NATS lets it publish on no other.
pub struct Leases {
    bus: Bus,
    subject: String,
    own_link: IpAddr,
    heard: Subscriber,
    counts: Arc<Counts>,
}

impl Leases {
    /// Hears them from now on.
    pub async fn hear(bus: Bus, region: &str, own: &Lease, counts: Arc<Counts>) -> anyhow::Result<Self> {
        let heard = bus.hear(&relay_lease_subject(region, "*")).await?;
        Ok(Self { bus, subject: relay_lease_subject(region, &own.pod), own_link: own.link.ip(), heard, counts })
    }

    /// Says a lease to everybody. While the server is away nothing is said: a lease that waits is old by then.
    pub async fn say(&self, lease: &Lease) {
        self.bus.say(&self.subject, lease.bytes()).await;
    }

    /// The next lease; what is none, or not of the pod whose subject it came on, or of an address that no pod has, is skipped.
    pub async fn next(&mut self) -> Lease {
        loop {
            match self.heard.next().await {
                Some(message) => match Lease::read(&message.payload) {
                    Some(lease) if !message.subject.ends_with(&format!(".{}", lease.pod)) => self.counts.foreign.add(1),
                    Some(lease) if !lease.is_reachable_from(self.own_link) => self.counts.unreachable.add(1),
                    Some(lease) => return lease,
                    None => self.counts.broken.add(1),
                },
                // The client ended, which it never does by itself.
                None => std::future::pending().await,
            }
        }
    }
}

fn log(event: &Event) {
    match event {
        Event::Connected => tracing::info!("NATS connected"),
        Event::Disconnected => tracing::warn!("NATS disconnected: links stay open, new pods are not discovered"),
        other => tracing::warn!(%other, "nats"),
    }
}
