//! Fake pods: they publish leases and have certificates as a pod does, and then send what a test needs.
use super::nats::{Nats, settle};
use super::pod::{DEADLINE, Pod};
use futures_util::StreamExt;
use parley_cluster::frames::Hello;
use parley_cluster::lease::{Lease, Reach};
use parley_cluster::tls::Identity;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use tokio_rustls::{TlsConnector, TlsStream};

pub type Tls = TlsStream<TcpStream>;

pub struct Fake {
    pub lease: Lease,
    pub identity: Identity,
}

impl Fake {
    /// A pod without a listener at its link address.
    pub fn new(name: &str, epoch: u64) -> Self {
        Self::at("127.0.0.1:1".parse().unwrap(), name, epoch)
    }

    pub fn at(link: SocketAddr, name: &str, epoch: u64) -> Self {
        let identity = Identity::new().unwrap();
        let (pod, zone, certificate) = (name.to_owned(), String::new(), identity.certificate);
        let reach = Reach { hops: true, ..Reach::default() };
        Self { lease: Lease { pod, epoch, zone, link, certificate, draining: false, reach, media: None }, identity }
    }

    /// Publishes the lease, once.
    pub async fn publish_lease(&self, nats: &Nats) {
        let client = async_nats::connect(&nats.url).await.unwrap();
        let subject = format!("parley.v1.relay.lease.local.{}", self.lease.pod);
        client.publish(subject, self.lease.bytes().into()).await.unwrap();
        settle(&client).await;
    }

    /// A pod of this region for pods of other regions. Its listener, if it has one, is at its link address.
    pub fn abroad(link: SocketAddr, region: &str, name: &str) -> Self {
        let mut fake = Self::at(link, &format!("{region}_{name}"), 1);
        fake.lease.reach = Reach { hops: true, ocean: true, region: Some(region.to_owned()) };
        fake
    }

    /// Publishes the lease for other regions, once, as the pod of this name.
    pub async fn publish_public_lease(&self, nats: &Nats, region: &str, name: &str) {
        let client = async_nats::connect(&nats.url).await.unwrap();
        let subject = format!("parley.v1.relay.public.{region}.{name}");
        client.publish(subject, self.lease.bytes().into()).await.unwrap();
        settle(&client).await;
    }

    /// Opens a link as a pod of this name, and sends `more`.
    pub async fn dial_as(&self, name: &str, pod: &Pod, lease: &Lease, more: &[u8]) -> Tls {
        self.dial_at(&pod.link, name, lease, more).await
    }

    /// Opens a link at this address.
    pub async fn dial_at(&self, link: &str, name: &str, lease: &Lease, more: &[u8]) -> Tls {
        let hello = Hello { pod: name.into() }.bytes();
        let stream = TcpStream::connect(link).await.unwrap();
        let mut stream = self.identity.connect(stream, lease.certificate).await.unwrap();
        stream.write_all(&[&hello, more].concat()).await.unwrap();
        stream.flush().await.unwrap();
        stream
    }

    pub async fn dial(&self, pod: &Pod, lease: &Lease, more: &[u8]) -> Tls {
        self.dial_as(&self.lease.pod, pod, lease, more).await
    }
}

/// Returns the lease that a pod publishes.
pub async fn lease_of(nats: &Nats, name: &str) -> Lease {
    lease_on(nats, "parley.v1.relay.lease.local.*", name).await
}

/// Returns the lease that a pod publishes for other regions, where its name is this one.
pub async fn public_lease_of(nats: &Nats, name: &str) -> Lease {
    lease_on(nats, "parley.v1.relay.public.*.*", name).await
}

async fn lease_on(nats: &Nats, subject: &'static str, name: &str) -> Lease {
    let client = async_nats::connect(&nats.url).await.unwrap();
    let mut leases = client.subscribe(subject).await.unwrap();
    let hearing = async {
        loop {
            let lease = Lease::read(&leases.next().await.unwrap().payload).unwrap();
            if lease.pod == name {
                return lease;
            }
        }
    };
    timeout(DEADLINE, hearing).await.unwrap()
}

/// Reads until the other end closes the connection.
pub async fn rest(mut stream: impl AsyncReadExt + Unpin) -> Vec<u8> {
    let mut rest = Vec::new();
    let _ = timeout(DEADLINE, stream.read_to_end(&mut rest)).await.expect("not closed");
    rest
}

/// Opens a link without a certificate, and accepts any certificate of the listener.
pub async fn without_certificate(pod: &Pod) -> std::io::Result<tokio_rustls::client::TlsStream<TcpStream>> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AcceptAnyCert))
        .with_no_client_auth();
    let stream = TcpStream::connect(&pod.link).await.unwrap();
    TlsConnector::from(Arc::new(config)).connect(stream.peer_addr().unwrap().ip().into(), stream).await
}

#[derive(Debug)]
struct AcceptAnyCert;

impl ServerCertVerifier for AcceptAnyCert {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
