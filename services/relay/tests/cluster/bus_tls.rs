//! NATS over TLS. Titles cite the rules of the protocol's SPEC.md.
use super::nats::{binary, free_port};
use super::pod::DEADLINE;
use parley_cluster::bus::{Bus, Nats, RequestError};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpListener;
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::timeout;

/// A server with the files `tls.crt` and `tls.key`, and a directory for CAs.
struct Server {
    port: u16,
    directory: PathBuf,
    process: Child,
    log: Lines<BufReader<ChildStderr>>,
}

impl Server {
    async fn start() -> Self {
        let port = free_port().await;
        let directory = std::env::temp_dir().join(format!("parley-relay-tls-{}-{port}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        certify(&directory, "first").await;
        let (process, log) = run(&directory, port).await;
        Self { port, directory, process, log }
    }

    async fn restart(&mut self) {
        self.process.kill().await.unwrap();
        (self.process, self.log) = run(&self.directory, self.port).await;
    }

    async fn until(&mut self, what: &str) {
        said(&mut self.log, what).await;
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Sets the CA that a relay trusts from its next connection on.
    fn trust(&self, ca: &str) {
        std::fs::copy(self.path(&format!("{ca}.crt")), self.path("new.crt")).unwrap();
        std::fs::rename(self.path("new.crt"), self.path("ca.crt")).unwrap();
    }

    async fn join(&self, scheme: &str) -> Bus {
        join(format!("{scheme}://127.0.0.1:{}", self.port), self.path("ca.crt")).await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

async fn run(directory: &Path, port: u16) -> (Child, Lines<BufReader<ChildStderr>>) {
    let shown = directory.display();
    let tls = format!("cert_file: '{shown}/tls.crt', key_file: '{shown}/tls.key', handshake_first: true");
    std::fs::write(directory.join("nats.conf"), format!("listen: '127.0.0.1:{port}'\ntls {{ {tls} }}\n")).unwrap();
    let mut command = Command::new(binary());
    command.arg("-c").arg(directory.join("nats.conf")).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut process = command.spawn().unwrap();
    let mut log = BufReader::new(process.stderr.take().unwrap()).lines();
    said(&mut log, "Server is ready").await;
    (process, log)
}

async fn said(log: &mut Lines<BufReader<ChildStderr>>, what: &str) {
    let wait = async { while !log.next_line().await.unwrap().expect("NATS ended").contains(what) {} };
    timeout(DEADLINE, wait).await.unwrap_or_else(|_| panic!("NATS never logged {what}"));
}

/// Makes a CA of that name, and a certificate of the server that it signs.
async fn certify(directory: &Path, ca: &str) {
    let new = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2";
    let script = format!(
        "{new} -subj /CN={ca} -keyout {ca}.key -out {ca}.crt && \
         {new} -subj /CN=nats -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE \
         -CA {ca}.crt -CAkey {ca}.key -keyout new.key -out new.crt && mv new.key tls.key && mv new.crt tls.crt"
    );
    let made = Command::new("sh").args(["-c", &script]).current_dir(directory).stderr(Stdio::null()).status().await;
    assert!(made.unwrap().success());
}

async fn join(servers: String, ca: PathBuf) -> Bus {
    // The relay does this when it starts.
    parley_media::choose_cryptography();
    Bus::join(&Nats { servers, login: None, ca: Some(ca) }, "one").await.unwrap()
}

/// Waits until the server has answered that the request has no subscriber.
async fn answered(bus: &Bus) {
    let wait = async {
        while bus.request("parley.v1.nobody", Vec::new(), Duration::from_secs(2)).await
            != Err(RequestError::NoResponders)
        {
            bus.connects().changed().await.unwrap();
        }
    };
    timeout(DEADLINE, wait).await.expect("NATS does not answer");
}

async fn connected(bus: &Bus, times: u64) {
    let mut connects = bus.connects();
    timeout(DEADLINE, connects.wait_for(|&now| now >= times)).await.expect("not connected").unwrap();
}

#[tokio::test]
async fn bus_9_and_11_a_server_of_another_ca_is_refused_until_the_file_has_that_ca() {
    let mut server = Server::start().await;
    certify(&server.directory, "second").await;
    server.trust("second");
    for scheme in ["tls", "nats"] {
        let bus = server.join(scheme).await;
        server.until("TLS handshake error").await;
        assert!(!bus.is_connected(), "{scheme}");
    }
    server.trust("first");
    let bus = server.join("tls").await;
    connected(&bus, 1).await;
    answered(&bus).await;
}

#[tokio::test]
async fn bus_9_a_server_without_tls_receives_no_credential() {
    let mut server = Server::start().await;
    server.trust("first");
    server.process.kill().await.unwrap();
    let plain = TcpListener::bind(("127.0.0.1", server.port)).await.unwrap();
    let bus = server.join("nats").await;
    for _ in 0..2 {
        let (mut socket, _) = timeout(DEADLINE, plain.accept()).await.unwrap().unwrap();
        socket.write_all(b"INFO {\"max_payload\":1048576}\r\n").await.unwrap();
        let mut first = [0];
        socket.read_exact(&mut first).await.unwrap();
        // A TLS record that contains a handshake (RFC 8446, 5.1).
        assert_eq!(first, [22]);
    }
    assert!(!bus.is_connected());
}

#[tokio::test]
async fn bus_11_and_13_a_new_certificate_breaks_no_connection_and_a_new_ca_applies_to_the_next() {
    let mut server = Server::start().await;
    server.trust("first");
    let bus = server.join("tls").await;
    connected(&bus, 1).await;
    certify(&server.directory, "second").await;
    let status = Command::new("kill").args(["-HUP", &server.process.id().unwrap().to_string()]).status().await;
    assert!(status.unwrap().success());
    server.until("Reloaded server configuration").await;
    answered(&bus).await;
    assert_eq!(*bus.connects().borrow(), 1);
    // The client starts with the previous CA, so it refuses this server.
    let other = server.join("tls").await;
    server.until("TLS handshake error").await;
    assert!(!other.is_connected());
    server.trust("second");
    connected(&other, 1).await;
    server.restart().await;
    connected(&bus, 2).await;
    answered(&bus).await;
}
