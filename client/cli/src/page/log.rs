//! What is said of pages: lines for people, or lines of JSON.
use super::address::Address;
use super::link::Way;
use super::state::State;
use super::visitor::Visitor;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// Between two lines of JSON about one page that is as far as it was.
const PACE: Duration = Duration::from_secs(1);

/// Says what changed.
pub struct Log {
    json: bool,
    said: BTreeMap<Address, (State, String, Instant)>,
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
    /// With any page of the site open.
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
    way: Way,
    whole: bool,
    received: u64,
    sent: u64,
}

impl Log {
    /// For programs, or for people.
    pub fn new(json: bool) -> Self {
        Self { json, said: BTreeMap::new() }
    }

    /// Says what is new since the last look.
    pub fn look(&mut self, visitor: &Visitor) -> anyhow::Result<()> {
        let now = Instant::now();
        for page in visitor.pages.keys() {
            let line = line(visitor, *page);
            let before = self.said.get(page);
            let changed = before.is_none_or(|(state, ..)| *state != line.state);
            if !changed && (!self.json || before.is_some_and(|(.., at)| now < *at + PACE)) {
                continue;
            }
            let text = serde_json::to_string(&line)?;
            if !changed && before.is_some_and(|(_, said, _)| *said == text) {
                continue;
            }
            match self.json {
                true => write(&stamped(&text))?,
                false => say(&line)?,
            }
            self.said.insert(*page, (line.state, text, now));
        }
        Ok(())
    }
}

fn line(visitor: &Visitor, page: Address) -> Line<'_> {
    let state = &visitor.pages[&page];
    let peers = visitor.peers(page).map(|(id, link)| {
        let peer = state.swarm.peer(*id);
        let (received, sent) = peer.map_or((0, 0), |peer| (peer.received, peer.sent));
        Peer { visitor: &link.visitor, way: link.way, whole: state.swarm.has_whole(*id), received, sent }
    });
    let peers: Vec<Peer<'_>> = peers.collect();
    let copy = state.swarm.copy.as_ref();
    Line {
        page,
        state: state.state(!peers.is_empty()),
        why: state.why(),
        bytes: copy.map(|copy| copy.manifest.bytes),
        chunks: copy.map(|copy| Chunks { here: copy.here(), of: copy.count() }),
        holders: state.count.as_ref().map(|count| count.holders),
        readers: state.count.as_ref().map(|count| count.readers),
        settled: state.count.as_ref().is_some_and(|count| count.settled),
        visitors: visitor.arrived.as_ref().filter(|_| visitor.is_up).map(|arrived| arrived.visitors),
        received: state.swarm.received,
        sent: state.swarm.sent,
        dropped: state.dropped.len(),
        peers,
    }
}

/// With milliseconds since 1970.
fn stamped(line: &str) -> String {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    format!("{{\"timeMs\":{time},{}\n", line.trim_start_matches('{'))
}

fn say(line: &Line<'_>) -> anyhow::Result<()> {
    let Line { page, state, why, bytes, chunks, .. } = line;
    let (bytes, of) = (bytes.unwrap_or(0), chunks.as_ref().map_or(0, |chunks| chunks.of));
    match state {
        State::Finding => eprintln!("parley: {page}: looking for whoever has it"),
        State::Fetching => eprintln!("parley: {page}: it comes"),
        State::Gone => eprintln!("parley: {page}: nobody holds it; waiting"),
        State::Refused => eprintln!("parley: {page}: {}", why.as_deref().unwrap_or("refused")),
        State::Here => write(&format!("{page} is here: {bytes} bytes in {of} chunks\n"))?,
    }
    Ok(())
}

/// On standard output.
pub fn write(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}
