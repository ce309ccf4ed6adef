//! The memory of the shipped binary after many clients have disconnected. It is a separate test program, as the clients need most of the descriptors
//! of a process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod resident;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Enough sockets to fill the buffer of the log once and to run all code.
const FIRST: usize = 17_000;
const CROWD: usize = 20_000;
/// How long the memory must not shrink. The allocator returns memory over half a second, and longer on a busy machine.
const QUIET: Duration = Duration::from_secs(6);
/// A frame of video: four header bytes for its length, a mask of zeros, and the payload.
const VIDEO: [u8; 4591] = {
    let mut frame = [0; 4591];
    (frame[0], frame[1], frame[2], frame[3]) = (0x82, 0x80 | 126, 4583_u16.to_be_bytes()[0], 4583_u16.to_be_bytes()[1]);
    frame
};

struct Relay {
    child: Child,
    address: String,
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Relay {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_parley-relay"))
            .args(["--listen=127.0.0.1:0", "--limit=address.sockets=20000"])
            // The shipped configuration, apart from the seconds after which the allocator returns memory.
            .env("_RJEM_MALLOC_CONF", "dirty_decay_ms:500,muzzy_decay_ms:500")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let log: serde_json::Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address: log["address"].as_str().unwrap().to_owned() }
    }

    /// Connects publishers that send a message, readers, and clients that do both, at most `alive` at once; each replaces one that disconnects.
    /// All disconnect at the end. Returns the resident memory in kB before that.
    fn churn(&self, sockets: usize, alive: usize) -> u64 {
        let mut here = Vec::with_capacity(alive);
        for number in 0..sockets {
            // Random, and the same in each run.
            let chance = number.wrapping_mul(2_654_435_761) >> 16;
            let topic = chance % (alive / 4);
            let socket = match chance % 10 {
                0..3 => self.publish(&format!("/in/churn/{topic}"), chance % 4),
                3..8 => self.join(&format!("/out/churn/{topic}")),
                _ => self.join(&format!("/churn/{topic}")),
            };
            if here.len() < alive {
                here.push(socket);
            } else {
                here[chance % alive] = socket;
            }
        }
        resident::of(self.child.id())
    }

    fn join(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: relay\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut status = [0; 13];
        stream.read_exact(&mut status).unwrap();
        assert_eq!(&status, b"HTTP/1.1 101 ");
        stream
    }

    fn publish(&self, path: &str, messages: usize) -> TcpStream {
        let mut stream = self.join(path);
        (0..messages).for_each(|_| stream.write_all(&VIDEO).unwrap());
        stream
    }

    /// Waits until the relay has noticed that all clients disconnected.
    fn until_all_went(&self) {
        let mut metrics = String::new();
        // This request is a connection too.
        while !metrics.contains("\nparley_relay_connections 1\n") {
            metrics.clear();
            let mut stream = TcpStream::connect(&self.address).unwrap();
            stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: relay\r\n\r\n").unwrap();
            stream.read_to_string(&mut metrics).unwrap();
        }
    }

    /// Returns the resident memory in kB, as soon as it is at most `enough` or has not shrunk for `QUIET`.
    fn at_rest(&self, enough: u64) -> u64 {
        self.until_all_went();
        let (mut least, mut since) = (u64::MAX, Instant::now());
        loop {
            let now = resident::of(self.child.id());
            if now < least {
                (least, since) = (now, Instant::now());
            }
            if now <= enough || since.elapsed() > QUIET {
                return now;
            }
            std::thread::sleep(Duration::from_millis(250));
        }
    }
}

#[test]
fn memory_is_returned_after_many_clients_disconnected() {
    let relay = Relay::start();
    relay.churn(FIRST, 1000);
    let before = relay.at_rest(0);
    let crowd = relay.churn(CROWD, 6000);
    // The allocator keeps its tables for the larger number of clients, and pages with a single small allocation: between a seventh and a half of
    // the memory of the clients. That of glibc keeps all of it.
    let enough = before + (crowd - before) / 2;
    let after = relay.at_rest(enough);
    assert!(after <= enough, "{before} kB before, {crowd} kB with the crowd, {after} kB after");
    // The second crowd finds pages of the first in part, and had up to 7 % more; a third one not again.
    let second = relay.churn(CROWD, 6000);
    assert!(second <= crowd + crowd / 10, "{crowd} kB with the first crowd, {second} kB with the second");
    relay.at_rest(enough);
    let third = relay.churn(CROWD, 6000);
    assert!(third <= second + second / 20, "{second} kB with the second crowd, {third} kB with the third");
}

/// The bound is that of the row "200,000 come and go" of docs/evaluation.md.
#[test]
fn memory_does_not_grow_while_clients_come_and_go() {
    let relay = Relay::start();
    relay.churn(FIRST, 100);
    let before = relay.at_rest(0);
    relay.churn(2 * FIRST, 100);
    let most = before + before / 10;
    let after = relay.at_rest(most);
    assert!(after <= most, "{before} kB before, {after} kB after {} sockets", 2 * FIRST);
}
