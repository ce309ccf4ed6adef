//! The floor: a relay with nothing in it but the system calls that relaying needs. One thread, epoll, one read for what has come,
//! one write of it to each reader; messages stay messages. It checks nothing, bounds nothing but what a stalled reader leaves
//! behind, and counts nothing: a yardstick, no server.
mod connection;
mod floor;
mod frames;
mod handshake;

fn main() -> anyhow::Result<()> {
    floor::Floor::listen(stream_references::address()?)?.run()
}
