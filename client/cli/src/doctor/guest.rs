//! A participant in a room for the time of a check (JOIN-1 to JOIN-12, DIR-1). Nothing is tried again: what fails is what is looked for.
use super::site::Site;
use crate::ending::Ending;
use crate::media::dial::Address;
use crate::media::place::Room;
use crate::room::{Heard, Manner, Presence};
use parley_protocol::server::Message;
use parley_protocol::shared::{IceServer, RelayOffer};
use tokio::sync::mpsc;

const NAME: &str = "parley doctor";
/// Nobody else is in the room: a few messages at most wait to be read.
const WAITING: usize = 64;
/// Crockford's base32 (ROOM-1).
const SYMBOLS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A participant who leaves properly when this is dropped (JOIN-12).
pub struct Guest {
    /// Its id.
    pub participant: String,
    /// Whom it found there.
    pub others: Vec<String>,
    /// STUN and TURN (TURN-10).
    pub ice_servers: Vec<IceServer>,
    presence: Presence,
    heard: mpsc::Receiver<Result<Heard, Ending>>,
}

/// The id of a room that nobody has been in (ROOM-2).
pub fn room() -> String {
    let group = || (0..4).map(|_| char::from(SYMBOLS[fastrand::usize(..SYMBOLS.len())])).collect::<String>();
    [group(), group(), group(), group()].join("-")
}

impl Guest {
    /// Joins.
    pub async fn join(site: &Site, room: &str) -> Result<Self, Ending> {
        let room = Room { host: site.url.clone(), id: room.to_owned() };
        let (tell, heard) = mpsc::channel(WAITING);
        let mut presence = Presence::join(NAME, &room, false, Manner::Looks(tell), &site.reach).await?;
        if let Some(task) = presence.detach() {
            site.hold(async { drop(task.await) });
        }
        let others = presence.roster.borrow().0.keys().cloned().collect();
        let (participant, ice_servers) = (presence.participant.clone(), std::mem::take(&mut presence.ice_servers));
        Ok(Self { participant, others, ice_servers, presence, heard })
    }

    /// Sends a directed message.
    pub async fn tell(&self, participant: &str, payload: &str) {
        self.presence.tell(participant, payload).await;
    }

    /// What the room offers: a relay, with its address (MEDIA-6).
    pub async fn relay(&self, site: &Site) -> Result<Option<Address>, Ending> {
        let asker = self.presence.asker();
        let address = |offer: RelayOffer| asker.address(&offer, &site.url);
        asker.offer(None).await?.map(address).transpose()
    }

    /// The next message that is wanted.
    pub async fn hear<T>(&mut self, mut wanted: impl FnMut(&Heard) -> Option<T>) -> Result<T, Ending> {
        loop {
            let heard = self.heard.recv().await.unwrap_or_else(|| Err(Ending::lost("the room was lost")))?;
            if let Some(found) = wanted(&heard) {
                return Ok(found);
            }
            if let Heard::Message(Message::Error(error)) = heard {
                return Err(Ending::Refused(format!("the room refused: {}", error.code)));
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
