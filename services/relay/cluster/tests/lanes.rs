//! A link over a socket that takes what it likes: topics take turns, bounds hold, and what is not sent was counted.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use parley_cluster::counts::Counts;
use parley_cluster::frames::{BATCH_HEADER, Decoder, Event};
use parley_cluster::lanes::{Bounds, Lane, Next, Outgoing};
use parley_cluster::stream::split;
use parley_cluster::tls::Identity;
use parley_net::ws::{Batch, Kind};
use parley_streams::RemoteSubscriber;
use parley_streams::reader::Outlet;
use std::future::poll_fn;
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

/// Takes as many bytes as it has room for.
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

    fn lane(&self, number: u64) -> Lane {
        self.outgoing.open(number);
        Lane::new(&self.outgoing, number)
    }

    fn flush(&self) -> Poll<Next> {
        self.outgoing.flush(&Context::from_waker(Waker::noop()))
    }

    /// Makes room, sends, and answers what the peer understands of everything so far: the topic and the first byte of each.
    fn drain(&self) -> Vec<(u64, u8)> {
        self.pipe.lock().unwrap().room = usize::MAX;
        let _ = self.flush();
        let mut heard = Vec::new();
        let taken = self.pipe.lock().unwrap().taken.clone();
        Decoder::default()
            .feed(&taken, &mut |event| {
                if let Event::Batch { number, batch } = event {
                    heard.extend(batch.frames(0).map(|frame| (number, frame[frame.len() - 1])));
                }
                Ok(())
            })
            .unwrap();
        heard
    }
}

fn say(lane: &Lane, number: u8, size: usize) {
    lane.send(&Batch::message(Kind::Binary, &vec![number; size]), Instant::now());
}

#[test]
fn str_95_what_the_socket_takes_goes_out_at_once_in_one_write() {
    let link = Link::new(usize::MAX);
    let lane = link.lane(5);
    say(&lane, 1, 1000);
    assert_eq!(link.pipe.lock().unwrap().writes, 1);
    assert_eq!((link.counts.sent.get(), link.counts.queued.get(), link.counts.hop.sum().0), (1, 0, 1));
    assert_eq!(link.counts.sent_bytes.get(), 1000 + 4 + 17);
    assert_eq!(link.drain(), [(5, 1)]);
}

#[test]
fn str_95_topics_take_turns_however_much_one_of_them_has() {
    let link = Link::new(10);
    let (noisy, quiet) = (link.lane(1), link.lane(2));
    for number in 0..6 {
        say(&noisy, number, 100);
    }
    say(&quiet, 100, 100);
    // The first was begun; the quiet one comes after one more.
    assert_eq!(link.drain(), [(1, 0), (1, 1), (2, 100), (1, 2), (1, 3), (1, 4), (1, 5)]);
    assert_eq!((link.counts.dropped.get(), link.counts.queued.get(), link.counts.queued_bytes.get()), (0, 0, 0));
}

#[test]
fn str_95_over_a_bound_the_oldest_of_the_topic_is_dropped_and_counted() {
    for (size, kept) in [(10, 8), (1500, 3)] {
        let link = Link::new(10);
        let (noisy, quiet) = (link.lane(1), link.lane(2));
        say(&noisy, 0, 100);
        say(&quiet, 100, 10);
        for number in 1..=20 {
            say(&noisy, number, size);
        }
        assert_eq!((link.counts.queued.get(), link.counts.dropped.get()), (kept + 1, 20 - kept));
        let mut heard = link.drain();
        heard.retain(|(number, _)| *number == 1);
        let last = 20 - u8::try_from(kept).unwrap();
        let expected: Vec<(u64, u8)> = [0].into_iter().chain(last + 1..=20).map(|number| (1, number)).collect();
        assert_eq!(heard, expected);
    }
}

#[test]
fn str_95_a_read_full_of_small_messages_waits_whole() {
    let link = Link::new(10);
    let lane = link.lane(1);
    say(&lane, 0, 100);
    let small = |number: u8| [Batch::message(Kind::Binary, &[number]).bytes().to_vec()].concat().repeat(20);
    for number in 1..=2 {
        lane.send(&Batch::read(small(number).into(), 20).unwrap(), Instant::now());
    }
    assert_eq!((link.counts.queued.get(), link.counts.dropped.get()), (20, 20));
    assert_eq!(link.drain(), [vec![(1, 0)], vec![(1, 2); 20]].concat());
}

