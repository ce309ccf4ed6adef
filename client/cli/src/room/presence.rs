//! A participant of a room, on a socket that is opened again when it is lost (JOIN-1 to JOIN-9, RES-1 to RES-8).
use super::roster::Roster;
use crate::again::{GOOD, pause};
use crate::ending::{Again, Ending};
use crate::http;
use crate::media::dial::{Address, Offer};
use crate::media::place::Room;
use crate::reach::{Reach, Socket};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::collections::{HashSet, VecDeque};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::tungstenite::Message;
use url::Url;

/// A service that does not answer in this time is not there; in a lobby it may take as long as the owner likes.
const OPENING: Duration = Duration::from_secs(10);
/// After which a socket that is silent is tried; as long again, and it is gone.
const QUIET: Duration = Duration::from_secs(15);
const CLOSING: Duration = Duration::from_secs(2);
/// Codes that may be different a moment later although nobody does anything. Any other ends it.
const PASSING: [&str; 13] = [
    "ENTER_TIMEOUT",
    "GO_ELSEWHERE",
    "INCOMPLETE_BYTES",
    "INTERNAL",
    "MESSAGE_TIMEOUT",
    "NOT_READY",
    "POD_FULL",
    "RATE_LIMITED",
    "ROOM_HOME_UNREACHABLE",
    "SLOW_CONSUMER",
    "STORE_UNAVAILABLE",
    "TOO_MANY_REQUESTS",
    "TOO_MANY_SOCKETS",
];

/// Somebody who is in a room until this is dropped, and leaves it properly by [`Presence::leave`].
pub struct Presence {
    /// Who it is.
    pub participant: String,
    /// The room's id, as the service writes it.
    pub room: String,
    /// Everybody else there, as they come and go.
    pub roster: watch::Receiver<Roster>,
    reach: Reach,
    wishes: mpsc::Sender<Wish>,
    task: JoinHandle<()>,
}

/// Asks for relays.
#[derive(Clone)]
pub struct Asker {
    wishes: mpsc::Sender<Wish>,
    reach: Reach,
}

enum Wish {
    Relay(Question),
    Leave,
}

/// Somebody who waits for a relay.
struct Question {
    /// The address of one that will not do.
    without: Option<String>,
    answer: oneshot::Sender<Result<Value, Ending>>,
}

/// What makes a socket the participant's.
struct Claim {
    url: Url,
    reach: Reach,
    roster: watch::Sender<Roster>,
    name: String,
    media: Value,
    generation: u32,
    /// The newest token to resume with: of the last welcome, or of what came on its socket since (RES-11).
    resume: String,
    participant: String,
    /// Who was told which way we go: two who answer each other always would never end.
    told: HashSet<String>,
    /// Directed messages so far: each has an id of its own (DIR-3).
    said: u64,
}

/// What a socket brings.
enum Heard {
    /// Of the service itself.
    Message(Value),
    /// Of another participant (DIR-1). All that is understood of it is whether they say which way they go (MEDIA-13).
    Directed { from: String, path: bool },
}

impl Presence {
    /// Joins, with a camera and a microphone where it is to publish.
    pub async fn join(name: &str, room: &Room, publish: bool, reach: &Reach) -> Result<Self, Ending> {
        let mut url = room.host.clone();
        url.set_path(&format!("/v1/rooms/{}/join", room.id));
        let answer = http::post_over(reach, url, json!({ "name": name })).await?;
        let text = |field: &str| answer[field].as_str().map(str::to_owned).ok_or_else(strange);
        let media = json!({ "audio": publish, "video": publish, "screen": false });
        let (roster, seen) = watch::channel(Roster::default());
        let mut claim = Claim {
            url: text("socketUrl")?.parse().map_err(|_| strange())?,
            reach: reach.clone(),
            roster,
            name: name.to_owned(),
            media,
            generation: 0,
            resume: String::new(),
            participant: String::new(),
            told: HashSet::new(),
            said: 0,
        };
        let (socket, welcome) = claim.open(Some(&text("ticket")?)).await?;
        let (wishes, heard) = mpsc::channel(4);
        let participant = claim.participant.clone();
        let room = welcome["room"]["room"].as_str().ok_or_else(strange)?.to_owned();
        let task = tokio::spawn(claim.keep(socket, heard));
        Ok(Self { participant, room, roster: seen, reach: reach.clone(), wishes, task })
    }

    /// Who asks for relays meanwhile.
    pub fn asker(&self) -> Asker {
        Asker { wishes: self.wishes.clone(), reach: self.reach.clone() }
    }

    /// Leaves at once (JOIN-12).
    pub async fn leave(self) {
        let _gone_already = self.wishes.send(Wish::Leave).await;
        let _late = timeout(CLOSING, self.task).await;
    }
}

