//! The shipped binary, as an operator runs it.
use super::pod::DEADLINE;
use std::process::Stdio;
use std::time::Instant;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

fn relay(flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parley-relay"));
    command.args(flags).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// Starts the relay and reads its address from its log.
pub async fn started(flags: &[&str]) -> (Child, String) {
    let mut child = relay(flags).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = timeout(DEADLINE, lines.next_line()).await.unwrap().unwrap().unwrap();
    let log: serde_json::Value = serde_json::from_str(&line).unwrap();
    let address = log["address"].as_str().unwrap().to_owned();
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, address)
}

#[tokio::test]
async fn str_70_sigterm_ends_the_process_within_the_drain_window() {
    let (mut child, address) =
        started(&["--listen=127.0.0.1:0", "--limit=drain.window=200", "--limit=socket.closeTimeout=200"]).await;
    let (mut socket, _) = tokio_tungstenite::connect_async(format!("ws://{address}/x")).await.unwrap();
    let began = Instant::now();
    let pid = child.id().unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let close = timeout(DEADLINE, futures_util::StreamExt::next(&mut socket)).await.unwrap().unwrap().unwrap();
    assert!(
        matches!(close, tokio_tungstenite::tungstenite::Message::Close(Some(frame)) if u16::from(frame.code) == 1012)
    );
    let status = timeout(DEADLINE, child.wait()).await.unwrap().unwrap();
    assert!(status.success() && began.elapsed().as_secs() < 5, "{status} after {:?}", began.elapsed());
}

#[tokio::test]
async fn str_83_a_log_without_a_reader_blocks_no_client() {
    let mut child = relay(&["--listen=127.0.0.1:0"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = timeout(DEADLINE, lines.next_line()).await.unwrap().unwrap().unwrap();
    let log: serde_json::Value = serde_json::from_str(&line).unwrap();
    let url = format!("ws://{}/x", log["address"].as_str().unwrap());
    // Each connection logs about 200 bytes at its end; a pipe holds 64 kB.
    for _ in 0..1000 {
        let connected = timeout(DEADLINE, tokio_tungstenite::connect_async(&url)).await.expect("the relay is frozen");
        drop(connected.unwrap());
    }
}

#[tokio::test]
async fn str_81_wrong_settings_end_the_process_with_a_sentence() {
    for (flags, sentence) in [
        (["--lisen=x"], "--lisen"),
        (["--limit=pod.sokets=1"], "settings: there is no limit named pod.sokets"),
        (["--limit=pod.sockets=0"], "settings: limit pod.sockets must be 1 to 1000000 sockets, not 0"),
    ] {
        let output = relay(&flags).output().await.unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(sentence), "{output:?}");
    }
    let output = relay(&[]).env("PARLEY_RELAY_LISEN", "x").output().await.unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "settings: unknown PARLEY_RELAY_LISEN\n");
}
