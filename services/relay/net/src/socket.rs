//! How a TCP connection is set up, whether a client's or another pod's.
use tokio::net::TcpStream;

/// What the kernel takes for a socket beyond what is on its way: more belongs into a queue of ours, where it is bounded, counted
/// and dropped in time. By itself the kernel takes up to 4 MB. Enough for one wake-up at 1 Gbit/s a millisecond late.
#[cfg(target_os = "linux")]
const UNSENT: u32 = 128 * 1024;

/// Small messages go out at once, and what a peer does not take stays with us. A socket without these options works too.
pub fn prepare(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    #[cfg(target_os = "linux")]
    let _ = socket2::SockRef::from(stream).set_tcp_notsent_lowat(UNSENT);
}
