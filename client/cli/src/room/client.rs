//! A participant of a room, whose socket is reopened when it is lost: the client of rooms of every command.
use super::entry::Entry;
use super::participant::ParticipantTask;
use super::roster::Roster;
use super::socket::SocketEvent;
use super::standby::Standby;
use crate::connect::ConnectOptions;
use crate::connection_end::ConnectionEnd;
use crate::media::dial::RelayAddress;
use crate::media::url::RoomUrl;
use parley_protocol::client;
use parley_protocol::shared::IceServer;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use url::Url;

const LEAVE_TIMEOUT: Duration = Duration::from_secs(3);
/// Where a relay of another region is known: several round trips to the nearest region.
const STANDBY_AFTER: Duration = Duration::from_millis(400);

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
    requester: RelayRequester,
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
    standby: watch::Receiver<Option<Standby>>,
}

/// What a participant is to do.
pub enum Command {
    Relay(RelayRequest),
    /// A directed message: its receiver and payload.
    Send(String, String),
    Leave,
}

/// A request for a relay without an answer.
pub struct RelayRequest {
    pub message: client::Message,
    pub answer: oneshot::Sender<Result<Option<RelayAddress>, ConnectionEnd>>,
}

const HAS_KEY: &str = "the link has an end-to-end key (#key=), and terminals do not encrypt: those who have it would neither see nor \
                       hear this participant, nor it them";

impl RoomClient {
    /// Joins a room. A link with an end-to-end key is refused. `publish`: the participant announces a camera and a microphone.
    pub async fn join(
        name: &str,
        room: &RoomUrl,
        publish: bool,
        mode: JoinMode,
        connect: &ConnectOptions,
    ) -> Result<Self, ConnectionEnd> {
        if room.has_key {
            return Err(ConnectionEnd::Refused(HAS_KEY.into()));
        }
        let waits_in_lobby = matches!(mode, JoinMode::Participant);
        let mut entry = Entry::request(room, name, publish, waits_in_lobby, connect).await?;
        if let JoinMode::Probe { host, .. } = &mode {
            entry.open_at(host);
        }
        let (roster, seen) = watch::channel(Roster::default());
        let (newest, standby) = watch::channel(None);
        let mut task = ParticipantTask::new(entry, mode, roster, newest);
        let (socket, welcome) = task.open().await?;
        let (commands, receiver) = mpsc::channel(4);
        let participant = welcome.participant.to_string();
        let task = tokio::spawn(task.run(socket, receiver));
        let (room, ice_servers) = (welcome.room.room.into(), welcome.ice_servers);
        let requester = RelayRequester { commands, standby };
        Ok(Self { participant, room, roster: seen, ice_servers, requester, task: Some(task) })
    }

    /// A handle that requests relays.
    pub fn relay_requester(&self) -> RelayRequester {
        self.requester.clone()
    }

    /// The task of the participant, for a caller that drops this value instead of leaving, and waits for the task later.
    pub(crate) fn detach(&mut self) -> Option<JoinHandle<()>> {
        self.task.take()
    }

    /// Sends a directed message to a participant.
    pub(crate) async fn send_directed(&self, to: &str, payload: &str) {
        // If the task ended, its reason is among the received messages.
        let _ = self.requester.commands.send(Command::Send(to.to_owned(), payload.to_owned())).await;
    }

    /// Leaves at once (JOIN-12).
    pub async fn leave(self) {
        let _gone_already = self.requester.commands.send(Command::Leave).await;
        if let Some(task) = self.task {
            let _late = timeout(LEAVE_TIMEOUT, task).await;
        }
    }
}

impl RelayRequester {
    /// The relay that the room offers, with a new token (MEDIA-6); another one than `exclude`, if there is another (MEDIA-10).
    pub(crate) async fn request_offer(&self, exclude: Option<&str>) -> Result<Option<RelayAddress>, ConnectionEnd> {
        let (answer, receiver) = oneshot::channel();
        let gone = || ConnectionEnd::Refused("the participant left the room".into());
        let exclude = exclude.map(str::parse).transpose();
        let exclude = exclude.map_err(|_| ConnectionEnd::Refused("the address of the relay is too long".into()))?;
        let request = RelayRequest { message: client::Message::Relay(client::Relay { exclude }), answer };
        self.commands.send(Command::Relay(request)).await.map_err(|_| gone())?;
        receiver.await.map_err(|_| gone())?
    }

    /// The relay for a session after `lost`, which may be of another region where the room does not answer soon (MEDIA-25).
    pub async fn request(&self, lost: Option<&str>) -> Result<RelayAddress, ConnectionEnd> {
        let standby = self.standby.borrow().as_ref().and_then(|standby| standby.usable(lost));
        let asked = self.request_offer(lost);
        let offered = match standby {
            None => asked.await?,
            Some(standby) => match timeout(STANDBY_AFTER, asked).await {
                Ok(offered) => offered?,
                Err(_) => {
                    eprintln!("parley: the room does not answer; using a relay of another region");
                    Some(standby)
                }
            },
        };
        offered.ok_or_else(|| ConnectionEnd::lost("no relay accepts sessions (RELAY_UNAVAILABLE)"))
    }
}
