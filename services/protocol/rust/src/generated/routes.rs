//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.
//!
//! The paths of the HTTP interface.

/// `/v1/rooms`
pub const CREATE_ROOM: &str = "/v1/rooms";

/// `/v1/rooms/{room}`
pub fn read_room(room: &str) -> String {
    format!("/v1/rooms/{room}")
}

/// `/v1/rooms/{room}`
pub fn delete_room(room: &str) -> String {
    format!("/v1/rooms/{room}")
}

/// `/v1/rooms/{room}`
pub fn change_room(room: &str) -> String {
    format!("/v1/rooms/{room}")
}

/// `/v1/rooms/{room}/bans`
pub fn list_bans(room: &str) -> String {
    format!("/v1/rooms/{room}/bans")
}

/// `/v1/rooms/{room}/bans/{ban}`
pub fn unban(room: &str, ban: &str) -> String {
    format!("/v1/rooms/{room}/bans/{ban}")
}

/// `/v1/rooms/{room}/participants`
pub fn list_participants(room: &str) -> String {
    format!("/v1/rooms/{room}/participants")
}

/// `/v1/rooms/{room}/participants/{participant}/ban`
pub fn ban(room: &str, participant: &str) -> String {
    format!("/v1/rooms/{room}/participants/{participant}/ban")
}

/// `/v1/rooms/{room}/participants/{participant}/kick`
pub fn kick(room: &str, participant: &str) -> String {
    format!("/v1/rooms/{room}/participants/{participant}/kick")
}

/// `/v1/rooms/{room}/participants/{participant}/request-mute`
pub fn request_mute(room: &str, participant: &str) -> String {
    format!("/v1/rooms/{room}/participants/{participant}/request-mute")
}

/// `/v1/rooms/{room}/participants/{participant}/lower-hand`
pub fn lower_hand(room: &str, participant: &str) -> String {
    format!("/v1/rooms/{room}/participants/{participant}/lower-hand")
}

/// `/v1/rooms/{room}/participants/{participant}/mute`
pub fn mute(room: &str, participant: &str) -> String {
    format!("/v1/rooms/{room}/participants/{participant}/mute")
}

/// `/v1/rooms/{room}/participants/{participant}/make-co-owner`
pub fn make_co_owner(room: &str, participant: &str) -> String {
    format!("/v1/rooms/{room}/participants/{participant}/make-co-owner")
}

/// `/v1/rooms/{room}/participants/{participant}/remove-co-owner`
pub fn remove_co_owner(room: &str, participant: &str) -> String {
    format!("/v1/rooms/{room}/participants/{participant}/remove-co-owner")
}

/// `/v1/rooms/{room}/participants/{participant}/unmute`
pub fn unmute(room: &str, participant: &str) -> String {
    format!("/v1/rooms/{room}/participants/{participant}/unmute")
}

/// `/v1/rooms/{room}/end`
pub fn end_call(room: &str) -> String {
    format!("/v1/rooms/{room}/end")
}

/// `/v1/rooms/{room}/participants/{participant}/admit`
pub fn admit(room: &str, participant: &str) -> String {
    format!("/v1/rooms/{room}/participants/{participant}/admit")
}

/// `/v1/rooms/{room}/participants/{participant}/deny`
pub fn deny(room: &str, participant: &str) -> String {
    format!("/v1/rooms/{room}/participants/{participant}/deny")
}

/// `/v1/rooms/{room}/join`
pub fn join_room(room: &str) -> String {
    format!("/v1/rooms/{room}/join")
}

/// `/v1/regions`
pub const LIST_REGIONS: &str = "/v1/regions";

/// `/v1/live/{name}`
pub fn open_live(name: &str) -> String {
    format!("/v1/live/{name}")
}

/// `/v1/pages/socket`
pub const PAGES_SOCKET: &str = "/v1/pages/socket";
