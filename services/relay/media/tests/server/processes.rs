//! Trees of relay processes that find each other on NATS. Each test ends one and measures how long watchers are without media (MED-43, MED-50).
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

use crate::client::{Publisher, Watcher};
use crate::process::{DEADLINE, Process};

struct Nats {
    url: String,
    _server: Child,
}

impl Nats {
    async fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        let program = program();
        let mut command = Command::new(&program);
        command.args(["-a", "127.0.0.1", "-p", &port.to_string()]).stderr(Stdio::null()).kill_on_drop(true);
        let server = command.spawn().expect("there is no NATS server: make tools");
        let reached = async {
            while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(DEADLINE, reached).await.expect("there is no NATS");
        Self { url: format!("nats://127.0.0.1:{port}"), _server: server }
    }

    async fn relay(&self, pod: &str, role: &str) -> Process {
        let (nats, pod, role) =
            (format!("--nats={}", self.url), format!("--pod={pod}"), format!("--media-role={role}"));
        let quiet = ["--limit=link.idleTimeout=15000", "--limit=drain.window=4000", "--link-listen=127.0.0.1:0"];
        Process::start(&[&[&nats[..], &pod, &role], &quiet[..]].concat()).await
    }
}

/// Returns `PARLEY_NATS_SERVER`, or the server that `make tools` fetched.
fn program() -> PathBuf {
    if let Some(given) = std::env::var_os("PARLEY_NATS_SERVER") {
        return given.into();
    }
    let versions = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../infra/local/versions.env");
    let versions = std::fs::read_to_string(versions).unwrap();
    let version = versions.lines().find_map(|line| line.strip_prefix("NATS_VERSION=")).unwrap();
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache/parley");
    let cache = std::env::var_os("PARLEY_CACHE").map_or_else(home, PathBuf::from);
    cache.join(format!("tools/nats-server-{version}/nats-server"))
}

/// Two origins and two leaves. A broadcast is published on the first leaf and watched on the second, through one of the origins.
struct Tree {
    origins: [Process; 2],
    leaves: [Process; 2],
    publisher: Publisher,
    watcher: Watcher,
    _nats: Nats,
}

impl Tree {
    async fn start() -> Self {
        let nats = Nats::start().await;
        let origins = [nats.relay("a", "origin").await, nats.relay("b", "origin").await];
        let leaves = [nats.relay("x", "leaf").await, nats.relay("y", "leaf").await];
        for leaf in &leaves {
            leaf.until("links_up", "", |up| up == 2.0).await;
        }
        origins[0].until("links_up", "", |up| up == 1.0).await;
        let publisher = Publisher::start(leaves[0].url(""), &[], "lab/7/cam").await;
        let mut watcher = Watcher::start(leaves[1].url(""), &[], "lab/7/cam").await;
        watcher.frames(100).await;
        Self { origins, leaves, publisher, watcher, _nats: nats }
    }

    /// Returns the index of the origin through which the media goes.
    async fn carrying(&mut self) -> usize {
        let out = async |at: usize| self.origins[at].metric("bytes_total", "direction=\"out\"").await;
        let before = [out(0).await, out(1).await];
        self.watcher.frames(50).await;
        let out = async |at: usize| self.origins[at].metric("bytes_total", "direction=\"out\"").await;
        usize::from(out(1).await - before[1] > out(0).await - before[0])
    }
}

#[tokio::test]
async fn med_43_media_resumes_within_a_second_after_the_process_of_an_origin_is_killed() {
    let mut tree = Tree::start().await;
    let carrying = tree.carrying().await;
    tree.origins[carrying].signal("KILL");
    let gap = tree.watcher.gap(Duration::from_secs(5)).await;
    println!("origin, kill -9: {gap:?}, publisher's own {:?}", tree.publisher.gap());
    assert!(gap < Duration::from_secs(1) + tree.publisher.gap(), "{gap:?}");
}

#[tokio::test]
async fn med_50_media_pauses_less_than_a_fifth_of_a_second_when_an_origin_receives_sigterm() {
    let mut tree = Tree::start().await;
    let carrying = tree.carrying().await;
    tree.origins[carrying].signal("TERM");
    let gap = tree.watcher.gap(Duration::from_secs(6)).await;
    println!("origin, SIGTERM: {gap:?}, publisher's own {:?}", tree.publisher.gap());
    assert!(gap < Duration::from_millis(200) + tree.publisher.gap(), "{gap:?}");
}

/// How long a client waits for media before it requests another relay, as the SDK does.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(1);

#[tokio::test]
async fn med_43_watchers_of_a_killed_leaf_continue_at_another_within_three_seconds() {
    let mut tree = Tree::start().await;
    let begin = Instant::now();
    tree.leaves[1].kill().await;
    while tree.watcher.silence(begin) < CLIENT_TIMEOUT {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mut watcher = Watcher::start(tree.leaves[0].url(""), &[], "lab/7/cam").await;
    watcher.frames(1).await;
    let gap = begin.elapsed();
    println!("leaf, kill -9: {gap:?}, publisher's own {:?}", tree.publisher.gap());
    assert!(gap < Duration::from_secs(3) + tree.publisher.gap(), "{gap:?}");
}
