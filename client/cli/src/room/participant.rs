//! The task of a participant: one socket after the other, in its region and, where that is lost, in another one (JOIN-1 to JOIN-12, RES-1 to
//! RES-8, REG-9, REG-10).
use super::client::{Command, JoinMode, RelayRequest};
use super::entry::Entry;
use super::roster::Roster;
use super::socket::{RoomSocket, SocketEvent};
use super::standby::Standby;
use crate::connection_end::{ConnectionEnd, Retry};
use crate::regions::Place;
use crate::regions::handover::{Handover, answers};
use crate::retry::{STABLE_AFTER, pause};
use parley_protocol::client;
use parley_protocol::server::{Message, Relay, Welcome};
use std::collections::{HashSet, VecDeque};
use std::pin::pin;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};

/// How long a socket may be without messages.
struct Silence {
    /// After this the client pings.
    ping_after: Duration,
    /// Without an answer for this long the socket is lost.
    answer_within: Duration,
}

const PATIENT: Silence = Silence { ping_after: Duration::from_secs(15), answer_within: Duration::from_secs(15) };
/// With another region to go to (REG-9).
const SUSPICIOUS: Silence = Silence { ping_after: Duration::from_millis(2500), answer_within: Duration::from_secs(2) };
/// The path of this participant's media, as the SDK tells it to other participants (MEDIA-13). It is not part of the protocol.
const PATH: &str = r#"{"type":"path","preferred":"sfu","supported":true,"receiving":true}"#;

/// The task of a participant.
pub struct ParticipantTask {
    entry: Entry,
    mode: JoinMode,
    participant: String,
    roster: watch::Sender<Roster>,
    standby: watch::Sender<Option<Standby>>,
    /// When the participant asks for another token for its standby.
    renew_at: Option<Instant>,
    /// The participants that know our path. Answering their messages again would never end.
    path_sent: HashSet<String>,
    /// The number of directed messages: each has an id of its own (DIR-3).
    messages: u64,
}

/// When the participant leaves the pod of its socket, as that drains.
struct Move {
    at: Instant,
    /// Whether the region that it had to leave answers: then it returns (REG-10).
    back: Option<JoinHandle<bool>>,
}

/// What ended a step on the way back to the room.
enum Way<T> {
    Done(T),
    Move(Place),
    Leave,
}

impl ParticipantTask {
    /// A participant without a socket.
    pub fn new(
        entry: Entry,
        mode: JoinMode,
        roster: watch::Sender<Roster>,
        standby: watch::Sender<Option<Standby>>,
    ) -> Self {
        let (path_sent, messages) = (HashSet::new(), 0);
        Self { entry, mode, participant: String::new(), roster, standby, renew_at: None, path_sent, messages }
    }

    /// Opens a socket on which the participant is welcomed.
    pub async fn open(&mut self) -> Result<(RoomSocket, Welcome), ConnectionEnd> {
        let (mut socket, welcome) = self.entry.open().await?;
        self.participant = welcome.participant.to_string();
        self.update_roster(|roster| {
            roster.welcomed(&welcome);
            true
        });
        for member in &*welcome.roster {
            self.send_path(&mut socket, &member.participant).await?;
        }
        Ok((socket, welcome))
    }

    /// Tells a participant that our media and theirs goes through relays, so that it opens no peer connection (MEDIA-13).
    async fn send_path(&mut self, socket: &mut RoomSocket, to: &str) -> Result<(), ConnectionEnd> {
        if *to == *self.participant || matches!(self.mode, JoinMode::Probe { .. }) {
            return Ok(());
        }
        self.path_sent.insert(to.to_owned());
        self.send_directed(socket, to, PATH).await
    }

    async fn send_directed(&mut self, socket: &mut RoomSocket, to: &str, payload: &str) -> Result<(), ConnectionEnd> {
        self.messages += 1;
        socket.send_directed(to, &self.messages.to_string(), payload).await
    }

    /// Stays in the room, with one socket after the other.
    pub async fn run(mut self, mut socket: RoomSocket, mut commands: mpsc::Receiver<Command>) {
        let mut pending = VecDeque::new();
        loop {
            let end = match self.serve(&mut socket, &mut commands, &mut pending).await {
                Err(end) => end,
                Ok(()) => return socket.leave().await,
            };
            if let JoinMode::Probe { received: listener, .. } = &self.mode {
                let _full = listener.try_send(Err(end.clone()));
                return answer_all(end, &mut commands, &mut pending).await;
            }
            match self.reopen(end, &mut commands, &mut pending).await {
                Ok(Some(another)) => socket = another,
                Ok(None) => return,
                Err(end) => return answer_all(end, &mut commands, &mut pending).await,
            }
            // Requests on the lost socket, and since then, are sent on this one.
            pending.retain(|request| !request.answer.is_closed());
            for request in &pending {
                let _lost_at_once = socket.send(&request.message).await;
            }
            if pending.is_empty() && self.standby.borrow().is_some() {
                let _lost_at_once = self.renew_standby(&mut socket, &mut pending).await;
            }
        }
    }

