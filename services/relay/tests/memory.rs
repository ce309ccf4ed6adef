//! What the shipped binary holds when a crowd has come and gone. A test program of its own, as the crowd needs most of the descriptors
//! that a process gets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod resident;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// So many that the log's buffer has been filled once, and all code was run.
const FIRST: usize = 17_000;
const CROWD: usize = 20_000;
/// The allocator gives memory back over half a second. On a busy machine its thread waits for its turn.
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
            // As shipped, but for the seconds that the allocator takes to give memory back.
            .env("_RJEM_MALLOC_CONF", "dirty_decay_ms:500,muzzy_decay_ms:500")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let log: serde_json::Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address: log["address"].as_str().unwrap().to_owned() }
    }

    /// Publishers that say something, readers and those who do both come, at most `alive` at once, each in the place of one that goes;
    /// in the end all go. Returns the resident memory in kB before that.
    fn churn(&self, sockets: usize, alive: usize) -> u64 {
        let mut here = Vec::with_capacity(alive);
        for number in 0..sockets {
            // Scattered, and the same in every run.
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

    /// Waits until the relay has seen everybody go.
    fn until_all_went(&self) {
        let mut metrics = String::new();
        // This question is a connection too.
        while !metrics.contains("\nparley_relay_connections 1\n") {
            metrics.clear();
            let mut stream = TcpStream::connect(&self.address).unwrap();
            stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: relay\r\n\r\n").unwrap();
            stream.read_to_string(&mut metrics).unwrap();
        }
    }

    /// Resident memory in kB, as soon as it is at most `enough` or when none has been given back for `QUIET`.
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
fn memory_is_given_back_when_a_crowd_has_gone() {
    let relay = Relay::start();
    relay.churn(FIRST, 1000);
    let before = relay.at_rest(0);
    let crowd = relay.churn(CROWD, 6000);
    // The allocator keeps its own tables of the bigger crowd, and pages that hold one small thing: between a seventh and a half of
    // what the crowd took. glibc's keeps all of it.
    let enough = before + (crowd - before) / 2;
    let after = relay.at_rest(enough);
    assert!(after <= enough, "{before} kB before, {crowd} kB with the crowd, {after} kB after");
    let again = relay.churn(CROWD, 6000);
    assert!(again <= crowd + crowd / 20, "{crowd} kB with the first crowd, {again} kB with the second");
}
