//! Clients that know several regions: live broadcasts (MEDIA-26), and participants that hand over (REG-9, REG-10).
use super::media::{Door, Scratch, video};
use super::parley::{Parley, start};
use super::relay::{ANYWHERE, DEADLINE};
use super::service::Service;
use parley_protocol::server::{Goaway, Message};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

/// The API of a region, as far as clients of live broadcasts need it.
struct Region {
    url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    regions: Value,
    /// The status and the body of answers to requests of relays; none: no answer.
    relay: Option<(&'static str, Value)>,
    /// How often a relay was requested.
    requests: usize,
    /// How often the list of regions was.
    lists: usize,
}

impl Region {
    /// Regions that know each other.
    async fn start<const COUNT: usize>(names: [&str; COUNT]) -> [Self; COUNT] {
        let mut regions = Vec::new();
        for _ in names {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}", listener.local_addr().unwrap());
            let region = Self { url, state: Arc::default() };
            let state = region.state.clone();
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(stream, state.clone()));
                }
            });
            regions.push(region);
        }
        let named = |(name, region): (&&str, &Self)| json!({ "name": name, "url": region.url });
        let list: Vec<_> = names.iter().zip(&regions).map(named).collect();
        for (name, region) in names.iter().zip(&regions) {
            region.state.lock().unwrap().regions = json!({ "region": name, "regions": list });
        }
        regions.try_into().unwrap_or_else(|_| unreachable!())
    }

    fn page(&self) -> String {
        format!("{}/live/x", self.url)
    }

    fn offer(&self, door: &Door) {
        let relay =
            json!({ "url": format!("https://{}/", door.address), "token": "open", "certificateHashes": [door.hash] });
        self.state.lock().unwrap().relay = Some(("200 OK", json!({ "broadcast": "live/x", "relay": relay })));
    }

    fn refuse(&self, status: &'static str, code: &str) {
        self.state.lock().unwrap().relay = Some((status, json!({ "code": code, "message": "" })));
    }

    fn silence(&self) {
        self.state.lock().unwrap().relay = None;
    }

    fn requests(&self) -> usize {
        self.state.lock().unwrap().requests
    }

    async fn until_listed(&self) {
        let listed = async {
            while self.state.lock().unwrap().lists == 0 {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(DEADLINE, listed).await.expect("the list of regions is not requested");
    }
}

async fn serve(mut stream: TcpStream, state: Arc<Mutex<State>>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else { return };
        head.push(byte);
    }
    let answer = {
        let mut state = state.lock().unwrap();
        if head.starts_with(b"GET /v1/regions ") {
            state.lists += 1;
            Some(("200 OK", state.regions.clone()))
        } else {
            state.requests += 1;
            state.relay.clone()
        }
    };
    let Some((status, body)) = answer else {
        // Silent until the client gives up.
        while stream.read_u8().await.is_ok() {}
        return;
    };
    let (body, mut read) = (body.to_string(), [0; 1024]);
    let length = body.len();
    let whole = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    let _gone = stream.write_all(whole.as_bytes()).await;
    while stream.read(&mut read).await.is_ok_and(|read| read > 0) {}
}

/// Waits for lines on standard error, of which several may come at once.
async fn complains_in_turn(parley: &mut Parley, parts: &[&str]) {
    let mut lines = BufReader::new(parley.0.stderr.as_mut().unwrap()).lines();
    for part in parts {
        let found = async { while !lines.next_line().await.unwrap().expect("it ended").contains(part) {} };
        timeout(DEADLINE, found).await.unwrap_or_else(|_| panic!("never: {part}"));
    }
}

#[tokio::test]
async fn media_26_where_the_region_has_no_relay_or_no_pod_another_one_is_asked() {
    let scratch = Scratch::new("elsewhere");
    let source = scratch.path("source.mp4");
    video(&source, 1).await;
    let door = Door::start(ANYWHERE, &scratch, "").await;
    let [own, other, full] = Region::start(["eu", "us", "ap"]).await;
    other.offer(&door);
    full.refuse("429 Too Many Requests", "TOO_MANY_REQUESTS");
    own.refuse("503 Service Unavailable", "RELAY_UNAVAILABLE");
    let mut watches = start(&["watch", &own.page(), "--log"]);
    watches.complains("connected over QUIC").await;
    own.refuse("503 Service Unavailable", "NOT_READY");
    let mut publishes = start(&["publish", &own.page(), &source, "--loop"]);
    publishes.complains("connected over QUIC").await;
    watches.line().await;
    assert_eq!((own.requests(), other.requests()), (2, 2), "its own region is asked first each time");
}

