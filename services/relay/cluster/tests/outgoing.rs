//! The outgoing side of a link over a socket that accepts a given number of bytes: topics take turns, bounds hold, and messages that are not sent are counted.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use parley_cluster::counts::Counts;
use parley_cluster::frames::{BATCH_HEADER, Decoder, Event, Passage};
use parley_cluster::outgoing::{Bounds, Next, Outgoing, Subscription};
use parley_cluster::stream::split;
use parley_cluster::tls::Identity;
use parley_net::ws::{Batch, Kind};
use parley_streams::reader::Outlet;
use parley_streams::{Hop, RemoteSubscriber, Stamp};
use std::future::poll_fn;
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

/// Accepts as many bytes as it has room for.
#[derive(Default)]
struct Pipe {
    room: usize,
    taken: Vec<u8>,
    writes: usize,
}

struct Tap(Arc<Mutex<Pipe>>);

impl Outlet for Tap {
    fn write(&self, bytes: &[u8]) -> Result<usize> {
        let mut pipe = self.0.lock().unwrap();
        let size = bytes.len().min(pipe.room);
        pipe.room -= size;
        pipe.writes += 1;
        pipe.taken.extend_from_slice(&bytes[..size]);
        if size == 0 { Err(Error::from(ErrorKind::WouldBlock)) } else { Ok(size) }
    }

    fn write_vectored(&self, pieces: &[IoSlice<'_>]) -> Result<usize> {
        let all: Vec<u8> = pieces.iter().flat_map(|piece| piece.to_vec()).collect();
        self.write(&all)
    }
}

const BOUNDS: Bounds = Bounds { messages: 8, bytes: 6000, link_bytes: 9000 };

struct Link {
    outgoing: Arc<Outgoing>,
    counts: Arc<Counts>,
    pipe: Arc<Mutex<Pipe>>,
}

impl Link {
    fn new(room: usize) -> Self {
        let (counts, pipe) = (Arc::<Counts>::default(), Arc::<Mutex<Pipe>>::default());
        pipe.lock().unwrap().room = room;
        let outgoing = Arc::new(Outgoing::new(Box::new(Tap(Arc::clone(&pipe))), BOUNDS, Arc::clone(&counts)));
        Self { outgoing, counts, pipe }
    }

    fn subscription(&self, number: u64) -> Subscription {
        self.outgoing.open(number);
        Subscription::new(&self.outgoing, number, None)
    }

    fn flush(&self) -> Poll<Next> {
        self.outgoing.flush(&Context::from_waker(Waker::noop()))
    }

