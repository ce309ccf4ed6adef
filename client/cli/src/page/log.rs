//! Output about pages: text for people, or JSON lines.
use super::address::Address;
use super::link::Path;
use super::state::State;
use super::visitor::Visitor;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// The pause between two JSON lines about one page in the same state.
const INTERVAL: Duration = Duration::from_secs(1);

/// Writes changes.
pub struct Log {
    json: bool,
    written: BTreeMap<Address, (State, String, Instant)>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    page: Address,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    bytes: Option<u64>,
    chunks: Option<Chunks>,
    holders: Option<u64>,
    readers: Option<u64>,
    settled: bool,
    /// Visitors that have any page of the site open.
    visitors: Option<u64>,
    received: u64,
    sent: u64,
    dropped: usize,
    peers: Vec<Peer<'a>>,
}

#[derive(Serialize)]
struct Chunks {
    here: u32,
    of: u32,
}

#[derive(Serialize)]
struct Peer<'a> {
    visitor: &'a str,
    way: Path,
    whole: bool,
    received: u64,
    sent: u64,
}

impl Log {
    /// JSON lines for programs, or text for people.
    pub fn new(json: bool) -> Self {
        Self { json, written: BTreeMap::new() }
    }

    /// Writes what changed since the last call.
    pub fn update(&mut self, visitor: &Visitor) -> anyhow::Result<()> {
        let now = Instant::now();
        for page in visitor.pages.keys() {
            let line = line(visitor, *page);
            let before = self.written.get(page);
            let changed = before.is_none_or(|(state, ..)| *state != line.state);
            if !changed && (!self.json || before.is_some_and(|(.., at)| now < *at + INTERVAL)) {
                continue;
            }
            let text = serde_json::to_string(&line)?;
            if !changed && before.is_some_and(|(_, written, _)| *written == text) {
                continue;
            }
            match self.json {
                true => write(&stamped(&text))?,
                false => write_text(&line)?,
            }
            self.written.insert(*page, (line.state, text, now));
        }
        Ok(())
    }
}

fn line(visitor: &Visitor, page: Address) -> Line<'_> {
    let state = &visitor.pages[&page];
    let peers = visitor.peers(page).map(|(id, link)| {
        let peer = state.swarm.peer(*id);
        let (received, sent) = peer.map_or((0, 0), |peer| (peer.received, peer.sent));
        Peer { visitor: &link.visitor, way: link.path, whole: state.swarm.peer_is_complete(*id), received, sent }
    });
    let peers: Vec<Peer<'_>> = peers.collect();
    let store = state.swarm.store.as_ref();
    Line {
        page,
        state: state.state(!peers.is_empty()),
        why: state.refusal(),
        bytes: store.map(|store| store.manifest.bytes),
        chunks: store.map(|store| Chunks { here: store.present(), of: store.count() }),
        holders: state.count.as_ref().map(|count| count.holders),
        readers: state.count.as_ref().map(|count| count.readers),
        settled: state.count.as_ref().is_some_and(|count| count.settled),
        visitors: visitor.welcome.as_ref().filter(|_| visitor.connected).map(|welcome| welcome.visitors),
        received: state.swarm.received,
        sent: state.swarm.sent,
        dropped: state.banned.len(),
        peers,
    }
}

/// A line with the time in milliseconds since 1970.
fn stamped(line: &str) -> String {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    format!("{{\"timeMs\":{time},{}\n", line.trim_start_matches('{'))
}

fn write_text(line: &Line<'_>) -> anyhow::Result<()> {
    let Line { page, state, why, bytes, chunks, .. } = line;
    let (bytes, of) = (bytes.unwrap_or(0), chunks.as_ref().map_or(0, |chunks| chunks.of));
    match state {
        State::Finding => eprintln!("parley: {page}: looking for a holder"),
        State::Fetching => eprintln!("parley: {page}: fetching"),
        State::Gone => eprintln!("parley: {page}: no holder; waiting"),
        State::Refused => eprintln!("parley: {page}: {}", why.as_deref().unwrap_or("refused")),
        State::Here => write(&format!("{page} is complete: {bytes} bytes in {of} chunks\n"))?,
    }
    Ok(())
}

/// Writes to standard output.
pub fn write(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}
