//! Messages of a visitor with the service, with other visitors through the service, and with peers directly; and the frame of a chunk.
use super::address::Address;
use parley_protocol::bounded::OutOfBounds;
pub use parley_protocol::link::{self, Message as Signal, RejectReason};
pub use parley_protocol::peer::{self, Message as PeerMessage};
use parley_protocol::shared::LinkId;
pub use parley_protocol::visit::Message as ServerMessage;
pub use parley_protocol::visitor::{self, Message as ClientMessage};

/// The link that a signal is about.
pub fn link_of(signal: &Signal) -> &LinkId {
    match signal {
        Signal::Offer(link::Offer { link, .. })
        | Signal::Answer(link::Answer { link, .. })
        | Signal::Candidate(link::Candidate { link, .. })
        | Signal::Reject(link::Reject { link, .. })
        | Signal::Pipe(link::Pipe { link, .. }) => link,
    }
}

/// The first message on a connection: the page, and its manifest if it is known.
pub fn handshake(page: Address, manifest: Option<&str>) -> Result<PeerMessage, OutOfBounds> {
    Ok(PeerMessage::Handshake(peer::Handshake { page: page.into(), manifest: manifest.map(str::parse).transpose()? }))
}

/// The chunks that are present.
pub fn bitfield(chunks: &str) -> Result<PeerMessage, OutOfBounds> {
    Ok(PeerMessage::Bitfield(peer::Bitfield { chunks: chunks.parse()? }))
}

/// One more chunk is present.
pub fn have(chunk: u32) -> PeerMessage {
    PeerMessage::Have(peer::Have { chunk: chunk.into() })
}

/// Requests a chunk.
pub fn request(chunk: u32) -> PeerMessage {
    PeerMessage::Request(peer::Request { chunk: chunk.into() })
}

/// Rejects the request for a chunk.
pub fn reject(chunk: u32) -> PeerMessage {
    PeerMessage::Reject(peer::Reject { chunk: chunk.into() })
}

/// The number of a chunk in a message. A number that no page has remains one that no page has.
pub fn number(chunk: u64) -> u32 {
    u32::try_from(chunk).unwrap_or(u32::MAX)
}

/// The message with a chunk: its number and its bytes.
pub fn frame(chunk: u32, bytes: &[u8]) -> Vec<u8> {
    [&chunk.to_be_bytes(), bytes].concat()
}
