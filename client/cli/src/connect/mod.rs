//! How to connect to a host: the trusted certificates, and the addresses of names.
//!
//! | module | content |
//! |---|---|
//! | [`trust`] | certificates: `--ca`, `--insecure` |
//! | [`connect_to`] | another address than that of the name: `--connect-to` |
mod connect_to;
pub mod trust;

use crate::connection_end::ConnectionEnd;
use connect_to::ConnectTo;
use moq_tokio::connect::{Addr, Config};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpStream, lookup_host};
use tokio_tungstenite::tungstenite::ClientRequestBuilder;
use tokio_tungstenite::{Connector, MaybeTlsStream, WebSocketStream, client_async_tls_with_config};
use trust::Ca;
use ureq::config::Config as HttpConfig;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use url::Url;

/// Flags about connecting to a host. By default, public CAs are trusted and DNS gives the address.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct ConnectOptions {
    /// CA certificates to trust instead of the public ones: a PEM file
    #[arg(long, value_name = "FILE", value_parser = Ca::read)]
    ca: Option<Ca>,
    /// Accept any certificate
    #[arg(long, conflicts_with = "ca")]
    insecure: bool,
    /// Connect to ADDRESS:PORT instead of HOST:PORT, as curl does; repeatable
    #[arg(long = "connect-to", value_name = "HOST:PORT:ADDRESS:PORT")]
    connect_to: Vec<ConnectTo>,
}

/// An open WebSocket.
pub type WebSocket = WebSocketStream<MaybeTlsStream<TcpStream>>;

impl ConnectOptions {
    /// The host and port to connect to for this host and port.
    pub fn target<'a>(&'a self, host: &'a str, port: u16) -> (&'a str, u16) {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        self.connect_to.iter().find_map(|rule| rule.target(host, port)).unwrap_or((host, port))
    }

    /// The addresses to try, in order; at least one.
    pub(crate) async fn addresses(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let found: Vec<_> = lookup_host(self.target(host, port)).await?.collect();
        if found.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(found) }
    }

    /// Opens a TCP connection.
    pub(crate) async fn tcp(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(self.addresses(host, port).await?.as_slice()).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// An HTTP client that opens a connection for each request.
    pub(crate) fn agent(&self, limit: Duration) -> ureq::Agent {
        let roots = match &self.ca {
            Some(ca) => {
                let all = ca.certificates.iter().map(|der| Certificate::from_der(der).to_owned()).collect::<Vec<_>>();
                RootCerts::new_with_certs(&all)
            }
            None => RootCerts::WebPki,
        };
        let tls = TlsConfig::builder().root_certs(roots).disable_verification(self.insecure).build();
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(limit))
            .tls_config(tls)
            .build();
        ureq::Agent::with_parts(config, DefaultConnector::default(), ConnectToResolver(self.clone()))
    }

    /// Opens a WebSocket.
    pub async fn socket(&self, url: &Url, header: Option<(&str, String)>) -> Result<WebSocket, ConnectionEnd> {
        let lost = |why: io::Error| ConnectionEnd::lost(format!("no connection: {why}"));
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(ConnectionEnd::Refused(format!("{url} is not the URL of a WebSocket")));
        };
        let tcp = self.tcp(host, port).await.map_err(lost)?;
        let uri = url.as_str().parse().map_err(|_| ConnectionEnd::Refused(format!("{url} is not a valid URL")))?;
        let mut request = ClientRequestBuilder::new(uri);
        if let Some((name, value)) = header {
            request = request.with_header(name, value);
        }
        let connector = Connector::Rustls(Arc::new(self.tls()));
        let opened = client_async_tls_with_config(request, tcp, None, Some(connector)).await;
        opened.map(|(socket, _)| socket).map_err(ConnectionEnd::from_error)
    }

    /// Sets the trusted certificates of a session with a relay.
    pub fn apply_tls(&self, config: &mut Config) {
        // The certificate of a relay is identified by its hash alone.
        if config.tls.fingerprint.is_empty() {
            config.tls.root = self.ca.iter().map(|ca| ca.path.clone()).collect();
            config.tls.insecure = self.insecure.then_some(true);
        }
    }

    /// The address of a session with a relay.
    pub async fn relay_addr(&self, url: Url) -> anyhow::Result<Addr> {
        let Some((host, port)) = url.host_str().zip(url.port_or_known_default()) else { return Ok(Addr::new(url)) };
        if !self.connect_to.iter().any(|rule| rule.target(host, port).is_some()) {
            return Ok(Addr::new(url));
        }
        let addresses = self.addresses(host, port).await?;
        Ok(Addr::pinned(url, addresses)?)
    }
}

#[derive(Debug)]
struct ConnectToResolver(ConnectOptions);

impl Resolver for ConnectToResolver {
    fn resolve(
        &self,
        uri: &ureq::http::Uri,
        config: &HttpConfig,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
        let (host, port) = self.0.target(uri.host().unwrap_or_default(), port);
        let brackets = if host.contains(':') { ("[", "]") } else { ("", "") };
        let at = format!("{}://{}{host}{}:{port}/", uri.scheme_str().unwrap_or("http"), brackets.0, brackets.1);
        DefaultResolver::default().resolve(&at.parse().map_err(ureq::http::Error::from)?, config, timeout)
    }
}
