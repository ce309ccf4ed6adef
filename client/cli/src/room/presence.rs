//! A participant of a room, on a socket that is opened again when it is lost (JOIN-1 to JOIN-12, RES-1 to RES-8): the one client of rooms of
//! this command.
use super::entry::Entry;
use super::roster::Roster;
use super::socket::{Heard, RoomSocket};
use crate::again::{GOOD, pause};
use crate::ending::{Again, Ending};
use crate::media::dial::{self, Address};
use crate::media::place::Room;
use crate::reach::Reach;
use parley_protocol::client;
use parley_protocol::server::Message;
use parley_protocol::shared::{IceServer, RelayOffer};
use std::collections::{HashSet, VecDeque};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};
use url::Url;

/// After which a socket that is silent is tried; as long again, and it is gone.
const QUIET: Duration = Duration::from_secs(15);
const CLOSING: Duration = Duration::from_secs(3);
/// What this participant tells others of the way that its media goes (MEDIA-13). The SDK's, and no part of the protocol.
const PATH: &str = r#"{"type":"path","preferred":"sfu","supported":true,"receiving":true}"#;

/// A participant who is in a room until this is dropped, and leaves it properly by [`Presence::leave`].
pub struct Presence {
    /// Its id.
    pub participant: String,
    /// The room's id, as the service writes it.
    pub room: String,
    /// Everybody else there, as they come and go.
    pub roster: watch::Receiver<Roster>,
    /// STUN and TURN, of the first welcome (TURN-10).
    pub ice_servers: Vec<IceServer>,
    reach: Reach,
    wishes: mpsc::Sender<Wish>,
    task: Option<JoinHandle<()>>,
}

/// How a participant behaves.
#[derive(Clone, Debug)]
pub enum Manner {
    /// Waits in a lobby, comes back when its socket is lost, and tells others which way its media goes.
    Stays,
    /// Does none of these: what fails is what is looked for. Whatever is heard goes here, and is dropped while there is no room for it.
    Looks(mpsc::Sender<Result<Heard, Ending>>),
}

/// Asks for relays.
#[derive(Clone)]
pub struct Asker {
    wishes: mpsc::Sender<Wish>,
    reach: Reach,
}

enum Wish {
    Relay(Question),
    /// A directed message: to whom, and the payload.
    Tell(String, String),
    Leave,
}

/// A request for a relay that was not answered yet.
struct Question {
    message: client::Message,
    answer: oneshot::Sender<Result<Option<RelayOffer>, Ending>>,
}

/// The participant's own side of the room.
struct Stay {
    entry: Entry,
    manner: Manner,
    participant: String,
    roster: watch::Sender<Roster>,
    /// Who was told which way we go: two who answer each other always would never end.
    told: HashSet<String>,
    /// Directed messages so far: each has an id of its own (DIR-3).
    said: u64,
}

impl Presence {
    /// Joins, with a camera and a microphone where it is to publish.
    pub async fn join(name: &str, room: &Room, publish: bool, manner: Manner, reach: &Reach) -> Result<Self, Ending> {
        let waits = matches!(manner, Manner::Stays);
        let entry = Entry::ask(room, name, publish, waits, reach).await?;
        let (roster, seen) = watch::channel(Roster::default());
        let mut stay = Stay { entry, manner, participant: String::new(), roster, told: HashSet::new(), said: 0 };
        let (socket, welcome) = stay.open().await?;
        let (wishes, heard) = mpsc::channel(4);
        let participant = stay.participant.clone();
        let task = tokio::spawn(stay.keep(socket, heard));
        let (room, ice_servers) = (welcome.room.room.into(), welcome.ice_servers);
        Ok(Self { participant, room, roster: seen, ice_servers, reach: reach.clone(), wishes, task: Some(task) })
    }

    /// Who asks for relays meanwhile.
    pub fn asker(&self) -> Asker {
        Asker { wishes: self.wishes.clone(), reach: self.reach.clone() }
    }

    /// What has to end before the command does, for a caller that drops this instead of leaving.
    pub fn detach(&mut self) -> Option<JoinHandle<()>> {
        self.task.take()
    }

