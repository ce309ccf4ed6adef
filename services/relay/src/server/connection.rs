//! The connection of a client to its topic: a future that sends queued messages and publishes received ones.
use super::upgrade_hold::{self, UpgradeHold};
use crate::log::hashed;
use crate::relay::Relay;
use crate::relay::clients::Listed;
use parley_net::codes::Code;
use parley_net::network;
use parley_net::ws::frame::Opcode;
use parley_net::ws::{Batch, Decoder, Event, close};
use parley_streams::queue::{Frame, Tally};
use parley_streams::reader::{Next, Outlet, Reason};
use parley_streams::{Membership, Reader};
use std::cell::RefCell;
use std::future::Future;
use std::io::IoSlice;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::Sleep;

/// The size of one read: large, so that many messages of a fast publisher reach every reader in few writes.
const READ_SIZE: usize = 256 * 1024;
/// The reads after which the task yields to other sockets: with a thousand readers, each read causes a few milliseconds of writes.
const READS_PER_TURN: usize = 4;

thread_local! {
    /// One buffer for all sockets of a thread. A socket uses it only while it is read, so an idle one needs no buffer.
    static SCRATCH: RefCell<Vec<u8>> = RefCell::new(vec![0; READ_SIZE]);
}

/// One client on its topic. Ready when the connection ends.
pub struct Connection {
    relay: Arc<Relay>,
    listed: Listed,
    membership: Membership,
    inbound: OwnedReadHalf,
    decoder: Decoder,
    /// The network for which its memory is counted.
    network: IpAddr,
    /// The memory of an incomplete message, as counted for the network and the pod.
    incomplete: usize,
    /// Whether input is discarded, because the connection closes.
    discards_input: bool,
    /// The input after the handshake.
    rest: Vec<u8>,
    /// Nothing is sent before this completes.
    hold: Option<UpgradeHold>,
    /// Ends the connection if the peer does not close its half in time.
    close_timer: Option<Pin<Box<Sleep>>>,
}

/// The outgoing half of a socket.
pub struct TcpOutlet(pub OwnedWriteHalf);

impl Outlet for TcpOutlet {
    fn write(&self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.try_write(bytes)
    }

    fn write_vectored(&self, slices: &[IoSlice<'_>]) -> std::io::Result<usize> {
        self.0.try_write_vectored(slices)
    }
}

impl Connection {
    /// The connection of a client whose reader has the answer to the handshake. `rest`: the input after the handshake.
    pub(crate) fn new(
        relay: Arc<Relay>,
        listed: Listed,
        membership: Membership,
        inbound: OwnedReadHalf,
        rest: Vec<u8>,
    ) -> Self {
        let decoder = Decoder::new(relay.limits.message_bytes, relay.limits.fragments);
        let hold = upgrade_hold::start(&relay, &membership);
        let network = network::of(listed.client.address);
        let (incomplete, discards_input, close_timer) = (0, false, None);
        Self {
            relay,
            listed,
            membership,
            inbound,
            decoder,
            network,
            incomplete,
            discards_input,
            rest,
            hold,
            close_timer,
        }
    }

    fn reader(&self) -> &Arc<Reader> {
        &self.listed.client.reader
    }

    /// Sends what waits. Ready with the reason when the stream has ended.
    fn send(&mut self, cx: &mut Context<'_>) -> Poll<Reason> {
        if let Some(hold) = &mut self.hold {
            ready!(hold.as_mut().poll(cx));
            self.hold = None;
        }
        loop {
            let (next, Tally { messages, bytes }) = self.reader().flush(cx, self.relay.now());
            if messages > 0 {
                self.relay.counters.delivered.add(messages);
                self.relay.counters.delivered_bytes.add(bytes);
            }
            match next {
                Next::Idle => return Poll::Pending,
                Next::Ended(reason) => return Poll::Ready(reason),
                Next::Blocked => match self.inbound.as_ref().poll_write_ready(cx) {
                    Poll::Ready(Ok(())) => {}
                    Poll::Ready(Err(_)) => {
                        self.reader().abort();
                    }
                    Poll::Pending => return Poll::Pending,
                },
            }
        }
    }

