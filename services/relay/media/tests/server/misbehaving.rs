//! Misbehaving clients.
use moq_net::{Timestamp, bytes::Bytes};
use moq_tokio::{Connection, transport};
use std::net::UdpSocket;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::{AbortHandle, JoinSet};
use web_transport_moq::generic::{Error as _, SendStream as _, Session};
use web_transport_moq::noq::crypto::rustls::QuicClientConfig;
use web_transport_moq::noq::{ClientConfig, Endpoint};

use crate::client::publish;

/// The broadcast of the client that behaves well.
pub const GOOD: &str = "good/cam";

/// A client that stops when dropped.
pub struct Misbehaving {
    _connection: Option<Connection>,
    work: AbortHandle,
}

impl Drop for Misbehaving {
    fn drop(&mut self) {
        self.work.abort();
    }
}

/// Publishes one track as fast as the relay reads it, with frames of `bytes` and groups of `frames`.
pub fn flood(url: url::Url, name: &str, bytes: usize, frames: usize) -> Misbehaving {
    // At most 1.6 GB/s, as the memory of the test is limited.
    paced(url, name, bytes, frames, Duration::from_micros((bytes as u64 / 1600).max(20)))
}

/// Publishes with a pause after each frame.
pub fn paced(url: url::Url, name: &str, bytes: usize, frames: usize, pause: Duration) -> Misbehaving {
    let origin = moq_tokio::origin::spawn();
    let broadcast = origin.create_broadcast(name).unwrap();
    let track = broadcast.create_track("video", None).unwrap();
    broadcast.announce(Default::default()).unwrap();
    let connection = publish(url, &[], &origin);
    let work = tokio::spawn(async move {
        let _kept = (origin, broadcast);
        let frame = Bytes::from(vec![7; bytes]);
        loop {
            let mut group = track.append_group().unwrap();
            for _ in 0..frames {
                if group.write_frame(Timestamp::now(), frame.clone()).is_err() {
                    break;
                }
                tokio::time::sleep(pause).await;
            }
            let _ = group.finish();
        }
    });
    Misbehaving { _connection: Some(connection), work: work.abort_handle() }
}

/// Publishes `tracks` tracks, and subscribes to all of them from another session.
pub fn subscribe_many(url: url::Url, name: &str, tracks: usize) -> Misbehaving {
    let origin = moq_tokio::origin::spawn();
    let broadcast = origin.create_broadcast(name).unwrap();
    let make_track = |at| {
        let track = broadcast.create_track(format!("track/{at}"), None).unwrap();
        let mut group = track.append_group().unwrap();
        group.write_frame(Timestamp::now(), Bytes::from_static(b"frame")).unwrap();
        (track, group)
    };
    let published: Vec<_> = (0..tracks).map(make_track).collect();
    broadcast.announce(Default::default()).unwrap();
    let publishing = publish(url.clone(), &[], &origin);
    let (watched, connection) = crate::client::subscribe(url);
    let name = name.to_owned();
    let work = tokio::spawn(async move {
        let _kept = (publishing, origin, broadcast, published);
        let broadcast = watched.consume().routed_broadcast(&name).await.unwrap();
        let mut watching = tokio::task::JoinSet::new();
        for at in 0..tracks {
            let track = broadcast.track(&format!("track/{at}")).unwrap().subscribe(None);
            watching.spawn(async move {
                let Ok(mut track) = track.await else { return };
                let _kept = track.recv_group().await;
                std::future::pending::<()>().await;
            });
        }
        watching.join_all().await;
    });
    Misbehaving { _connection: Some(connection), work: work.abort_handle() }
}

/// Subscribes to a broadcast and acknowledges its packets, but reads nothing after the first group began.
pub fn not_reading(url: url::Url, name: &str) -> Misbehaving {
    let name = name.to_owned();
    let work = tokio::spawn(async move {
        let client = web_transport_moq::ClientBuilder::new().dangerous().with_no_certificate_verification().unwrap();
        let mut request = web_transport_moq::proto::ConnectRequest::new(url);
        for alpn in moq_net::ALPNS {
            request = request.with_protocol((*alpn).to_owned());
        }
        let session = client.connect(request).await.unwrap();
        let origin = moq_tokio::origin::spawn();
        let moq = moq_net::Client::new().with_subscriber(origin.clone());
        let session = transport::Session::new(session);
        let (session, driver) = moq.connect(Instant::now(), session).await.unwrap();
        let subscribed = async {
            let broadcast = origin.consume().routed_broadcast(&name).await.unwrap();
            let mut track = broadcast.track("video").unwrap().subscribe(None).await.unwrap();
            let group = track.recv_group().await.unwrap();
            (broadcast, track, group)
        };
        let mut driver = std::pin::pin!(moq_net::time::run(driver));
        let kept = tokio::select! {
            kept = subscribed => kept,
            _ = &mut driver => return,
        };
        std::future::pending::<()>().await;
        drop((kept, session));
    });
    Misbehaving { _connection: None, work: work.abort_handle() }
}

