//! The TLS of links: only version 1.3, a certificate on both sides, no CA. A pod creates its certificate at every start and publishes the
//! hash in its lease. NATS does not permit it to publish the lease of another pod, so the hash identifies the pod (ADR 22). Rule STR-91.
use super::end::End;
use crate::hash::Hash;
use anyhow::Context;
use rcgen::{CertificateParams, KeyPair};
use std::io;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::NoServerSessionStorage;
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error, PeerIncompatible, ServerConfig,
    SignatureScheme,
};
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

/// The certificate of one run of a pod with its private key. Neither is stored.
pub struct Identity {
    /// The hash of the certificate, by which other pods identify this one.
    pub certificate: Hash,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    acceptor: TlsAcceptor,
    provider: Arc<CryptoProvider>,
}

impl Identity {
    /// Creates a certificate.
    pub fn new() -> anyhow::Result<Self> {
        let pair = KeyPair::generate()?;
        let made = CertificateParams::default().self_signed(&pair).context("cannot make a certificate")?;
        let (chain, provider) = (vec![made.der().clone()], Arc::new(ring::default_provider()));
        let key = PrivateKeyDer::try_from(pair.serialize_der()).map_err(anyhow::Error::msg)?;
        let mut server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(Arc::new(AcceptAnyCert { provider: Arc::clone(&provider) }))
            .with_single_cert(chain.clone(), key.clone_key())?;
        // Without session resumption every link authenticates both ends.
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
        let acceptor = TlsAcceptor::from(Arc::new(server));
        Ok(Self { certificate: Hash::of(made.der()), chain, key, acceptor, provider })
    }

    /// Accepts a link. Returns the hash of the certificate whose private key the dialer has; the caller maps it to a pod.
    pub async fn accept(&self, stream: TcpStream) -> Result<(TlsStream<TcpStream>, Hash), End> {
        let stream = self.acceptor.accept(stream).await.map_err(|error| end_of(&error))?;
        let presented =
            stream.get_ref().1.peer_certificates().and_then(<[_]>::first).map(|certificate| Hash::of(certificate));
        Ok((stream.into(), presented.ok_or(End::Certificate)?))
    }

    /// Opens a link to the holder of the private key of this certificate.
    pub async fn connect(&self, stream: TcpStream, certificate: Hash) -> Result<TlsStream<TcpStream>, End> {
        let address = stream.peer_addr().map_err(|_| End::Peer)?;
        let connector = TlsConnector::from(Arc::new(self.client(certificate).map_err(|_| End::Certificate)?));
        // No pod name is sent in the clear: an IP address is not sent as a server name (RFC 6066, section 3).
        let name = ServerName::from(address.ip());
        connector.connect(name, stream).await.map(TlsStream::from).map_err(|error| end_of(&error))
    }

    fn client(&self, certificate: Hash) -> Result<ClientConfig, Error> {
        let verifier = PinnedCert { certificate, provider: Arc::clone(&self.provider) };
        let mut client = ClientConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&[&TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_client_auth_cert(self.chain.clone(), self.key.clone_key())?;
        client.resumption = Resumption::disabled();
        Ok(client)
    }
}

/// The reason for which a handshake failed.
fn end_of(error: &io::Error) -> End {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::NoCertificatesPresented | Error::InvalidCertificate(_)) => End::Certificate,
        Some(Error::AlertReceived(_)) | None => End::Peer,
        Some(_) => End::Version,
    }
}

/// The methods about signatures that the verifiers of both ends have: only those of TLS 1.3.
macro_rules! verify_tls13_signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Err(PeerIncompatible::Tls12NotOffered.into())
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            verify_tls13_signature(message, cert, signed, &self.provider.signature_verification_algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.provider.signature_verification_algorithms.supported_schemes()
        }
    };
}

/// The verifier of the listener: the dialer must have the private key of its certificate. The dialer is identified after the handshake, because its lease
/// may not have arrived yet.
#[derive(Debug)]
struct AcceptAnyCert {
    provider: Arc<CryptoProvider>,
}

impl ClientCertVerifier for AcceptAnyCert {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    verify_tls13_signatures!();
}

/// The verifier of the dialer: the listener must have the certificate of the lease. Names and times in the certificate are ignored.
#[derive(Debug)]
struct PinnedCert {
    certificate: Hash,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for PinnedCert {
    fn verify_server_cert(
        &self,
        cert: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if Hash::of(cert) == self.certificate {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    verify_tls13_signatures!();
}
