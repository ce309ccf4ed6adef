//! A real NATS server on a free port, in its own directory.
use super::pod::DEADLINE;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::time::timeout;

pub struct Nats {
    pub url: String,
    ip: IpAddr,
    port: u16,
    server: Option<Child>,
    directory: PathBuf,
}

/// The password of all users in the chart's configuration.
pub const PASSWORD: &str = "relay-secret";
/// The relays that are users in it. `far` is of the region `other`, all others are of the region `local`.
const RELAYS: [&str; 8] = ["a", "b", "far", "leaf", "one", "p0", "p1", "p2"];

fn user(template: &str, name: &str) -> String {
    let mark = parley_access::one_use::prefix_of(name);
    let region = if name == "far" { "other" } else { "local" };
    let values = [("NAME", name), ("VARIABLE", &name.to_uppercase()), ("REGION", region), ("MARK", &mark)];
    let fill = |text: String, (name, value): (&str, &str)| text.replace(&format!("${{{name}}}"), value);
    values.into_iter().fold(template.to_owned(), fill)
}

/// Waits until the server has processed the requests of this client. `flush` alone waits for the socket only.
pub async fn settle(client: &async_nats::Client) {
    client.request("parley.v1.nobody", "".into()).await.unwrap_err();
}

impl Nats {
    pub async fn start() -> Self {
        Self::start_at(Ipv4Addr::LOCALHOST.into()).await
    }

    /// Starts a server on another address of this machine.
    pub async fn start_at(ip: IpAddr) -> Self {
        let port = free_port().await;
        let directory = std::env::temp_dir().join(format!("parley-relay-nats-{}-{port}", std::process::id()));
        let url = format!("nats://{}", SocketAddr::from((ip, port)));
        let mut nats = Self { url, ip, port, server: None, directory };
        nats.restart().await;
        nats
    }

    /// Returns the flags with which a relay logs in as the user of its name; none if the server does not have the user.
    pub fn login(&self, flags: &[&str]) -> Vec<String> {
        let name = flags.iter().find_map(|flag| flag.strip_prefix("--pod="));
        let user = name.filter(|name| self.config().exists() && RELAYS.contains(name));
        user.map(|user| vec![format!("--nats-user={user}"), format!("--nats-password={PASSWORD}")]).unwrap_or_default()
    }

    /// Starts a server with the users and permissions of a region.
    pub async fn start_as_in_the_chart() -> Self {
        let mut nats = Self::start().await;
        nats.kill().await;
        std::fs::create_dir_all(&nats.directory).unwrap();
        let read = |name: &str| {
            let files = concat!(env!("CARGO_MANIFEST_DIR"), "/../../charts/parley/files");
            std::fs::read_to_string(format!("{files}/{name}")).unwrap()
        };
        let (mut config, relay) = (read("nats.conf"), read("nats-relay.conf"));
        let relays: String = RELAYS.iter().map(|name| user(&relay, name)).collect();
        let (listen, store) = (format!("127.0.0.1:{}", nats.port), nats.directory.join("store").display().to_string());
        for (name, value) in [
            ("SERVER_NAME", "one"),
            ("LISTEN", &listen),
            ("MONITOR", "127.0.0.1:-1"),
            ("STORE_DIR", &store),
            ("DOMAIN", "local"),
            ("MAX_MEMORY", "64MB"),
            ("MAX_FILE", "64MB"),
            ("RELAYS", &relays),
        ] {
            config = config.replace(&format!("${{{name}}}"), value);
        }
        std::fs::write(nats.config(), config).unwrap();
        nats.restart().await;
        nats
    }

    fn config(&self) -> PathBuf {
        self.directory.join("nats.conf")
    }

    /// Kills the server, as `kill -9`.
    pub async fn kill(&mut self) {
        self.server.take().unwrap().kill().await.unwrap();
    }

    /// Starts the server again on the same port.
    pub async fn restart(&mut self) {
        let mut command = Command::new(binary());
        if self.config().exists() {
            command.arg("-c").arg(self.config());
            let relays = RELAYS.iter().map(|name| name.to_uppercase());
            for user in ["SIGNALING".to_owned(), "TURN".to_owned()].into_iter().chain(relays) {
                command.env(format!("PARLEY_NATS_{user}_PASSWORD"), PASSWORD);
            }
        } else {
            command.args(["-a", &self.ip.to_string(), "-p", &self.port.to_string()]);
        }
        let mut server = command.stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(server.stderr.take().unwrap()).lines();
        let ready = async {
            while let Ok(Some(line)) = lines.next_line().await {
                if line.contains("Server is ready") {
                    return;
                }
            }
            panic!("NATS ended at once");
        };
        timeout(DEADLINE, ready).await.expect("NATS is not ready");
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        self.server = Some(server);
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Returns `PARLEY_NATS_SERVER`, or the server that `make tools` fetched. A missing server fails the test, which is never skipped.
pub fn binary() -> PathBuf {
    if let Some(given) = std::env::var_os("PARLEY_NATS_SERVER") {
        return given.into();
    }
    let versions = concat!(env!("CARGO_MANIFEST_DIR"), "/../../infra/local/versions.env");
    let versions = std::fs::read_to_string(versions).unwrap();
    let version = versions.lines().find_map(|line| line.strip_prefix("NATS_VERSION=")).unwrap();
    let cache = std::env::var_os("PARLEY_CACHE").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").expect("HOME is not set")).join(".cache/parley"),
        PathBuf::from,
    );
    let binary = cache.join(format!("tools/nats-server-{version}/nats-server"));
    assert!(
        binary.exists(),
        "These tests need a real NATS server and {} does not exist: run infra/local/tools.sh or set PARLEY_NATS_SERVER.",
        binary.display()
    );
    binary
}

/// Returns a port below the ephemeral ports of Linux (32768 and up), so that no other process gets it while NATS is stopped.
pub async fn free_port() -> u16 {
    loop {
        let port = rand::random_range(18_000..32_000);
        if TcpListener::bind(("127.0.0.1", port)).await.is_ok() {
            return port;
        }
    }
}
