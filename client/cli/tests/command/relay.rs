//! A relay process for one test: the test program itself, started again as a relay. So it is always the relay of this tree, whatever
//! cargo was asked to build.
use futures_util::{SinkExt, StreamExt};
use parley_relay::{config, drain, log, start};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

/// The longest wait of a test.
pub const DEADLINE: Duration = Duration::from_secs(30);
/// The flags of the relay. They are not in its own environment variables, of which it refuses unknown ones.
const FLAGS: &str = "PARLEY_TEST_RELAY_FLAGS";
/// An address with any port.
pub const ANYWHERE: &str = "127.0.0.1:0";

pub struct Relay {
    pub child: Child,
    pub address: String,
}

/// Not a test: tests start this function as a process of its own, with the flags of the relay in the environment.
#[test]
#[ignore = "not a test: the process of a relay, which other tests start"]
fn relay_process() {
    let flags = std::env::var(FLAGS).expect("only tests start this process");
    let flags = ["parley-relay"].into_iter().chain(flags.split(' ')).map(Into::into);
    let settings = config::read(flags, std::iter::empty()).unwrap();
    let _log = log::install(settings.log_level, settings.limits.log_lines).unwrap();
    config::runtime(&settings).unwrap().block_on(async {
        let signals = drain::Signals::new().unwrap();
        drain::on_signal(signals, start::relay(settings).await.unwrap()).await;
    });
}

impl Relay {
    /// Starts a relay and waits until it listens.
    pub async fn start(listen: &str, flags: &str) -> Self {
        Self::start_telling(listen, flags, |_| {}).await
    }

    /// Starts a relay, and returns its log lines up to that.
    pub async fn start_telling(listen: &str, flags: &str, mut tell: impl FnMut(&serde_json::Value)) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["relay::relay_process", "--exact", "--ignored", "--nocapture"]);
        command.env(FLAGS, format!("--listen={listen} {flags}").trim_end()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let listens = async {
            loop {
                let line = lines.next_line().await.unwrap().expect("the relay ended");
                // The test program prints lines of its own first.
                let log: serde_json::Value = line
                    .find('{')
                    .map_or_else(Default::default, |at| serde_json::from_str(&line[at..]).unwrap_or_default());
                tell(&log);
                if log["message"] == "listening" {
                    return log["address"].as_str().unwrap().to_owned();
                }
            }
        };
        let address = timeout(DEADLINE, listens).await.expect("the relay does not start");
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { child, address }
    }

    pub fn url(&self, path: &str) -> String {
        format!("ws://{}{path}", self.address)
    }

    /// Waits until this many sockets are on topics.
    pub async fn until_sockets(&self, count: u64) {
        let watch = async {
            let (mut socket, _) = connect_async(self.url("/ws")).await.unwrap();
            socket.send(Message::text(r#"{"push":200}"#)).await.unwrap();
            loop {
                let summary = socket.next().await.unwrap().unwrap().into_data();
                let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap_or_default();
                if summary["sockets"] == count {
                    return;
                }
            }
        };
        assert!(timeout(DEADLINE, watch).await.is_ok(), "never {count} sockets");
    }

    /// Kills the relay, as `kill -9` does.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Terminates the relay, as an orchestrator does: it drains and ends.
    pub async fn terminate(mut self) {
        super::parley::signal(&self.child, "TERM");
        timeout(DEADLINE, self.child.wait()).await.expect("the relay does not end").unwrap();
    }
}
