//! A service with one room, as far as the command needs it: joins, a roster and offers of relays. It discards directed messages.
use super::media::Door;
use super::relay::DEADLINE;
use futures_util::{SinkExt, StreamExt};
use parley_protocol::server;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::{sleep, timeout};
use tokio_tungstenite::accept_async;
use tokio_tungstenite::tungstenite::Message;

const ROOM: &str = "abcd-efgh-jkmn-pqrs";

pub struct Service {
    pub address: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The offered relays; the first one first.
    relays: Vec<Value>,
    /// The relay of another region.
    standby: Option<Value>,
    /// How often relays were requested.
    asked: usize,
    /// The refusal of joins, if they are refused.
    refusal: Option<&'static str>,
    joined: usize,
    here: BTreeMap<String, (String, UnboundedSender<Value>)>,
    /// The generations of participants that resumed.
    resumed: Vec<u64>,
    /// The names of participants that sent `leave`.
    left: Vec<String>,
    /// The list of regions, if there are several.
    regions: Option<Value>,
    /// Whether it answers to nothing any more, as a region from which nothing comes back.
    silent: bool,
}

impl Service {
    /// Offers the first of these relays, or the next one if a client excludes it.
    pub async fn start(doors: &[&Door]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let offer = |door: &&Door| json!({ "url": format!("https://{}/", door.address), "token": "open", "certificateHashes": [door.hash] });
        let state = State { relays: doors.iter().map(offer).collect(), ..State::default() };
        let service = Self { address, state: Arc::new(Mutex::new(state)) };
        let (address, state) = (service.address.clone(), service.state.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, address.clone(), state.clone()));
            }
        });
        service
    }

    /// The URL of the room.
    pub fn page(&self) -> String {
        format!("http://{}/r/{ROOM}", self.address)
    }

    /// From now on these services are regions of one installation, which accept the tokens of each other.
    pub fn unite(regions: &[(&str, &Self)]) {
        let named =
            |(name, service): &(&str, &Self)| json!({ "name": name, "url": format!("http://{}", service.address) });
        let list: Vec<_> = regions.iter().map(named).collect();
        for (name, service) in regions {
            service.state.lock().unwrap().regions = Some(json!({ "region": name, "regions": list }));
        }
    }

    /// Names a relay of another region from now on.
    pub fn stand_by(&self, door: &Door, renew_after_ms: u64) {
        self.state.lock().unwrap().standby = Some(json!({
            "url": format!("https://{}/", door.address), "token": "open", "certificateHashes": [door.hash],
            "api": format!("http://{}", self.address), "renewAfterMs": renew_after_ms,
        }));
    }

    /// Waits until relays were requested this often.
    pub async fn until_asked(&self, count: usize) {
        let all = async {
            while self.state.lock().unwrap().asked < count {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(DEADLINE, all).await.expect("no relay is requested");
    }

    /// Answers to nothing from now on; sockets stay open.
    pub fn silence(&self) {
        self.state.lock().unwrap().silent = true;
    }

    /// Answers again.
    pub fn resume(&self) {
        self.state.lock().unwrap().silent = false;
    }

    /// Refuses joins from now on.
    pub fn refuse(&self, code: &'static str) {
        self.state.lock().unwrap().refusal = Some(code);
    }

    /// Sends a message to every participant.
    pub fn say(&self, message: &server::Message) {
        for (_, sender) in self.state.lock().unwrap().here.values() {
            sender.send(serde_json::to_value(message).unwrap()).unwrap();
        }
    }

    /// Waits until a participant resumed. Returns the generation of each that did.
    pub async fn until_resumed(&self) -> Vec<u64> {
        let some = async {
            while self.state.lock().unwrap().resumed.is_empty() {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(DEADLINE, some).await.expect("no participant resumed");
        self.resumed()
    }

    /// The generation of each participant that resumed.
    pub fn resumed(&self) -> Vec<u64> {
        self.state.lock().unwrap().resumed.clone()
    }

    /// Waits until this many participants are in the room.
    pub async fn until_here(&self, count: usize) {
        let all = async {
            while self.state.lock().unwrap().here.len() < count {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(DEADLINE, all).await.expect("a participant did not join");
    }

    /// Waits until these participants sent `leave`, in any order.
    pub async fn until_left(&self, names: &[&str]) {
        let all = async {
            while !names.iter().all(|name| self.state.lock().unwrap().left.iter().any(|left| left == name)) {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(DEADLINE, all).await.expect("a participant did not leave");
    }
}

async fn serve(mut stream: TcpStream, address: String, state: Arc<Mutex<State>>) {
    let mut head = [0; 1024];
    let size = stream.peek(&mut head).await.unwrap_or(0);
    if state.lock().unwrap().silent {
        while stream.read_u8().await.is_ok() {}
    } else if head[..size].starts_with(b"GET /v1/regions ") {
        let regions = state.lock().unwrap().regions.clone().expect("there is one region");
        head_of(&mut stream).await;
        answer(&mut stream, "200 OK", &regions).await;
    } else if head[..size].starts_with(b"POST") {
        let name = body(&mut stream).await["name"].as_str().unwrap().to_owned();
        let (status, body) = {
            let mut state = state.lock().unwrap();
            state.joined += 1;
            match state.refusal {
                Some(code) => ("403 Forbidden", json!({ "code": code })),
                None => {
                    let ticket = format!("{}/{name}", state.joined);
                    let body = json!({
                        "participant": participant(state.joined), "ticket": ticket, "ticketTtlMs": 30_000, "room": room(),
                        "socketUrl": format!("ws://{address}/socket"),
                    });
                    ("200 OK", state.with_regions(body))
                }
            }
        };
        answer(&mut stream, status, &body).await;
    } else if let Ok(socket) = accept_async(stream).await {
        let (mut says, mut hears) = socket.split();
        let (sender, mut messages) = unbounded_channel::<Value>();
        tokio::spawn(async move {
            while let Some(message) = messages.recv().await {
                let _gone = says.send(Message::text(message.to_string())).await;
            }
        });
        let mut who = String::new();
        while let Some(Ok(message)) = hears.next().await {
            let Ok(message) = serde_json::from_slice::<Value>(&message.into_data()) else { continue };
            let mut state = state.lock().unwrap();
            if !state.silent {
                state.hear(&message, &mut who, &sender);
            }
        }
        let here = &mut state.lock().unwrap().here;
        // A participant that resumed is on another socket.
        if here.get(&who).is_some_and(|(_, other)| other.same_channel(&sender)) {
            here.remove(&who);
        }
    }
}

async fn answer(stream: &mut TcpStream, status: &str, body: &Value) {
    let body = body.to_string();
    let length = body.len();
    let whole = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    let _gone = stream.write_all(whole.as_bytes()).await;
}

/// The id of the participant that joined at this place.
pub fn participant(number: usize) -> String {
    format!("p{number:0>16}")
}

fn room() -> Value {
    json!({ "room": ROOM, "kind": "ad-hoc", "homeRegion": null, "cap": 100, "locked": false })
}

/// The JSON of a request.
async fn body(stream: &mut TcpStream) -> Value {
    head_of(stream).await;
    let mut read = Vec::new();
    loop {
        read.push(byte(stream).await);
        if let Ok(body) = serde_json::from_slice(&read) {
            return body;
        }
    }
}

/// Reads the head of a request.
async fn head_of(stream: &mut TcpStream) {
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n") {
        read.push(byte(stream).await);
    }
}

async fn byte(stream: &mut TcpStream) -> u8 {
    timeout(DEADLINE, stream.read_u8()).await.expect("half a request").expect("half a request")
}

impl State {
    fn with_regions(&self, mut body: Value) -> Value {
        if let Some(regions) = &self.regions {
            body["regions"] = regions.clone();
        }
        body
    }

    fn hear(&mut self, message: &Value, who: &mut String, sender: &UnboundedSender<Value>) {
        match message["type"].as_str() {
            Some(kind @ ("enter" | "resume")) => {
                let name = message["name"].as_str().unwrap();
                if kind == "enter" {
                    let (number, _) = message["ticket"].as_str().unwrap().split_once('/').unwrap();
                    *who = participant(number.parse().unwrap());
                } else {
                    // The token of the fake service is the id.
                    message["token"].as_str().unwrap().clone_into(who);
                    self.resumed.push(message["generation"].as_u64().unwrap());
                }
                let media = json!({ "audio": false, "video": false, "screen": false });
                let member =
                    |id: &str, name: &str| json!({ "participant": id, "name": name, "media": media, "state": "here" });
                let entered = member(who, name);
                for (_, other) in self.here.values() {
                    let _gone = other.send(json!({ "type": "joined", "member": entered }));
                }
                self.here.insert(who.clone(), (name.to_owned(), sender.clone()));
                let roster: Vec<_> = self.here.iter().map(|(id, (name, _))| member(id, name)).collect();
                let welcome = json!({
                    "type": "welcome", "participant": who, "room": room(), "pod": "test", "roster": roster, "resume": who,
                    "graceMs": 30_000, "iceServers": [], "iceTtlS": 0, "recovering": false, "chat": [],
                    "limits": { "messageBytes": 65_536, "nameChars": 64, "chatChars": 2000, "meshParticipants": 4 },
                });
                let _gone = sender.send(self.with_regions(welcome));
            }
            Some("relay") => {
                let other = |offer: &&Value| offer["url"] != message["exclude"];
                let offer = self.relays.iter().find(other).or(self.relays.first());
                let mut answer = json!({ "type": "relay", "relay": offer });
                if let Some(standby) = &self.standby {
                    answer["standby"] = standby.clone();
                }
                self.asked += 1;
                let _gone = sender.send(answer);
            }
            Some("ping") => drop(sender.send(json!({ "type": "pong" }))),
            Some("leave") => {
                let Some((name, _)) = self.here.remove(who) else { return };
                self.left.push(name);
                for (_, other) in self.here.values() {
                    let _gone = other.send(json!({ "type": "left", "participant": who, "reason": "left" }));
                }
            }
            _ => {}
        }
    }
}