/// Sends a request with a length of `bytes` on each of ten streams of a valid session.
pub fn large_requests(url: url::Url, bytes: u32) -> Misbehaving {
    let work = tokio::spawn(async move {
        let client = web_transport_moq::ClientBuilder::new().dangerous().with_no_certificate_verification().unwrap();
        let mut request = web_transport_moq::proto::ConnectRequest::new(url);
        for alpn in moq_net::ALPNS {
            request = request.with_protocol((*alpn).to_owned());
        }
        send_large_requests(client.connect(request).await.unwrap(), bytes).await;
    });
    Misbehaving { _connection: None, work: work.abort_handle() }
}

/// Sends the same requests over WebSocket.
pub fn large_requests_over_websocket(url: url::Url, bytes: u32) -> Misbehaving {
    let work = tokio::spawn(async move {
        let protocols = moq_net::ALPNS.iter().map(|alpn| (*alpn, &[] as &[qmux::Version]));
        let client = qmux::ws::Client::new().with_protocols(protocols);
        send_large_requests(client.connect(url.as_str()).await.unwrap(), bytes).await;
    });
    Misbehaving { _connection: None, work: work.abort_handle() }
}

async fn send_large_requests<S: Session>(session: S, bytes: u32) {
    let origin = moq_tokio::origin::spawn();
    let moq = moq_net::Client::new().with_subscriber(origin.clone());
    let (_moq, driver) = moq.connect(Instant::now(), transport::Session::new(session.clone())).await.unwrap();
    let sending = async {
        // The relay announces broadcasts after it has read SETUP. Requests that fill the connection before keep SETUP from the relay, and the
        // client is then closed by the timeout of handshakes, as if it sent nothing.
        let _announced = origin.consume().routed_broadcast(GOOD).await.unwrap();
        let mut streams = JoinSet::new();
        for _ in 0..10 {
            let (mut send, recv) = session.open_bi().await.unwrap();
            streams.spawn(async move {
                // A request for announcements, and its length in four bytes (RFC 9000, 16).
                let mut head = vec![1];
                head.extend((bytes | 2 << 30).to_be_bytes());
                let _ = send.write_all(&head).await;
                let chunk = vec![7; 1 << 16];
                for _ in 0..bytes >> 16 {
                    if send.write_all(&chunk).await.is_err() {
                        break;
                    }
                }
                std::future::pending::<()>().await;
                drop(recv);
            });
        }
        let _ = streams.join_all().await;
    };
    tokio::select! {
        () = async { drop(moq_net::time::run(driver).await) } => {}
        () = sending => {}
    }
}

/// Opens a session with moq-lite-06, waits for this broadcast, sends these bytes as a request, and returns the code with which the relay resets its
/// stream.
pub async fn reset_of(url: url::Url, announced: &str, request: &[u8]) -> Option<u32> {
    let client = web_transport_moq::ClientBuilder::new().dangerous().with_no_certificate_verification().unwrap();
    let connect = web_transport_moq::proto::ConnectRequest::new(url).with_protocol("moq-lite-06".to_owned());
    let session = client.connect(connect).await.unwrap();
    let origin = moq_tokio::origin::spawn();
    let moq = moq_net::Client::new().with_subscriber(origin.clone());
    let (_moq, driver) = moq.connect(Instant::now(), transport::Session::new(session.clone())).await.unwrap();
    let asking = async {
        let _announced = origin.consume().routed_broadcast(announced).await.unwrap();
        let (mut send, mut recv) = Session::open_bi(&session).await.unwrap();
        let _ = send.write_all(request).await;
        loop {
            match recv.read_chunk(1024).await {
                Ok(Some(_)) => {}
                Ok(None) => return None,
                Err(error) => return error.stream_error(),
            }
        }
    };
    tokio::select! {
        code = asking => code,
        () = async { drop(moq_net::time::run(driver).await) } => None,
    }
}

/// Returns the first packets of `count` QUIC connections, each with a complete ClientHello. The client does not continue them.
pub async fn first_packets(count: usize) -> Vec<Vec<u8>> {
    let listener = UdpSocket::bind("127.0.0.1:0").unwrap();
    listener.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut tls = moq_tokio::tls::Connect::default();
    tls.insecure = Some(true);
    let mut tls = tls.build().unwrap();
    tls.alpn_protocols = vec![web_transport_moq::ALPN.as_bytes().to_vec()];
    let config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).unwrap()));
    let endpoint = Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    let mut packets = Vec::new();
    let mut packet = vec![0; 2000];
    for _ in 0..count {
        let dial = endpoint.connect_with(config.clone(), listener.local_addr().unwrap(), "localhost").unwrap();
        // The endpoint sends when its runtime polls it.
        let read = listener.try_clone().unwrap();
        let (size, back) = tokio::task::spawn_blocking(move || {
            let size = read.recv(&mut packet).unwrap();
            (size, packet)
        })
        .await
        .unwrap();
        packets.push(back[..size].to_vec());
        packet = back;
        drop(dial);
        // The test does not need the packets that end the connection.
        listener.set_nonblocking(true).unwrap();
        while listener.recv(&mut packet).is_ok() {}
        listener.set_nonblocking(false).unwrap();
    }
    packets
}