    /// Reads and processes input. Ready when the peer has ended its half.
    fn receive(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            self.process(&rest);
        }
        SCRATCH.with_borrow_mut(|scratch| {
            for _ in 0..READS_PER_TURN {
                let mut read = ReadBuf::new(scratch);
                match Pin::new(&mut self.inbound).poll_read(cx, &mut read) {
                    Poll::Ready(Ok(())) if !read.filled().is_empty() => self.process(read.filled()),
                    Poll::Ready(_) => return Poll::Ready(()),
                    Poll::Pending => return Poll::Pending,
                }
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
    }

    fn process(&mut self, input: &[u8]) {
        let now = self.relay.now();
        self.listed.client.received.store(now, Relaxed);
        if self.discards_input {
            return;
        }
        let Self { relay, listed, membership, decoder, .. } = self;
        let client = &listed.client;
        let mut completed = false;
        let result = decoder.feed(input, &mut |event| match event {
            Event::Messages(batch) => {
                completed = true;
                client.count_sent(batch.count(), batch.payload());
                if client.route.role.publishes() {
                    publish(relay, membership, client.reader.id, &batch, now);
                } else {
                    relay.counters.discarded.add(batch.count() as u64);
                }
            }
            Event::Ping(payload) => client.reader.control(Frame::Pong, close::control(Opcode::Pong, &payload), now),
            Event::Pong => {}
            Event::Close(code) => client.reader.answer_close(code),
        });
        if let Err(violation) = result {
            client.reader.close(violation.code());
        }
        self.account(completed, now);
        self.discards_input = self.reader().is_closing();
    }

    /// Counts the memory of an incomplete message, and records when it began.
    fn account(&mut self, completed: bool, now: u64) {
        let incomplete = self.decoder.incomplete_bytes();
        if incomplete == 0 {
            self.listed.client.reassembling.store(0, Relaxed);
        } else if completed || self.incomplete == 0 {
            self.listed.client.reassembling.store(now, Relaxed);
        }
        if incomplete != self.incomplete && !self.relay.reassembly.change(self.network, self.incomplete, incomplete) {
            self.reader().close(Code::MemoryLimitExceeded);
        }
        self.incomplete = incomplete;
    }
}

fn publish(relay: &Relay, membership: &Membership, sender: u64, batch: &Batch, now: u64) {
    let count = &relay.counters;
    count.received.add(batch.count() as u64);
    count.received_bytes.add(batch.payload() as u64);
    count.fanned_out(membership.topic.publish(sender, batch, now));
}

impl Future for Connection {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        // Input may cause answers, so sending comes last.
        let gone = this.receive(cx).is_ready();
        let ended = this.send(cx);
        if gone || ended == Poll::Ready(Reason::Peer) {
            return Poll::Ready(());
        }
        if !this.discards_input {
            if !this.reader().is_closing() {
                return Poll::Pending;
            }
            this.discards_input = true;
        }
        let timeout = Duration::from_millis(this.relay.limits.close_timeout);
        this.close_timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout))).as_mut().poll(cx)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.relay.reassembly.change(self.network, self.incomplete, 0);
        let client = &self.listed.client;
        let reason = client.reader.abort();
        if let Some(Reason::Code(code)) = reason {
            self.relay.counters.closed.count(code);
        }
        let counts = client.reader.counts();
        tracing::info!(
            topic = hashed(&client.route.topic),
            role = ?client.route.role,
            address = %client.address,
            code = match reason {
                Some(Reason::Code(code)) => code.name(),
                _ => "",
            },
            sent = client.sent(),
            received = counts.delivered.messages,
            dropped = counts.dropped.messages,
            "closed"
        );
    }
}
