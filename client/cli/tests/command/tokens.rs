//! How a token is sent. Rules STR-107 to STR-110.
use super::fake::{self, answer};
use super::parley::{run, start, start_with};
use super::relay::{ANYWHERE, DEADLINE, Relay};
use futures_util::{SinkExt, StreamExt};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

#[tokio::test]
async fn str_108_a_token_is_sent_in_a_header() {
    let server = fake::Server::start().await;
    let _hears = start_with(&["stream", "sub", &server.url("/x")], &[("PARLEY_TOKEN", "a.b.c")]);
    let _socket = server.socket().await;
    let asked = server.asked.lock().unwrap().take().unwrap();
    assert_eq!(asked.headers()["authorization"], "Bearer a.b.c");
}

#[tokio::test]
async fn str_107_a_token_is_the_first_message() {
    let server = fake::Server::start().await;
    let mut says = start(&["stream", "pub", &server.url("/x"), "--token", "a.b.c", "--token-door", "first-message"]);
    says.write(b"data").await;
    let mut socket = server.socket().await;
    assert!(!server.asked.lock().unwrap().take().unwrap().headers().contains_key("authorization"));
    assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("a.b.c"));
    assert!(socket.next().await.unwrap().unwrap().is_ping());
    socket.send(Message::text(r#"{"topic":"/x","token":"","authorised":true,"reason":""}"#)).await.unwrap();
    assert_eq!(socket.next().await.unwrap().unwrap(), Message::binary(&b"data"[..]));
}

#[tokio::test]
async fn str_107_a_refused_token_ends_the_command() {
    let server = fake::Server::start().await;
    let url = server.url("/x");
    let arguments = ["stream", "sub", &url, "--token", "a.b.c", "--token-door", "first-message"];
    let (output, ()) = tokio::join!(run(&arguments), async {
        let mut socket = server.socket().await;
        socket.next().await.unwrap().unwrap();
        socket.send(Message::text(r#"{"authorised":false,"reason":"expired"}"#)).await.unwrap();
        fake::end(&mut socket).await;
    });
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("refused the token: expired"), "{output:?}");
}

#[tokio::test]
async fn str_100_a_first_message_to_an_open_relay_ends_the_command() {
    let relay = Relay::start(ANYWHERE, "").await;
    let others = start(&["stream", "pub", "--text", &relay.url("/x"), "--token=a.b.c", "--token-door=first-message"]);
    let output = timeout(2 * DEADLINE, others.0.wait_with_output()).await.unwrap().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("requires no token"), "{output:?}");
}

#[tokio::test]
async fn str_107_a_server_that_does_not_answer_is_retried() {
    let server = fake::Server::start().await;
    let mut hears = start(&["stream", "sub", &server.url("/x"), "--token=a.b.c", "--token-door=first-message"]);
    let _silent = server.socket().await;
    hears.complains("no answer to the token; retrying").await;
}

#[tokio::test]
async fn str_107_a_missing_token_is_reported() {
    for (token, said) in [(None, "give one with --token"), (Some(("PARLEY_TOKEN", "a.b.c")), "retrying")] {
        let server = fake::Server::start().await;
        let mut hears = start_with(&["stream", "sub", &server.url("/x")], token.as_slice());
        let mut socket = server.socket().await;
        let close = CloseFrame { code: 4446.into(), reason: "TOKEN_TIMEOUT".into() };
        socket.close(Some(close)).await.unwrap();
        hears.complains(said).await;
    }
}

#[tokio::test]
async fn str_110_a_token_is_exchanged_for_a_code_for_each_socket() {
    let server = fake::Server::start().await;
    let mut hears = start(&["stream", "sub", &server.url("/out/x"), "--token", "a.b.c", "--token-door", "code"]);
    for code in ["one", "two"] {
        let head = answer(&server, "201 Created", &format!(r#"{{"code":"{code}","expiresIn":30}}"#)).await;
        assert!(head.starts_with("POST /v1/codes/out/x HTTP/1.1\r\n"), "{head}");
        assert!(head.to_lowercase().contains("authorization: bearer a.b.c\r\n"), "{head}");
        drop(server.socket().await);
        let asked = server.asked.lock().unwrap().take().unwrap();
        assert_eq!(asked.uri().to_string(), format!("/out/x?code={code}"));
        hears.complains("retrying").await;
    }
}

#[tokio::test]
async fn str_110_a_refused_code_ends_the_command() {
    let server = fake::Server::start().await;
    let url = server.url("/x");
    let arguments = ["stream", "sub", &url, "--token", "a.b.c", "--token-door", "code"];
    let refused = answer(&server, "403 Forbidden", r#"{"code":"TOKEN_INSUFFICIENT_SCOPE"}"#);
    let (output, _) = tokio::join!(run(&arguments), refused);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("TOKEN_INSUFFICIENT_SCOPE (403)"), "{output:?}");
}

#[tokio::test]
async fn a_token_is_signed_with_a_secret_that_is_not_a_flag() {
    let arguments = ["stream", "token", "--subscribe", "lab/**"];
    let without = run(&arguments).await;
    assert!(String::from_utf8_lossy(&without.stderr).contains("PARLEY_TOKEN_SECRET"), "{without:?}");
    let secret = "s".repeat(32);
    let output = start_with(&arguments, &[("PARLEY_TOKEN_SECRET", &secret)]).end().await;
    let token = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && token.trim().split('.').count() == 3, "{token}");
}
