//! A relay in its own process. The program is beside the tests: `cargo build -p parley-relay` builds it.
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

/// The longest wait for an expected event.
pub const DEADLINE: Duration = Duration::from_secs(30);

pub struct Process {
    child: Child,
    pub media: SocketAddr,
    websocket: SocketAddr,
    http: SocketAddr,
    ops: SocketAddr,
}

fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("parley-relay");
    assert!(program.exists(), "there is no {}: cargo build -p parley-relay", program.display());
    program
}

impl Process {
    pub async fn start(flags: &[&str]) -> Self {
        let mut command = Command::new(program());
        command.args(["--listen=127.0.0.1:0", "--ops-listen=127.0.0.1:0", "--media-listen=127.0.0.1:0"]).args(flags);
        let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut next = async |message: &str| loop {
            let line = timeout(DEADLINE, lines.next_line()).await.unwrap().unwrap().expect("the relay ended");
            let line: serde_json::Value = serde_json::from_str(&line).unwrap();
            if line["message"] == message {
                return line;
            }
        };
        let (carrying, listening) = (next("serving media").await, next("listening").await);
        let answering = next("listening for operations").await;
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let address = |line: &serde_json::Value, name| line[name].as_str().unwrap().parse().unwrap();
        let [media, websocket] = ["address", "websocket"].map(|name| address(&carrying, name));
        let (http, ops) = (address(&listening, "address"), address(&answering, "address"));
        Self { child, media, websocket, http, ops }
    }

    /// Returns the URL for clients, with a token unless it is empty.
    pub fn url(&self, token: &str) -> url::Url {
        let mut url: url::Url = format!("https://{}/", self.media).parse().unwrap();
        if !token.is_empty() {
            url.query_pairs_mut().append_pair("jwt", token);
        }
        url
    }

    /// Returns the URL for clients without UDP.
    pub fn websocket_url(&self) -> url::Url {
        format!("ws://{}/", self.websocket).parse().unwrap()
    }

    fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// Returns the resident memory in MB.
    pub fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    }

    pub fn signal(&self, name: &str) {
        let status = std::process::Command::new("kill").args([&format!("-{name}"), &self.pid().to_string()]).status();
        assert!(status.unwrap().success());
    }

    pub async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }

    pub async fn request(&self, request: &str) -> String {
        ask(self.http, request).await
    }

    /// Returns the sum of a metric's samples that have this label.
    pub async fn metric(&self, name: &str, label: &str) -> f64 {
        let text = self.metrics().await;
        let name = format!("parley_media_{name}");
        let lines = text.lines().filter(|line| {
            line.strip_prefix(&name).is_some_and(|rest| rest.starts_with(['{', ' '])) && line.contains(label)
        });
        lines.map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum()
    }

    /// Waits until the metric is `good`. A failure shows the relay's metrics of media.
    pub async fn until(&self, name: &str, label: &str, good: impl Fn(f64) -> bool) {
        let waiting = async {
            while !good(self.metric(name, label).await) {
                sleep(Duration::from_millis(50)).await;
            }
        };
        let found = timeout(DEADLINE, waiting).await.is_ok();
        let metrics = if found { String::new() } else { self.metrics().await };
        let media: Vec<&str> = metrics.lines().filter(|line| line.starts_with("parley_media_")).collect();
        assert!(found, "never: {name} {label}\n{}", media.join("\n"));
    }

    async fn metrics(&self) -> String {
        ask(self.ops, "GET /metrics HTTP/1.1\r\nHost: relay\r\n\r\n").await
    }
}

async fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    timeout(DEADLINE, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
    answer
}
