//! Selects the broadcasts that are watched.
use crate::room::{MediaClient, Mute, RoomView};
use moq_net::announce;
use moq_net::origin::Consumer;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::sleep;

/// The longest time in which a publisher moves to another relay.
pub const MOVE_TIMEOUT: Duration = Duration::from_secs(5);

/// One broadcast, or the broadcasts of other participants of a room.
pub enum Selection {
    /// One broadcast by its name.
    One(String),
    /// The broadcasts of a room: of all other participants, or of one.
    Room(RoomView, Option<String>),
}

/// A selected broadcast began or ended.
pub struct Change {
    /// The name of the broadcast.
    pub broadcast: String,
    /// The participant that publishes it, in a room.
    pub participant: Option<String>,
    /// Whether the broadcast is announced now.
    pub present: bool,
}

impl Selection {
    /// The selection of a client.
    pub fn new(client: &MediaClient, participant: Option<String>) -> Self {
        match &client.room {
            Some(view) => Selection::Room(view.clone(), participant),
            None => Selection::One(client.broadcast.clone()),
        }
    }

    /// A text that says what is waited for.
    pub fn describe(&self) -> String {
        match self {
            Selection::One(name) => format!("{name} has no publisher yet"),
            Selection::Room(_, Some(participant)) => format!("{participant} does not publish yet"),
            Selection::Room(..) => "no other participant publishes yet".into(),
        }
    }

    /// The next change of a selected broadcast; `None` when the session with the relay ended for good.
    pub async fn next(&self, announced: &mut announce::Consumer) -> Option<Change> {
        loop {
            let update = announced.next().await?;
            let broadcast = update.prefix.as_str().to_owned();
            if let Some(participant) = self.matches(&broadcast) {
                return Some(Change { participant, present: update.kind.is_active(), broadcast });
            }
        }
    }

    /// Whether a broadcast that ended is soon announced again: its publisher or this client may have moved to another relay.
    pub async fn returns(&self, origin: &Consumer, is_up: &mut watch::Receiver<bool>) -> bool {
        loop {
            if is_up.wait_for(|up| *up).await.is_err() {
                return false;
            }
            let mut announced = origin.announced();
            let announced_again = async {
                while let Some(change) = self.next(&mut announced).await {
                    if change.present {
                        return true;
                    }
                }
                false
            };
            tokio::select! {
                again = announced_again => return again,
                _ = is_up.wait_for(|up| !*up) => {}
                () = sleep(MOVE_TIMEOUT) => return false,
            }
        }
    }

    /// Whether the sounds of a selected broadcast may be played.
    pub fn mute(&self, broadcast: &str) -> Mute {
        match (self, self.matches(broadcast).flatten()) {
            (Selection::Room(view, _), Some(participant)) => Mute::of(view, &participant),
            _ => Mute::never(),
        }
    }

    /// Whether a broadcast is selected. Returns its participant, in a room.
    fn matches(&self, broadcast: &str) -> Option<Option<String>> {
        match self {
            Selection::One(name) => (name == broadcast).then_some(None),
            Selection::Room(view, only) => {
                let (participant, _) = broadcast.strip_prefix(&view.prefix)?.split_once('/')?;
                let selected = only.as_ref().map_or(view.participant != participant, |only| only == participant);
                selected.then(|| Some(participant.to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_4_a_room_selects_all_other_participants_or_one() {
        let view = || RoomView {
            prefix: "rooms/a@b/".into(),
            participant: "p1".into(),
            roster: watch::channel(crate::room::Roster::default()).1,
        };
        let all = Selection::Room(view(), None);
        assert_eq!(all.matches("rooms/a@b/p2/video"), Some(Some("p2".into())));
        for other in ["rooms/a@b/p1/video", "rooms/a@c/p2/video", "rooms/a@b/p2", "live/x"] {
            assert_eq!(all.matches(other), None, "{other}");
        }
        let one = Selection::Room(view(), Some("p3".into()));
        assert_eq!((one.matches("rooms/a@b/p2/video"), one.matches("rooms/a@b/p3/x")), (None, Some(Some("p3".into()))));
        assert_eq!(Selection::One("live/x".into()).matches("live/x"), Some(None));
        assert_eq!(Selection::One("live/x".into()).matches("live/xy"), None);
    }
}
