//! Pages that exist as long as a visitor holds them, between terminals.
use super::media::Scratch;
use super::parley::{Parley, run, start};
use super::relay::DEADLINE;
use super::site::{CHUNK, MOST, Site};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// Creates a file of this many bytes in which no two chunks are equal. Returns its content.
fn file(scratch: &Scratch, size: usize) -> (String, Vec<u8>) {
    let content: Vec<u8> = (0..size).map(|at| u8::try_from((at * 31 + at / 977) % 251).unwrap()).collect();
    let path = scratch.path("page.html");
    std::fs::write(&path, &content).unwrap();
    (path, content)
}

/// Makes a page. Returns the command and the URL.
async fn made(site: &Site, file: &str, flags: &[&str]) -> (Parley, String) {
    let mut makes = start(&[&["page", "make", file, "--host", &site.host], flags].concat());
    let link = makes.line().await.trim().to_owned();
    assert!(link.starts_with(&format!("{}p/", site.host)), "{link}");
    (makes, link)
}

fn address(link: &str) -> &str {
    link.split("/p/").nth(1).unwrap().split('#').next().unwrap()
}

/// The next JSON line that fits.
async fn logs(parley: &mut Parley, fit: impl Fn(&Value) -> bool) -> Value {
    let found = async {
        loop {
            let line: Value = serde_json::from_str(&parley.line().await).unwrap();
            if fit(&line) {
                return line;
            }
        }
    };
    timeout(DEADLINE, found).await.expect("no such line")
}

#[tokio::test]
async fn page_1_a_page_is_passed_from_holder_to_holder_and_is_gone_with_the_last() {
    let scratch = Scratch::new("page");
    let site = Site::start().await;
    let (path, content) = file(&scratch, 1_000_000);
    let (makes, link) = made(&site, &path, &[]).await;
    let mut holds = start(&["page", "hold", &link, "--log"]);
    let line = logs(&mut holds, |line| line["state"] == "here").await;
    assert_eq!((&line["page"], &line["chunks"]), (&address(&link).into(), &json!({ "here": 62, "of": 62 })), "{line}");
    assert!(line["received"].as_u64() >= Some(1_000_000) && line["dropped"] == 0, "{line}");
    site.until_held(address(&link), 2).await;
    assert!(makes.interrupt().await.status.success());
    logs(&mut holds, |line| line["holders"] == 1).await;
    let output = scratch.path("got.html");
    let got = run(&["page", "get", &link, "-o", &output]).await;
    assert!(got.status.success(), "{got:?}");
    assert!(std::fs::read(&output).unwrap() == content);
    let line = logs(&mut holds, |line| line["sent"].as_u64() >= Some(1_000_000)).await;
    assert_eq!(line["state"], "here", "{line}");
    assert!(holds.interrupt().await.status.success());
    let late = run(&["page", "get", &link]).await;
    let said = String::from_utf8_lossy(&late.stderr);
    assert!(late.status.code() == Some(1) && said.contains("it has no holder"), "{late:?}");
    assert!(site.piped() == 0 && site.signalled() < 50_000, "what it holds goes past the service");
}

#[tokio::test]
async fn page_4_a_sealed_page_is_read_with_the_complete_url_only() {
    let scratch = Scratch::new("page-sealed");
    let site = Site::start().await;
    let (path, content) = file(&scratch, 3 * CHUNK);
    let (_makes, link) = made(&site, &path, &["--sealed", "--type", "text/plain"]).await;
    let (bare, key) = link.split_once("#key=").unwrap();
    assert_eq!(key.len(), 22);
    let got = run(&["page", "get", &link]).await;
    assert!(got.status.success() && got.stdout == content);
    let other = format!("{bare}#key=AAAAAAAAAAAAAAAAAAAAAA");
    for (link, sentence) in [(bare, "the URL contains no key"), (other.as_str(), "it is sealed with another key")] {
        let got = run(&["page", "get", link]).await;
        let said = String::from_utf8_lossy(&got.stderr);
        assert!(got.status.code() == Some(3) && said.contains(sentence) && got.stdout.is_empty(), "{got:?}");
    }
}

#[tokio::test]
async fn page_15_without_a_direct_path_a_page_uses_the_stream_relay() {
    let scratch = Scratch::new("page-pipe");
    let site = Site::start().await;
    site.block();
    let (path, content) = file(&scratch, 600_000);
    let (mut makes, link) = made(&site, &path, &["--log"]).await;
    let got = start(&["page", "get", &link]);
    let line = logs(&mut makes, |line| line["peers"][0]["way"] == "relay").await;
    assert_eq!(line["state"], "here", "{line}");
    let got = got.end().await;
    assert!(got.status.success() && got.stdout == content, "{:?}", String::from_utf8_lossy(&got.stderr));
    assert!(site.piped() >= 600_000);
}

#[tokio::test]
async fn page_5_a_visitor_announces_its_pages_again_after_its_socket_was_lost() {
    let scratch = Scratch::new("page-again");
    let site = Site::start().await;
    let (path, content) = file(&scratch, 100_000);
    let (mut makes, link) = made(&site, &path, &[]).await;
    site.until_held(address(&link), 1).await;
    site.hang_up();
    makes.complains("reconnecting").await;
    site.until_opened(2).await;
    site.until_held(address(&link), 1).await;
    let got = run(&["page", "get", &link, "--wait", "10"]).await;
    assert!(got.status.success() && got.stdout == content, "{got:?}");
}