impl Asker {
    /// A relay of the room, with a fresh token (MEDIA-6); another than that at `without`, where there is one (MEDIA-10).
    pub async fn ask(&self, host: &Url, without: Option<&str>) -> Result<Address, Ending> {
        let (answer, heard) = oneshot::channel();
        let gone = || Ending::Refused("the room is left".into());
        let question = Question { without: without.map(str::to_owned), answer };
        self.wishes.send(Wish::Relay(question)).await.map_err(|_| gone())?;
        let offer = heard.await.map_err(|_| gone())??;
        if offer.is_null() {
            return Err(Ending::lost("no relay takes sessions now (NO_RELAY)"));
        }
        let mut address = Offer::read(offer)?.address(host)?;
        address.reach = self.reach.clone();
        Ok(address)
    }
}

impl Claim {
    /// A socket on which the participant has been welcomed.
    async fn open(&mut self, ticket: Option<&str>) -> Result<(Socket, Value), Ending> {
        // Raised before every socket, so that no two carry the same (ROS-5).
        self.generation += 1;
        let mut first = json!({ "generation": self.generation, "name": self.name, "media": self.media });
        match ticket {
            Some(ticket) => (first["type"], first["ticket"]) = ("enter".into(), ticket.into()),
            None => {
                (first["type"], first["token"]) = ("resume".into(), self.resume.as_str().into());
                first["chat"] = json!([]);
            }
        }
        let opened = timeout(OPENING, self.reach.socket(&self.url, None)).await;
        let mut socket = opened.map_err(|_| Ending::lost("the room does not answer"))??;
        send(&mut socket, first).await?;
        let mut until = Instant::now() + OPENING;
        loop {
            let heard = tokio::select! {
                heard = hear(&mut socket) => heard?,
                () = sleep_until(until) => return Err(Ending::lost("the room does not answer")),
            };
            let Heard::Message(message) = heard else { continue };
            match message["type"].as_str() {
                Some("welcome") => {
                    self.resume = message["resume"].as_str().ok_or_else(strange)?.to_owned();
                    self.participant = message["participant"].as_str().ok_or_else(strange)?.to_owned();
                    self.roster.send_replace(Roster::welcomed(&message));
                    for member in message["roster"].as_array().into_iter().flatten() {
                        self.say_path(&mut socket, &member["participant"]).await?;
                    }
                    return Ok((socket, message));
                }
                Some("in-lobby") => {
                    eprintln!("parley: waiting at the door of the room");
                    until += Duration::from_secs(3600);
                }
                _ => {}
            }
        }
    }

    /// Says to somebody that our media goes through relays and theirs is there, so that no link is made with us (MEDIA-13).
    async fn say_path(&mut self, socket: &mut Socket, to: &Value) -> Result<(), Ending> {
        let Some(to) = to.as_str().filter(|to| **to != *self.participant) else { return Ok(()) };
        self.said += 1;
        self.told.insert(to.to_owned());
        let path = json!({ "type": "path", "want": "relay", "able": true, "takes": true });
        socket.send(Message::text(format!(">{to} path{}\n{path}", self.said))).await.map_err(Ending::of)
    }

    /// Stays in the room, on one socket after the other.
    async fn keep(mut self, mut socket: Socket, mut wishes: mpsc::Receiver<Wish>) {
        let mut asked = VecDeque::new();
        loop {
            let ending = match self.stay(&mut socket, &mut wishes, &mut asked).await {
                Err(ending) => ending,
                Ok(()) => {
                    let _ = send(&mut socket, json!({ "type": "leave" })).await;
                    let _ = timeout(CLOSING, socket.close(None)).await;
                    return;
                }
            };
            match self.again(ending, &mut wishes).await {
                Ok(Some(another)) => socket = another,
                Ok(None) => return,
                Err(ending) => return refuse(ending, &mut wishes, &mut asked).await,
            }
            // What was asked on the lost socket is asked anew.
            for question in &asked {
                let _lost_at_once = send(&mut socket, question.message()).await;
            }
        }
    }

    /// Serves one socket until it is lost, or somebody leaves.
    async fn stay(
        &mut self,
        socket: &mut Socket,
        wishes: &mut mpsc::Receiver<Wish>,
        asked: &mut VecDeque<Question>,
    ) -> Result<(), Ending> {
        let (mut quiet, mut pinged) = (Instant::now() + QUIET, false);
        let mut move_at = None;
        loop {
            tokio::select! {
                heard = hear(socket) => {
                    let heard = heard?;
                    (quiet, pinged) = (Instant::now() + QUIET, false);
                    let mut message = match heard {
                        Heard::Message(message) => message,
                        // They want a link, or do not know yet which way we go.
                        Heard::Directed { from, path } => {
                            if !path || !self.told.contains(&from) {
                                self.say_path(socket, &from.into()).await?;
                            }
                            continue;
                        }
                    };
                    self.roster.send_if_modified(|roster| roster.hear(&message));
                    match message["type"].as_str() {
                        Some("joined") => self.say_path(socket, &message["member"]["participant"]).await?,
                        Some("relay") => if let Some(question) = asked.pop_front() {
                            let _nobody_waits = question.answer.send(Ok(message["relay"].take()));
                        },
                        Some("resume-token") => if let Some(token) = message["resume"].as_str() {
                            token.clone_into(&mut self.resume);
                        },
                        Some("go-elsewhere") => {
                            let after = Duration::from_millis(message["afterMs"].as_u64().unwrap_or(0));
                            move_at = Some(Instant::now() + after);
                        }
                        _ => {}
                    }
                }
                wish = wishes.recv() => match wish {
                    None | Some(Wish::Leave) => return Ok(()),
                    Some(Wish::Relay(question)) => {
                        let message = question.message();
                        asked.push_back(question);
                        send(socket, message).await?;
                    }
                },
                () = sleep_until(quiet) => {
                    if std::mem::replace(&mut pinged, true) {
                        return Err(Ending::lost("the room went silent"));
                    }
                    quiet += QUIET;
                    send(socket, json!({ "type": "ping" })).await?;
                }
                () = sleep_until(move_at.unwrap_or(quiet)), if move_at.is_some() => {
                    let why = "the room is served by another pod".into();
                    return Err(Ending::Lost { why, again: Again::AtOnce });
                }
            }
        }
    }

