//! Which broadcasts are watched.
use crate::room::{Arrival, Seen};
use moq_net::announce;
use moq_net::origin::Consumer;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::sleep;

/// How long a publisher takes to another relay at most.
pub const MOVING: Duration = Duration::from_secs(5);

/// One broadcast, or those of a room's other participants.
pub enum Wanted {
    /// By its name.
    One(String),
    /// Of a room: of everybody else, or of one.
    Room(Seen, Option<String>),
}

/// A broadcast that is wanted came or went.
pub struct Change {
    /// Its name.
    pub broadcast: String,
    /// Whose it is, in a room.
    pub participant: Option<String>,
    /// Whether it is there now.
    pub there: bool,
}

impl Wanted {
    /// Of whoever arrived.
    pub fn new(arrival: &Arrival, participant: Option<String>) -> Self {
        match &arrival.room {
            Some(seen) => Wanted::Room(seen.clone(), participant),
            None => Wanted::One(arrival.broadcast.clone()),
        }
    }

    /// What is waited for, in words.
    pub fn describe(&self) -> String {
        match self {
            Wanted::One(name) => format!("nobody publishes {name} yet"),
            Wanted::Room(_, Some(participant)) => format!("{participant} publishes nothing yet"),
            Wanted::Room(..) => "nobody else in the room publishes yet".into(),
        }
    }

    /// The next change among those wanted; `None` when the relay is gone for good.
    pub async fn next(&self, announced: &mut announce::Consumer) -> Option<Change> {
        loop {
            let update = announced.next().await?;
            let broadcast = update.prefix.as_str().to_owned();
            if let Some(participant) = self.takes(&broadcast) {
                return Some(Change { participant, there: update.kind.is_active(), broadcast });
            }
        }
    }

    /// Whether one is there again soon: one that has ended may only have moved to another relay, as we may have.
    pub async fn returns(&self, origin: &Consumer, is_up: &mut watch::Receiver<bool>) -> bool {
        loop {
            if is_up.wait_for(|up| *up).await.is_err() {
                return false;
            }
            let mut announced = origin.announced();
            let there = async {
                while let Some(change) = self.next(&mut announced).await {
                    if change.there {
                        return true;
                    }
                }
                false
            };
            tokio::select! {
                there = there => return there,
                _ = is_up.wait_for(|up| !*up) => {}
                () = sleep(MOVING) => return false,
            }
        }
    }

    /// Whether this is one, and whose.
    fn takes(&self, broadcast: &str) -> Option<Option<String>> {
        match self {
            Wanted::One(name) => (name == broadcast).then_some(None),
            Wanted::Room(seen, only) => {
                let (participant, _) = broadcast.strip_prefix(&seen.prefix)?.split_once('/')?;
                let wanted = only.as_ref().map_or(seen.participant != participant, |only| only == participant);
                wanted.then(|| Some(participant.to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_4_in_a_room_it_is_everybody_else_or_one() {
        let seen = || Seen {
            prefix: "rooms/a@b/".into(),
            participant: "p1".into(),
            roster: watch::channel(crate::room::Roster::default()).1,
        };
        let all = Wanted::Room(seen(), None);
        assert_eq!(all.takes("rooms/a@b/p2/video"), Some(Some("p2".into())));
        for other in ["rooms/a@b/p1/video", "rooms/a@c/p2/video", "rooms/a@b/p2", "live/x"] {
            assert_eq!(all.takes(other), None, "{other}");
        }
        let one = Wanted::Room(seen(), Some("p3".into()));
        assert_eq!((one.takes("rooms/a@b/p2/video"), one.takes("rooms/a@b/p3/x")), (None, Some(Some("p3".into()))));
        assert_eq!(Wanted::One("live/x".into()).takes("live/x"), Some(None));
        assert_eq!(Wanted::One("live/x".into()).takes("live/xy"), None);
    }
}
