//! A participant of a room, whose socket is reopened when it is lost (JOIN-1 to JOIN-12, RES-1 to RES-8): the client of rooms of every
//! command.
use super::entry::Entry;
use super::roster::Roster;
use super::socket::{RoomSocket, SocketEvent};
use crate::connect::ConnectOptions;
use crate::connection_end::{ConnectionEnd, Retry};
use crate::media::dial::{self, RelayAddress};
use crate::media::url::RoomUrl;
use crate::retry::{STABLE_AFTER, pause};
use parley_protocol::client;
use parley_protocol::server::Message;
use parley_protocol::shared::{IceServer, RelayOffer};
use std::collections::{HashSet, VecDeque};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};
use url::Url;

/// A socket without messages for this long is pinged. After the same time again it is lost.
const PING_INTERVAL: Duration = Duration::from_secs(15);
const LEAVE_TIMEOUT: Duration = Duration::from_secs(3);
/// The path of this participant's media, as the SDK tells it to other participants (MEDIA-13). It is not part of the protocol.
const PATH: &str = r#"{"type":"path","preferred":"sfu","supported":true,"receiving":true}"#;

/// A participant that is in a room until this value is dropped. [`RoomClient::leave`] waits until it left.
pub struct RoomClient {
    /// Its id.
    pub participant: String,
    /// The id of the room, as the service writes it.
    pub room: String,
    /// The other participants.
    pub roster: watch::Receiver<Roster>,
    /// STUN and TURN servers, of the first welcome (TURN-10).
    pub ice_servers: Vec<IceServer>,
    connect: ConnectOptions,
    commands: mpsc::Sender<Command>,
    task: Option<JoinHandle<()>>,
}

/// How a participant behaves.
#[derive(Clone, Debug)]
pub enum JoinMode {
    /// Waits in a lobby, resumes when its socket is lost, and tells other participants the path of its media.
    Participant,
    /// Does none of these, as `parley doctor` looks for failures.
    Probe {
        /// Received messages go here, and are discarded when it is full.
        received: mpsc::Sender<Result<SocketEvent, ConnectionEnd>>,
        /// The host at which the socket is opened.
        host: Url,
    },
}

/// Requests relays.
#[derive(Clone)]
pub struct RelayRequester {
    commands: mpsc::Sender<Command>,
    connect: ConnectOptions,
}

enum Command {
    Relay(RelayRequest),
    /// A directed message: its receiver and payload.
    Send(String, String),
    Leave,
}

/// A request for a relay without an answer.
struct RelayRequest {
    message: client::Message,
    answer: oneshot::Sender<Result<Option<RelayOffer>, ConnectionEnd>>,
}

/// The task of a participant.
struct ParticipantTask {
    entry: Entry,
    mode: JoinMode,
    participant: String,
    roster: watch::Sender<Roster>,
    /// The participants that know our path. Answering their messages again would never end.
    path_sent: HashSet<String>,
    /// The number of directed messages: each has an id of its own (DIR-3).
    messages: u64,
}

impl RoomClient {
    /// Joins a room. `publish`: the participant announces a camera and a microphone.
    pub async fn join(
        name: &str,
        room: &RoomUrl,
        publish: bool,
        mode: JoinMode,
        connect: &ConnectOptions,
    ) -> Result<Self, ConnectionEnd> {
        let waits_in_lobby = matches!(mode, JoinMode::Participant);
        let mut entry = Entry::request(room, name, publish, waits_in_lobby, connect).await?;
        if let JoinMode::Probe { host, .. } = &mode {
            entry.open_at(host);
        }
        let (roster, seen) = watch::channel(Roster::default());
        let mut task =
            ParticipantTask { entry, mode, participant: String::new(), roster, path_sent: HashSet::new(), messages: 0 };
        let (socket, welcome) = task.open().await?;
        let (commands, receiver) = mpsc::channel(4);
        let participant = task.participant.clone();
        let task = tokio::spawn(task.run(socket, receiver));
        let (room, ice_servers) = (welcome.room.room.into(), welcome.ice_servers);
        Ok(Self { participant, room, roster: seen, ice_servers, connect: connect.clone(), commands, task: Some(task) })
    }

    /// A handle that requests relays.
    pub fn relay_requester(&self) -> RelayRequester {
        RelayRequester { commands: self.commands.clone(), connect: self.connect.clone() }
    }

    /// The task of the participant, for a caller that drops this value instead of leaving, and waits for the task later.
    pub(crate) fn detach(&mut self) -> Option<JoinHandle<()>> {
        self.task.take()
    }

    /// Sends a directed message to a participant.
    pub(crate) async fn send_directed(&self, to: &str, payload: &str) {
        // If the task ended, its reason is among the received messages.
        let _ = self.commands.send(Command::Send(to.to_owned(), payload.to_owned())).await;
    }

    /// Leaves at once (JOIN-12).
    pub async fn leave(self) {
        let _gone_already = self.commands.send(Command::Leave).await;
        if let Some(task) = self.task {
            let _late = timeout(LEAVE_TIMEOUT, task).await;
        }
    }
}

impl RelayRequester {
    /// The relay that the room offers, with a new token (MEDIA-6); another one than `exclude`, if there is another (MEDIA-10).
    pub(crate) async fn request_offer(&self, exclude: Option<&str>) -> Result<Option<RelayOffer>, ConnectionEnd> {
        let (answer, receiver) = oneshot::channel();
        let gone = || ConnectionEnd::Refused("the participant left the room".into());
        let exclude = exclude.map(str::parse).transpose();
        let exclude = exclude.map_err(|_| ConnectionEnd::Refused("the address of the relay is too long".into()))?;
        let request = RelayRequest { message: client::Message::Relay(client::Relay { exclude }), answer };
        self.commands.send(Command::Relay(request)).await.map_err(|_| gone())?;
        receiver.await.map_err(|_| gone())?
    }

