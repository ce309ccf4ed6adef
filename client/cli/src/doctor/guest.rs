//! A participant in a room for the duration of a check (JOIN-1 to JOIN-12, DIR-1). Nothing is retried: the checks look for failures.
use super::site::Site;
use crate::connection_end::ConnectionEnd;
use crate::media::dial::RelayAddress;
use crate::media::url::RoomUrl;
use crate::room::{JoinMode, RoomClient, SocketEvent};
use parley_protocol::server::Message;
use parley_protocol::shared::IceServer;
use tokio::sync::mpsc;

const NAME: &str = "parley doctor";
/// The capacity of the channel of messages. The room has two participants, so that few messages wait.
const CAPACITY: usize = 64;
/// The alphabet of Crockford's base32 (ROOM-1).
const SYMBOLS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A participant that leaves when this value is dropped (JOIN-12).
pub struct Guest {
    /// Its id.
    pub participant: String,
    /// The participants that were in the room before.
    pub others: Vec<String>,
    /// STUN and TURN servers (TURN-10).
    pub ice_servers: Vec<IceServer>,
    client: RoomClient,
    received: mpsc::Receiver<Result<SocketEvent, ConnectionEnd>>,
}

/// A random id of a room (ROOM-2).
pub fn room() -> String {
    let group = || (0..4).map(|_| char::from(SYMBOLS[fastrand::usize(..SYMBOLS.len())])).collect::<String>();
    [group(), group(), group(), group()].join("-")
}

impl Guest {
    /// Joins a room.
    pub async fn join(site: &Site, room: &str) -> Result<Self, ConnectionEnd> {
        Self::join_with_ticket_of(site, site, room).await
    }

    /// Joins a room with a ticket of another host, which the host has to accept (KEY-1).
    pub async fn join_with_ticket_of(issuer: &Site, site: &Site, room: &str) -> Result<Self, ConnectionEnd> {
        let room = RoomUrl { host: issuer.url.clone(), id: room.to_owned(), has_key: false };
        let (sender, received) = mpsc::channel(CAPACITY);
        let mode = JoinMode::Probe { received: sender, host: site.url.clone() };
        let mut client = RoomClient::join(NAME, &room, false, mode, &site.connect).await?;
        if let Some(task) = client.detach() {
            site.track(async { drop(task.await) });
        }
        let others = client.roster.borrow().others.keys().cloned().collect();
        let (participant, ice_servers) = (client.participant.clone(), std::mem::take(&mut client.ice_servers));
        Ok(Self { participant, others, ice_servers, client, received })
    }

    /// Sends a directed message.
    pub async fn send(&self, participant: &str, payload: &str) {
        self.client.send_directed(participant, payload).await;
    }

    /// The address of the relay that the room offers (MEDIA-6).
    pub async fn relay(&self) -> Result<Option<RelayAddress>, ConnectionEnd> {
        self.client.relay_requester().request_offer(None).await
    }

    /// The next message for which `select` returns a value.
    pub async fn receive<T>(&mut self, mut select: impl FnMut(&SocketEvent) -> Option<T>) -> Result<T, ConnectionEnd> {
        loop {
            let event = self.received.recv().await.unwrap_or_else(|| Err(ConnectionEnd::lost("the room was lost")))?;
            if let Some(found) = select(&event) {
                return Ok(found);
            }
            if let SocketEvent::Message(Message::Error(error)) = event {
                return Err(ConnectionEnd::Refused(format!("the room refused: {}", error.code)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_1_a_room_is_four_groups_of_four_symbols() {
        let room = room();
        assert_eq!(room.split('-').map(str::len).collect::<Vec<_>>(), [4; 4], "{room}");
        assert!(room.bytes().all(|byte| byte == b'-' || SYMBOLS.contains(&byte)), "{room}");
        assert_ne!(room, super::room());
    }
}
