//! A relay in its own process.
pub use super::client::{Client, DEADLINE};
use super::nats::Nats;
use super::signer::{claims, hs256};
use serde_json::json;
use std::collections::HashMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

pub struct Pod {
    process: Child,
    log: Arc<Mutex<String>>,
    pub address: String,
    pub link: String,
}

/// Starts relays that share one NATS, and waits until each is linked to every other in both directions.
pub async fn start(nats: &Nats, count: usize, flags: &[&str]) -> Vec<Pod> {
    let mut pods = Vec::new();
    for at in 0..count {
        pods.push(Pod::start(nats, &[&[&format!("--pod=p{at}")[..]], flags].concat()).await);
    }
    linked(&pods).await;
    pods
}

/// Waits until each is linked to every other in both directions.
pub async fn linked(pods: &[Pod]) {
    for pod in pods {
        let others = pods.len() as u64 - 1;
        pod.until("links_receiving", |links| links == others).await;
        pod.until("links_sending", |links| links == others).await;
    }
}

impl Pod {
    pub async fn start(nats: &Nats, flags: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parley-relay"));
        command.args(["--listen=127.0.0.1:0", "--nats", &nats.url]).args(nats.login(flags)).args(flags);
        // A long idle timeout, so that a slow machine is not taken for a dead peer.
        for usual in ["--threads=1", "--link-listen=127.0.0.1:0", "--limit=link.idleTimeout=15000"] {
            let (name, _) = usual.rsplit_once('=').unwrap();
            if !flags.iter().any(|flag| flag.rsplit_once('=').is_some_and(|(given, _)| given == name)) {
                command.arg(usual);
            }
        }
        command.args(["--limit=drain.window=200", "--limit=socket.closeTimeout=500"]);
        let mut process = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut next = async |message: &str| loop {
            let line = timeout(DEADLINE, lines.next_line()).await.unwrap().unwrap().expect("the relay ended");
            let log: serde_json::Value = serde_json::from_str(&line).unwrap();
            if log["message"] == message {
                return log["address"].as_str().unwrap().to_owned();
            }
        };
        let (address, link) = (next("listening").await, next("accepting links").await);
        let shows = std::env::var_os("PARLEY_TEST_LOG").is_some();
        let log: Arc<Mutex<String>> = Arc::default();
        let kept = Arc::clone(&log);
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                if shows {
                    eprintln!("{line}");
                }
                kept.lock().unwrap().push_str(&line);
            }
        });
        Self { process, log, address, link }
    }

    /// Returns the log since the relay accepts links.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    pub fn pid(&self) -> u32 {
        self.process.id().unwrap()
    }

    /// Sends a signal, by name.
    pub fn signal(&self, name: &str) {
        let status = std::process::Command::new("kill").args([&format!("-{name}"), &self.pid().to_string()]).status();
        assert!(status.unwrap().success());
    }

    pub async fn kill(mut self) {
        self.process.kill().await.unwrap();
    }

    pub async fn ended(&mut self) -> std::process::ExitStatus {
        timeout(DEADLINE, self.process.wait()).await.unwrap().unwrap()
    }

    /// Joins a topic and waits until the pod counts the socket.
    pub async fn join(&self, path: &str) -> Client {
        let before = self.metric("sockets_opened_total").await;
        let client = Client::open(format!("ws://{}{path}", self.address)).await;
        self.until("sockets_opened_total", |opened| opened > before).await;
        client
    }

    pub async fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        // A relay that requires tokens serves metrics to operators only.
        let token = hs256(&claims(json!({ "stats": true })));
        let head = format!("GET {path} HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer {token}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        timeout(DEADLINE, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    /// Returns all samples by their names, with labels and without `parley_relay_`.
    pub async fn metrics(&self) -> HashMap<String, f64> {
        let (_, text) = self.get("/metrics").await;
        let line = |line: &str| {
            let (name, value) = line.rsplit_once(' ')?;
            Some((name.strip_prefix("parley_relay_")?.to_owned(), value.parse().ok()?))
        };
        text.lines().filter(|line| !line.starts_with('#')).filter_map(line).collect()
    }

    #[allow(clippy::cast_sign_loss, reason = "a count")]
    pub async fn metric(&self, name: &str) -> u64 {
        self.metrics().await.get(name).copied().unwrap_or(0.0) as u64
    }

    /// Waits until a metric satisfies a condition.
    pub async fn until(&self, name: &str, is_so: impl Fn(u64) -> bool) {
        let mut last = 0;
        let wait = async {
            loop {
                last = self.metric(name).await;
                if is_so(last) {
                    return;
                }
                sleep(Duration::from_millis(20)).await;
            }
        };
        assert!(timeout(DEADLINE, wait).await.is_ok(), "{name} is {last} at the deadline");
    }

    /// Waits until other pods have this number of subscriptions to topics of this pod.
    pub async fn wanted(&self, times: u64) {
        self.until("link_subscriptions", |wants| wants == times).await;
    }
}
