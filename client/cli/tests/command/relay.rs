//! A relay's process of a test's own: this very test program, started again as a relay. So it is always the relay of this tree, whatever
//! cargo was told to build.
use futures_util::{SinkExt, StreamExt};
use parley_relay::{config, drain, log, start};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

/// Everything a test waits for comes within this, or never.
pub const DEADLINE: Duration = Duration::from_secs(30);
/// The relay's flags; not among its own settings, of which it refuses unknown ones.
const FLAGS: &str = "PARLEY_TEST_RELAY_FLAGS";
/// Where to listen when it does not matter.
pub const ANYWHERE: &str = "127.0.0.1:0";

pub struct Relay {
    pub child: Child,
    pub address: String,
}

/// No test, but the relay itself where it is asked for.
#[test]
fn a_relay_runs_in_a_process_of_its_own() {
    let Ok(flags) = std::env::var(FLAGS) else { return };
    let flags = ["parley-relay"].into_iter().chain(flags.split(' ')).map(Into::into);
    let settings = config::read(flags, std::iter::empty()).unwrap();
    let _log = log::install(settings.log_level, settings.limits.log_lines).unwrap();
    config::runtime(&settings).unwrap().block_on(async {
        let signals = drain::Signals::new().unwrap();
        drain::on_signal(signals, start::relay(settings).await.unwrap()).await;
    });
}

impl Relay {
    /// Starts one and waits until it listens.
    pub async fn start(listen: &str, flags: &str) -> Self {
        Self::start_telling(listen, flags, |_| {}).await
    }

    /// The same, and what it logs until then.
    pub async fn start_telling(listen: &str, flags: &str, mut tell: impl FnMut(&serde_json::Value)) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["relay::a_relay_runs_in_a_process_of_its_own", "--exact", "--nocapture"]);
        command.env(FLAGS, format!("--listen={listen} {flags}").trim_end()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let listens = async {
            loop {
                let line = lines.next_line().await.unwrap().expect("the relay ended");
                // After what the test program says of itself.
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

    /// Waits until so many sockets are on topics.
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

    /// As `kill -9` does.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// As an orchestrator does: the relay drains and ends.
    pub async fn terminate(mut self) {
        super::parley::signal(&self.child, "TERM");
        timeout(DEADLINE, self.child.wait()).await.expect("the relay does not end").unwrap();
    }
}
