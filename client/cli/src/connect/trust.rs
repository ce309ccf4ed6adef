//! Which certificates are trusted (RFC 5280 section 6, as rustls-webpki implements it).
use super::ConnectOptions;
use anyhow::{Context, ensure};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::path::PathBuf;
use std::sync::Arc;

/// CA certificates from a file.
#[derive(Clone, Debug)]
pub struct Ca {
    /// The path of the file.
    pub path: PathBuf,
    /// At least one certificate.
    pub certificates: Vec<CertificateDer<'static>>,
}

impl Ca {
    /// Reads a PEM file.
    pub fn read(path: &str) -> anyhow::Result<Self> {
        let certificates = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
        let certificates: Vec<_> = certificates.with_context(|| format!("{path} cannot be read"))?;
        ensure!(!certificates.is_empty(), "{path} contains no certificate");
        Ok(Self { path: path.into(), certificates })
    }
}

impl ConnectOptions {
    /// The TLS configuration with the trusted certificates.
    pub fn tls(&self) -> ClientConfig {
        if self.insecure {
            accept_any_cert()
        } else {
            config().with_root_certificates(self.roots()).with_no_client_auth()
        }
    }

    /// Whether any certificate is accepted.
    pub(crate) fn is_insecure(&self) -> bool {
        self.insecure
    }

    /// Verifies the chain that a server sent for `name`.
    pub fn verify(&self, chain: &[CertificateDer<'_>], name: &ServerName<'_>) -> Result<(), Error> {
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

/// A TLS configuration that accepts any certificate, for `--insecure` and for callers that check it afterwards.
pub fn accept_any_cert() -> ClientConfig {
    config().dangerous().with_custom_certificate_verifier(Arc::new(AcceptAnyCert(provider()))).with_no_client_auth()
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
struct AcceptAnyCert(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCert {
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