    /// Serves one socket until it is lost, or the participant leaves.
    async fn serve(
        &mut self,
        socket: &mut RoomSocket,
        commands: &mut mpsc::Receiver<Command>,
        pending: &mut VecDeque<RelayRequest>,
    ) -> Result<(), ConnectionEnd> {
        let Silence { ping_after, answer_within } = self.silence();
        let (mut check_at, mut pinged) = (Instant::now() + ping_after, false);
        let mut leaving = None::<Move>;
        loop {
            tokio::select! {
                event = socket.receive() => {
                    let event = event?;
                    (check_at, pinged) = (Instant::now() + ping_after, false);
                    if let JoinMode::Probe { received: listener, .. } = &self.mode {
                        let _full = listener.try_send(Ok(event.clone()));
                    }
                    match event {
                        SocketEvent::Directed(from, payload) => self.on_directed(socket, &from, &payload).await?,
                        SocketEvent::Message(Message::Goaway(goaway)) => {
                            leaving = Some(self.move_after(Duration::from_millis(goaway.after_ms)));
                        }
                        SocketEvent::Message(message) => self.on_message(socket, message, pending).await?,
                    }
                }
                command = commands.recv() => match command {
                    None | Some(Command::Leave) => return Ok(()),
                    Some(Command::Send(to, payload)) => self.send_directed(socket, &to, &payload).await?,
                    Some(Command::Relay(request)) => {
                        socket.send(&request.message).await?;
                        pending.push_back(request);
                    }
                },
                () = sleep_until(check_at) => {
                    if std::mem::replace(&mut pinged, true) {
                        return Err(ConnectionEnd::lost("the service of the room stopped answering"));
                    }
                    check_at += answer_within;
                    socket.send(&client::Message::Ping).await?;
                }
                () = sleep_until(self.renew_at.unwrap_or(check_at)), if self.renew_at.is_some() => {
                    self.renew_standby(socket, pending).await?;
                }
                () = sleep_until(leaving.as_ref().map_or(check_at, |leaving| leaving.at)), if leaving.is_some() => {
                    self.return_if_answered(leaving.and_then(|leaving| leaving.back)).await;
                    let why = "the pod of the room is draining".into();
                    return Err(ConnectionEnd::Lost { why, retry: Retry::AtOnce });
                }
            }
        }
    }

    fn silence(&self) -> Silence {
        let moves = matches!(self.mode, JoinMode::Participant) && self.entry.regions.choice().is_some();
        if moves { SUSPICIOUS } else { PATIENT }
    }

    /// The pod drains. Asks the region that the participant had to leave whether it answers.
    fn move_after(&self, time: Duration) -> Move {
        let ask = |left: &Place| tokio::spawn(answers(self.entry.connect.clone(), left.clone()));
        Move { at: Instant::now() + time, back: self.entry.regions.left().map(ask) }
    }

    async fn return_if_answered(&mut self, back: Option<JoinHandle<bool>>) {
        let Some((back, left)) = back.filter(JoinHandle::is_finished).zip(self.entry.regions.left().cloned()) else {
            return;
        };
        if back.await.unwrap_or(false) {
            self.move_to(&left);
        }
    }

    fn move_to(&mut self, place: &Place) {
        eprintln!("parley: going on in the region {}", place.name);
        self.entry.move_to(place);
    }

    /// Handles a message of the service.
    async fn on_message(
        &mut self,
        socket: &mut RoomSocket,
        message: Message,
        pending: &mut VecDeque<RelayRequest>,
    ) -> Result<(), ConnectionEnd> {
        self.update_roster(|roster| roster.apply(&message));
        match message {
            Message::Joined(joined) => self.send_path(socket, &joined.member.participant).await,
            Message::Relay(answer) => {
                self.on_relay(answer, pending);
                Ok(())
            }
            Message::ResumeToken(token) => self.entry.renew(token.resume),
            _ => Ok(()),
        }
    }

    /// Says it where an owner mutes this participant, whom others do not hear from then on (MOD-15). `update` returns whether it changed the roster.
    fn update_roster(&mut self, update: impl FnOnce(&mut Roster) -> bool) {
        let was_muted = self.roster.borrow().is_muted;
        self.roster.send_if_modified(update);
        match (was_muted, self.roster.borrow().is_muted) {
            (false, true) => {
                eprintln!("parley: an owner of the room muted this participant: the others do not hear it");
            }
            (true, false) => eprintln!("parley: this participant is not muted any more"),
            _ => {}
        }
    }

