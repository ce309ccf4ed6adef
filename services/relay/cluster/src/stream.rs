//! The encrypted stream of a link after its handshake. Publishers write from any thread without waiting, as to a plain socket, so the state of the
//! connection is behind a lock that is held only to encrypt or decrypt available bytes. Rules STR-91 and STR-95.
use parking_lot::Mutex;
use parley_streams::reader::Outlet;
use socket2::SockRef;
use std::io::{self, Error, ErrorKind, IoSlice, Read, Write};
use std::net::Shutdown;
use std::ops::Range;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::task::yield_now;
use tokio_rustls::TlsStream;
use tokio_rustls::rustls::Connection;

/// The ciphertext that may wait for the socket: eight records, as much as the socket holds unsent.
const MAX_UNSENT: usize = 128 * 1024;

/// One end of a link.
pub struct Stream {
    socket: TcpStream,
    tls: Mutex<Connection>,
}

/// The incoming half of a stream.
pub struct Inbound {
    stream: Arc<Stream>,
    ciphertext: Box<[u8]>,
    /// The range that is not decrypted yet.
    rest: Range<usize>,
}

/// The outgoing half of a stream. Dropping it sends a close_notify.
pub struct TlsOutlet(Arc<Stream>);

/// Splits a connection after its handshake. One read of the socket takes at most `read` bytes.
pub fn split(stream: TlsStream<TcpStream>, read: usize) -> (Inbound, TlsOutlet) {
    let (socket, mut tls) = match stream {
        TlsStream::Client(stream) => {
            let (socket, tls) = stream.into_inner();
            (socket, Connection::from(tls))
        }
        TlsStream::Server(stream) => {
            let (socket, tls) = stream.into_inner();
            (socket, Connection::from(tls))
        }
    };
    tls.set_buffer_limit(Some(MAX_UNSENT));
    let stream = Arc::new(Stream { socket, tls: Mutex::new(tls) });
    let inbound = Inbound { stream: Arc::clone(&stream), ciphertext: vec![0; read].into(), rest: 0..0 };
    (inbound, TlsOutlet(stream))
}

impl Stream {
    /// Waits until the socket accepts bytes.
    pub async fn writable(&self) -> io::Result<()> {
        self.socket.writable().await
    }

    /// Writes the ciphertext to the socket.
    fn send(&self, tls: &mut Connection) -> io::Result<()> {
        while tls.wants_write() {
            tls.write_tls(&mut SocketWriter(&self.socket))?;
        }
        Ok(())
    }
}

impl Inbound {
    /// The stream, to wait until it is writable.
    pub fn stream(&self) -> Arc<Stream> {
        Arc::clone(&self.stream)
    }

    /// Waits for bytes, and decrypts as many as fit into `into`. Returns 0 when the peer ended the stream.
    pub async fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(read) = self.decrypt(into)? {
                return Ok(read);
            }
            self.stream.socket.readable().await?;
            match self.stream.socket.try_read(&mut self.ciphertext) {
                Ok(0) => return Ok(0),
                Ok(read) => {
                    self.rest = 0..read;
                    if let Some(read) = self.decrypt(into)? {
                        return Ok(read);
                    }
                    // Records without plaintext. A peer that sends only these must not occupy the thread, and runs into the idle timeout.
                    yield_now().await;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Decrypts available bytes. `None`: more bytes must arrive first.
    fn decrypt(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        let mut tls = self.stream.tls.lock();
        let mut read = 0;
        loop {
            match tls.reader().read(&mut into[read..]) {
                Ok(0) => return Ok(Some(read)),
                Ok(more) => {
                    read += more;
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            if self.rest.is_empty() {
                return Ok((read > 0).then_some(read));
            }
            let mut from = &self.ciphertext[self.rest.clone()];
            tls.read_tls(&mut from)?;
            self.rest.start = self.rest.end - from.len();
            let taken = tls.process_new_packets();
            // Sends an alert or the answer to a key update. What the socket does not accept is sent with the next message.
            let _ = self.stream.send(&mut tls);
            taken.map_err(|error| Error::new(ErrorKind::InvalidData, error))?;
        }
    }
}

impl TlsOutlet {
    /// Writes all of `bytes` to the socket.
    pub async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        loop {
            let written = if bytes.is_empty() { self.flush().map(|()| 0) } else { self.write(bytes) };
            match written {
                Ok(0) => return Ok(()),
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.0.writable().await?,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Outlet for TlsOutlet {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    /// Encrypts nothing while earlier ciphertext waits for the socket.
    fn write_vectored(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut tls = self.0.tls.lock();
        self.0.send(&mut tls)?;
        let written = tls.writer().write_vectored(slices)?;
        match self.0.send(&mut tls) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(written),
        }
    }

    fn flush(&self) -> io::Result<()> {
        self.0.send(&mut self.0.tls.lock())
    }
}

impl Drop for TlsOutlet {
    fn drop(&mut self) {
        let mut tls = self.0.tls.lock();
        tls.send_close_notify();
        let _ = self.0.send(&mut tls);
        let _ = SockRef::from(&self.0.socket).shutdown(Shutdown::Write);
    }
}

/// Adapts the socket to the writer that rustls needs.
struct SocketWriter<'a>(&'a TcpStream);

impl Write for SocketWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.try_write_vectored(slices)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
