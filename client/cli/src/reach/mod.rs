//! How a host is reached: whose certificates are believed, and where its names lead.
//!
//! | module | what |
//! |---|---|
//! | [`trust`] | certificates: `--ca`, `--insecure` |
//! | [`detour`] | another address than the name's: `--connect-to` |
mod detour;
pub mod trust;

use crate::ending::Ending;
use detour::Detour;
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

/// Usually nothing of it: public CAs vouch, and names lead where DNS says.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Reach {
    /// Certificates of CAs to believe, and of no others: a PEM file
    #[arg(long, value_name = "FILE", value_parser = Ca::read)]
    ca: Option<Ca>,
    /// Go on with certificates that nobody vouches for
    #[arg(long, conflicts_with = "ca")]
    insecure: bool,
    /// Connect to another address where HOST:PORT is meant, as curl does; repeatable
    #[arg(long = "connect-to", value_name = "HOST:PORT:ADDRESS:PORT")]
    detours: Vec<Detour>,
}

/// An open WebSocket.
pub type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

impl Reach {
    /// Where a connection to this host and port goes.
    pub fn to<'a>(&'a self, host: &'a str, port: u16) -> (&'a str, u16) {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        self.detours.iter().find_map(|detour| detour.of(host, port)).unwrap_or((host, port))
    }

    /// The addresses to try, in order; never none.
    pub async fn addresses(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let found: Vec<_> = lookup_host(self.to(host, port)).await?.collect();
        if found.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(found) }
    }

    /// A TCP connection.
    pub async fn tcp(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(self.addresses(host, port).await?.as_slice()).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// Asks over HTTP, each time over a connection of its own.
    pub fn agent(&self, patience: Duration) -> ureq::Agent {
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
            .timeout_global(Some(patience))
            .tls_config(tls)
            .build();
        ureq::Agent::with_parts(config, DefaultConnector::default(), Detoured(self.clone()))
    }

    /// Opens a WebSocket.
    pub async fn socket(&self, url: &Url, header: Option<(&str, String)>) -> Result<Socket, Ending> {
        let lost = |why: io::Error| Ending::lost(format!("no connection: {why}"));
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(Ending::Refused(format!("{url} is no address of a WebSocket")));
        };
        let tcp = self.tcp(host, port).await.map_err(lost)?;
        let uri = url.as_str().parse().map_err(|_| Ending::Refused(format!("{url} is no address")))?;
        let mut request = ClientRequestBuilder::new(uri);
        if let Some((name, value)) = header {
            request = request.with_header(name, value);
        }
        let connector = Connector::Rustls(Arc::new(self.tls()));
        let opened = client_async_tls_with_config(request, tcp, None, Some(connector)).await;
        opened.map(|(socket, _)| socket).map_err(Ending::of)
    }

    /// Whom a session with a relay believes.
    pub fn trust(&self, config: &mut Config) {
        // A relay's own certificate is known by its hash, and by nothing else.
        if config.tls.fingerprint.is_empty() {
            config.tls.root = self.ca.iter().map(|ca| ca.path.clone()).collect();
            config.tls.insecure = self.insecure.then_some(true);
        }
    }

    /// Where a session with a relay goes.
    pub async fn at(&self, url: Url) -> anyhow::Result<Addr> {
        let Some((host, port)) = url.host_str().zip(url.port_or_known_default()) else { return Ok(Addr::new(url)) };
        if !self.detours.iter().any(|detour| detour.of(host, port).is_some()) {
            return Ok(Addr::new(url));
        }
        let addresses = self.addresses(host, port).await?;
        Ok(Addr::pinned(url, addresses)?)
    }
}

#[derive(Debug)]
struct Detoured(Reach);

impl Resolver for Detoured {
    fn resolve(
        &self,
        uri: &ureq::http::Uri,
        config: &HttpConfig,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
        let (host, port) = self.0.to(uri.host().unwrap_or_default(), port);
        let brackets = if host.contains(':') { ("[", "]") } else { ("", "") };
        let at = format!("{}://{}{host}{}:{port}/", uri.scheme_str().unwrap_or("http"), brackets.0, brackets.1);
        DefaultResolver::default().resolve(&at.parse().map_err(ureq::http::Error::from)?, config, timeout)
    }
}
