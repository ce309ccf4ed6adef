//! A lost connection is reopened.
use super::fake;
use super::parley::start;
use super::relay::{ANYWHERE, Relay};
use futures_util::StreamExt;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

#[tokio::test]
async fn a_client_reconnects_to_a_relay_that_restarts() {
    let relay = Relay::start(ANYWHERE, "").await;
    let (address, hear, say) = (relay.address.clone(), relay.url("/out/cam"), relay.url("/in/cam"));
    let mut hears = start(&["stream", "sub", &hear]);
    let mut says = start(&["stream", "pub", &say]);
    relay.until_sockets(2).await;
    says.write(b"before").await;
    assert_eq!(hears.read(6).await, b"before");
    relay.kill().await;
    hears.complains("retrying in").await;
    let relay = Relay::start(&address, "").await;
    relay.until_sockets(2).await;
    says.write(b"after").await;
    assert_eq!(hears.read(5).await, b"after");
}

#[tokio::test]
async fn str_70_clients_of_a_draining_relay_reconnect_at_once() {
    let relay = Relay::start(ANYWHERE, "--limit=drain.window=100 --limit=socket.closeTimeout=200").await;
    let address = relay.address.clone();
    let mut hears = start(&["stream", "sub", &relay.url("/out/cam")]);
    relay.until_sockets(1).await;
    let (_, line) = tokio::join!(relay.terminate(), hears.complains("GOAWAY (1012)"));
    let pause: f64 = line.rsplit("retrying in ").next().unwrap().trim_end_matches(" s").parse().unwrap();
    assert!(pause <= 0.5, "{line}");
    Relay::start(&address, "").await.until_sockets(1).await;
}

#[tokio::test]
async fn input_waits_for_the_next_socket() {
    let server = fake::Server::start().await;
    let mut says = start(&["stream", "pub", &server.url("/x")]);
    let mut socket = server.socket().await;
    let away = CloseFrame { code: 1012.into(), reason: "GOAWAY".into() };
    socket.close(Some(away)).await.unwrap();
    fake::end(&mut socket).await;
    says.complains("GOAWAY").await;
    says.write(b"kept").await;
    assert_eq!(server.socket().await.next().await.unwrap().unwrap(), Message::binary(&b"kept"[..]));
}

#[tokio::test]
async fn a_message_that_was_not_sent_completely_is_sent_over_the_next_socket() {
    let server = fake::Server::start().await;
    let mut says = start(&["stream", "pub", &server.url("/x"), "--message-per", "chunk=8000000"]);
    let socket = server.socket().await;
    // More than the socket buffers hold: when all of it is read, the command waits for a server that does not read.
    says.write(&[7; 8_000_000]).await;
    drop(socket);
    let received = server.socket().await.next().await.unwrap().unwrap();
    assert!(received.into_data() == vec![7; 8_000_000]);
}

#[tokio::test]
async fn reconnecting_can_be_switched_off() {
    let server = fake::Server::start().await;
    let url = server.url("/x");
    drop(server);
    let output = start(&["stream", "sub", &url, "--reconnect", "off"]).end().await;
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no connection: "), "{output:?}");
}
