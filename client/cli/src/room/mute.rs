//! Whether an owner muted a participant (MOD-14, MOD-15).
use super::media_client::RoomView;
use super::roster::Roster;
use tokio::sync::watch;

/// Follows whether the sounds of a publisher may be played.
#[derive(Clone, Debug)]
pub struct Mute {
    /// The roster, and the participant in it; `None` outside of rooms.
    of: Option<(watch::Receiver<Roster>, String)>,
    muted: bool,
}

impl Mute {
    /// Of a publisher outside of rooms, whom no owner mutes.
    pub fn never() -> Self {
        Self { of: None, muted: false }
    }

    /// Of another participant of the room.
    pub fn of(view: &RoomView, participant: &str) -> Self {
        let mut mute = Self { of: Some((view.roster.clone(), participant.to_owned())), muted: false };
        mute.muted = mute.read();
        mute
    }

    /// Whether the participant is muted, as of the last [`Mute::changed`].
    pub fn is_muted(&self) -> bool {
        self.muted
    }

    /// Resolves when the participant is muted or may be heard again. Cancel-safe.
    pub async fn changed(&mut self) {
        loop {
            let now = self.read();
            if std::mem::replace(&mut self.muted, now) != now {
                return;
            }
            let changed = match &mut self.of {
                Some((roster, _)) => roster.changed().await.is_ok(),
                None => false,
            };
            if !changed {
                // Outside of rooms, or the participation has ended.
                return std::future::pending().await;
            }
        }
    }

    /// A participant that is not in the roster yet is heard.
    fn read(&mut self) -> bool {
        let Some((roster, participant)) = &mut self.of else { return false };
        roster.borrow_and_update().others.get(participant).is_some_and(|member| member.muted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::Member;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test]
    async fn mod_15_a_mute_is_followed_and_other_changes_of_the_roster_are_not() {
        let (sender, roster) = watch::channel(Roster::default());
        let view = RoomView { prefix: "rooms/a@b/".into(), participant: "p1".into(), roster };
        let set = |name: &str, muted| {
            let member = Member { name: name.into(), muted, ..Member::default() };
            sender.send_modify(|roster| drop(roster.others.insert("p2".into(), member)));
        };
        let mut mute = Mute::of(&view, "p2");
        assert!(!mute.is_muted());
        set("Ada", true);
        mute.changed().await;
        assert!(mute.is_muted() && Mute::of(&view, "p2").is_muted() && !Mute::of(&view, "p3").is_muted());
        set("Bo", true);
        assert!(timeout(Duration::from_millis(20), mute.changed()).await.is_err());
        set("Bo", false);
        mute.changed().await;
        assert!(!mute.is_muted());
        drop(sender);
        assert!(timeout(Duration::from_millis(20), mute.changed()).await.is_err());
        assert!(timeout(Duration::from_millis(20), Mute::never().changed()).await.is_err());
    }
}