    /// Sends a directed message to a participant.
    pub async fn tell(&self, to: &str, payload: &str) {
        // A message that cannot be sent any more is not answered; the reason is among what is heard.
        let _ = self.wishes.send(Wish::Tell(to.to_owned(), payload.to_owned())).await;
    }

    /// Leaves at once (JOIN-12).
    pub async fn leave(self) {
        let _gone_already = self.wishes.send(Wish::Leave).await;
        if let Some(task) = self.task {
            let _late = timeout(CLOSING, task).await;
        }
    }
}

impl Asker {
    /// What the room offers (MEDIA-6): a relay with a fresh token, another than that at `exclude`, where there is one (MEDIA-10).
    pub async fn offer(&self, exclude: Option<&str>) -> Result<Option<RelayOffer>, Ending> {
        let (answer, heard) = oneshot::channel();
        let gone = || Ending::Refused("the room is left".into());
        let exclude = exclude.map(str::parse).transpose();
        let exclude = exclude.map_err(|_| Ending::Refused("the address of the relay is too long".into()))?;
        let question = Question { message: client::Message::Relay(client::Relay { exclude }), answer };
        self.wishes.send(Wish::Relay(question)).await.map_err(|_| gone())?;
        heard.await.map_err(|_| gone())?
    }

    /// Where that relay is, as `host` has it.
    pub async fn ask(&self, host: &Url, exclude: Option<&str>) -> Result<Address, Ending> {
        let Some(offer) = self.offer(exclude).await? else {
            return Err(Ending::lost("no relay takes sessions now (RELAY_UNAVAILABLE)"));
        };
        self.address(&offer, host)
    }

    /// Where an offered relay is.
    pub fn address(&self, offer: &RelayOffer, host: &Url) -> Result<Address, Ending> {
        Ok(Address { reach: self.reach.clone(), ..dial::address(offer, host)? })
    }
}

impl Stay {
    /// A socket on which the participant has been welcomed.
    async fn open(&mut self) -> Result<(RoomSocket, parley_protocol::server::Welcome), Ending> {
        let (mut socket, welcome) = self.entry.open().await?;
        self.participant = welcome.participant.to_string();
        self.roster.send_replace(Roster::welcomed(&welcome));
        for member in &*welcome.roster {
            self.say_path(&mut socket, &member.participant).await?;
        }
        Ok((socket, welcome))
    }

    /// Says to a participant that our media goes through relays and theirs is there, so that no link is made with us (MEDIA-13).
    async fn say_path(&mut self, socket: &mut RoomSocket, to: &str) -> Result<(), Ending> {
        if *to == *self.participant || matches!(self.manner, Manner::Looks(_)) {
            return Ok(());
        }
        self.told.insert(to.to_owned());
        self.tell(socket, to, PATH).await
    }

    async fn tell(&mut self, socket: &mut RoomSocket, to: &str, payload: &str) -> Result<(), Ending> {
        self.said += 1;
        socket.tell(to, &self.said.to_string(), payload).await
    }

    /// Stays in the room, on one socket after the other.
    async fn keep(mut self, mut socket: RoomSocket, mut wishes: mpsc::Receiver<Wish>) {
        let mut asked = VecDeque::new();
        loop {
            let ending = match self.stay(&mut socket, &mut wishes, &mut asked).await {
                Err(ending) => ending,
                Ok(()) => return socket.leave().await,
            };
            if let Manner::Looks(heard) = &self.manner {
                let _nobody_listens = heard.try_send(Err(ending.clone()));
                return refuse(ending, &mut wishes, &mut asked).await;
            }
            match self.again(ending, &mut wishes).await {
                Ok(Some(another)) => socket = another,
                Ok(None) => return,
                Err(ending) => return refuse(ending, &mut wishes, &mut asked).await,
            }
            // What was asked on the lost socket is asked again.
            for question in &asked {
                let _lost_at_once = socket.say(&question.message).await;
            }
        }
    }