    /// Makes room, sends, and returns what the peer decodes of everything so far: the subscription and the last byte of each message.
    fn drain(&self) -> Vec<(u64, u8)> {
        self.pipe.lock().unwrap().room = usize::MAX;
        let _ = self.flush();
        let mut received = Vec::new();
        let taken = self.pipe.lock().unwrap().taken.clone();
        Decoder::default()
            .feed(&taken, &mut |event| {
                if let Event::Batch { number, batch, .. } = event {
                    received.extend(batch.frames(0).map(|frame| (number, frame[frame.len() - 1])));
                }
                Ok(())
            })
            .unwrap();
        received
    }
}

fn send(subscription: &Subscription, number: u8, size: usize) {
    subscription.send(&Batch::message(Kind::Binary, &vec![number; size]), Stamp::default(), Instant::now());
}

#[test]
fn str_95_a_batch_that_the_socket_accepts_is_sent_at_once_in_one_write() {
    let link = Link::new(usize::MAX);
    let subscription = link.subscription(5);
    send(&subscription, 1, 1000);
    assert_eq!(link.pipe.lock().unwrap().writes, 1);
    assert_eq!((link.counts.sent.get(), link.counts.queued.get(), link.counts.hop.sum().0), (1, 0, 1));
    assert_eq!(link.counts.sent_bytes.get(), 1000 + 4 + 17);
    assert_eq!(link.drain(), [(5, 1)]);
}

#[test]
fn str_95_topics_take_turns_however_much_waits_for_one_of_them() {
    let link = Link::new(10);
    let (noisy, quiet) = (link.subscription(1), link.subscription(2));
    for number in 0..6 {
        send(&noisy, number, 100);
    }
    send(&quiet, 100, 100);
    // The first message was partly written; the quiet topic follows after one more.
    assert_eq!(link.drain(), [(1, 0), (1, 1), (2, 100), (1, 2), (1, 3), (1, 4), (1, 5)]);
    assert_eq!((link.counts.dropped.get(), link.counts.queued.get(), link.counts.queued_bytes.get()), (0, 0, 0));
}

#[test]
fn str_95_over_a_bound_the_oldest_message_of_the_topic_is_dropped_and_counted() {
    for (size, kept) in [(10, 8), (1500, 3)] {
        let link = Link::new(10);
        let (noisy, quiet) = (link.subscription(1), link.subscription(2));
        send(&noisy, 0, 100);
        send(&quiet, 100, 10);
        for number in 1..=20 {
            send(&noisy, number, size);
        }
        assert_eq!((link.counts.queued.get(), link.counts.dropped.get()), (kept + 1, 20 - kept));
        let mut received = link.drain();
        received.retain(|(number, _)| *number == 1);
        let last = 20 - u8::try_from(kept).unwrap();
        let expected: Vec<(u64, u8)> = [0].into_iter().chain(last + 1..=20).map(|number| (1, number)).collect();
        assert_eq!(received, expected);
    }
}

#[test]
fn str_141_messages_of_a_subscription_by_hop_have_hop_and_stamp_at_once_and_queued() {
    let link = Link::new(100);
    link.outgoing.open(1);
    let subscription = Subscription::new(&link.outgoing, 1, Some(Hop::Ocean));
    let stamp = |sequence| Stamp { origin: 7, sequence };
    for sequence in 0..3 {
        subscription.send(&Batch::message(Kind::Binary, &[1; 100]), stamp(sequence), Instant::now());
    }
    link.drain();
    let (mut passages, taken) = (Vec::new(), link.pipe.lock().unwrap().taken.clone());
    let mut keep = |event| {
        if let Event::Batch { passage, .. } = event {
            passages.push(passage);
        }
        Ok(())
    };
    Decoder::default().feed(&taken, &mut keep).unwrap();
    assert_eq!(passages, [0, 1, 2].map(|sequence| Some(Passage { hop: Hop::Ocean, stamp: stamp(sequence) })));
    assert_eq!(link.counts.sent_bytes.get(), 3 * (34 + 102));
}

#[test]
fn str_95_a_batch_of_many_small_messages_is_queued_as_a_whole() {
    let link = Link::new(10);
    let subscription = link.subscription(1);
    send(&subscription, 0, 100);
    let small = |number: u8| [Batch::message(Kind::Binary, &[number]).bytes().to_vec()].concat().repeat(20);
    for number in 1..=2 {
        subscription.send(&Batch::read(small(number).into(), 20).unwrap(), Stamp::default(), Instant::now());
    }
    assert_eq!((link.counts.queued.get(), link.counts.dropped.get()), (20, 20));
    assert_eq!(link.drain(), [vec![(1, 0)], vec![(1, 2); 20]].concat());
}

#[test]
fn str_95_all_topics_of_a_link_together_are_bounded() {
    let link = Link::new(10);
    for number in 0..10 {
        send(&link.subscription(number), 0, 5000);
    }
    assert!(link.counts.queued_bytes.get() <= 9000, "{}", link.counts.queued_bytes.get());
    assert_eq!(link.counts.dropped.get() + link.counts.queued.get(), 9);
    let received = link.drain().len() as u64;
    assert_eq!(received + link.counts.dropped.get(), 10);
}

#[test]
fn str_95_a_pong_precedes_queued_messages_and_at_most_one_waits() {
    let link = Link::new(10);
    let subscription = link.subscription(1);
    send(&subscription, 0, 100);
    send(&subscription, 1, 100);
    for stamp in 0..1000 {
        link.outgoing.pong(stamp, Duration::from_millis(20));
        assert_eq!(link.flush(), Poll::Ready(Next::Blocked));
    }
    assert_eq!(link.drain().len(), 2);
    let pongs = link.pipe.lock().unwrap().taken.len() - 2 * (17 + 104);
    assert!(pongs <= 32 * 9, "{pongs} bytes of pongs");
    // Half of the link's round trip is part of the hop.
    assert!(link.counts.hop.sum().1 >= 10_000);
}

#[test]
fn str_93_an_acknowledgement_precedes_queued_messages_and_at_most_one_waits() {
    let link = Link::new(10);
    let subscription = link.subscription(1);
    send(&subscription, 0, 100);
    send(&subscription, 1, 100);
    for number in 1..=1000 {
        link.outgoing.acknowledge(number);
        assert_eq!(link.flush(), Poll::Ready(Next::Blocked));
    }
    assert_eq!(link.drain().len(), 2);
    let (mut order, taken) = (Vec::new(), link.pipe.lock().unwrap().taken.clone());
    Decoder::default()
        .feed(&taken, &mut |event| {
            order.push(match event {
                Event::Acknowledgement { number } => number,
                _ => 0,
            });
            Ok(())
        })
        .unwrap();
    // The first message was partly written; the second waited. The last acknowledgement covers those that had no room.
    assert_eq!((&order[..3], order.last()), (&[0, 1, 2][..], Some(&1000)));
    order.retain(|number| *number > 0);
    assert!(order.len() <= 32 && order.is_sorted(), "{order:?}");
}

#[test]
fn str_94_the_messages_of_an_ended_subscription_are_removed_and_the_others_stay() {
    let link = Link::new(10);
    let (one, two) = (link.subscription(1), link.subscription(2));
    send(&one, 0, 100);
    send(&one, 1, 100);
    send(&two, 2, 100);
    link.outgoing.close(1);
    send(&one, 3, 100);
    assert_eq!(link.counts.queued.get(), 1);
    assert_eq!(link.drain(), [(1, 0), (2, 2)]);
}

#[test]
fn str_99_a_link_that_finishes_sends_queued_messages_and_accepts_no_more() {
    let link = Link::new(10);
    let subscription = link.subscription(1);
    send(&subscription, 0, 100);
    send(&subscription, 1, 100);
    link.outgoing.finish();
    send(&subscription, 2, 100);
    assert_eq!(link.drain(), [(1, 0), (1, 1)]);
    assert_eq!(link.flush(), Poll::Ready(Next::Ended));
}

#[test]
fn str_95_messages_queued_on_a_link_that_ended_are_counted_as_dropped() {
    let link = Link::new(10);
    let subscription = link.subscription(1);
    for number in 0..5 {
        send(&subscription, number, 100);
    }
    link.outgoing.end();
    assert_eq!((link.counts.dropped.get(), link.counts.queued.get(), link.counts.queued_bytes.get()), (5, 0, 0));
    assert_eq!(link.flush(), Poll::Ready(Next::Ended));
}

/// Accepts everything, and keeps it until its socket is writable.
struct Keeper(Arc<Mutex<bool>>);

impl Outlet for Keeper {
    fn write(&self, bytes: &[u8]) -> Result<usize> {
        Ok(bytes.len())
    }

