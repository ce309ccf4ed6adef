//! A service of pages, as far as the command needs it: visitors, holders and readers, directed messages, and topics for pipes.
use super::relay::DEADLINE;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async};

/// The size of a chunk.
pub const CHUNK: usize = 16_384;
/// The largest page.
pub const MOST: usize = 4 << 20;

pub struct Site {
    pub host: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    made: usize,
    /// Whether candidates are removed, so that no two visitors can connect.
    blocked: bool,
    /// Whether the count of holders is one too high.
    miscounts: bool,
    visitors: BTreeMap<String, UnboundedSender<Message>>,
    /// The holders of each page, and whether each has all chunks.
    holders: BTreeMap<String, BTreeMap<String, bool>>,
    readers: BTreeMap<String, BTreeSet<String>>,
    topics: BTreeMap<String, BTreeMap<usize, UnboundedSender<Message>>>,
    /// Bytes of binary messages on topics.
    piped: usize,
    /// Bytes of messages of visitors.
    signalled: usize,
}

impl Site {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = format!("http://{}/", listener.local_addr().unwrap());
        let site = Self { host, state: Arc::default() };
        let state = site.state.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, state.clone()));
            }
        });
        site
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Removes candidates from now on.
    pub fn block(&self) {
        self.state().blocked = true;
    }

    /// Sends wrong counts from now on.
    pub fn miscount(&self) {
        self.state().miscounts = true;
    }

    /// Closes all sockets of visitors.
    pub fn hang_up(&self) {
        for visitor in self.state().visitors.values() {
            let _gone = visitor.send(Message::Close(None));
        }
    }

    /// The bytes of binary messages on topics.
    pub fn piped(&self) -> usize {
        self.state().piped
    }

    /// The bytes of messages of visitors.
    pub fn signalled(&self) -> usize {
        self.state().signalled
    }

    /// Waits until this many sockets were opened.
    pub async fn until_opened(&self, count: usize) {
        self.until("too few sockets were opened", |state| state.made >= count).await;
    }

    /// Waits until this many visitors hold all of a page.
    pub async fn until_held(&self, page: &str, by: usize) {
        let whole = |all: &BTreeMap<String, bool>| all.values().filter(|whole| **whole).count();
        self.until("the number of holders is wrong", |state| state.holders.get(page).map_or(0, whole) == by).await;
    }

    async fn until(&self, never: &str, so: impl Fn(&State) -> bool) {
        let all = async {
            while !so(&self.state()) {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(DEADLINE, all).await.unwrap_or_else(|_| panic!("{never}"));
    }
}

async fn serve(stream: TcpStream, state: Arc<Mutex<State>>) {
    let mut path = String::new();
    #[allow(clippy::result_large_err, reason = "the shape of the library's callback")]
    let keep = |request: &Request, response: Response| {
        request.uri().path().clone_into(&mut path);
        Ok(response)
    };
    let Ok(socket) = accept_hdr_async(stream, keep).await else { return };
    match path.strip_prefix("/streams/") {
        Some(topic) => pass_on(socket, topic.to_owned(), state).await,
        None => visit(socket, state).await,
    }
}

/// As the relay does: every client receives the messages of all others (STR-1).
async fn pass_on(socket: WebSocketStream<TcpStream>, topic: String, state: Arc<Mutex<State>>) {
    let (tell, mut hears) = split(socket);
    let own = {
        let mut state = state.lock().unwrap();
        state.made += 1;
        let own = state.made;
        state.topics.entry(topic.clone()).or_default().insert(own, tell);
        own
    };
    while let Some(Ok(message)) = hears.next().await {
        let mut state = state.lock().unwrap();
        if message.is_binary() {
            state.piped += message.len();
        }
        if message.is_binary() || message.is_text() {
            for (_, other) in state.topics[&topic].iter().filter(|(id, _)| **id != own) {
                let _gone = other.send(message.clone());
            }
        }
    }
    state.lock().unwrap().topics.entry(topic).or_default().remove(&own);
}

async fn visit(socket: WebSocketStream<TcpStream>, state: Arc<Mutex<State>>) {
    let (tell, mut hears) = split(socket);
    let own = {
        let mut state = state.lock().unwrap();
        state.made += 1;
        let own = format!("v{:0>16}", state.made);
        let limits = json!({
            "pageBytes": MOST, "chunkBytes": CHUNK, "perVisitor": 16, "maxHolders": 6, "maxReaders": 8,
            "memoryBytes": 4 * MOST, "messageBytes": 65_536,
        });
        let visitors = state.visitors.len() + 1;
        let arrived = json!({
            "type": "welcome", "visitor": own, "pod": "test", "iceServers": [], "limits": limits, "visitors": visitors,
        });
        let _gone = tell.send(Message::text(arrived.to_string()));
        state.visitors.insert(own.clone(), tell);
        own
    };
    while let Some(Ok(message)) = hears.next().await {
        if let Message::Text(text) = message {
            state.lock().unwrap().hear(&own, &text);
        }
    }
    state.lock().unwrap().leave(&own);
}

fn split(
    socket: WebSocketStream<TcpStream>,
) -> (UnboundedSender<Message>, futures_util::stream::SplitStream<WebSocketStream<TcpStream>>) {
    let (mut says, hears) = socket.split();
    let (sender, mut messages) = unbounded_channel();
    tokio::spawn(async move {
        while let Some(message) = messages.recv().await {
            let _gone = says.send(message).await;
        }
    });
    (sender, hears)
}

impl State {
    fn hear(&mut self, own: &str, text: &str) {
        self.signalled += text.len();
        if let Some(rest) = text.strip_prefix('>') {
            return self.direct(own, rest);
        }
        let message: Value = serde_json::from_str(text).unwrap();
        let page = message["page"].as_str().unwrap_or_default().to_owned();
        match message["type"].as_str().unwrap() {
            "subscribe" => {
                self.readers.entry(page.clone()).or_default().insert(own.to_owned());
                let exclude: Vec<&str> =
                    message["exclude"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                self.introduce(own, &page, &exclude);
            }
            "announce" => {
                let whole = message["whole"].as_bool().unwrap();
                self.holders.entry(page.clone()).or_default().insert(own.to_owned(), whole);
                if whole {
                    self.readers.entry(page.clone()).or_default().remove(own);
                }
                for reader in self.readers.get(&page).cloned().unwrap_or_default() {
                    self.introduce(&reader, &page, &[]);
                }
            }
            "leave" => self.forget(own, &page),
            "pipe" => self.tell(own, &json!({ "type": "pipe", "pipe": message["pipe"], "token": "" })),
            "ping" => self.tell(own, &json!({ "type": "pong" })),
            other => panic!("a visitor sent {other}"),
        }
        self.count(&page);
    }

    fn direct(&mut self, own: &str, rest: &str) {
        let (envelope, payload) = rest.split_once('\n').unwrap();
        let (to, id) = envelope.split_once(' ').unwrap();
        let Some(other) = self.visitors.get(to) else {
            let undelivered = json!({ "type": "undelivered", "to": to, "id": id, "reason": "unknown" });
            return self.tell(own, &undelivered);
        };
        let mut payload: Value = serde_json::from_str(payload).unwrap();
        if self.blocked {
            if payload["type"] == "candidate" {
                return;
            }
            if let Some(sdp) = payload["sdp"].as_str() {
                let kept: Vec<&str> = sdp.lines().filter(|line| !line.starts_with("a=candidate")).collect();
                payload["sdp"] = (kept.join("\r\n") + "\r\n").into();
            }
        }
        let _gone = other.send(Message::text(format!("<{own}\n{payload}")));
    }

    fn introduce(&self, to: &str, page: &str, exclude: &[&str]) {
        let fit = |(who, _): &(&String, &bool)| *who != to && !exclude.contains(&who.as_str());
        let holders = self.holders.get(page).into_iter().flatten().filter(fit);
        let holders: Vec<Value> = holders.map(|(who, whole)| json!({ "visitor": who, "whole": whole })).collect();
        self.tell(to, &json!({ "type": "holders", "page": page, "holders": holders }));
    }

    fn count(&self, page: &str) {
        let all = self.holders.get(page).cloned().unwrap_or_default();
        let readers = self.readers.get(page).cloned().unwrap_or_default();
        let holders = all.values().filter(|whole| **whole).count() + usize::from(self.miscounts);
        let count =
            json!({ "type": "count", "page": page, "holders": holders, "readers": readers.len(), "settled": true });
        all.keys().chain(&readers).for_each(|who| self.tell(who, &count));
    }

    fn tell(&self, who: &str, message: &Value) {
        if let Some(visitor) = self.visitors.get(who) {
            let _gone = visitor.send(Message::text(message.to_string()));
        }
    }

    fn forget(&mut self, own: &str, page: &str) {
        self.holders.entry(page.to_owned()).or_default().remove(own);
        self.readers.entry(page.to_owned()).or_default().remove(own);
    }

    fn leave(&mut self, own: &str) {
        self.visitors.remove(own);
        let pages: BTreeSet<String> = self.holders.keys().chain(self.readers.keys()).cloned().collect();
        for page in pages {
            self.forget(own, &page);
            self.count(&page);
        }
    }
}
