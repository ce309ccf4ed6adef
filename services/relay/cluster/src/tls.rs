//! The TLS of links: version 1.3 alone, a certificate on both sides, no CA. A pod makes its certificate at every start and says the
//! hash of it in its lease; NATS lets it publish no other pod's lease, so that the hash says who a pod is (ADR 22). Rule STR-91.
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

/// The certificate of one run of a pod, with its key; neither is ever stored.
pub struct Identity {
    /// What others know it by.
    pub certificate: Hash,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    acceptor: TlsAcceptor,
    provider: Arc<CryptoProvider>,
}

impl Identity {
    /// A new one.
    pub fn new() -> anyhow::Result<Self> {
        let pair = KeyPair::generate()?;
        let made = CertificateParams::default().self_signed(&pair).context("cannot make a certificate")?;
        let (chain, provider) = (vec![made.der().clone()], Arc::new(ring::default_provider()));
        let key = PrivateKeyDer::try_from(pair.serialize_der()).map_err(anyhow::Error::msg)?;
        let mut server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(Arc::new(AcceptAnyCert(Arc::clone(&provider))))
            .with_single_cert(chain.clone(), key.clone_key())?;
        // Every link proves who its ends are.
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
        let acceptor = TlsAcceptor::from(Arc::new(server));
        Ok(Self { certificate: Hash::of(made.der()), chain, key, acceptor, provider })
    }

    /// Takes a link. The hash is that of the certificate whose key the dialer holds; which pod that is, the caller knows.
    pub async fn accept(&self, stream: TcpStream) -> Result<(TlsStream<TcpStream>, Hash), End> {
        let stream = self.acceptor.accept(stream).await.map_err(|error| end_of(&error))?;
        let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first).map(|shown| Hash::of(shown));
        Ok((stream.into(), shown.ok_or(End::Certificate)?))
    }

    /// Opens a link to the holder of this certificate.
    pub async fn connect(&self, stream: TcpStream, certificate: Hash) -> Result<TlsStream<TcpStream>, End> {
        let address = stream.peer_addr().map_err(|_| End::Peer)?;
        let connector = TlsConnector::from(Arc::new(self.client(certificate).map_err(|_| End::Certificate)?));
        // No name of a pod is sent in the clear: an address is no server name (RFC 6066, section 3).
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

/// Why a handshake failed.
fn end_of(error: &io::Error) -> End {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::NoCertificatesPresented | Error::InvalidCertificate(_)) => End::Certificate,
        Some(Error::AlertReceived(_)) | None => End::Peer,
        Some(_) => End::Version,
    }
}

/// On the listener: the dialer must hold the key of its certificate. Its lease may still be on its way, so that who it is is looked
/// up after the handshake.
#[derive(Debug)]
struct AcceptAnyCert(Arc<CryptoProvider>);

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
        verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// On the dialer: the listener must be the one whose lease was heard. Names and times of its certificate say nothing.
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
}