    /// Serves one socket until it is lost, or the participant leaves.
    async fn stay(
        &mut self,
        socket: &mut RoomSocket,
        wishes: &mut mpsc::Receiver<Wish>,
        asked: &mut VecDeque<Question>,
    ) -> Result<(), Ending> {
        let (mut quiet, mut pinged) = (Instant::now() + QUIET, false);
        let mut move_at = None;
        loop {
            tokio::select! {
                heard = socket.hear() => {
                    let heard = heard?;
                    (quiet, pinged) = (Instant::now() + QUIET, false);
                    if let Manner::Looks(listener) = &self.manner {
                        let _nobody_listens = listener.try_send(Ok(heard.clone()));
                    }
                    match heard {
                        Heard::Directed(from, payload) => self.answer(socket, &from, &payload).await?,
                        Heard::Message(Message::Goaway(told)) => {
                            move_at = Some(Instant::now() + Duration::from_millis(told.after_ms));
                        }
                        Heard::Message(message) => self.take(socket, message, asked).await?,
                    }
                }
                wish = wishes.recv() => match wish {
                    None | Some(Wish::Leave) => return Ok(()),
                    Some(Wish::Tell(to, payload)) => self.tell(socket, &to, &payload).await?,
                    Some(Wish::Relay(question)) => {
                        socket.say(&question.message).await?;
                        asked.push_back(question);
                    }
                },
                () = sleep_until(quiet) => {
                    if std::mem::replace(&mut pinged, true) {
                        return Err(Ending::lost("the room went silent"));
                    }
                    quiet += QUIET;
                    socket.say(&client::Message::Ping).await?;
                }
                () = sleep_until(move_at.unwrap_or(quiet)), if move_at.is_some() => {
                    let why = "the room is served by another pod".into();
                    return Err(Ending::Lost { why, again: Again::AtOnce });
                }
            }
        }
    }

    /// Takes a message of the service into account.
    async fn take(
        &mut self,
        socket: &mut RoomSocket,
        message: Message,
        asked: &mut VecDeque<Question>,
    ) -> Result<(), Ending> {
        self.roster.send_if_modified(|roster| roster.hear(&message));
        match message {
            Message::Joined(joined) => self.say_path(socket, &joined.member.participant).await,
            Message::Relay(offered) => {
                if let Some(question) = asked.pop_front() {
                    let _nobody_waits = question.answer.send(Ok(offered.relay));
                }
                Ok(())
            }
            Message::ResumeToken(token) => self.entry.renew(token.resume),
            _ => Ok(()),
        }
    }

    /// A participant who names a path was told ours already; another wants a link, or does not know yet which way we go.
    async fn answer(&mut self, socket: &mut RoomSocket, from: &str, payload: &[u8]) -> Result<(), Ending> {
        let payload = serde_json::from_slice::<serde_json::Value>(payload).unwrap_or_default();
        if payload["type"] == "path" && self.told.contains(from) { Ok(()) } else { self.say_path(socket, from).await }
    }

    /// Another socket of the same participant; none if it leaves meanwhile.
    async fn again(
        &mut self,
        mut ending: Ending,
        wishes: &mut mpsc::Receiver<Wish>,
    ) -> Result<Option<RoomSocket>, Ending> {
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
                        Some(Wish::Tell(..)) => {}
                    },
                }
            }
            // Media may be lost with the room; it asks again.
            for question in waits {
                let _nobody_waits = question.answer.send(Err(Ending::lost("the room is not there")));
            }
            ending = match self.open().await {
                Ok((socket, _)) => return Ok(Some(socket)),
                Err(ending) => ending,
            };
        }
    }
}

/// Answers each request with why the room is over.
async fn refuse(ending: Ending, wishes: &mut mpsc::Receiver<Wish>, asked: &mut VecDeque<Question>) {
    for question in asked.drain(..) {
        let _nobody_waits = question.answer.send(Err(ending.clone()));
    }
    while let Some(wish) = wishes.recv().await {
        match wish {
            Wish::Relay(question) => drop(question.answer.send(Err(ending.clone()))),
            Wish::Tell(..) => {}
            Wish::Leave => return,
        }
    }
}
