//! Whose certificates are believed (RFC 5280 section 6, as rustls-webpki does it).
use super::Reach;
use anyhow::{Context, ensure};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::path::PathBuf;
use std::sync::Arc;

/// Certificates of CAs, from a file.
#[derive(Clone, Debug)]
pub struct Ca {
    /// Where they were read.
    pub path: PathBuf,
    /// At least one.
    pub certificates: Vec<CertificateDer<'static>>,
}

impl Ca {
    /// Reads PEM.
    pub fn read(path: &str) -> anyhow::Result<Self> {
        let certificates = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
        let certificates: Vec<_> = certificates.with_context(|| format!("{path} cannot be read"))?;
        ensure!(!certificates.is_empty(), "{path} holds no certificate");
        Ok(Self { path: path.into(), certificates })
    }
}

impl Reach {
    /// For TLS with whoever is believed.
    pub fn tls(&self) -> ClientConfig {
        if self.insecure { anybody() } else { config().with_root_certificates(self.roots()).with_no_client_auth() }
    }

    /// Whether certificates are looked at, and no more.
    pub fn is_insecure(&self) -> bool {
        self.insecure
    }

    /// Whether a server that says it is `name` may be believed, by its own certificate and those it sent along.
    pub fn vouch(&self, chain: &[CertificateDer<'_>], name: &ServerName<'_>) -> Result<(), Error> {
        let (own, others) = chain.split_first().ok_or(Error::NoCertificatesPresented)?;
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(self.roots()), provider())
            .build()
            .map_err(|why| Error::General(why.to_string()))?;
        verifier.verify_server_cert(own, others, name, &[], UnixTime::now()).map(drop)
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        match &self.ca {
            Some(ca) => drop(roots.add_parsable_certificates(ca.certificates.iter().cloned())),
            None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        }
        roots
    }
}

/// For TLS with whoever answers: to look at the certificate afterwards, or not at all.
pub fn anybody() -> ClientConfig {
    config().dangerous().with_custom_certificate_verifier(Arc::new(Anybody(provider()))).with_no_client_auth()
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

#[allow(clippy::expect_used, reason = "ring has ciphers for all of rustls' versions")]
fn config() -> rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier> {
    let versions = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    versions.expect("the provider speaks TLS")
}

#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _own: &CertificateDer<'_>,
        _others: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, own, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, own, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
