//! `parley-load crowd`, against a service that is busy: it gives a slot to each request, and lets each socket wait.
use super::parley::run;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::accept_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

/// What the service was sent.
#[derive(Default)]
struct Seen {
    /// The bodies of requests for tickets.
    requests: Vec<Value>,
    /// The first message of each socket.
    firsts: Vec<Value>,
}

struct Busy {
    url: String,
    seen: Arc<Mutex<Seen>>,
}

impl Busy {
    /// `refusal`: the close code of each resume, if resumes are refused.
    async fn start(refusal: Option<u16>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Seen::default()));
        let service = Self { url, seen: seen.clone() };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, seen.clone(), refusal));
            }
        });
        service
    }

    async fn crowd(&self, more: &[&str]) -> (Option<i32>, Value) {
        let fixed = ["crowd", &self.url, "--people", "6", "--arrive", "0.1", "--void-above", "100", "--json", "-"];
        let output = run(&[&fixed[..], more].concat()).await;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let last = text.lines().last().unwrap_or_else(|| panic!("{output:?}"));
        (output.status.code(), serde_json::from_str(last).unwrap())
    }
}

async fn serve(mut stream: TcpStream, seen: Arc<Mutex<Seen>>, refusal: Option<u16>) {
    let mut head = [0; 2048];
    let size = stream.peek(&mut head).await.unwrap_or(0);
    if head[..size].starts_with(b"POST") {
        let size = stream.read(&mut head).await.unwrap_or(0);
        let text = String::from_utf8_lossy(&head[..size]).into_owned();
        let body: Value = serde_json::from_str(text.split("\r\n\r\n").nth(1).unwrap_or_default()).unwrap();
        let (status, answer) = match body["slot"].as_str() {
            Some(_) => ("200 OK", json!({ "ticket": body["name"], "socketUrl": "ws://elsewhere/v1/socket" })),
            None => ("503 Busy", json!({ "code": "BUSY", "retryAfterMs": 20, "slot": "in 20 ms" })),
        };
        seen.lock().unwrap().requests.push(body);
        let answer = answer.to_string();
        let length = answer.len();
        let whole = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{answer}");
        let _gone = stream.write_all(whole.as_bytes()).await;
    } else if let Ok(mut socket) = accept_async(stream).await {
        let Some(Ok(message)) = socket.next().await else { return };
        let first: Value = serde_json::from_slice(&message.into_data()).unwrap();
        let resumes = first["type"] == "resume";
        let participant = first[if resumes { "token" } else { "ticket" }].clone();
        seen.lock().unwrap().firsts.push(first);
        if let Some(code) = refusal.filter(|_| resumes) {
            let _gone = socket.close(Some(CloseFrame { code: CloseCode::from(code), reason: "".into() })).await;
            return;
        }
        let welcome =
            json!({ "type": "welcome", "participant": participant, "resume": participant, "graceMs": 30_000 });
        for message in [json!({ "type": "wait", "afterMs": 20 }), welcome] {
            let _gone = socket.send(Message::text(message.to_string())).await;
        }
        while let Some(Ok(_)) = socket.next().await {}
    }
}

#[tokio::test]
async fn slots_and_waits_are_kept_and_lost_sockets_come_back_with_the_token() {
    let busy = Busy::start(None).await;
    let (code, report) = busy.crowd(&["--drop-at", "1", "--until", "5"]).await;
    assert_eq!((&report["exact"], &report["present"]["here"]), (&true.into(), &6.into()), "{report}");
    // On a busy machine the timers of the generator are late.
    assert_eq!(code, Some(if report["void"] == true { 5 } else { 0 }), "{report}");
    assert_eq!((&report["answers"]["slots"], &report["answers"]["tickets"]), (&6.into(), &6.into()), "{report}");
    assert_eq!((&report["backMs"]["count"], &report["waits"]), (&6.into(), &12.into()), "{report}");
    assert_eq!(report["losses"], json!({ "DROPPED": 6 }), "{report}");
    let seen = busy.seen.lock().unwrap();
    assert!(seen.requests.iter().filter(|body| body["slot"] == "in 20 ms").count() == 6, "{:?}", seen.requests);
    let resumes: Vec<_> = seen.firsts.iter().filter(|first| first["type"] == "resume").collect();
    assert!(resumes.len() == 6 && resumes.iter().all(|first| first["generation"] == 2), "{resumes:?}");
}

#[tokio::test]
async fn a_participant_whose_token_is_refused_is_lost() {
    let busy = Busy::start(Some(4412)).await;
    let (code, report) = busy.crowd(&["--drop-at", "1", "--until", "5"]).await;
    assert_eq!((code, &report["exact"], &report["lost"]), (Some(4), &false.into(), &6.into()), "{report}");
    assert_eq!(report["errors"], json!({ "RESUME_EXPIRED": 6 }), "{report}");
}

#[tokio::test]
async fn a_crowd_without_a_service_is_not_in_its_rooms() {
    let output =
        run(&["crowd", "http://127.0.0.1:1", "--people", "2", "--arrive", "0", "--until", "0.5", "--json", "-"]).await;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let report: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((output.status.code(), &report["present"]["arriving"]), (Some(4), &2.into()), "{report}");
    assert!(report["refusals"]["NO_ANSWER"].as_u64() >= Some(2), "{report}");
}
