//! A link between two real network namespaces, measured by UDP: the process as its users run it. Root is needed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod lab;

use lab::Lab;
use serde_json::Value;
use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

/// Milliseconds until each of so many packets is back, sorted.
fn round_trips(lab: &Lab, count: usize) -> Vec<f64> {
    let (here, there) = (lab.socket("a"), lab.socket("b"));
    let echo = thread::spawn(move || {
        let mut packet = [0; 64];
        while let Ok((size, from)) = there.recv_from(&mut packet) {
            there.send_to(&packet[..size], from).unwrap();
        }
    });
    let mut found: Vec<f64> = (0..count)
        .map(|nth| {
            let sent = Instant::now();
            here.send_to(&nth.to_le_bytes(), lab.address("b")).unwrap();
            receive(&here).expect("it is lost");
            sent.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    drop(here);
    echo.join().unwrap();
    found.sort_by(f64::total_cmp);
    found
}

fn receive(socket: &UdpSocket) -> Option<usize> {
    socket.recv(&mut [0; 2048]).ok()
}

/// How many of so many packets get from A to B that are sent so far apart, and how long that takes.
fn through(lab: &Lab, count: usize, bytes: usize, apart: Duration) -> (usize, Duration) {
    let (here, there) = (lab.socket("a"), lab.socket("b"));
    let counted = thread::spawn(move || {
        let (begun, mut last, mut found) = (Instant::now(), Duration::ZERO, 0);
        while receive(&there).is_some() {
            found += 1;
            last = begun.elapsed();
        }
        (found, last)
    });
    for _ in 0..count {
        here.send_to(&vec![0; bytes], lab.address("b")).unwrap();
        thread::sleep(apart);
    }
    counted.join().unwrap()
}

#[test]
fn forty_five_milliseconds_each_way_are_ninety_there_and_back_until_a_line_changes_them() {
    let lab = Lab::new("delay");
    let mut link = lab.link(&["--delay", "45ms"]);
    let found = round_trips(&lab, 40);
    println!("round trip: p50 {:.2} ms, all {:.2} to {:.2}", found[20], found[0], found[39]);
    assert!(found[0] >= 90.0, "{found:?}");
    assert!((88.0..=92.0).contains(&found[20]), "{found:?}");

    link.command("delay 10ms,20ms");
    let found = round_trips(&lab, 40);
    assert!((30.0..=32.0).contains(&found[20]), "{found:?}");
}

#[test]
fn jitter_spreads_round_trips_around_the_delay() {
    let lab = Lab::new("jitter");
    let _link = lab.link(&["--delay", "20ms", "--jitter", "5ms", "--seed", "7"]);
    let found = round_trips(&lab, 60);
    assert!(found[0] < 37.0 && found[59] > 43.0, "{found:?}");
    assert!((37.0..=43.0).contains(&found[30]), "{found:?}");
}

#[test]
fn one_in_twenty_is_lost_the_same_ones_with_the_same_seed_and_counted() {
    let run = || {
        let lab = Lab::new("loss");
        let mut link = lab.link(&["--loss", "0.05,0", "--seed", "7"]);
        let (arrived, _) = through(&lab, 4000, 100, Duration::from_micros(300));
        let lost = 4000 - arrived;
        println!("lost: {lost} of 4000");
        assert!((160..=240).contains(&lost), "{lost}");
        let counts = link.end();
        assert_eq!(number(&counts, "aToB", "lost"), lost as u64, "{counts}");
        assert_eq!(number(&counts, "aToB", "packets"), arrived as u64, "{counts}");
        assert_eq!(number(&counts, "aToB", "bytes"), arrived as u64 * 128, "with the headers of IP and UDP: {counts}");
        assert_eq!(number(&counts, "bToA", "lost"), 0, "{counts}");
        lost
    };
    assert_eq!(run(), run());
}

#[test]
fn a_rate_lets_so_much_through_and_what_does_not_fit_is_dropped() {
    let lab = Lab::new("rate");
    // 1028 bytes with their headers: 121.6 packets a second.
    let mut link = lab.link(&["--rate", "1mbit,none"]);
    let (arrived, took) = through(&lab, 200, 1000, Duration::from_millis(3));
    let rate = arrived as f64 / took.as_secs_f64();
    assert!((110.0..=125.0).contains(&rate), "{rate} packets a second, {arrived} in {took:?}");
    let counts = link.end();
    assert_eq!(number(&counts, "aToB", "queueDrops"), 200 - arrived as u64, "{counts}");
}

#[test]
fn a_link_is_cut_and_mended_and_a_line_that_makes_no_sense_changes_nothing() {
    let lab = Lab::new("cut");
    let mut link = lab.link(&[]);
    let few = || through(&lab, 5, 10, Duration::ZERO).0;
    assert_eq!(few(), 5);
    link.command("down");
    assert_eq!(few(), 0);
    link.command("up");
    link.command("loss 7");
    assert_eq!(few(), 5);
    assert_eq!(link.error(), "wan-link: loss is a chance from 0 to 1, not 7");
}

#[test]
fn it_ends_with_its_stdin_and_by_signals_and_takes_its_devices_along() {
    let lab = Lab::new("ends");
    for ends in ["stdin", "TERM", "INT"] {
        let mut link = lab.link(&[]);
        assert!(lab.devices("a").contains("wan0: <") && lab.devices("a").contains("mtu 1400"));
        let counts = if ends == "stdin" { link.end() } else { link.signal(ends) };
        assert_eq!(number(&counts, "bToA", "queueDrops"), 0, "{ends}: {counts}");
        assert!(!lab.devices("a").contains("wan0"), "{ends}");
    }
}

#[test]
fn it_ends_with_a_failure_when_a_device_is_taken_away() {
    let lab = Lab::new("deleted");
    let mut link = lab.link(&[]);
    lab.inside("a", &["ip", "link", "del", "wan0"]);
    assert!(link.error().starts_with("wan-link: a device was deleted: "));
    assert_eq!(link.status(), Some(1));
}

#[test]
fn what_it_cannot_make_it_names() {
    let lab = Lab::new("wrong");
    let refused = lab.refused(&["--a", "nowhere,wan0,10.80.0.1/30"]);
    assert!(refused.contains("device wan0 in namespace nowhere: no such namespace"), "{refused}");
    let _link = lab.link(&[]);
    let refused = lab.refused(&["--a", &lab.end("a")]);
    assert!(refused.contains("making it: ") && refused.contains("busy"), "{refused}");
}

fn number(counts: &Value, way: &str, name: &str) -> u64 {
    counts[way][name].as_u64().unwrap_or_else(|| panic!("{counts}"))
}
