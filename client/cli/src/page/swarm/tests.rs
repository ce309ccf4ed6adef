use super::download::{MAX_STRIKES, MAX_WINDOW};
use super::peer::INITIAL_WINDOW;
use super::upload::PROGRESS_PERIOD;
use super::*;
use crate::page::bitfield::Bitfield;
use crate::page::manifest::{Head, Manifest, NewPage, make};
use crate::page::message::{bitfield, handshake, have, reject, request};
use tokio_tungstenite::tungstenite::Bytes;

const CHUNKS: u32 = 20;

/// A page of twenty chunks and one of its readers.
struct Setup {
    chunks: Vec<Bytes>,
    page: Address,
    text: String,
    reader: Swarm,
    now: Instant,
}

fn setup() -> Setup {
    let content: Vec<u8> = (0..CHUNKS * 100).map(|at| u8::try_from(at % 251).unwrap()).collect();
    let NewPage { page, text, chunks, .. } =
        make(&content, Head { r#type: "text/plain".into(), name: None }, 100, None).unwrap();
    Setup { chunks, page, text, reader: Swarm::new(page, 10_000, 7), now: Instant::now() }
}

impl Setup {
    fn actions(&mut self) -> Vec<Action> {
        std::iter::from_fn(|| self.reader.next_action()).collect()
    }

    /// The chunks that the reader requests from a peer.
    fn requests_to(&mut self, of: PeerId) -> Vec<u32> {
        let request = |action| match action {
            Action::SendMessage(id, PeerMessage::Request(request)) if id == of => Some(number(request.chunk)),
            _ => None,
        };
        self.actions().into_iter().filter_map(request).collect()
    }

    /// Connects a peer that has these chunks.
    fn join(&mut self, id: PeerId, has: impl Fn(u32) -> bool) {
        self.reader.add_peer(id, self.now);
        let manifest = Some(self.text.clone());
        self.reader.on_message(id, handshake(self.page, manifest.as_deref()).unwrap(), self.now);
        self.reader.on_message(id, bitfield(&Bitfield::from_fn(CHUNKS, has).encode()).unwrap(), self.now);
    }

    fn send_chunk(&mut self, id: PeerId, chunk: u32) {
        let bytes = self.chunks[chunk as usize].clone();
        self.send(id, chunk, &bytes);
    }

    fn send(&mut self, id: PeerId, chunk: u32, bytes: &[u8]) {
        let message = Bytes::from([&chunk.to_be_bytes(), bytes].concat());
        self.reader.on_chunk(id, &message, self.now);
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        self.reader.tick(self.now);
    }

    /// Answers requests until there are none. Returns how often each chunk was requested from each peer.
    fn serve(&mut self) -> BTreeMap<(PeerId, u32), usize> {
        let mut counts = BTreeMap::new();
        loop {
            let actions = self.actions();
            let requests: Vec<(PeerId, u32)> = actions
                .into_iter()
                .filter_map(|action| match action {
                    Action::SendMessage(id, PeerMessage::Request(request)) => Some((id, number(request.chunk))),
                    _ => None,
                })
                .collect();
            if requests.is_empty() {
                return counts;
            }
            for (id, chunk) in requests {
                *counts.entry((id, chunk)).or_default() += 1;
                self.send_chunk(id, chunk);
            }
        }
    }

    fn disconnects_misbehaving(&mut self, id: PeerId) -> bool {
        self.actions()
            .iter()
            .any(|action| matches!(action, Action::Disconnect(other, DisconnectReason::Misbehaved(_)) if *other == id))
    }
}

#[test]
fn page_16_a_page_is_fetched_from_several_peers_and_few_chunks_are_requested_twice() {
    let mut setup = setup();
    setup.join(1, |chunk| chunk < 15);
    setup.join(2, |chunk| chunk >= 5);
    let counts = setup.serve();
    assert!(setup.reader.is_complete());
    let requests: usize = counts.values().sum();
    assert!((20..=22).contains(&requests), "{counts:?}");
    assert!(counts.keys().all(|(id, chunk)| if *id == 1 { *chunk < 15 } else { *chunk >= 5 }));
    assert!(counts.keys().filter(|(id, _)| *id == 1).count() >= 5);
}

#[test]
fn page_16_at_most_eight_chunks_are_requested_from_a_peer_at_once() {
    let mut setup = setup();
    setup.join(1, |_| true);
    let mut waiting: VecDeque<u32> = setup.requests_to(1).into();
    assert_eq!(waiting.len(), INITIAL_WINDOW);
    let mut most = 0;
    while let Some(chunk) = waiting.pop_front() {
        setup.send_chunk(1, chunk);
        waiting.extend(setup.requests_to(1));
        most = most.max(waiting.len());
    }
    assert!(setup.reader.is_complete() && most == MAX_WINDOW, "{most}");
}

#[test]
fn page_17_the_rarest_chunks_are_requested_first() {
    for seed in 0..20 {
        let mut setup = setup();
        setup.reader = Swarm::new(setup.page, 10_000, seed);
        // The manifest is known, so that no chunk is requested before all peers are connected.
        setup.reader.store =
            Some(ChunkStore::new(Manifest::read(&setup.text, setup.page, 10_000).unwrap(), setup.text.clone()));
        setup.join(1, |_| false);
        setup.join(2, |chunk| chunk != 4);
        setup.actions();
        setup.reader.remove_peer(2, setup.now);
        setup.join(3, |chunk| chunk != 4 && chunk != 9);
        setup.actions();
        setup.join(4, |_| true);
        let first = setup.requests_to(4);
        assert_eq!(first.iter().copied().collect::<std::collections::BTreeSet<_>>(), [4, 9].into(), "{seed}");
    }
}

#[test]
fn page_3_a_peer_that_sends_a_wrong_chunk_is_disconnected_and_the_chunk_is_fetched_from_another() {
    let mut setup = setup();
    setup.join(1, |_| true);
    let bad = setup.requests_to(1)[0];
    setup.send(1, bad, &[0; 100]);
    assert!(setup.disconnects_misbehaving(1));
    setup.join(2, |_| true);
    assert!(setup.serve().contains_key(&(2, bad)) && setup.reader.is_complete());
}

#[test]
fn a_peer_that_sends_a_chunk_without_a_request_is_disconnected() {
    for (chunk, size) in [(19, 100), (99, 100)] {
        let mut setup = setup();
        setup.join(1, |chunk| chunk < 10);
        setup.send(1, chunk, &vec![0; size]);
        assert!(setup.disconnects_misbehaving(1));
    }
    let mut setup = setup();
    setup.join(1, |_| true);
    setup.reader.on_chunk(1, &Bytes::from_static(&[1, 2]), setup.now);
    assert!(setup.disconnects_misbehaving(1));
}

#[test]
fn page_16_a_late_chunk_is_requested_from_another_peer_and_three_failures_disconnect_a_peer() {
    let mut setup = setup();
    setup.join(1, |_| true);
    let late = setup.requests_to(1);
    setup.wait(ANSWER_TIMEOUT - Duration::from_millis(1));
    assert!(setup.requests_to(1).is_empty());
    setup.join(2, |_| true);
    assert!(setup.requests_to(2).iter().all(|chunk| !late.contains(chunk)));
    setup.reader.remove_peer(2, setup.now);
    setup.wait(Duration::from_millis(1));
    // Requests that expire together count as one failure and halve the window.
    assert_eq!(setup.requests_to(1).len(), 1);
    setup.join(2, |_| true);
    setup.wait(ANSWER_TIMEOUT);
    assert!(setup.reader.peer(1).is_some());
    setup.actions();
    while setup.reader.peer(1).is_some() {
        setup.wait(ANSWER_TIMEOUT);
    }
    let left = |action: &Action| matches!(action, Action::Disconnect(1, DisconnectReason::Stalled));
    assert!(setup.actions().iter().any(left), "the peer may be contacted again later");
    setup.reader.remove_peer(2, setup.now);
    setup.join(3, |_| true);
    assert!(late.iter().all(|chunk| setup.serve().contains_key(&(3, *chunk)) || setup.reader.is_complete()));
    assert!(setup.reader.is_complete());
}

#[test]
fn a_late_chunk_is_stored_and_clears_the_strikes_of_its_sender() {
    let mut setup = setup();
    setup.join(1, |_| true);
    let late = setup.requests_to(1);
    setup.wait(ANSWER_TIMEOUT);
    assert!(setup.reader.peers[&1].strikes > 0);
    setup.send_chunk(1, late[0]);
    assert_eq!(setup.reader.peers[&1].strikes, 0);
    assert!(setup.reader.store.as_ref().unwrap().contains(late[0]));
}

#[test]
fn a_lost_chunk_is_requested_again_from_its_only_holder() {
    let mut setup = setup();
    setup.join(1, |_| true);
    let lost = setup.requests_to(1)[0];
    let others: Vec<u32> = setup.reader.peers[&1].requested.keys().copied().filter(|chunk| *chunk != lost).collect();
    others.into_iter().for_each(|chunk| setup.send_chunk(1, chunk));
    setup.serve();
    setup.wait(ANSWER_TIMEOUT);
    setup.serve();
    setup.wait(ANSWER_TIMEOUT);
    assert!(setup.serve().contains_key(&(1, lost)) && setup.reader.is_complete());
}

#[test]
fn page_16_a_peer_that_rejects_chunks_of_its_bitfield_is_disconnected() {
    let mut setup = setup();
    setup.join(1, |_| true);
    let mut rejected = 0;
    while let [chunk, ..] = setup.requests_to(1)[..] {
        setup.reader.on_message(1, reject(chunk), setup.now);
        rejected += 1;
        if setup.reader.peer(1).is_none() {
            break;
        }
    }
    assert_eq!((rejected, setup.reader.peer(1).is_none()), (usize::from(MAX_STRIKES), true));
}

#[test]
fn repeated_handshakes_of_a_peer_are_answered_at_a_limited_rate() {
    let mut setup = setup();
    setup.join(1, |_| true);
    setup.serve();
    setup.reader.add_peer(2, setup.now);
    setup.actions();
    setup.wait(Duration::from_secs(1));
    for _ in 0..100 {
        setup.reader.on_message(2, handshake(setup.page, None).unwrap(), setup.now);
    }
    let handshake = |action: &Action| matches!(action, Action::SendMessage(2, PeerMessage::Handshake(_)));
    assert!(setup.actions().iter().filter(|action| handshake(action)).count() <= 1);
}

#[test]
fn a_peer_that_announces_chunks_that_the_page_does_not_have_is_disconnected() {
    for claim in
        [Bitfield::from_fn(CHUNKS + 1, |_| true).encode(), Bitfield::from_fn(200, |_| false).encode(), "?".into()]
    {
        let mut setup = setup();
        setup.join(1, |_| false);
        setup.reader.on_message(1, bitfield(&claim).unwrap(), setup.now);
        assert!(setup.disconnects_misbehaving(1));
    }
    let mut setup = setup();
    setup.join(1, |_| false);
    setup.reader.on_message(1, have(CHUNKS), setup.now);
    assert!(setup.disconnects_misbehaving(1));
}

#[test]
fn page_16_have_counts_where_the_bitfield_was_lost() {
    let mut setup = setup();
    setup.join(1, |_| false);
    setup.reader.add_peer(2, setup.now);
    setup.reader.on_message(2, handshake(setup.page, None).unwrap(), setup.now);
    setup.reader.on_message(2, have(7), setup.now);
    assert_eq!(setup.requests_to(2), [7]);
}

#[test]
fn page_16_a_peer_may_announce_chunks_before_the_manifest_is_known() {
    let mut setup = setup();
    setup.reader.add_peer(1, setup.now);
    setup.reader.on_message(1, handshake(setup.page, None).unwrap(), setup.now);
    setup.reader.on_message(1, bitfield(&Bitfield::from_fn(CHUNKS, |_| false).encode()).unwrap(), setup.now);
    setup.reader.on_message(1, have(3), setup.now);
    assert!(!setup.disconnects_misbehaving(1));
    setup.join(2, |_| false);
    assert_eq!(setup.requests_to(1), [3]);
}

#[test]
fn another_manifest_disconnects_its_sender_and_a_page_that_is_too_large_fails() {
    let mut wrong = setup();
    let page = wrong.page;
    wrong.reader.add_peer(1, wrong.now);
    wrong.reader.on_message(1, handshake(page, Some("{}")).unwrap(), wrong.now);
    assert!(wrong.disconnects_misbehaving(1) && wrong.reader.error.is_none());
    let mut large = setup();
    large.reader = Swarm::new(large.page, 1999, 7);
    large.join(1, |_| true);
    assert_eq!(large.reader.error, Some(PageError::TooLarge(2000)));
    assert!(large.requests_to(1).is_empty() && large.reader.peer(1).is_none());
}

#[test]
fn page_16_requested_chunks_are_sent_in_order_and_at_most_four_at_once() {
    let mut setup = setup();
    setup.join(1, |_| true);
    setup.serve();
    setup.join(2, |_| false);
    setup.actions();
    for chunk in 0..8 {
        setup.reader.on_message(2, request(chunk), setup.now);
    }
    setup.reader.on_message(2, request(99), setup.now);
    let actions = setup.actions();
    let sends: Vec<_> = (0..4).map(|chunk| Action::SendChunk(2, chunk)).collect();
    assert_eq!(actions[..4], sends);
    assert_eq!(actions[4..], [Action::SendMessage(2, reject(99))]);
    setup.reader.chunk_sent(2, setup.now);
    assert_eq!((setup.actions(), setup.reader.sent), (vec![Action::SendChunk(2, 4)], 100));
}

#[test]
fn a_chunk_that_is_requested_twice_is_queued_once() {
    let mut setup = setup();
    setup.join(1, |_| true);
    setup.serve();
    setup.join(2, |_| false);
    for chunk in (0..CHUNKS).cycle().take(1000) {
        setup.reader.on_message(2, request(chunk), setup.now);
    }
    assert!(!setup.disconnects_misbehaving(2) && setup.reader.peers[&2].queued.len() <= CHUNKS as usize);
}

#[test]
fn page_14_a_reader_that_takes_few_chunks_is_slow_and_one_that_takes_many_is_not() {
    let content = vec![7; 1 << 20];
    let made = make(&content, Head { r#type: "text/plain".into(), name: None }, 65_536, None).unwrap();
    let (page, start) = (made.page, Instant::now());
    let mut holder = Swarm::new(page, 1 << 20, 7);
    holder.store = Some(ChunkStore::from_new_page(made));
    for id in [1, 2] {
        holder.add_peer(id, start);
        holder.on_message(id, handshake(page, None).unwrap(), start);
    }
    let mut take = |id: PeerId, chunk: u32, at: u64| {
        let now = start + Duration::from_secs(at);
        holder.on_message(id, request(chunk), now);
        holder.chunk_sent(id, now);
    };
    for (chunk, at) in [(0, 0), (1, 5), (2, 10), (3, 15)] {
        take(1, chunk, at);
    }
    take(2, 0, 15);
    let slow = |id: PeerId, at: Duration| holder.slow_since(id, start + at);
    assert_eq!(slow(2, PROGRESS_PERIOD - Duration::from_millis(1)), None);
    assert_eq!((slow(1, PROGRESS_PERIOD), slow(2, PROGRESS_PERIOD)), (None, Some(start)));
    assert_eq!(slow(1, PROGRESS_PERIOD * 2), Some(start + Duration::from_secs(15)));
}

#[test]
fn peers_that_both_have_all_chunks_disconnect() {
    let mut setup = setup();
    setup.join(1, |_| true);
    setup.serve();
    assert!(setup.reader.is_complete() && setup.reader.peer(1).is_none());
}

#[test]
fn a_peer_that_sends_no_handshake_is_disconnected() {
    let mut setup = setup();
    setup.reader.add_peer(1, setup.now);
    setup.wait(ANSWER_TIMEOUT - Duration::from_millis(1));
    assert!(setup.reader.peer(1).is_some());
    setup.wait(Duration::from_millis(1));
    assert!(
        setup.actions().contains(&Action::Disconnect(1, DisconnectReason::NoHandshake))
            && setup.reader.peer(1).is_none()
    );
}