    /// Another socket of the same participant; none if somebody leaves meanwhile.
    async fn again(&mut self, mut ending: Ending, wishes: &mut mpsc::Receiver<Wish>) -> Result<Option<Socket>, Ending> {
        let mut tries = 0;
        loop {
            let Ending::Lost { why, again } = ending else { return Err(ending) };
            let pause = pause(again, tries).min(GOOD);
            tries += 1;
            eprintln!("parley: {why}; back in the room in {:.1} s", pause.as_secs_f64());
            let mut waits = Vec::new();
            let woken = Instant::now() + pause;
            loop {
                tokio::select! {
                    () = sleep_until(woken) => break,
                    wish = wishes.recv() => match wish {
                        None | Some(Wish::Leave) => return Ok(None),
                        Some(Wish::Relay(question)) => waits.push(question),
                    },
                }
            }
            // Media may be lost with the room; it asks again.
            for question in waits {
                let _nobody_waits = question.answer.send(Err(Ending::lost("the room is not there")));
            }
            ending = match self.open(None).await {
                Ok((socket, _)) => return Ok(Some(socket)),
                Err(ending) => ending,
            };
        }
    }
}

impl Question {
    fn message(&self) -> Value {
        let mut message = json!({ "type": "relay" });
        if let Some(without) = &self.without {
            message["without"] = without.as_str().into();
        }
        message
    }
}

/// Tells whoever asks why the room is over.
async fn refuse(ending: Ending, wishes: &mut mpsc::Receiver<Wish>, asked: &mut VecDeque<Question>) {
    for question in asked.drain(..) {
        let _nobody_waits = question.answer.send(Err(ending.clone()));
    }
    while let Some(Wish::Relay(question)) = wishes.recv().await {
        let _nobody_waits = question.answer.send(Err(ending.clone()));
    }
}

fn strange() -> Ending {
    Ending::Refused("the service does not answer as Parley does".into())
}

async fn send(socket: &mut Socket, message: Value) -> Result<(), Ending> {
    socket.send(Message::text(message.to_string())).await.map_err(Ending::of)
}

/// The next message. May be given up halfway.
async fn hear(socket: &mut Socket) -> Result<Heard, Ending> {
    loop {
        let text = match socket.next().await {
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Binary(bytes))) => match directed(&bytes) {
                Some(heard) => return Ok(heard),
                None => continue,
            },
            Some(Ok(Message::Close(frame))) => return Err(lost(Ending::closed(frame.as_ref()))),
            Some(Ok(_)) => continue,
            Some(Err(why)) => return Err(lost(Ending::of(why))),
            None => return Err(Ending::lost("the room was lost")),
        };
        if let Some(heard) = directed(text.as_bytes()) {
            return Ok(heard);
        }
        let Ok(message) = serde_json::from_str::<Value>(&text) else { continue };
        let fatal = message["type"] == "room-deleted" || message["fatal"] == true;
        if !fatal {
            return Ok(Heard::Message(message));
        }
        let code = message["code"].as_str().unwrap_or("ROOM_DELETED");
        let why = format!("the room is over for us: {code}");
        return Err(if PASSING.contains(&code) { Ending::lost(why) } else { Ending::Refused(why) });
    }
}

/// A directed message of a participant, where it is one.
fn directed(message: &[u8]) -> Option<Heard> {
    let message = message.strip_prefix(b"<")?;
    let end = message.iter().position(|byte| *byte == b'\n')?;
    let from = String::from_utf8(message[..end].to_vec()).ok()?;
    let payload = serde_json::from_slice::<Value>(&message[end..]).unwrap_or_default();
    Some(Heard::Directed { from, path: payload["type"] == "path" })
}

/// A socket that ends without a word about why is opened again.
fn lost(ending: Ending) -> Ending {
    if ending == Ending::Done { Ending::lost("the room closed the socket") } else { ending }
}
