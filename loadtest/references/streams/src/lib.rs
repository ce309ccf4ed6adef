//! What the reference relays share: where they listen and what a path means.
use anyhow::Context;
use std::net::{Ipv4Addr, SocketAddr};

/// The port named on the command line, on this machine alone: a reference admits every client.
pub fn address() -> anyhow::Result<SocketAddr> {
    let port = std::env::args().nth(1).context("usage: <program> PORT")?;
    Ok((Ipv4Addr::LOCALHOST, port.parse().context("PORT must be a number")?).into())
}

/// What a client does on its topic: as the relay's rules STR-1 to STR-3, for paths that need no check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// `/out/x` for both `/in/x` and `/out/x`.
    pub topic: String,
    /// Readers get what it sends.
    pub publishes: bool,
    /// It gets what others send.
    pub reads: bool,
}

impl Place {
    /// The place of a client that upgraded on this path.
    pub fn of(path: &str) -> Self {
        let topic = path.strip_prefix("/in/").map_or_else(|| path.to_owned(), |name| format!("/out/{name}"));
        Self { topic, publishes: !path.starts_with("/out/"), reads: !path.starts_with("/in/") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_into_a_topic_comes_out_of_it() {
        let place = |topic: &str, publishes, reads| Place { topic: topic.into(), publishes, reads };
        assert_eq!(Place::of("/in/t0"), place("/out/t0", true, false));
        assert_eq!(Place::of("/out/t0"), place("/out/t0", false, true));
        assert_eq!(Place::of("/t0"), place("/t0", true, true));
    }
}
