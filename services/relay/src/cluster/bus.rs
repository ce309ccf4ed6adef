//! NATS, on which pods hear each other's leases. Its absence ends nothing: the client goes on trying for ever, and what links
//! there are stay. Rules STR-90 and STR-97.
use super::lease::Lease;
use anyhow::Context;
use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, Event, Subscriber};
use futures_util::StreamExt;
use std::time::Duration;

/// Where NATS is, and who this pod is there.
#[derive(Clone, Debug)]
pub struct Nats {
    /// `nats://host:4222`, several by commas.
    pub servers: String,
    /// The user and the password, where the server wants one.
    pub login: Option<(String, Secret)>,
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

/// A pod's place on the bus.
pub struct Bus {
    client: Client,
    subject: String,
    leases: Subscriber,
}

impl Bus {
    /// Joins the bus of a region. NATS need not be there yet.
    pub async fn join(nats: &Nats, region: &str, pod: &str) -> anyhow::Result<Self> {
        let servers: Vec<&str> = nats.servers.split(',').map(str::trim).collect();
        let mut options = ConnectOptions::new()
            .name(format!("parley-relay {pod}"))
            .custom_inbox_prefix("_INBOX_relay")
            .ping_interval(PING)
            .connection_timeout(PING * 2)
            .reconnect_delay_callback(|_| PAUSE.mul_f64(rand::random()))
            .event_callback(|event| async move { log(&event) })
            .retry_on_initial_connect();
        if let Some((user, Secret(password))) = &nats.login {
            options = options.user_and_password(user.clone(), password.clone());
        }
        let client = options.connect(&servers[..]).await.context("cannot use the nats servers")?;
        let subject = format!("parley.v1.relay.lease.{region}");
        let leases = client.subscribe(subject.clone()).await.context("nats: cannot subscribe")?;
        Ok(Self { client, subject, leases })
    }

    /// Whether the server is there.
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Says a lease to everybody. While the server is away nothing is said: a lease that waits is old by then.
    pub async fn say(&self, lease: &Lease) {
        if self.is_connected() {
            let _ = self.client.publish(self.subject.clone(), lease.bytes().into()).await;
        }
    }

    /// Waits until what was said is on the wire.
    pub async fn flush(&self) {
        let _ = tokio::time::timeout(PING, self.client.flush()).await;
    }

    /// The next lease; what is none is skipped.
    pub async fn next(&mut self) -> Lease {
        loop {
            match self.leases.next().await {
                Some(message) => {
                    if let Some(lease) = Lease::read(&message.payload) {
                        return lease;
                    }
                    tracing::debug!("not a lease");
                }
                // The client ended, which it never does by itself.
                None => std::future::pending().await,
            }
        }
    }
}

fn log(event: &Event) {
    match event {
        Event::Connected => tracing::info!("nats connected"),
        Event::Disconnected => tracing::warn!("nats is away: links stay, new pods are not found"),
        other => tracing::warn!(%other, "nats"),
    }
}
