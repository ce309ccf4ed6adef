//! The QUIC endpoint, and the limits of a connection (MED-14, MED-24, MED-28).
use anyhow::{Context, Result};
use moq_tokio::{bind, tls};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use web_transport_moq::noq::congestion::Bbr3Config;
use web_transport_moq::noq::crypto::rustls::QuicServerConfig;
use web_transport_moq::noq::{
    self, AckFrequencyConfig, Connection, EndpointConfig, MtuDiscoveryConfig, ServerConfig, TransportConfig, VarInt,
};

use crate::server::Limits;
use crate::server::counted::{CountedUdp, Received};

/// Streams of one client above `media.subscriptions`: for other requests, and so that a client with too many subscriptions is detected before it
/// waits for streams.
pub(crate) const SPARE_STREAMS: usize = 256;

/// Concurrent groups from one client.
pub(crate) const MAX_GROUPS: u32 = 1024;

/// A link carries the media of all clients of a relay, also between continents.
const MAX_LINK_STREAMS: u32 = 10_000;
const MAX_LINK_WINDOW: u32 = 64 << 20;

/// An endpoint that reloads its certificates when they change.
pub(crate) struct Endpoint {
    pub noq: noq::Endpoint,
    _certificates: tls::ReloadingServerConfig,
}

impl Endpoint {
    /// `received` counts what arrives.
    pub fn open(
        address: SocketAddr,
        (certificate, key): (PathBuf, PathBuf),
        limits: &Limits,
        received: Received,
    ) -> Result<Self> {
        let mut tls_config = tls::Listen::default();
        tls_config.cert = vec![certificate];
        tls_config.key = vec![key];
        let certificates = tls_config.server_config_reloading(alpns())?;
        let crypto = QuicServerConfig::try_from(certificates.config())?;
        let mut config = ServerConfig::with_crypto(Arc::new(crypto));
        config.transport_config(Arc::new(client_transport(limits)?));
        config.max_incoming(limits.handshakes);
        let runtime = noq::default_runtime().context("no runtime")?;
        let socket = runtime.wrap_udp_socket(bind::udp(bind::Udp::new(address))?)?;
        let socket = Box::new(CountedUdp::new(socket, received));
        let noq = noq::Endpoint::new_with_abstract_socket(EndpointConfig::default(), Some(config), socket, runtime)?;
        Ok(Self { noq, _certificates: certificates })
    }
}

/// The ALPN names of raw QUIC with MoQ and of WebTransport, which negotiates MoQ later.
fn alpns() -> Vec<Vec<u8>> {
    let names = moq_net::Versions::all().alpns().into_iter().chain([web_transport_moq::ALPN]);
    names.map(|name| name.as_bytes().to_vec()).collect()
}

fn client_transport(limits: &Limits) -> Result<TransportConfig> {
    let idle = Duration::from_millis(limits.idle_time);
    let mut config = TransportConfig::default();
    config.max_idle_timeout(Some(idle.try_into()?));
    // Three pings fit into the idle timeout.
    config.keep_alive_interval(Some(idle / 3));
    config.mtu_discovery_config(Some(MtuDiscoveryConfig::default()));
    config.congestion_controller_factory(Arc::new(Bbr3Config::default()));
    config.ack_frequency_config(Some(acknowledgements()));
    config.max_concurrent_bidi_streams(VarInt::from_u64((limits.subscriptions + SPARE_STREAMS) as u64)?);
    config.max_concurrent_uni_streams(MAX_GROUPS.into());
    config.send_window(limits.send_bytes);
    config.receive_window(VarInt::from_u64(limits.receive_bytes)?);
    // A group that is not read does not block other groups.
    config.stream_receive_window(VarInt::from_u64(limits.receive_bytes / 2)?);
    Ok(config)
}

/// What clients are asked for that know draft-ietf-quic-ack-frequency: one acknowledgement for a usual frame of video. Without it they acknowledge every second
/// packet. A gap is acknowledged at once, and the last packets after the usual 25 ms.
fn acknowledgements() -> AckFrequencyConfig {
    let mut config = AckFrequencyConfig::default();
    config.ack_eliciting_threshold(4u8.into());
    config.reordering_threshold(1u8.into());
    config
}

/// Raises the limits of a connection to those of a link.
pub(crate) fn apply_link_limits(connection: &Connection) {
    connection.set_max_concurrent_bi_streams(MAX_LINK_STREAMS.into());
    connection.set_max_concurrent_uni_streams(MAX_LINK_STREAMS.into());
    connection.set_send_window(MAX_LINK_WINDOW.into());
    connection.set_receive_window(MAX_LINK_WINDOW.into());
}
