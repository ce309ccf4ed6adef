use super::super::manifest::{Head, Made, make};
use super::*;

const CHUNKS: u32 = 20;

/// A page of twenty chunks, and a reader of it who knows the manifest from somebody with nothing else.
struct Stage {
    chunks: Vec<Bytes>,
    page: Address,
    text: String,
    reader: Swarm,
    now: Instant,
}

fn stage() -> Stage {
    let content: Vec<u8> = (0..CHUNKS * 100).map(|at| u8::try_from(at % 251).unwrap()).collect();
    let Made { page, text, chunks, .. } =
        make(&content, Head { r#type: "text/plain".into(), name: None }, 100, None).unwrap();
    Stage { chunks, page, text, reader: Swarm::new(page, 10_000, 7), now: Instant::now() }
}

impl Stage {
    fn deeds(&mut self) -> Vec<Deed> {
        std::iter::from_fn(|| self.reader.next()).collect()
    }

    /// What the reader asks of somebody.
    fn gets(&mut self, of: Id) -> Vec<u32> {
        let get = |deed| match deed {
            Deed::Say(id, Said::Request(get)) if id == of => Some(number(get.chunk)),
            _ => None,
        };
        self.deeds().into_iter().filter_map(get).collect()
    }

    /// Somebody is connected who has these.
    fn join(&mut self, id: Id, has: impl Fn(u32) -> bool) {
        self.reader.join(id, self.now);
        let manifest = Some(self.text.clone());
        self.reader.hear(id, handshake(self.page, manifest.as_deref()).unwrap(), self.now);
        self.reader.hear(id, bitfield(&Bits::of(CHUNKS, has).text()).unwrap(), self.now);
    }

    fn give(&mut self, id: Id, chunk: u32) {
        let bytes = self.chunks[chunk as usize].clone();
        self.send(id, chunk, &bytes);
    }

    fn send(&mut self, id: Id, chunk: u32, bytes: &[u8]) {
        let message = Bytes::from([&chunk.to_be_bytes(), bytes].concat());
        self.reader.receive(id, &message, self.now);
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        self.reader.tick(self.now);
    }

    /// Answers everything that is asked until nothing is any more; how often each was asked.
    fn serve(&mut self) -> BTreeMap<(Id, u32), usize> {
        let mut asked = BTreeMap::new();
        loop {
            let deeds = self.deeds();
            let gets: Vec<(Id, u32)> = deeds
                .into_iter()
                .filter_map(|deed| match deed {
                    Deed::Say(id, Said::Request(get)) => Some((id, number(get.chunk))),
                    _ => None,
                })
                .collect();
            if gets.is_empty() {
                return asked;
            }
            for (id, chunk) in gets {
                *asked.entry((id, chunk)).or_default() += 1;
                self.give(id, chunk);
            }
        }
    }

    fn dropped(&mut self, id: Id) -> bool {
        self.deeds().iter().any(|deed| matches!(deed, Deed::Leave(other, Parting::Dropped(_)) if *other == id))
    }
}

#[test]
fn page_16_a_page_comes_from_several_whole_and_each_chunk_hardly_more_than_once() {
    let mut stage = stage();
    stage.join(1, |chunk| chunk < 15);
    stage.join(2, |chunk| chunk >= 5);
    let asked = stage.serve();
    assert!(stage.reader.is_whole());
    let requests: usize = asked.values().sum();
    assert!((20..=22).contains(&requests), "{asked:?}");
    assert!(asked.keys().all(|(id, chunk)| if *id == 1 { *chunk < 15 } else { *chunk >= 5 }));
    assert!(asked.keys().filter(|(id, _)| *id == 1).count() >= 5);
}

#[test]
fn page_16_at_most_eight_are_asked_of_one_at_once() {
    let mut stage = stage();
    stage.join(1, |_| true);
    let mut waiting: VecDeque<u32> = stage.gets(1).into();
    assert_eq!(waiting.len(), ASKED_FIRST);
    let mut most = 0;
    while let Some(chunk) = waiting.pop_front() {
        stage.give(1, chunk);
        waiting.extend(stage.gets(1));
        most = most.max(waiting.len());
    }
    assert!(stage.reader.is_whole() && most == ASKED_MAX, "{most}");
}

#[test]
fn page_17_what_the_fewest_have_is_asked_for_first() {
    for seed in 0..20 {
        let mut stage = stage();
        stage.reader = Swarm::new(stage.page, 10_000, seed);
        // The manifest comes first, so that nothing is asked before all are there.
        stage.reader.copy =
            Some(Copy::new(Manifest::read(&stage.text, stage.page, 10_000).unwrap(), stage.text.clone()));
        stage.join(1, |_| false);
        stage.join(2, |chunk| chunk != 4);
        stage.deeds();
        stage.reader.part(2, stage.now);
        stage.join(3, |chunk| chunk != 4 && chunk != 9);
        stage.deeds();
        stage.join(4, |_| true);
        let first = stage.gets(4);
        assert_eq!(first.iter().copied().collect::<std::collections::BTreeSet<_>>(), [4, 9].into(), "{seed}");
    }
}

#[test]
fn page_3_whoever_sends_what_is_not_of_the_page_is_dropped_and_the_chunk_fetched_elsewhere() {
    let mut stage = stage();
    stage.join(1, |_| true);
    let bad = stage.gets(1)[0];
    stage.send(1, bad, &[0; 100]);
    assert!(stage.dropped(1));
    stage.join(2, |_| true);
    assert!(stage.serve().contains_key(&(2, bad)) && stage.reader.is_whole());
}

#[test]
fn whoever_sends_what_was_not_asked_for_is_dropped() {
    for (chunk, size) in [(19, 100), (99, 100)] {
        let mut stage = stage();
        stage.join(1, |chunk| chunk < 10);
        stage.send(1, chunk, &vec![0; size]);
        assert!(stage.dropped(1));
    }
    let mut stage = stage();
    stage.join(1, |_| true);
    stage.reader.receive(1, &Bytes::from_static(&[1, 2]), stage.now);
    assert!(stage.dropped(1));
}

#[test]
fn page_16_what_does_not_come_is_asked_elsewhere_and_whoever_lets_requests_lie_three_times_is_left() {
    let mut stage = stage();
    stage.join(1, |_| true);
    let lying = stage.gets(1);
    stage.wait(PATIENCE - Duration::from_millis(1));
    assert!(stage.gets(1).is_empty());
    stage.join(2, |_| true);
    assert!(stage.gets(2).iter().all(|chunk| !lying.contains(chunk)));
    stage.reader.part(2, stage.now);
    stage.wait(Duration::from_millis(1));
    // What was asked for together lies together, and may lie because the way is slow.
    assert_eq!(stage.gets(1).len(), 1);
    stage.join(2, |_| true);
    stage.wait(PATIENCE);
    assert!(stage.reader.peer(1).is_some());
    stage.deeds();
    while stage.reader.peer(1).is_some() {
        stage.wait(PATIENCE);
    }
    let left = |deed: &Deed| matches!(deed, Deed::Leave(1, Parting::Stalled));
    assert!(stage.deeds().iter().any(left), "it may be asked again later");
    stage.reader.part(2, stage.now);
    stage.join(3, |_| true);
    assert!(lying.iter().all(|chunk| stage.serve().contains_key(&(3, *chunk)) || stage.reader.is_whole()));
    assert!(stage.reader.is_whole());
}

#[test]
fn a_chunk_that_comes_late_is_taken_and_its_sender_forgiven() {
    let mut stage = stage();
    stage.join(1, |_| true);
    let late = stage.gets(1);
    stage.wait(PATIENCE);
    assert!(stage.reader.peers[&1].strikes > 0);
    stage.give(1, late[0]);
    assert_eq!(stage.reader.peers[&1].strikes, 0);
    assert!(stage.reader.copy.as_ref().unwrap().has(late[0]));
}

#[test]
fn what_was_lost_on_the_way_is_asked_again_of_the_only_one_who_has_it() {
    let mut stage = stage();
    stage.join(1, |_| true);
    let lost = stage.gets(1)[0];
    let others: Vec<u32> = stage.reader.peers[&1].asked.keys().copied().filter(|chunk| *chunk != lost).collect();
    others.into_iter().for_each(|chunk| stage.give(1, chunk));
    stage.serve();
    stage.wait(PATIENCE);
    stage.serve();
    stage.wait(PATIENCE);
    assert!(stage.serve().contains_key(&(1, lost)) && stage.reader.is_whole());
}

#[test]
fn page_16_false_claims_do_not_last() {
    let mut stage = stage();
    stage.join(1, |_| true);
    let mut denied = 0;
    while let [chunk, ..] = stage.gets(1)[..] {
        stage.reader.hear(1, reject(chunk), stage.now);
        denied += 1;
        if stage.reader.peer(1).is_none() {
            break;
        }
    }
    assert_eq!((denied, stage.reader.peer(1).is_none()), (usize::from(STRIKES), true));
}

#[test]
fn whoever_repeats_itself_is_not_told_all_each_time() {
    let mut stage = stage();
    stage.join(1, |_| true);
    stage.serve();
    stage.reader.join(2, stage.now);
    stage.deeds();
    stage.wait(Duration::from_secs(1));
    for _ in 0..100 {
        stage.reader.hear(2, handshake(stage.page, None).unwrap(), stage.now);
    }
    let told = |deed: &Deed| matches!(deed, Deed::Say(2, Said::Handshake(_)));
    assert!(stage.deeds().iter().filter(|deed| told(deed)).count() <= 1);
}

#[test]
fn claims_that_are_not_of_the_page_are_not_taken() {
    for claim in [Bits::of(CHUNKS + 1, |_| true).text(), Bits::of(200, |_| false).text(), "?".into()] {
        let mut stage = stage();
        stage.join(1, |_| false);
        stage.reader.hear(1, bitfield(&claim).unwrap(), stage.now);
        assert!(stage.dropped(1));
    }
    let mut stage = stage();
    stage.join(1, |_| false);
    stage.reader.hear(1, have(CHUNKS), stage.now);
    assert!(stage.dropped(1));
}

#[test]
fn page_16_what_somebody_got_counts_where_all_that_it_said_before_is_lost() {
    let mut stage = stage();
    stage.join(1, |_| false);
    stage.reader.join(2, stage.now);
    stage.reader.hear(2, handshake(stage.page, None).unwrap(), stage.now);
    stage.reader.hear(2, have(7), stage.now);
    assert_eq!(stage.gets(2), [7]);
}

#[test]
fn page_16_somebody_may_know_the_manifest_and_get_chunks_before_we_know_it() {
    let mut stage = stage();
    stage.reader.join(1, stage.now);
    stage.reader.hear(1, handshake(stage.page, None).unwrap(), stage.now);
    stage.reader.hear(1, bitfield(&Bits::of(CHUNKS, |_| false).text()).unwrap(), stage.now);
    stage.reader.hear(1, have(3), stage.now);
    assert!(!stage.dropped(1));
    stage.join(2, |_| false);
    assert_eq!(stage.gets(1), [3]);
}

#[test]
fn a_manifest_of_another_page_is_its_senders_lie_and_one_that_is_too_large_the_pages_end() {
    let mut lied = stage();
    let page = lied.page;
    lied.reader.join(1, lied.now);
    lied.reader.hear(1, handshake(page, Some("{}")).unwrap(), lied.now);
    assert!(lied.dropped(1) && lied.reader.refused.is_none());
    let mut large = stage();
    large.reader = Swarm::new(large.page, 1999, 7);
    large.join(1, |_| true);
    assert_eq!(large.reader.refused, Some(Refused::TooLarge(2000)));
    assert!(large.gets(1).is_empty() && large.reader.peer(1).is_none());
}

#[test]
fn page_16_what_is_here_is_served_in_turn_and_never_more_than_a_few_at_once() {
    let mut stage = stage();
    stage.join(1, |_| true);
    stage.serve();
    stage.join(2, |_| false);
    stage.deeds();
    for chunk in 0..8 {
        stage.reader.hear(2, request(chunk), stage.now);
    }
    stage.reader.hear(2, request(99), stage.now);
    let deeds = stage.deeds();
    let sends: Vec<_> = (0..4).map(|chunk| Deed::Send(2, chunk)).collect();
    assert_eq!(deeds[..4], sends);
    assert_eq!(deeds[4..], [Deed::Say(2, reject(99))]);
    stage.reader.sent(2, stage.now);
    assert_eq!((stage.deeds(), stage.reader.sent), (vec![Deed::Send(2, 4)], 100));
}

#[test]
fn whoever_asks_for_more_than_it_can_take_is_left() {
    let mut stage = stage();
    stage.join(1, |_| true);
    stage.serve();
    stage.join(2, |_| false);
    for chunk in (0..CHUNKS).cycle().take(1000) {
        stage.reader.hear(2, request(chunk), stage.now);
    }
    // The same asked twice waits once.
    assert!(!stage.dropped(2) && stage.reader.peers[&2].wants.len() <= CHUNKS as usize);
}

#[test]
fn page_14_whoever_takes_a_chunk_now_and_then_idles_and_whoever_takes_many_does_not() {
    let content = vec![7; 1 << 20];
    let made = make(&content, Head { r#type: "text/plain".into(), name: None }, 65_536, None).unwrap();
    let (page, start) = (made.page, Instant::now());
    let mut holder = Swarm::new(page, 1 << 20, 7);
    holder.copy = Some(Copy::made(made));
    for id in [1, 2] {
        holder.join(id, start);
        holder.hear(id, handshake(page, None).unwrap(), start);
    }
    let mut take = |id: Id, chunk: u32, at: u64| {
        let now = start + Duration::from_secs(at);
        holder.hear(id, request(chunk), now);
        holder.sent(id, now);
    };
    for (chunk, at) in [(0, 0), (1, 5), (2, 10), (3, 15)] {
        take(1, chunk, at);
    }
    take(2, 0, 15);
    let idles = |id: Id, at: Duration| holder.idles(id, start + at);
    assert_eq!(idles(2, PLACE - Duration::from_millis(1)), None);
    assert_eq!((idles(1, PLACE), idles(2, PLACE)), (None, Some(start)));
    assert_eq!(idles(1, PLACE * 2), Some(start + Duration::from_secs(15)));
}

#[test]
fn two_who_have_all_of_it_part() {
    let mut stage = stage();
    stage.join(1, |_| true);
    stage.serve();
    assert!(stage.reader.is_whole() && stage.reader.peer(1).is_none());
}

#[test]
fn whoever_says_nothing_is_left() {
    let mut stage = stage();
    stage.reader.join(1, stage.now);
    stage.wait(PATIENCE - Duration::from_millis(1));
    assert!(stage.reader.peer(1).is_some());
    stage.wait(Duration::from_millis(1));
    assert!(stage.deeds().contains(&Deed::Leave(1, Parting::Silent)) && stage.reader.peer(1).is_none());
}