#[tokio::test]
async fn media_26_a_region_that_stops_answering_is_not_waited_for() {
    let scratch = Scratch::new("silent-region");
    let (near, far) = (Scratch::new("near"), Scratch::new("far"));
    let source = scratch.path("source.mp4");
    video(&source, 1).await;
    let (lost, lives) = (Door::start(ANYWHERE, &near, "").await, Door::start(ANYWHERE, &far, "").await);
    let [own, other] = Region::start(["eu", "us"]).await;
    own.offer(&lost);
    other.offer(&lives);
    let mut watches = start(&["watch", &own.page(), "--log"]);
    watches.complains("connected over QUIC").await;
    own.until_listed().await;
    assert_eq!(other.requests(), 0, "its own region answered");
    own.silence();
    lost.kill().await;
    watches.complains("connected over QUIC").await;
    let _publishes = start(&["publish", &other.page(), &source, "--loop"]);
    watches.line().await;
}

#[tokio::test]
async fn media_26_a_region_that_refuses_for_another_reason_is_not_left() {
    let [own, other] = Region::start(["eu", "us"]).await;
    own.refuse("403 Forbidden", "LIVE_DISABLED");
    let output = start(&["watch", &own.page()]).end().await;
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(other.requests(), 0);
    own.refuse("429 Too Many Requests", "TOO_MANY_REQUESTS");
    let output = start(&["watch", &own.page(), "--reconnect=off"]).end().await;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(other.requests(), 0);
}

#[tokio::test]
async fn reg_9_and_10_a_participant_of_a_lost_region_resumes_in_another_one_and_returns_with_a_goaway() {
    let (near, far) = (Scratch::new("near-room"), Scratch::new("far-room"));
    let (lost, lives) = (Door::start(ANYWHERE, &near, "").await, Door::start(ANYWHERE, &far, "").await);
    let (own, other) = (Service::start(&[&lost]).await, Service::start(&[&lives]).await);
    Service::unite(&[("eu", &own), ("us", &other)]);
    let mut joins = start(&["join", &own.page(), "--name", "Ada"]);
    joins.complains("connected over QUIC").await;
    own.silence();
    lost.kill().await;
    complains_in_turn(&mut joins, &["going on in the region us", "connected over QUIC"]).await;
    assert_eq!(other.until_resumed().await, [3], "the second generation was for its own region");
    other.until_here(1).await;
    own.resume();
    other.say(&Message::Goaway(Goaway { after_ms: 500 }));
    joins.complains("going on in the region eu").await;
    assert_eq!(own.until_resumed().await, [4]);
    assert!(joins.interrupt().await.status.success());
    own.until_left(&["Ada"]).await;
}

#[tokio::test]
async fn reg_9_a_region_that_answers_is_not_left() {
    let (own, other) = (Service::start(&[]).await, Service::start(&[]).await);
    Service::unite(&[("eu", &own), ("us", &other)]);
    let _joins = start(&["join", &own.page()]);
    own.until_here(1).await;
    own.say(&Message::Goaway(Goaway { after_ms: 0 }));
    assert_eq!(own.until_resumed().await, [2]);
    assert_eq!(other.resumed(), [0; 0]);
}

#[tokio::test]
async fn media_10_and_24_and_25_another_relay_replaces_one_that_is_lost_and_that_of_another_region_where_the_room_is_silent()
 {
    let scratches = [Scratch::new("first"), Scratch::new("second"), Scratch::new("standby")];
    let first = Door::start(ANYWHERE, &scratches[0], "").await;
    let second = Door::start(ANYWHERE, &scratches[1], "").await;
    let elsewhere = Door::start(ANYWHERE, &scratches[2], "").await;
    let service = Service::start(&[&first, &second]).await;
    service.stand_by(&elsewhere, 60_000);
    let mut joins = start(&["join", &service.page()]);
    joins.complains("connected over QUIC").await;
    first.kill().await;
    joins.complains("connected over QUIC").await;
    service.silence();
    second.kill().await;
    joins.complains("connected over QUIC").await;
    elsewhere.kill().await;
    joins.complains("the connection was lost").await;
}

#[tokio::test]
async fn media_24_without_a_relay_of_its_own_the_region_offers_that_of_another_one() {
    let scratch = Scratch::new("far-only");
    let elsewhere = Door::start(ANYWHERE, &scratch, "").await;
    let service = Service::start(&[]).await;
    service.stand_by(&elsewhere, 60_000);
    let mut joins = start(&["join", &service.page()]);
    joins.complains("connected over QUIC").await;
}

#[tokio::test]
async fn media_25_the_participant_asks_again_while_it_knows_a_standby_and_on_a_new_socket() {
    let scratch = Scratch::new("renewing");
    let door = Door::start(ANYWHERE, &scratch, "").await;
    let service = Service::start(&[&door]).await;
    service.stand_by(&door, 100);
    let _joins = start(&["join", &service.page()]);
    service.until_asked(3).await;
    service.stand_by(&door, 600_000);
    service.until_asked(4).await;
    service.say(&Message::Goaway(Goaway { after_ms: 0 }));
    service.until_resumed().await;
    service.until_asked(5).await;
}
