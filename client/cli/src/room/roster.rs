//! Who else is in a room, as its service says (ROS-1, ROS-2).
use parley_protocol::server::{Message, Welcome};
use parley_protocol::shared::{self, Presence};
use std::collections::BTreeMap;

/// Everybody else, by participant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roster(pub BTreeMap<String, Member>);

/// One of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// As they want to be called.
    pub name: String,
    /// Lost their socket, and may be back.
    pub away: bool,
}

impl Roster {
    /// That of a welcome, without whoever is welcomed.
    pub fn welcomed(welcome: &Welcome) -> Self {
        let others = welcome.roster.iter().filter(|member| member.participant != welcome.participant);
        let mut roster = Self::default();
        others.for_each(|member| roster.enter(member));
        roster
    }

    /// Takes a message into account; whether it changed anything.
    pub fn hear(&mut self, message: &Message) -> bool {
        let before = self.0.clone();
        match message {
            Message::Joined(joined) => self.enter(&joined.member),
            Message::Left(left) => drop(self.0.remove(&*left.participant)),
            Message::Away(away) => self.change(&away.participant, |member| member.away = true),
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

    fn enter(&mut self, member: &shared::Member) {
        let (name, away) = (member.name.to_string(), member.state == Presence::Away);
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
    fn ros_2_people_come_go_and_come_back() {
        let mut roster = Roster::default();
        for one in [member(OWN, "own"), member(ADA, "Ada")] {
            roster.hear(&read(&json!({ "type": "joined", "member": one })));
        }
        assert!(roster.hear(&read(&json!({ "type": "left", "participant": OWN, "reason": "left" }))));
        let said = |roster: &Roster| {
            roster.0.iter().map(|(id, one)| format!("{id} {} {}", one.name, one.away)).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(said(&roster), format!("{ADA} Ada false"));
        let changed = json!({ "type": "changed", "participant": ADA, "name": "Bo", "media": member(ADA, "")["media"] });
        for (message, then) in [
            (json!({ "type": "away", "participant": ADA }), format!("{ADA} Ada true")),
            (json!({ "type": "back", "participant": ADA }), format!("{ADA} Ada false")),
            (changed, format!("{ADA} Bo false")),
            (json!({ "type": "joined", "member": member(CY, "Cy") }), format!("{ADA} Bo false, {CY} Cy false")),
            (json!({ "type": "left", "participant": ADA, "reason": "lost" }), format!("{CY} Cy false")),
        ] {
            let message = read(&message);
            assert!(roster.hear(&message), "{message:?}");
            assert_eq!(said(&roster), then, "{message:?}");
            assert!(!roster.hear(&Message::Pong));
        }
        assert!(!roster.hear(&read(&json!({ "type": "left", "participant": OWN, "reason": "left" }))));
    }
}
