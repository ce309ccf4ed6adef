//! The socket options of TCP connections of clients and of other pods.
use tokio::net::TcpStream;

/// The unsent bytes that the kernel accepts for a socket. More bytes belong into a queue of the relay, where they are bounded, counted and
/// dropped in time; by default the kernel accepts up to 4 MB. Enough for a wake-up at 1 Gbit/s that is a millisecond late.
#[cfg(target_os = "linux")]
const MAX_UNSENT: u32 = 128 * 1024;

/// Sends small messages at once, and limits the unsent bytes in the kernel. Errors are ignored: a socket works without these options too.
pub fn prepare(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    #[cfg(target_os = "linux")]
    let _ = socket2::SockRef::from(stream).set_tcp_notsent_lowat(MAX_UNSENT);
}