#[tokio::test]
async fn page_6_a_page_that_is_too_large_is_refused_at_once() {
    let scratch = Scratch::new("page-large");
    let site = Site::start().await;
    let (path, _) = file(&scratch, MOST + 1);
    let refused = run(&["page", "make", &path, "--host", &site.host]).await;
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(3) && said.contains("PAGE_TOO_LARGE"), "{refused:?}");
    assert_eq!((refused.stdout.len(), site.signalled()), (0, 0));
    let (path, _) = file(&scratch, 2 * CHUNK);
    let (_makes, link) = made(&site, &path, &[]).await;
    let refused = run(&["page", "hold", &link, "--memory", "20000"]).await;
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(3) && said.contains("PAGES_TOO_LARGE"), "{refused:?}");
}

/// A visitor that is controlled by a test.
struct Actor {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    site: String,
    said: usize,
}

impl Actor {
    async fn arrive(site: &Site) -> Self {
        let site = site.host.replace("http://", "ws://");
        let (mut socket, _) = connect_async(format!("{site}v1/pages/socket")).await.unwrap();
        let arrived = socket.next().await.unwrap().unwrap();
        assert!(arrived.to_text().unwrap().contains("welcome"));
        Self { socket, site, said: 0 }
    }

    async fn say(&mut self, message: &Value) {
        self.socket.send(Message::text(message.to_string())).await.unwrap();
    }

    /// The next directed message of this type, and its sender.
    async fn directed(&mut self, kind: &str) -> (String, Value) {
        let found = async {
            loop {
                let message = self.socket.next().await.unwrap().unwrap();
                let Some(rest) = message.to_text().unwrap().strip_prefix('<') else { continue };
                let (from, payload) = rest.split_once('\n').unwrap();
                let payload: Value = serde_json::from_str(payload).unwrap();
                if payload["type"] == kind {
                    return (from.to_owned(), payload);
                }
            }
        };
        timeout(DEADLINE, found).await.unwrap_or_else(|_| panic!("no {kind}"))
    }

    async fn direct(&mut self, to: &str, payload: &Value) {
        self.said += 1;
        self.socket.send(Message::text(format!(">{to} {}\n{payload}", self.said))).await.unwrap();
    }

    /// Answers an offer without candidates, and meets the reader on the stream relay.
    async fn meet(&mut self) -> WebSocketStream<MaybeTlsStream<TcpStream>> {
        let (reader, offer) = self.directed("offer").await;
        self.direct(&reader, &json!({ "type": "answer", "link": offer["link"], "sdp": "none" })).await;
        let (_, pipe) = self.directed("pipe").await;
        assert_eq!((&pipe["link"], &pipe["page"]), (&offer["link"], &offer["page"]));
        let topic = format!("{}streams/pages/{}", self.site, pipe["pipe"].as_str().unwrap());
        connect_async(topic).await.unwrap().0
    }
}

/// The next message of this type.
async fn until(pipe: &mut WebSocketStream<MaybeTlsStream<TcpStream>>, kind: &str) -> Value {
    let found = async {
        loop {
            let message = pipe.next().await.unwrap().unwrap();
            let message: Value = serde_json::from_str(message.to_text().unwrap()).unwrap();
            if message["type"] == kind {
                return message;
            }
        }
    };
    timeout(DEADLINE, found).await.unwrap_or_else(|_| panic!("no {kind}"))
}

fn hash(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(ring::digest::digest(&ring::digest::SHA256, bytes))
}

#[tokio::test]
async fn page_3_a_holder_that_sends_a_wrong_chunk_is_disconnected_and_the_page_is_fetched_from_another() {
    let scratch = Scratch::new("page-hostile");
    let site = Site::start().await;
    let (path, content) = file(&scratch, 3 * CHUNK);
    let (makes, link) = made(&site, &path, &[]).await;
    assert!(makes.interrupt().await.status.success());
    let page = address(&link);
    let chunks: Vec<String> = content.chunks(CHUNK).map(hash).collect();
    let manifest = format!(
        r#"{{"v":1,"type":"text/html","name":"page.html","bytes":{},"chunkBytes":{CHUNK},"sha256":"{}","chunks":{}}}"#,
        content.len(),
        hash(&content),
        json!(chunks)
    );
    let mut liar = Actor::arrive(&site).await;
    liar.say(&json!({ "type": "announce", "page": page, "whole": true, "bytes": content.len() })).await;
    let mut gets = start(&["page", "get", &link, "--wait", "20"]);
    let mut pipe = liar.meet().await;
    // What was sent before the reader subscribed is lost.
    until(&mut pipe, "handshake").await;
    pipe.send(Message::text(json!({ "type": "handshake", "page": page, "manifest": manifest }).to_string()))
        .await
        .unwrap();
    pipe.send(Message::text(json!({ "type": "bitfield", "chunks": "4A" }).to_string())).await.unwrap();
    let chunk = u32::try_from(until(&mut pipe, "request").await["chunk"].as_u64().unwrap()).unwrap();
    let wrong = [&chunk.to_be_bytes()[..], &vec![0; CHUNK]].concat();
    pipe.send(Message::binary(wrong)).await.unwrap();
    gets.complains("violated the protocol and is not contacted again: the hash of a chunk that it sent is wrong").await;
    let (_makes, again) = made(&site, &path, &[]).await;
    assert_eq!(again, link, "an unsealed page has one address wherever it is made");
    let got = gets.end().await;
    assert!(got.status.success() && got.stdout == content);
}