#[test]
fn str_95_all_topics_of_a_link_together_are_bounded() {
    let link = Link::new(10);
    for number in 0..10 {
        say(&link.lane(number), 0, 5000);
    }
    assert!(link.counts.queued_bytes.get() <= 9000, "{}", link.counts.queued_bytes.get());
    assert_eq!(link.counts.dropped.get() + link.counts.queued.get(), 9);
    let heard = link.drain().len() as u64;
    assert_eq!(heard + link.counts.dropped.get(), 10);
}

#[test]
fn str_95_a_pong_goes_before_what_waits_and_at_most_one_waits() {
    let link = Link::new(10);
    let lane = link.lane(1);
    say(&lane, 0, 100);
    say(&lane, 1, 100);
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
fn str_93_an_acknowledgement_goes_before_what_waits_and_at_most_one_waits() {
    let link = Link::new(10);
    let lane = link.lane(1);
    say(&lane, 0, 100);
    say(&lane, 1, 100);
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
    // The first message was begun; the second waited. The last acknowledgement stands for those that had no room.
    assert_eq!((&order[..3], order.last()), (&[0, 1, 2][..], Some(&1000)));
    order.retain(|number| *number > 0);
    assert!(order.len() <= 32 && order.is_sorted(), "{order:?}");
}

#[test]
fn str_94_an_unwanted_topics_messages_are_forgotten_and_the_others_stay() {
    let link = Link::new(10);
    let (one, two) = (link.lane(1), link.lane(2));
    say(&one, 0, 100);
    say(&one, 1, 100);
    say(&two, 2, 100);
    link.outgoing.shut(1);
    say(&one, 3, 100);
    assert_eq!(link.counts.queued.get(), 1);
    assert_eq!(link.drain(), [(1, 0), (2, 2)]);
}

#[test]
fn str_99_a_link_that_finishes_sends_what_waits_and_takes_no_more() {
    let link = Link::new(10);
    let lane = link.lane(1);
    say(&lane, 0, 100);
    say(&lane, 1, 100);
    link.outgoing.finish();
    say(&lane, 2, 100);
    assert_eq!(link.drain(), [(1, 0), (1, 1)]);
    assert_eq!(link.flush(), Poll::Ready(Next::Ended));
}

#[test]
fn str_95_what_waits_on_a_link_that_ended_is_counted_as_dropped() {
    let link = Link::new(10);
    let lane = link.lane(1);
    for number in 0..5 {
        say(&lane, number, 100);
    }
    link.outgoing.end();
    assert_eq!((link.counts.dropped.get(), link.counts.queued.get(), link.counts.queued_bytes.get()), (5, 0, 0));
    assert_eq!(link.flush(), Poll::Ready(Next::Ended));
}

/// Takes everything, and keeps it until its socket is writable.
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
fn str_95_what_an_outlet_keeps_is_sent_before_the_link_is_idle_or_ends() {
    let writable = Arc::<Mutex<bool>>::default();
    let outgoing = Arc::new(Outgoing::new(Box::new(Keeper(Arc::clone(&writable))), BOUNDS, Arc::default()));
    outgoing.open(1);
    Lane::new(&outgoing, 1).send(&Batch::message(Kind::Text, b"kept"), Instant::now());
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
async fn str_138_what_waits_when_a_link_ends_in_order_comes_and_then_a_close_notify() {
    let (sends, hears) = (Identity::new().unwrap(), Identity::new().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let dialled = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (accepted, _) = listener.accept().await.unwrap();
    let (accepted, dialled) = tokio::join!(sends.accept(accepted), hears.connect(dialled, sends.certificate));
    let ((accepted, shown), mut dialled) = (accepted.unwrap(), dialled.unwrap());
    assert!(shown == hears.certificate);
    let (inbound, outlet) = split(accepted, 1024);
    let bounds = Bounds { messages: 100, bytes: 10 << 20, link_bytes: 10 << 20 };
    let outgoing = Arc::new(Outgoing::new(Box::new(outlet), bounds, Arc::default()));
    outgoing.open(1);
    let (lane, batch) = (Lane::new(&outgoing, 1), Batch::message(Kind::Binary, &[7; 100_000]));
    for _ in 0..80 {
        lane.send(&batch, Instant::now());
    }
    outgoing.finish();
    let sending = async {
        while poll_fn(|cx| outgoing.flush(cx)).await == Next::Blocked {
            inbound.stream().writable().await.unwrap();
        }
    };
    let mut came = Vec::new();
    // Without the close_notify this is an error.
    let ((), read) = tokio::join!(sending, dialled.read_to_end(&mut came));
    assert_eq!(read.unwrap(), 80 * (batch.bytes().len() + BATCH_HEADER));
}
