//! The other participants of a room, as the service reports them (ROS-1, ROS-2).
use parley_protocol::server::{Message, Welcome};
use parley_protocol::shared::{self, Presence};
use std::collections::BTreeMap;

/// The other participants by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roster(pub BTreeMap<String, Member>);

/// A participant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// The display name.
    pub name: String,
    /// Whether the participant lost its socket and may resume.
    pub away: bool,
}

impl Roster {
    /// The roster of a welcome, without the participant itself.
    pub fn from_welcome(welcome: &Welcome) -> Self {
        let others = welcome.roster.iter().filter(|member| member.participant != welcome.participant);
        let mut roster = Self::default();
        others.for_each(|member| roster.insert(member));
        roster
    }

    /// Applies a message. Returns whether the roster changed.
    pub fn apply(&mut self, message: &Message) -> bool {
        let before = self.0.clone();
        match message {
            Message::Joined(joined) => self.insert(&joined.member),
            Message::Left(left) => drop(self.0.remove(&*left.participant)),
            Message::Away(away) => self.change(&away.participant, |member| member.away = true),
            Message::Unreachable(there) => self.change(&there.participant, |member| member.away = true),
            Message::Back(back) => self.change(&back.participant, |member| member.away = false),
            Message::Changed(changed) => {
                self.change(&changed.participant, |member| member.name = changed.name.to_string());
            }
            _ => return false,
        }
        self.0 != before
    }

    fn change(&mut self, participant: &str, change: impl FnOnce(&mut Member)) {
        if let Some(member) = self.0.get_mut(participant) {
            change(member);
        }
    }

    fn insert(&mut self, member: &shared::Member) {
        let (name, away) = (member.name.to_string(), member.state != Presence::Here);
        self.0.insert(member.participant.to_string(), Member { name, away });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parley_protocol::decode;
    use serde_json::{Value, json};

    const OWN: &str = "p0000000000000001";
    const ADA: &str = "p0000000000000002";
    const CY: &str = "p0000000000000003";

    fn member(participant: &str, name: &str) -> Value {
        let media = json!({ "audio": true, "video": true, "screen": false });
        json!({ "participant": participant, "name": name, "media": media, "state": "here" })
    }

    fn read(message: &Value) -> Message {
        decode(message.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn ros_2_participants_join_leave_and_return() {
        let mut roster = Roster::default();
        for one in [member(OWN, "own"), member(ADA, "Ada")] {
            roster.apply(&read(&json!({ "type": "joined", "member": one })));
        }
        assert!(roster.apply(&read(&json!({ "type": "left", "participant": OWN, "reason": "left" }))));
        let text = |roster: &Roster| {
            roster.0.iter().map(|(id, one)| format!("{id} {} {}", one.name, one.away)).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(text(&roster), format!("{ADA} Ada false"));
        let changed = json!({ "type": "changed", "participant": ADA, "name": "Bo", "media": member(ADA, "")["media"] });
        for (message, then) in [
            (json!({ "type": "away", "participant": ADA }), format!("{ADA} Ada true")),
            (json!({ "type": "back", "participant": ADA }), format!("{ADA} Ada false")),
            (changed, format!("{ADA} Bo false")),
            (json!({ "type": "joined", "member": member(CY, "Cy") }), format!("{ADA} Bo false, {CY} Cy false")),
            (json!({ "type": "left", "participant": ADA, "reason": "lost" }), format!("{CY} Cy false")),
        ] {
            let message = read(&message);
            assert!(roster.apply(&message), "{message:?}");
            assert_eq!(text(&roster), then, "{message:?}");
            assert!(!roster.apply(&Message::Pong));
        }
        assert!(!roster.apply(&read(&json!({ "type": "left", "participant": OWN, "reason": "left" }))));
    }
}
