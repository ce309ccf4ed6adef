//! The other participants of a room, as the service reports them, and whom owners muted (ROS-1, ROS-2, MOD-14, MOD-16).
use parley_protocol::server::{Message, Welcome};
use parley_protocol::shared::{self, Presence};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

/// The other participants, and this one's own mute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roster {
    /// The other participants by id.
    pub others: BTreeMap<String, Member>,
    /// Whether this participant is muted itself.
    pub is_muted: bool,
    own: String,
    own_key: bool,
    mutes: Mutes,
    co_owners: BTreeSet<String>,
}

/// A participant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// The display name.
    pub name: String,
    /// Whether the participant lost its socket and may resume.
    pub away: bool,
    /// Whether an owner muted the participant: its sounds are not played (MOD-15).
    pub muted: bool,
    /// Whether it joined with the key of the owner.
    pub has_key: bool,
}

/// Whom owners muted: `participants`, or all but these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Mutes {
    all: bool,
    participants: BTreeSet<String>,
}

impl Roster {
    /// Applies the welcome of a socket. A pod that does not know mutes and co-owners names none: those that are known stay (MOD-14).
    pub fn welcomed(&mut self, welcome: &Welcome) {
        self.own = welcome.participant.to_string();
        self.own_key = welcome.owner.unwrap_or_default();
        self.others.clear();
        welcome.roster.iter().for_each(|member| self.insert(member));
        if let Some(mutes) = &welcome.mutes {
            self.mutes = Mutes { all: mutes.all, participants: ids(&mutes.participants) };
        }
        if let Some(co_owners) = &welcome.co_owners {
            self.co_owners = ids(co_owners);
        }
        self.update_mutes();
    }

    /// Applies a message. Returns whether the roster changed.
    pub fn apply(&mut self, message: &Message) -> bool {
        let before = self.clone();
        match message {
            Message::Joined(joined) => self.insert(&joined.member),
            Message::Left(left) => drop(self.others.remove(&*left.participant)),
            Message::Away(away) => self.change(&away.participant, |member| member.away = true),
            Message::Unreachable(there) => self.change(&there.participant, |member| member.away = true),
            Message::Back(back) => self.change(&back.participant, |member| member.away = false),
            Message::Changed(changed) => {
                self.change(&changed.participant, |member| member.name = changed.name.to_string());
            }
            Message::Mutes(message) => {
                let mutes = &message.mutes;
                self.mutes = Mutes { all: mutes.all, participants: ids(&mutes.participants) };
            }
            Message::CoOwners(message) => self.co_owners = ids(&message.co_owners),
            _ => return false,
        }
        self.update_mutes();
        *self != before
    }

    fn change(&mut self, participant: &str, change: impl FnOnce(&mut Member)) {
        if let Some(member) = self.others.get_mut(participant) {
            change(member);
        }
    }

    fn insert(&mut self, member: &shared::Member) {
        if *member.participant == *self.own {
            return;
        }
        let (name, away) = (member.name.to_string(), member.state != Presence::Here);
        let has_key = member.owner.unwrap_or_default();
        self.others.insert(member.participant.to_string(), Member { name, away, muted: false, has_key });
    }

    fn update_mutes(&mut self) {
        let Self { mutes, co_owners, .. } = self;
        let is_muted = |participant: &str, has_key: bool| {
            let is_owner = has_key || co_owners.contains(participant);
            !is_owner && mutes.all != mutes.participants.contains(participant)
        };
        for (participant, member) in &mut self.others {
            member.muted = is_muted(participant, member.has_key);
        }
        self.is_muted = is_muted(&self.own, self.own_key);
    }
}

fn ids(ids: &[impl Display]) -> BTreeSet<String> {
    ids.iter().map(ToString::to_string).collect()
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
            roster
                .others
                .iter()
                .map(|(id, one)| format!("{id} {} {}", one.name, one.away))
                .collect::<Vec<_>>()
                .join(", ")
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

    #[test]
    fn mod_14_and_16_all_but_owners_are_muted_or_those_who_are_named_and_a_welcome_without_the_policy_changes_nothing()
    {
        let mut roster = Roster::default();
        let welcome = |mutes: Value| {
            let room = json!({ "room": "abcd-efgh-jkmn-pqrs", "kind": "ad-hoc", "homeRegion": null, "cap": 100, "locked": false });
            let mut cy = member(CY, "Cy");
            cy["owner"] = true.into();
            let mut welcome = json!({
                "type": "welcome", "participant": OWN, "room": room, "pod": "test", "roster": [member(OWN, "own"), member(ADA, "Ada"), cy],
                "resume": "r", "graceMs": 30_000, "iceServers": [], "iceTtlS": 0, "recovering": false, "chat": [],
                "limits": { "messageBytes": 65_536, "nameChars": 64, "chatChars": 2000, "meshParticipants": 4 },
            });
            if !mutes.is_null() {
                (welcome["mutes"], welcome["coOwners"]) = (mutes, json!([]));
            }
            let Message::Welcome(welcome) = read(&welcome) else { panic!("no welcome") };
            welcome
        };
        let muted = |roster: &Roster| {
            let others = roster.others.iter().filter(|(_, one)| one.muted).map(|(_, one)| one.name.clone());
            roster.is_muted.then(|| "own".to_owned()).into_iter().chain(others).collect::<Vec<_>>().join(", ")
        };
        roster.welcomed(&welcome(json!({ "all": true, "participants": [] })));
        assert_eq!(muted(&roster), "own, Ada");
        let mutes = |all: bool, participants: &[&str]| json!({ "type": "mutes", "mutes": { "all": all, "participants": participants } });
        for (message, then) in [
            (mutes(true, &[ADA]), "own"),
            (mutes(false, &[ADA, CY]), "Ada"),
            (json!({ "type": "co-owners", "coOwners": [ADA] }), ""),
            (json!({ "type": "co-owners", "coOwners": [] }), "Ada"),
            (mutes(false, &[OWN, ADA]), "own, Ada"),
        ] {
            assert!(roster.apply(&read(&message)), "{message:?}");
            assert_eq!(muted(&roster), then, "{message:?}");
        }
        roster.welcomed(&welcome(Value::Null));
        assert_eq!(muted(&roster), "own, Ada");
        roster.welcomed(&welcome(json!({ "all": false, "participants": [] })));
        assert_eq!(muted(&roster), "");
    }
}