    /// Without a relay of the region, that of another one is the answer (MEDIA-25).
    fn on_relay(&mut self, Relay { relay, standby }: Relay, pending: &mut VecDeque<RelayRequest>) {
        let standby = standby.filter(|_| matches!(self.mode, JoinMode::Participant));
        let standby = standby.and_then(|standby| Standby::new(standby, &self.entry.connect).ok());
        let (standby, renew_at) = standby.unzip();
        let address = match relay {
            Some(offer) => self.entry.address(&offer).map(Some),
            None => Ok(standby.as_ref().map(|standby| standby.address.clone())),
        };
        self.standby.send_replace(standby);
        self.renew_at = renew_at;
        if let Some(request) = pending.pop_front() {
            let _dropped = request.answer.send(address);
        }
    }

    /// Asks for a relay, for the new token of the standby alone.
    async fn renew_standby(
        &mut self,
        socket: &mut RoomSocket,
        pending: &mut VecDeque<RelayRequest>,
    ) -> Result<(), ConnectionEnd> {
        self.renew_at = None;
        let (answer, _not_awaited) = oneshot::channel();
        let request = RelayRequest { message: client::Message::Relay(client::Relay { exclude: None }), answer };
        socket.send(&request.message).await?;
        pending.push_back(request);
        Ok(())
    }

    /// A participant that sends its path knows ours already, and data of applications asks for nothing (DATA-2). Any other message means that it
    /// opens a connection or does not know our path.
    async fn on_directed(&mut self, socket: &mut RoomSocket, from: &str, payload: &[u8]) -> Result<(), ConnectionEnd> {
        let payload = serde_json::from_slice::<serde_json::Value>(payload).unwrap_or_default();
        let is_settled = payload["type"] == "data" || (payload["type"] == "path" && self.path_sent.contains(from));
        if is_settled { Ok(()) } else { self.send_path(socket, from).await }
    }

    /// Opens another socket of the same participant, in its region or, where that does not answer, in another one. Returns none if the participant
    /// leaves in the meantime.
    async fn reopen(
        &mut self,
        mut end: ConnectionEnd,
        commands: &mut mpsc::Receiver<Command>,
        pending: &mut VecDeque<RelayRequest>,
    ) -> Result<Option<RoomSocket>, ConnectionEnd> {
        let mut handover = Handover::new(self.entry.answered.clone());
        let mut attempts = 0;
        loop {
            let ConnectionEnd::Lost { why, retry } = end else { return Err(end) };
            let pause = pause(retry, attempts).min(STABLE_AFTER);
            attempts += 1;
            eprintln!("parley: {why}; rejoining the room in {:.1} s", pause.as_secs_f64());
            match step(sleep(pause), &mut handover, commands, pending).await {
                Way::Done(()) => {}
                Way::Move(place) => self.move_to(&place),
                Way::Leave => return Ok(None),
            }
            end = loop {
                handover.begin(self.entry.regions.choice(), &self.entry.connect);
                match step(self.open(), &mut handover, commands, pending).await {
                    Way::Done(Ok((socket, _))) => return Ok(Some(socket)),
                    Way::Done(Err(end)) => break end,
                    Way::Move(place) => {
                        attempts = 0;
                        self.move_to(&place);
                    }
                    Way::Leave => return Ok(None),
                }
            };
        }
    }
}

/// Waits for a step on the way back to the room, for the region to which the participant moves, or until it leaves.
async fn step<T>(
    step: impl Future<Output = T>,
    handover: &mut Handover,
    commands: &mut mpsc::Receiver<Command>,
    pending: &mut VecDeque<RelayRequest>,
) -> Way<T> {
    let mut step = pin!(step);
    loop {
        tokio::select! {
            done = &mut step => return Way::Done(done),
            place = handover.moved() => return Way::Move(place),
            command = commands.recv() => match command {
                None | Some(Command::Leave) => return Way::Leave,
                Some(Command::Relay(request)) => pending.push_back(request),
                Some(Command::Send(..)) => {}
            },
        }
    }
}

/// Answers each request with the reason why the participant left.
async fn answer_all(end: ConnectionEnd, commands: &mut mpsc::Receiver<Command>, pending: &mut VecDeque<RelayRequest>) {
    for request in pending.drain(..) {
        let _dropped = request.answer.send(Err(end.clone()));
    }
    while let Some(command) = commands.recv().await {
        match command {
            Command::Relay(request) => drop(request.answer.send(Err(end.clone()))),
            Command::Send(..) => {}
            Command::Leave => return,
        }
    }
}
