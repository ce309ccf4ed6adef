//! An error that a retry cannot cure ends the command with a message and an exit code.
use super::fake;
use super::parley::{run, start};
use super::relay::{ANYWHERE, Relay};
use tokio::io::AsyncWriteExt;

fn refused(output: &std::process::Output, code: i32, sentence: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(code) && said.contains(sentence), "{output:?}");
}

#[tokio::test]
async fn str_5_a_topic_that_is_reserved() {
    let relay = Relay::start(ANYWHERE, "").await;
    refused(&run(&["stream", "sub", &relay.url("/metrics/x")]).await, 3, "parley: the server refused: ");
}

#[tokio::test]
async fn a_refusal_is_reported_with_its_code() {
    let server = fake::Server::start().await;
    let url = server.url("/metrics/x");
    let arguments = ["stream", "pub", &url];
    let refusal = fake::answer(&server, "400 Bad Request", r#"{"code":"TOPIC_RESERVED"}"#);
    let (output, _) = tokio::join!(run(&arguments), refusal);
    refused(&output, 3, "parley: the server refused: TOPIC_RESERVED (400)");
}

#[tokio::test]
async fn a_full_server_is_retried() {
    let server = fake::Server::start().await;
    let mut hears = start(&["stream", "sub", &server.url("/x")]);
    fake::answer(&server, "503 Service Unavailable", r#"{"code":"POD_FULL"}"#).await;
    hears.complains("the server refused: POD_FULL (503); retrying in").await;
    server.socket().await;
}

#[tokio::test]
async fn str_11_a_message_that_is_too_large() {
    let relay = Relay::start(ANYWHERE, "--limit=stream.messageBytes=1024").await;
    let mut says = start(&["stream", "pub", &relay.url("/in/x"), "--message-per", "chunk=2000"]);
    says.write(&[b'x'; 2000]).await;
    says.complains("parley: the server closed the socket: MESSAGE_TOO_LARGE (1009)").await;
    assert_eq!(says.end().await.status.code(), Some(3));
}

#[tokio::test]
async fn a_server_without_tls() {
    let server = fake::Server::start().await;
    let url = server.url("/x").replace("ws://", "wss://");
    let arguments = ["stream", "sub", &url];
    let (output, ()) = tokio::join!(run(&arguments), async {
        server.tcp().await.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    refused(&output, 3, "parley: TLS failed: ");
}

#[tokio::test]
async fn an_invalid_url() {
    for url in ["http://127.0.0.1/x", "127.0.0.1", "ws:///x"] {
        refused(&run(&["stream", "sub", url]).await, 2, "must be ws://HOST/PATH or wss://HOST/PATH");
    }
}
