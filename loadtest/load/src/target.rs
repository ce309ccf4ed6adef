//! The address of a server, and the opening handshake of a WebSocket.
use anyhow::{Context, bail};
use socket2::{Domain, Socket, Type};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// The longest wait for a connection, and for each part of a handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// The key of the example in RFC 6455 section 1.3, and the value with which a server accepts it.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
/// The longest response to a handshake, and the longest body of a refusal.
const MAX_RESPONSE_BYTES: usize = 16_384;
/// How many sockets use one loopback address as their source: fewer than `address.sockets` of a relay, and than the ports of one
/// address.
const SOCKETS_PER_SOURCE: usize = 1000;
/// How many loopback addresses are used as sources: 127.0.0.1 and the following ones.
const MAX_SOURCES: usize = 200;

/// A server, and the prefix of all paths.
#[derive(Clone, Debug)]
pub struct Target {
    address: SocketAddr,
    host: String,
    prefix: String,
    headers: String,
}

impl Target {
    /// Parses `ws://host:port/prefix`. `headers`: lines to add to each handshake.
    pub fn new(url: &str, headers: &[String]) -> anyhow::Result<Self> {
        let Some(rest) = url.strip_prefix("ws://") else {
            bail!("{url} is not ws://HOST:PORT: a load uses no TLS, as it measures the server and not its TLS")
        };
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let address = if host.rsplit_once(':').is_some() { host.to_owned() } else { format!("{host}:80") };
        let mut addresses = address.to_socket_addrs().with_context(|| format!("{host} has no address"))?;
        let address = addresses.next().with_context(|| format!("{host} has no address"))?;
        let prefix = if path.is_empty() { String::new() } else { format!("/{}", path.trim_end_matches('/')) };
        let headers = headers.iter().map(|line| format!("{line}\r\n")).collect();
        Ok(Self { address, host: host.to_owned(), prefix, headers })
    }

    /// Opens a WebSocket and waits for its handshake. Returns the socket and the bytes that followed the handshake. `number`: how many
    /// sockets were opened before, which selects the loopback address of the source.
    pub fn open(&self, path: &str, number: usize) -> anyhow::Result<(TcpStream, Vec<u8>)> {
        let url = || format!("ws://{}{}{path}", self.host, self.prefix);
        let mut stream = self.connect(number).with_context(url)?;
        let rest = self.upgrade(&mut stream, path).with_context(url)?;
        stream.set_nonblocking(true)?;
        Ok((stream, rest))
    }

    fn connect(&self, number: usize) -> anyhow::Result<TcpStream> {
        let socket = Socket::new(Domain::for_address(self.address), Type::STREAM, None)?;
        if self.address.ip() == IpAddr::V4(Ipv4Addr::LOCALHOST) {
            let last = u8::try_from(1 + number / SOCKETS_PER_SOURCE % MAX_SOURCES).unwrap_or(1);
            socket.set_reuse_address(true)?;
            socket.bind(&SocketAddr::from((Ipv4Addr::new(127, 0, 0, last), 0)).into())?;
        }
        socket.connect_timeout(&self.address.into(), HANDSHAKE_TIMEOUT)?;
        socket.set_tcp_nodelay(true)?;
        Ok(socket.into())
    }

    fn upgrade(&self, stream: &mut TcpStream, path: &str) -> anyhow::Result<Vec<u8>> {
        stream.set_read_timeout(Some(HANDSHAKE_TIMEOUT))?;
        let (prefix, host, headers) = (&self.prefix, &self.host, &self.headers);
        let request = format!(
            "GET {prefix}{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Version: 13\r\n{headers}\r\n"
        );
        stream.write_all(request.as_bytes())?;
        let mut response = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            let read = stream.read(&mut chunk)?;
            if read == 0 || response.len() > MAX_RESPONSE_BYTES {
                bail!(
                    "the server closed the connection during the handshake: {}",
                    String::from_utf8_lossy(&response).trim_end()
                );
            }
            response.extend(&chunk[..read]);
            let mut headers = [httparse::EMPTY_HEADER; 64];
            let mut head = httparse::Response::new(&mut headers);
            let httparse::Status::Complete(size) = head.parse(&response)? else { continue };
            if head.code != Some(101) {
                let code = head.code.unwrap_or(0);
                let _ = stream.take(MAX_RESPONSE_BYTES as u64).read_to_end(&mut response);
                bail!("refused: {code} {}", String::from_utf8_lossy(&response[size..]).trim_end());
            }
            let accept = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case("sec-websocket-accept"));
            if accept.is_none_or(|header| header.value != ACCEPT.as_bytes()) {
                bail!("the server does not accept the handshake as RFC 6455 requires");
            }
            return Ok(response.split_off(size));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_is_no_server_is_rejected() {
        for (url, sentence) in [("http://x", "is not ws://HOST:PORT"), ("ws://127.0.0.1:x/", "has no address")] {
            assert!(Target::new(url, &[]).unwrap_err().to_string().contains(sentence), "{url}");
        }
        assert_eq!(Target::new("ws://127.0.0.1:9/a/b/", &[]).unwrap().prefix, "/a/b");
    }
}
