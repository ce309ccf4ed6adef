//! Who else is in a room, as its service says (ROS-1, ROS-2).
use serde_json::Value;
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
    pub fn welcomed(message: &Value) -> Self {
        let mut roster = Self::default();
        message["roster"].as_array().into_iter().flatten().for_each(|member| roster.enter(member));
        roster.0.remove(message["participant"].as_str().unwrap_or_default());
        roster
    }

    /// Takes a message into account; whether it changed anything.
    pub fn hear(&mut self, message: &Value) -> bool {
        let before = self.0.clone();
        let participant = message["participant"].as_str().unwrap_or_default();
        let member = self.0.get_mut(participant);
        match (message["type"].as_str(), member) {
            (Some("joined"), _) => self.enter(&message["member"]),
            (Some("left"), Some(_)) => drop(self.0.remove(participant)),
            (Some("away"), Some(member)) => member.away = true,
            (Some("back"), Some(member)) => member.away = false,
            (Some("changed"), Some(member)) => {
                member.name = message["name"].as_str().unwrap_or_default().to_owned();
            }
            _ => return false,
        }
        self.0 != before
    }

    fn enter(&mut self, member: &Value) {
        let text = |field: &str| member[field].as_str().unwrap_or_default().to_owned();
        self.0.insert(text("participant"), Member { name: text("name"), away: member["state"] == "away" });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ros_2_people_come_go_and_come_back() {
        let ada = json!({ "participant": "p2", "name": "Ada", "state": "here" });
        let own = json!({ "participant": "p1", "name": "own", "state": "here" });
        let mut roster = Roster::welcomed(&json!({ "participant": "p1", "roster": [own, ada] }));
        let said = |roster: &Roster| {
            roster.0.iter().map(|(id, one)| format!("{id} {} {}", one.name, one.away)).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(said(&roster), "p2 Ada false");
        for (message, then) in [
            (json!({ "type": "away", "participant": "p2" }), "p2 Ada true"),
            (json!({ "type": "back", "participant": "p2" }), "p2 Ada false"),
            (json!({ "type": "changed", "participant": "p2", "name": "Bo" }), "p2 Bo false"),
            (
                json!({ "type": "joined", "member": { "participant": "p3", "name": "Cy", "state": "here" } }),
                "p2 Bo false, p3 Cy false",
            ),
            (json!({ "type": "left", "participant": "p2" }), "p3 Cy false"),
        ] {
            assert!(roster.hear(&message), "{message}");
            assert_eq!(said(&roster), then, "{message}");
            assert!(!roster.hear(&json!({ "type": "pong" })));
        }
        assert!(!roster.hear(&json!({ "type": "left", "participant": "p9" })));
    }
}
