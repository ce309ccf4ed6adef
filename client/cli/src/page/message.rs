//! What visitors say to the service, to each other through it, and to each other. Shapes: `services/protocol/src/pages.ts`, `pages-peer.ts`.
use super::address::Address;
use super::manifest::{is_base64, there};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

/// A manifest within a message.
const MANIFEST_MAX: usize = 262_144;
const HAVE_MAX: usize = 1024;
const SDP_MAX: usize = 16_384;
const CANDIDATE_MAX: usize = 1024;

/// To the service.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
#[allow(missing_docs, reason = "as there")]
pub enum Ask {
    Want {
        page: Address,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        without: Vec<String>,
    },
    Hold {
        page: Address,
        whole: bool,
        bytes: u64,
    },
    Drop {
        page: Address,
    },
    Pipe {
        pipe: String,
    },
    Ping,
}

/// From the service.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[allow(missing_docs, reason = "as there")]
pub enum Told {
    Arrived(Arrived),
    Holders {
        page: Address,
        holders: Vec<Giver>,
    },
    Count(Count),
    Visitors {
        visitors: u64,
    },
    Pipe {
        pipe: String,
        token: String,
    },
    Undelivered {
        to: String,
        id: String,
        reason: String,
    },
    GoElsewhere {
        after_ms: u64,
    },
    Error {
        code: String,
        fatal: bool,
        r#ref: Option<String>,
    },
    #[serde(other)]
    Other,
}

/// The first on a socket (PAGE-5).
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "as there")]
pub struct Arrived {
    pub visitor: String,
    pub ice_servers: Vec<IceServer>,
    pub limits: Limits,
    pub visitors: u64,
}

/// W3C WebRTC, `RTCIceServer`.
#[derive(Clone, Debug, Deserialize)]
pub struct IceServer {
    /// `stun:` and `turn:`.
    pub urls: Vec<String>,
}

/// What a visitor has to keep.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "as there")]
pub struct Limits {
    pub page_bytes: u64,
    pub chunk_bytes: usize,
    pub asked: usize,
    pub served: usize,
    pub memory_bytes: u64,
}

/// Somebody who can give something of a page.
#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs, reason = "as there")]
pub struct Giver {
    pub visitor: String,
    pub whole: bool,
}

/// How many have a page, and how many are fetching it.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[allow(missing_docs, reason = "as there")]
pub struct Count {
    pub page: Address,
    pub holders: u64,
    pub readers: u64,
    pub settled: bool,
}

/// Between two visitors, through the service.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
#[allow(missing_docs, reason = "as there")]
pub enum Signal {
    Offer {
        link: String,
        page: Address,
        sdp: String,
    },
    Answer {
        link: String,
        sdp: String,
    },
    Candidate {
        link: String,
        candidate: String,
        #[serde(deserialize_with = "or_null")]
        mid: Option<String>,
    },
    Refuse {
        link: String,
        why: Refusal,
    },
    Pipe {
        link: String,
        page: Address,
        pipe: String,
    },
}

/// Instead of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "as there")]
pub enum Refusal {
    Busy,
    None,
    Double,
}

/// Between two who are connected. A chunk is a binary message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
#[allow(missing_docs, reason = "as there")]
pub enum Said {
    Open {
        page: Address,
        #[serde(default, deserialize_with = "there", skip_serializing_if = "Option::is_none")]
        manifest: Option<String>,
    },
    Have {
        chunks: String,
    },
    Got {
        chunk: u32,
    },
    Get {
        chunk: u32,
    },
    Not {
        chunk: u32,
    },
    Bye,
}

impl Signal {
    /// What somebody sent, where it is of its shape.
    pub fn read(text: &[u8]) -> Option<Self> {
        let signal: Self = object(text)?;
        let named = |link: &str, most: usize, least: usize| (least..=most).contains(&link.len()) && is_base64(link);
        let fits = match &signal {
            Signal::Offer { sdp, .. } | Signal::Answer { sdp, .. } => sdp.len() <= SDP_MAX,
            Signal::Candidate { candidate, mid, .. } => {
                candidate.len() <= CANDIDATE_MAX && mid.as_ref().is_none_or(|mid| mid.len() <= 32)
            }
            Signal::Pipe { pipe, .. } => named(pipe, 22, 22),
            Signal::Refuse { .. } => true,
        };
        (fits && named(signal.link(), 22, 8)).then_some(signal)
    }

    /// Of which link.
    pub fn link(&self) -> &str {
        match self {
            Signal::Offer { link, .. }
            | Signal::Answer { link, .. }
            | Signal::Candidate { link, .. }
            | Signal::Refuse { link, .. }
            | Signal::Pipe { link, .. } => link,
        }
    }
}

impl Said {
    /// What somebody sent, where it is of its shape.
    pub fn read(text: &str) -> Option<Self> {
        let said: Self = object(text.as_bytes())?;
        let fits = match &said {
            Said::Open { manifest, .. } => manifest.as_ref().is_none_or(|text| text.len() <= MANIFEST_MAX),
            Said::Have { chunks } => chunks.len() <= HAVE_MAX,
            _ => true,
        };
        fits.then_some(said)
    }
}

/// A message is an object: serde takes lists for one too.
fn object<Message: DeserializeOwned>(text: &[u8]) -> Option<Message> {
    text.trim_ascii_start().starts_with(b"{").then(|| serde_json::from_slice(text).ok())?
}

/// Null, but not missing.
fn or_null<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Option::deserialize(from)
}

/// The number of a chunk and its bytes, in one message.
pub fn frame(chunk: u32, bytes: &[u8]) -> Vec<u8> {
    [&chunk.to_be_bytes(), bytes].concat()
}