    /// The address of that relay. `host` is the host of the room.
    pub async fn request(&self, host: &Url, exclude: Option<&str>) -> Result<RelayAddress, ConnectionEnd> {
        let Some(offer) = self.request_offer(exclude).await? else {
            return Err(ConnectionEnd::lost("no relay accepts sessions (RELAY_UNAVAILABLE)"));
        };
        self.address(&offer, host)
    }

    /// The address of an offered relay.
    pub fn address(&self, offer: &RelayOffer, host: &Url) -> Result<RelayAddress, ConnectionEnd> {
        Ok(RelayAddress { connect: self.connect.clone(), ..dial::address(offer, host)? })
    }
}

impl ParticipantTask {
    /// Opens a socket on which the participant is welcomed.
    async fn open(&mut self) -> Result<(RoomSocket, parley_protocol::server::Welcome), ConnectionEnd> {
        let (mut socket, welcome) = self.entry.open().await?;
        self.participant = welcome.participant.to_string();
        self.roster.send_replace(Roster::from_welcome(&welcome));
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
    async fn run(mut self, mut socket: RoomSocket, mut commands: mpsc::Receiver<Command>) {
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
            match self.reopen(end, &mut commands).await {
                Ok(Some(another)) => socket = another,
                Ok(None) => return,
                Err(end) => return answer_all(end, &mut commands, &mut pending).await,
            }
            // Requests on the lost socket are repeated.
            for request in &pending {
                let _lost_at_once = socket.send(&request.message).await;
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
        let (mut ping_at, mut pinged) = (Instant::now() + PING_INTERVAL, false);
        let mut move_at = None;
        loop {
            tokio::select! {
                event = socket.receive() => {
                    let event = event?;
                    (ping_at, pinged) = (Instant::now() + PING_INTERVAL, false);
                    if let JoinMode::Probe { received: listener, .. } = &self.mode {
                        let _full = listener.try_send(Ok(event.clone()));
                    }
                    match event {
                        SocketEvent::Directed(from, payload) => self.on_directed(socket, &from, &payload).await?,
                        SocketEvent::Message(Message::Goaway(goaway)) => {
                            move_at = Some(Instant::now() + Duration::from_millis(goaway.after_ms));
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
                () = sleep_until(ping_at) => {
                    if std::mem::replace(&mut pinged, true) {
                        return Err(ConnectionEnd::lost("the service of the room stopped answering"));
                    }
                    ping_at += PING_INTERVAL;
                    socket.send(&client::Message::Ping).await?;
                }
                () = sleep_until(move_at.unwrap_or(ping_at)), if move_at.is_some() => {
                    let why = "the pod of the room is draining".into();
                    return Err(ConnectionEnd::Lost { why, retry: Retry::AtOnce });
                }
            }
        }
    }

    /// Handles a message of the service.
    async fn on_message(
        &mut self,
        socket: &mut RoomSocket,
        message: Message,
        pending: &mut VecDeque<RelayRequest>,
    ) -> Result<(), ConnectionEnd> {
        self.roster.send_if_modified(|roster| roster.apply(&message));
        match message {
            Message::Joined(joined) => self.send_path(socket, &joined.member.participant).await,
            Message::Relay(offered) => {
                if let Some(request) = pending.pop_front() {
                    let _dropped = request.answer.send(Ok(offered.relay));
                }
                Ok(())
            }
            Message::ResumeToken(token) => self.entry.renew(token.resume),
            _ => Ok(()),
        }
    }

    /// A participant that sends its path knows ours already. Any other message means that it opens a connection or does not know our path.
    async fn on_directed(&mut self, socket: &mut RoomSocket, from: &str, payload: &[u8]) -> Result<(), ConnectionEnd> {
        let payload = serde_json::from_slice::<serde_json::Value>(payload).unwrap_or_default();
        if payload["type"] == "path" && self.path_sent.contains(from) {
            Ok(())
        } else {
            self.send_path(socket, from).await
        }
    }

    /// Opens another socket of the same participant. Returns none if the participant leaves in the meantime.
    async fn reopen(
        &mut self,
        mut end: ConnectionEnd,
        commands: &mut mpsc::Receiver<Command>,
    ) -> Result<Option<RoomSocket>, ConnectionEnd> {
        let mut attempts = 0;
        loop {
            let ConnectionEnd::Lost { why, retry } = end else { return Err(end) };
            let pause = pause(retry, attempts).min(STABLE_AFTER);
            attempts += 1;
            eprintln!("parley: {why}; rejoining the room in {:.1} s", pause.as_secs_f64());
            let mut waiting = Vec::new();
            let retry_at = Instant::now() + pause;
            loop {
                tokio::select! {
                    () = sleep_until(retry_at) => break,
                    command = commands.recv() => match command {
                        None | Some(Command::Leave) => return Ok(None),
                        Some(Command::Relay(request)) => waiting.push(request),
                        Some(Command::Send(..)) => {}
                    },
                }
            }
            // The session with a relay may be lost too; the caller retries.
            for request in waiting {
                let _dropped = request.answer.send(Err(ConnectionEnd::lost("the room is not connected")));
            }
            end = match self.open().await {
                Ok((socket, _)) => return Ok(Some(socket)),
                Err(end) => end,
            };
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