    fn write_vectored(&self, pieces: &[IoSlice<'_>]) -> Result<usize> {
        Ok(pieces.iter().map(|piece| piece.len()).sum())
    }

    fn flush(&self) -> Result<()> {
        if *self.0.lock().unwrap() { Ok(()) } else { Err(Error::from(ErrorKind::WouldBlock)) }
    }
}

#[test]
fn str_95_bytes_that_an_outlet_keeps_are_sent_before_the_link_is_idle_or_ends() {
    let writable = Arc::<Mutex<bool>>::default();
    let outgoing = Arc::new(Outgoing::new(Box::new(Keeper(Arc::clone(&writable))), BOUNDS, Arc::default()));
    outgoing.open(1);
    Subscription::new(&outgoing, 1, None).send(&Batch::message(Kind::Text, b"kept"), Stamp::default(), Instant::now());
    let cx = Context::from_waker(Waker::noop());
    assert_eq!(outgoing.flush(&cx), Poll::Ready(Next::Blocked));
    *writable.lock().unwrap() = true;
    assert_eq!(outgoing.flush(&cx), Poll::Pending);
    *writable.lock().unwrap() = false;
    outgoing.finish();
    assert_eq!(outgoing.flush(&cx), Poll::Ready(Next::Blocked));
    *writable.lock().unwrap() = true;
    assert_eq!(outgoing.flush(&cx), Poll::Ready(Next::Ended));
}

#[tokio::test]
async fn str_138_a_link_that_ends_in_order_sends_queued_messages_and_then_a_close_notify() {
    let (sender, receiver) = (Identity::new().unwrap(), Identity::new().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let dialled = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (accepted, _) = listener.accept().await.unwrap();
    let (accepted, dialled) = tokio::join!(sender.accept(accepted), receiver.connect(dialled, sender.certificate));
    let ((accepted, shown), mut dialled) = (accepted.unwrap(), dialled.unwrap());
    assert!(shown == receiver.certificate);
    let (inbound, outlet) = split(accepted, 1024);
    let bounds = Bounds { messages: 100, bytes: 10 << 20, link_bytes: 10 << 20 };
    let outgoing = Arc::new(Outgoing::new(Box::new(outlet), bounds, Arc::default()));
    outgoing.open(1);
    let (subscription, batch) = (Subscription::new(&outgoing, 1, None), Batch::message(Kind::Binary, &[7; 100_000]));
    for _ in 0..80 {
        subscription.send(&batch, Stamp::default(), Instant::now());
    }
    outgoing.finish();
    let sending = async {
        while poll_fn(|cx| outgoing.flush(cx)).await == Next::Blocked {
            inbound.stream().writable().await.unwrap();
        }
    };
    let mut received = Vec::new();
    // Without the close_notify the read fails.
    let ((), read) = tokio::join!(sending, dialled.read_to_end(&mut received));
    assert_eq!(read.unwrap(), 80 * (batch.bytes().len() + BATCH_HEADER));
}
