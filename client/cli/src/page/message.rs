//! What visitors send to the service, to each other through it, and to each other: the types of the contract, and the frame of a chunk.
use super::address::Address;
use parley_protocol::bounded::OutOfBounds;
pub use parley_protocol::link::{self, Message as Signal, RejectReason};
pub use parley_protocol::peer::{self, Message as Said};
use parley_protocol::shared::LinkId;
pub use parley_protocol::visit::Message as Told;
pub use parley_protocol::visitor::{self, Message as Ask};

/// Of which link.
pub fn link_of(signal: &Signal) -> &LinkId {
    match signal {
        Signal::Offer(link::Offer { link, .. })
        | Signal::Answer(link::Answer { link, .. })
        | Signal::Candidate(link::Candidate { link, .. })
        | Signal::Reject(link::Reject { link, .. })
        | Signal::Pipe(link::Pipe { link, .. }) => link,
    }
}

/// The first on a connection: which page it is about, and the manifest where it is here.
pub fn handshake(page: Address, manifest: Option<&str>) -> Result<Said, OutOfBounds> {
    Ok(Said::Handshake(peer::Handshake { page: page.into(), manifest: manifest.map(str::parse).transpose()? }))
}

/// Which chunks are here.
pub fn bitfield(chunks: &str) -> Result<Said, OutOfBounds> {
    Ok(Said::Bitfield(peer::Bitfield { chunks: chunks.parse()? }))
}

/// One more chunk is here.
pub fn have(chunk: u32) -> Said {
    Said::Have(peer::Have { chunk: chunk.into() })
}

/// Asks for a chunk.
pub fn request(chunk: u32) -> Said {
    Said::Request(peer::Request { chunk: chunk.into() })
}

/// Refuses a chunk.
pub fn reject(chunk: u32) -> Said {
    Said::Reject(peer::Reject { chunk: chunk.into() })
}

/// The number of a chunk in a message. One that no page has stays one that no page has.
pub fn number(chunk: u64) -> u32 {
    u32::try_from(chunk).unwrap_or(u32::MAX)
}

/// The number of a chunk and its bytes, in one message.
pub fn frame(chunk: u32, bytes: &[u8]) -> Vec<u8> {
    [&chunk.to_be_bytes(), bytes].concat()
}
