//! The encrypted bytes of a link after its handshake. Publishers write from any thread without waiting, as they do to a plain
//! socket, so the connection's state is behind a lock that is held only to encrypt or decrypt what is there. Rules STR-91 and STR-95.
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

/// Ciphertext that may wait here for the socket: eight records, as much as the socket takes unsent.
const UNSENT: usize = 128 * 1024;

/// One end of a link.
pub struct Stream {
    socket: TcpStream,
    tls: Mutex<Connection>,
}

/// The end's incoming bytes.
pub struct Inbound {
    stream: Arc<Stream>,
    ciphertext: Box<[u8]>,
    /// What of it was not decrypted yet.
    rest: Range<usize>,
}

/// The end's outgoing bytes; dropping it ends them with a close_notify.
pub struct TlsOutlet(Arc<Stream>);

/// Takes a connection apart whose handshake is over. One read of the socket takes `read` bytes.
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
    tls.set_buffer_limit(Some(UNSENT));
    let stream = Arc::new(Stream { socket, tls: Mutex::new(tls) });
    let inbound = Inbound { stream: Arc::clone(&stream), ciphertext: vec![0; read].into(), rest: 0..0 };
    (inbound, TlsOutlet(stream))
}

impl Stream {
    /// Ready when the socket takes bytes.
    pub async fn writable(&self) -> io::Result<()> {
        self.socket.writable().await
    }

    /// Sends what is encrypted.
    fn send(&self, tls: &mut Connection) -> io::Result<()> {
        while tls.wants_write() {
            tls.write_tls(&mut Unsent(&self.socket))?;
        }
        Ok(())
    }
}

impl Inbound {
    /// The connection, to wait until it is writable.
    pub fn stream(&self) -> Arc<Stream> {
        Arc::clone(&self.stream)
    }

    /// Waits for bytes, and decrypts what is there as far as it fits into `into`. 0: the other side ended.
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
                    // Records without plaintext: a peer that sends nothing else keeps no thread, and its link is found dead.
                    yield_now().await;
                }
                Err(why) if why.kind() == ErrorKind::WouldBlock => {}
                Err(why) => return Err(why),
            }
        }
    }

    /// `None`: more has to come first.
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
                Err(why) if why.kind() == ErrorKind::WouldBlock => {}
                Err(why) => return Err(why),
            }
            if self.rest.is_empty() {
                return Ok((read > 0).then_some(read));
            }
            let mut from = &self.ciphertext[self.rest.clone()];
            tls.read_tls(&mut from)?;
            self.rest.start = self.rest.end - from.len();
            let taken = tls.process_new_packets();
            // An alert, or the answer to a change of keys; what the socket does not take goes with the next message.
            let _ = self.stream.send(&mut tls);
            taken.map_err(|why| Error::new(ErrorKind::InvalidData, why))?;
        }
    }
}

impl TlsOutlet {
    /// Waits until the socket has all of `bytes`.
    pub async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        loop {
            let written = if bytes.is_empty() { self.flush().map(|()| 0) } else { self.write(bytes) };
            match written {
                Ok(0) => return Ok(()),
                Ok(written) => bytes = &bytes[written..],
                Err(why) if why.kind() == ErrorKind::WouldBlock => self.0.writable().await?,
                Err(why) => return Err(why),
            }
        }
    }
}

impl Outlet for TlsOutlet {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    /// Encrypts nothing while the socket has not taken what was encrypted before.
    fn write_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut tls = self.0.tls.lock();
        self.0.send(&mut tls)?;
        let written = tls.writer().write_vectored(pieces)?;
        match self.0.send(&mut tls) {
            Err(why) if why.kind() != ErrorKind::WouldBlock => Err(why),
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

/// The socket as rustls writes to it.
struct Unsent<'a>(&'a TcpStream);

impl Write for Unsent<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.try_write_vectored(pieces)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
