//! From standard input to a topic, and from a topic to standard output.
use super::fake;
use super::parley::{run, start};
use super::relay::{ANYWHERE, DEADLINE, Relay};
use tokio::time::timeout;

/// Bytes without a period, so that a wrong division into messages changes the result.
fn noise(size: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(size as u64);
    std::iter::repeat_with(|| random.u8(..)).take(size).collect()
}

#[tokio::test]
async fn the_output_is_the_input_byte_by_byte() {
    let relay = Relay::start(ANYWHERE, "").await;
    for cut in ["chunk=1000", "frame", "line"] {
        let bytes = [noise(300_000), b"\n".to_vec()].concat();
        let lines = if cut == "line" { "--lines" } else { "--reconnect=on" };
        let mut hears = start(&["stream", "sub", &relay.url("/out/cam"), lines]);
        relay.until_sockets(1).await;
        let mut says = start(&["stream", "pub", &relay.url("/in/cam"), "--message-per", cut]);
        says.write(&bytes).await;
        let said = says.end().await;
        assert!(said.status.success() && said.stderr.is_empty(), "{said:?}");
        assert!(hears.read(bytes.len()).await == bytes, "{cut}");
        let output = hears.interrupt().await;
        assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
        relay.until_sockets(0).await;
    }
}

#[tokio::test]
async fn a_line_is_a_text_message() {
    let relay = Relay::start(ANYWHERE, "").await;
    let mut log = start(&["stream", "sub", &relay.url("/out/chat"), "--log"]);
    relay.until_sockets(1).await;
    let mut says = start(&["stream", "pub", &relay.url("/in/chat"), "--text"]);
    says.write("één\ntwo\n".as_bytes()).await;
    assert!(says.end().await.status.success());
    for bytes in [5, 3] {
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') {
            line.extend(log.read(1).await);
        }
        let line: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert!(line["kind"] == "text" && line["bytes"] == bytes && line["timeMs"].as_u64() > Some(0), "{line}");
    }
}

#[tokio::test]
async fn input_that_is_not_utf_8_is_refused_as_text() {
    let relay = Relay::start(ANYWHERE, "").await;
    let mut says = start(&["stream", "pub", &relay.url("/in/chat"), "--text"]);
    says.write(b"\xff\n").await;
    let said = says.end().await;
    assert_eq!(said.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&said.stderr).contains("the input is not UTF-8 text"), "{said:?}");
}

#[tokio::test]
async fn a_closed_output_ends_the_command() {
    let relay = Relay::start(ANYWHERE, "").await;
    let mut hears = start(&["stream", "sub", &relay.url("/out/cam")]);
    relay.until_sockets(1).await;
    let mut says = start(&["stream", "pub", &relay.url("/in/cam")]);
    says.write(b"one").await;
    assert_eq!(hears.read(3).await, b"one");
    drop(hears.0.stdout.take());
    says.write(b"two").await;
    let output = timeout(DEADLINE, hears.0.wait_with_output()).await.expect("it does not end").unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[tokio::test]
async fn an_interrupted_command_sends_a_close_frame() {
    for arguments in [["stream", "sub"], ["stream", "pub"]] {
        let server = fake::Server::start().await;
        let command = start(&[arguments[0], arguments[1], &server.url("/x")]);
        let mut socket = server.socket().await;
        fake::settle(&mut socket).await;
        assert!(command.interrupt().await.status.success());
        assert_eq!(fake::end(&mut socket).await, Some(1000));
    }
}

#[tokio::test]
async fn the_end_of_the_input_closes_the_socket_after_the_last_message() {
    let server = fake::Server::start().await;
    let url = server.url("/x");
    let arguments = ["stream", "pub", &url];
    let (said, ended) = tokio::join!(run(&arguments), async { fake::end(&mut server.socket().await).await });
    assert!(said.status.success() && ended == Some(1000), "{said:?} {ended:?}");
}
