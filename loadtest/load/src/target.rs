//! Where a load goes, and opening a WebSocket there.
use anyhow::{Context, bail};
use socket2::{Domain, Socket, Type};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Between packets of a handshake: a server that is slower is not there.
const PATIENCE: Duration = Duration::from_secs(10);
/// RFC 6455 section 1.3: the key of its example, and the answer to it.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ANSWER: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
/// The most of an answer that is read before the server is given up.
const HEAD: usize = 16_384;
/// Sockets from one loopback address before the next one's turn: below `address.sockets` of a relay, and far below the ports
/// that one address has.
const PER_SOURCE: usize = 1000;
/// Loopback addresses in use: 127.0.0.1 and those after it.
const SOURCES: usize = 200;

/// A server, and the part of the path in front of the topics.
#[derive(Clone, Debug)]
pub struct Target {
    address: SocketAddr,
    host: String,
    prefix: String,
    headers: String,
}

impl Target {
    /// `ws://host:port/prefix`; with lines to be added to each upgrade.
    pub fn new(url: &str, headers: &[String]) -> anyhow::Result<Self> {
        let Some(rest) = url.strip_prefix("ws://") else {
            bail!("{url} is not ws://HOST:PORT: a load is sent without TLS, as it measures the server behind it")
        };
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let named = if host.rsplit_once(':').is_some() { host.to_owned() } else { format!("{host}:80") };
        let mut found = named.to_socket_addrs().with_context(|| format!("{host} has no address"))?;
        let address = found.next().with_context(|| format!("{host} has no address"))?;
        let prefix = if path.is_empty() { String::new() } else { format!("/{}", path.trim_end_matches('/')) };
        let headers = headers.iter().map(|line| format!("{line}\r\n")).collect();
        Ok(Self { address, host: host.to_owned(), prefix, headers })
    }

    /// Opens a WebSocket and waits for its handshake. Also answers what came after it. `number`: how many were opened before,
    /// which spreads them over the loopback addresses.
    pub fn open(&self, path: &str, number: usize) -> anyhow::Result<(TcpStream, Vec<u8>)> {
        let shown = || format!("ws://{}{}{path}", self.host, self.prefix);
        let mut stream = self.connect(number).with_context(shown)?;
        let rest = self.upgrade(&mut stream, path).with_context(shown)?;
        stream.set_nonblocking(true)?;
        Ok((stream, rest))
    }

    fn connect(&self, number: usize) -> anyhow::Result<TcpStream> {
        let socket = Socket::new(Domain::for_address(self.address), Type::STREAM, None)?;
        if self.address.ip() == IpAddr::V4(Ipv4Addr::LOCALHOST) {
            let last = u8::try_from(1 + number / PER_SOURCE % SOURCES).unwrap_or(1);
            socket.set_reuse_address(true)?;
            socket.bind(&SocketAddr::from((Ipv4Addr::new(127, 0, 0, last), 0)).into())?;
        }
        socket.connect_timeout(&self.address.into(), PATIENCE)?;
        socket.set_tcp_nodelay(true)?;
        Ok(socket.into())
    }

    fn upgrade(&self, stream: &mut TcpStream, path: &str) -> anyhow::Result<Vec<u8>> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let (prefix, host, headers) = (&self.prefix, &self.host, &self.headers);
        let request = format!(
            "GET {prefix}{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Version: 13\r\n{headers}\r\n"
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        let mut part = [0; 4096];
        loop {
            let read = stream.read(&mut part)?;
            if read == 0 || answer.len() > HEAD {
                bail!("the server ended the handshake: {}", String::from_utf8_lossy(&answer).trim_end());
            }
            answer.extend(&part[..read]);
            let mut headers = [httparse::EMPTY_HEADER; 64];
            let mut head = httparse::Response::new(&mut headers);
            let httparse::Status::Complete(size) = head.parse(&answer)? else { continue };
            if head.code != Some(101) {
                let code = head.code.unwrap_or(0);
                let _ = stream.take(HEAD as u64).read_to_end(&mut answer);
                bail!("refused: {code} {}", String::from_utf8_lossy(&answer[size..]).trim_end());
            }
            let accept = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case("sec-websocket-accept"));
            if accept.is_none_or(|header| header.value != ANSWER.as_bytes()) {
                bail!("the server does not answer as RFC 6455 says");
            }
            return Ok(answer.split_off(size));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_none_is_told_so() {
        for (url, sentence) in [("http://x", "is not ws://HOST:PORT"), ("ws://127.0.0.1:x/", "has no address")] {
            assert!(Target::new(url, &[]).unwrap_err().to_string().contains(sentence), "{url}");
        }
        assert_eq!(Target::new("ws://127.0.0.1:9/a/b/", &[]).unwrap().prefix, "/a/b");
    }
}
