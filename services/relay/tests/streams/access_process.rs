//! The shipped binary with tokens, its secrets from files and the environment.
use super::pod::DEADLINE;
use super::raw::{UPGRADE, frame};
use crate::resident;
use crate::signer::{SECRET, claims, eddsa, hs256, key_set};
use serde_json::json;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;

fn relay(flags: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parley-relay"));
    command.args(flags).envs(environment.iter().copied());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// A file that is removed when the test ends.
struct File(PathBuf);

static FILES: AtomicUsize = AtomicUsize::new(0);

impl File {
    fn new(name: &str, content: &str) -> Self {
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("parley-relay-{}-{number}-{name}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        Self(path)
    }

    fn flag(&self, name: &str) -> String {
        format!("--{name}={}", self.0.display())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Starts a relay that requires tokens, and returns its address and its log.
async fn started(more: &[&str]) -> (Child, String, Arc<Mutex<String>>, File) {
    let keys = File::new("keys.json", &key_set());
    let flag = keys.flag("keys");
    let flags: Vec<&str> = ["--listen=127.0.0.1:0", "--access=token", &flag].iter().chain(more).copied().collect();
    let mut child = relay(&flags, &[("PARLEY_RELAY_TOKEN_SECRET", SECRET)]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = timeout(DEADLINE, lines.next_line()).await.unwrap().unwrap().unwrap();
    let address = serde_json::from_str::<serde_json::Value>(&first).unwrap()["address"].as_str().unwrap().to_owned();
    let log = Arc::new(Mutex::new(first));
    let kept = Arc::clone(&log);
    tokio::spawn(async move {
        while let Ok(Some(line)) = lines.next_line().await {
            kept.lock().unwrap().push_str(&line);
        }
    });
    (child, address, log, keys)
}

async fn send(address: &str, head: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = vec![0; 4096];
    let size = timeout(DEADLINE, stream.read(&mut answer)).await.unwrap().unwrap();
    (stream, String::from_utf8_lossy(&answer[..size]).into_owned())
}

#[tokio::test]
async fn str_116_the_binary_accepts_both_kinds_of_tokens_and_logs_no_secret() {
    let (_child, address, log, _keys) = started(&["--log-level=trace"]).await;
    let tokens = [hs256(&claims(json!({}))), eddsa(&claims(json!({})))];
    let mut secrets: Vec<String> = tokens.iter().map(|token| token.rsplit('.').next().unwrap().to_owned()).collect();
    secrets.push(SECRET.into());
    let operator = hs256(&claims(json!({ "stats": true })));
    for token in &tokens {
        let (socket, answer) =
            send(&address, &format!("GET /lab/7 HTTP/1.1\r\n{UPGRADE}Authorization: Bearer {token}\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
        let ask = format!("POST /v1/codes/lab/7 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n");
        let (mut stream, mut answer) = send(&address, &ask).await;
        let _ = stream.shutdown().await;
        timeout(DEADLINE, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
        let code = answer.split('"').nth(3).unwrap().to_owned();
        let (by_code, answer) = send(&address, &format!("GET /lab/7?code={code} HTTP/1.1\r\n{UPGRADE}\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
        secrets.push(code);
        // The content of `/ws` for both.
        let (mut watch, _) =
            send(&address, &format!("GET /ws HTTP/1.1\r\n{UPGRADE}Authorization: Bearer {operator}\r\n\r\n")).await;
        watch.write_all(&frame(0x81, b"?")).await.unwrap();
        let mut shown = vec![0; 8192];
        let size = timeout(DEADLINE, watch.read(&mut shown)).await.unwrap().unwrap();
        let shown = String::from_utf8_lossy(&shown[..size]).into_owned();
        assert!(shown.contains("/lab/7") && secrets.iter().all(|secret| !shown.contains(secret.as_str())), "{shown}");
        drop((socket, by_code));
    }
    let written = async {
        while log.lock().unwrap().matches("closed").count() < 4 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    timeout(DEADLINE, written).await.unwrap();
    let log = log.lock().unwrap().clone();
    assert!(secrets.iter().all(|secret| !log.contains(secret.as_str())), "{log}");
    assert!(!log.contains("lab/7"), "[STR-135] {log}");
}

/// Flags, environment, and the expected sentence.
type Case<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], &'a str);

#[tokio::test]
async fn str_116_wrong_settings_of_access_end_the_process_with_a_sentence() {
    let (short, broken) = (File::new("short", "too short\n"), File::new("broken.json", r#"{"keys": "SECRET"}"#));
    let secret = File::new("secret", SECRET);
    let (short, broken, secret) =
        (short.flag("token-secret-file"), broken.flag("keys"), (secret.flag("token-secret-file"), secret));
    let cases: [Case<'_>; 9] = [
        (&["--access=maybe"], &[], "access must be open or token, not maybe"),
        (&["--access=token"], &[], "access is token, so a key is needed"),
        (&[], &[("PARLEY_RELAY_TOKEN_SECRET", SECRET)], "but access is open"),
        (&["--access=token", &short], &[], "must be at least 32 bytes"),
        (&["--access=token", &broken], &[], "not a key set, at line 1"),
        (&["--access=token", "--keys=/does/not/exist"], &[], "cannot be read"),
        (&["--access=token", "--audience=https://a/", &secret.0], &[], "must not end with a slash"),
        (&["--access=token", &secret.0], &[("PARLEY_RELAY_TOKEN_SECRET", SECRET)], "set twice"),
        (&["--token-secret=x"], &[], "--token-secret"),
    ];
    for (flags, environment, sentence) in cases {
        let output = relay(flags, environment).output().await.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(sentence) && !said.contains("SECRET\"") && !said.contains(SECRET), "{said}");
    }
}

#[tokio::test]
async fn a_quiet_socket_with_a_token_costs_at_most_4_kb() {
    let (child, address, ..) = started(&["--limit=address.sockets=16000"]).await;
    let count = 4000;
    let before = resident::of(child.id().unwrap());
    let mut kept = Vec::new();
    for at in 0..count {
        let token = hs256(&claims(json!({"sub": format!("person-{at}"), "jti": format!("{at:036}")})));
        let path = format!("/out/lab/{}", at % 100);
        let (mut socket, _) = send(&address, &format!("GET {path} HTTP/1.1\r\n{UPGRADE}\r\n")).await;
        socket.write_all(&frame(0x81, token.as_bytes())).await.unwrap();
        let mut verdict = [0; 2048];
        let size = timeout(DEADLINE, socket.read(&mut verdict)).await.unwrap().unwrap();
        assert!(String::from_utf8_lossy(&verdict[..size]).contains(r#""authorised":true"#));
        kept.push(socket);
    }
    let each = (resident::of(child.id().unwrap()) - before) * 1024 / count;
    println!("{each} bytes a socket");
    assert!(each <= 4096, "{each} bytes");
}
