//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.
//!
//! The limits of signaling: defaults, and the range that an operator may set. Messages carry the values in force.
use super::codes::Code;

/// One limit.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The name in settings: `message.bytes`.
    pub name: &'static str,
    /// The key in a pod's environment.
    pub key: &'static str,
    /// The default.
    pub value: u64,
    /// The lowest value that an operator may set.
    pub min: u64,
    /// The highest value that an operator may set.
    pub max: u64,
    /// The unit of the values.
    pub unit: &'static str,
    /// The code that a caller over the limit gets; `None` if no caller is refused.
    pub code: Option<Code>,
}

impl Limit {
    const fn new(
        name: &'static str,
        key: &'static str,
        [value, min, max]: [u64; 3],
        unit: &'static str,
        code: Option<Code>,
    ) -> Self {
        Self { name, key, value, min, max, unit, code }
    }
}

/// A large SDP is 10 kB; six times that leaves room for simulcast and many candidates.
pub const MESSAGE_BYTES: Limit = Limit::new("message.bytes", "PARLEY_LIMIT_MESSAGE_BYTES", [65_536, 1024, 1_048_576], "bytes", Some(Code::MessageTooLarge));
/// A browser sends a message of the full size in at most ten; each fragment costs memory besides its bytes, and counts as a message in `socket.messages`.
pub const MESSAGE_FRAGMENTS: Limit = Limit::new("message.fragments", "PARLEY_LIMIT_MESSAGE_FRAGMENTS", [64, 1, 16_384], "fragments", Some(Code::TooManyFragments));
/// A frame of the full size in packets of 536 bytes, the smallest that IPv4 links need to carry, is 123 reads; each read that waits for the rest costs memory.
pub const MESSAGE_CHUNKS: Limit = Limit::new("message.chunks", "PARLEY_LIMIT_MESSAGE_CHUNKS", [512, 16, 65_536], "reads", Some(Code::TooManyFragments));
/// A message of the full size takes 9 s at 56 kbit/s; pings and pongs in between do not prolong it.
pub const MESSAGE_TIMEOUT: Limit = Limit::new("message.timeout", "PARLEY_LIMIT_MESSAGE_TIMEOUT", [10_000, 100, 600_000], "ms", Some(Code::MessageTimeout));
/// The longest control message is a chat line of 2,000 characters, at most 4 bytes each, escaped.
pub const CONTROL_BYTES: Limit = Limit::new("control.bytes", "PARLEY_LIMIT_CONTROL_BYTES", [16_384, 1024, 65_536], "bytes", Some(Code::MessageTooLarge));
/// No request of /v1 needs more than a few hundred bytes.
pub const BODY_BYTES: Limit = Limit::new("body.bytes", "PARLEY_LIMIT_BODY_BYTES", [4096, 512, 65_536], "bytes", Some(Code::BodyTooLarge));
/// Twice what a client sends while it negotiates with a full mesh.
pub const SOCKET_MESSAGES: Limit = Limit::new("socket.messages", "PARLEY_LIMIT_SOCKET_MESSAGES", [60, 1, 1_000_000], "messages per second", Some(Code::RateLimited));
/// A participant that joins a full mesh sends some 14 messages to each other one, in a burst.
pub const SOCKET_MESSAGE_BURST: Limit = Limit::new("socket.messageBurst", "PARLEY_LIMIT_SOCKET_MESSAGE_BURST", [400, 1, 10_000_000], "messages", Some(Code::RateLimited));
/// One full-size message four times a second.
pub const SOCKET_BYTES: Limit = Limit::new("socket.bytes", "PARLEY_LIMIT_SOCKET_BYTES", [262_144, 1024, 1_073_741_824], "bytes per second", Some(Code::RateLimited));
/// Offers to a whole mesh at once.
pub const SOCKET_BYTE_BURST: Limit = Limit::new("socket.byteBurst", "PARLEY_LIMIT_SOCKET_BYTE_BURST", [1_048_576, 1024, 1_073_741_824], "bytes", Some(Code::RateLimited));
/// A newer client may send messages that an older pod does not know; a broken one is disconnected.
pub const SOCKET_BAD_MESSAGES: Limit = Limit::new("socket.badMessages", "PARLEY_LIMIT_SOCKET_BAD_MESSAGES", [10, 1, 1000], "messages", Some(Code::BadMessage));
/// A reader that is a megabyte behind cannot follow the call; it resumes when it can.
pub const SOCKET_BUFFERED_BYTES: Limit = Limit::new("socket.bufferedBytes", "PARLEY_LIMIT_SOCKET_BUFFERED_BYTES", [1_048_576, 16_384, 67_108_864], "bytes", Some(Code::SlowConsumer));
/// 32 stalled readers of one network; 500 that keep up need 64 KiB each at most.
pub const ADDRESS_BUFFERED_BYTES: Limit = Limit::new("address.bufferedBytes", "PARLEY_LIMIT_ADDRESS_BUFFERED_BYTES", [33_554_432, 65_536, 1_099_511_627_776], "bytes", Some(Code::SlowConsumer));
/// A quarter of the 768 MiB of a pod; over it, sockets of the network that holds most are closed.
pub const POD_BUFFERED_BYTES: Limit = Limit::new("pod.bufferedBytes", "PARLEY_LIMIT_POD_BUFFERED_BYTES", [201_326_592, 65_536, 1_099_511_627_776], "bytes", Some(Code::SlowConsumer));
/// 16 KiB for each of the 500 sockets of one network, all in the middle of a message.
pub const ADDRESS_REASSEMBLY_BYTES: Limit = Limit::new("address.reassemblyBytes", "PARLEY_LIMIT_ADDRESS_REASSEMBLY_BYTES", [8_388_608, 65_536, 1_099_511_627_776], "bytes", Some(Code::ReassemblyLimitExceeded));
/// A twelfth of the 768 MiB of a pod; over it, sockets of the network that holds most are closed.
pub const POD_REASSEMBLY_BYTES: Limit = Limit::new("pod.reassemblyBytes", "PARLEY_LIMIT_POD_REASSEMBLY_BYTES", [67_108_864, 65_536, 1_099_511_627_776], "bytes", Some(Code::ReassemblyLimitExceeded));
/// A socket without a participant uses memory.
pub const SOCKET_ENTER_TIMEOUT: Limit = Limit::new("socket.enterTimeout", "PARLEY_LIMIT_SOCKET_ENTER_TIMEOUT", [5000, 100, 60_000], "ms", Some(Code::EnterTimeout));
/// A client whose system answers and that is frozen itself is detected at the third ping, after 50 to 75 s; a dead path is detected by the edge (EDGE-8), and where no edge does that, 1500 detects both within 5 s.
pub const SOCKET_PING_INTERVAL: Limit = Limit::new("socket.pingInterval", "PARLEY_LIMIT_SOCKET_PING_INTERVAL", [25_000, 200, 60_000], "ms", None);
/// A dashboard shows a bad link within a minute; a pod of 8,000 sockets gets 33 reports a second.
pub const QUALITY_INTERVAL: Limit = Limit::new("quality.interval", "PARLEY_LIMIT_QUALITY_INTERVAL", [60_000, 1000, 3_600_000], "ms", Some(Code::TooManyReports));
/// Asked for reports, the same ones after a reload; 0: none.
pub const QUALITY_PERCENT: Limit = Limit::new("quality.percent", "PARLEY_LIMIT_QUALITY_PERCENT", [25, 0, 100], "percent of participants", None);
/// Traced where the pod has a collector, the same ones on every pod; the others are not slower, and metrics count all.
pub const TRACE_PERCENT: Limit = Limit::new("trace.percent", "PARLEY_LIMIT_TRACE_PERCENT", [10, 0, 100], "percent of joins", None);
/// A tenth of `pod.traces`, for a client that chose the ids of its traces so that all are sampled; a join over it is not traced.
pub const ADDRESS_TRACES: Limit = Limit::new("address.traces", "PARLEY_LIMIT_ADDRESS_TRACES", [60, 1, 10_000_000], "traces per minute", None);
/// A collector gets some hundred spans a second from a pod in a herd, also where clients chose the ids of their traces; a join over it is not traced.
pub const POD_TRACES: Limit = Limit::new("pod.traces", "PARLEY_LIMIT_POD_TRACES", [10, 1, 10_000], "traces per second", None);
/// Well below the 20,000 descriptors a process usually gets, as the edge needs two per socket.
pub const POD_SOCKETS: Limit = Limit::new("pod.sockets", "PARLEY_LIMIT_POD_SOCKETS", [8000, 1, 100_000], "sockets", Some(Code::PodFull));
/// Each room is one NATS subscription.
pub const POD_ROOMS: Limit = Limit::new("pod.rooms", "PARLEY_LIMIT_POD_ROOMS", [4000, 1, 100_000], "rooms", Some(Code::PodFull));
/// An office or a school behind one address.
pub const ADDRESS_SOCKETS: Limit = Limit::new("address.sockets", "PARLEY_LIMIT_ADDRESS_SOCKETS", [500, 1, 100_000], "sockets", Some(Code::TooManySockets));
/// Two a second for all clients behind one address.
pub const ADDRESS_JOINS: Limit = Limit::new("address.joins", "PARLEY_LIMIT_ADDRESS_JOINS", [120, 1, 10_000_000], "joins per minute", Some(Code::TooManyJoins));
/// The 500 sockets of an office reconnect after a pod died, and once more after the next; counted before the token is verified.
pub const ADDRESS_RESUMES: Limit = Limit::new("address.resumes", "PARLEY_LIMIT_ADDRESS_RESUMES", [1000, 1, 10_000_000], "resumes and enters per minute", Some(Code::TooManyRequests));
/// A network that fails every three seconds; counted after the ticket or token is verified, so that a token that is replayed from many networks uses little of `pod.reads` and `pod.resumes`.
pub const PARTICIPANT_RESUMES: Limit = Limit::new("participant.resumes", "PARLEY_LIMIT_PARTICIPANT_RESUMES", [20, 1, 10_000_000], "resumes and enters per minute", Some(Code::TooManyRequests));
/// Reading a named room costs a read of the store, `relay` a signature: each of 500 participants in an office may ask for both, and again when a relay is lost; what joins read is bounded by `address.joins`.
pub const ADDRESS_READS: Limit = Limit::new("address.reads", "PARLEY_LIMIT_ADDRESS_READS", [1500, 1, 10_000_000], "requests per minute", Some(Code::TooManyRequests));
/// At most, and down to a quarter of it while the event loop is late; counted after all cheap checks, so that refused requests take nothing from other clients; each admits one `enter`, of which `pod.resumes` accepts more.
pub const POD_JOINS: Limit = Limit::new("pod.joins", "PARLEY_LIMIT_POD_JOINS", [400, 1, 1_000_000], "joins per second", Some(Code::Busy));
/// Joins that wait for their time: 25 s at `pod.joins`, and more than `pod.sockets`, as some clients do not come; over it the answer has a time and no slot.
pub const POD_SLOTS: Limit = Limit::new("pod.slots", "PARLEY_LIMIT_POD_SLOTS", [10_000, 0, 1_000_000], "slots", Some(Code::Busy));
/// How long a slot is valid from its time on: a slow network, a tab in the background, a reload.
pub const SLOT_KEEP: Limit = Limit::new("slot.keep", "PARLEY_LIMIT_SLOT_KEEP", [10_000, 1000, 600_000], "ms", Some(Code::Busy));
/// At most, and down to what brings `pod.sockets` back within half of `resume.grace` while the event loop is late; an arrival over it waits on its socket, and is refused where more wait than that; the turn of an invalid ticket or token goes to the next.
pub const POD_RESUMES: Limit = Limit::new("pod.resumes", "PARLEY_LIMIT_POD_RESUMES", [900, 1, 1_000_000], "resumes and enters per second", Some(Code::PodFull));
/// After a burst of `pod.sockets`: `pod.joins` twice, as a visitor may read a named room before it joins, and resume; requests and tickets are counted apart, so that neither blocks the other.
pub const POD_READS: Limit = Limit::new("pod.reads", "PARLEY_LIMIT_POD_READS", [800, 1, 1_000_000], "store reads per second", Some(Code::PodFull));
/// Of messages on NATS that are not understood: enough to find their sender; `parley_nats_invalid_messages_total` counts all of them.
pub const POD_BAD_MESSAGE_LOG_LINES: Limit = Limit::new("pod.badMessageLogLines", "PARLEY_LIMIT_POD_BAD_MESSAGE_LOG_LINES", [60, 1, 1_000_000], "log lines per minute", None);
/// A named room is kept until it is deleted or was not used for `room.idleTimeout`; over it a call opens in an ad-hoc room, without an owner.
pub const ADDRESS_ROOMS: Limit = Limit::new("address.rooms", "PARLEY_LIMIT_ADDRESS_ROOMS", [30, 1, 1_000_000], "named rooms per hour", Some(Code::TooManyRooms));
/// An owner who admits a whole class one by one; each costs a read of the store.
pub const ADDRESS_MODERATION: Limit = Limit::new("address.moderation", "PARLEY_LIMIT_ADDRESS_MODERATION", [240, 1, 1_000_000], "requests per minute", Some(Code::TooManyRequests));
/// They are read with the room at every join, and sent between pods in one message.
pub const ROOM_BANS: Limit = Limit::new("room.bans", "PARLEY_LIMIT_ROOM_BANS", [200, 1, 500], "bans", Some(Code::TooManyBans));
/// Over it the earliest is dropped: its resume token is then treated as that of a participant that left, and its device enters as any other.
pub const ROOM_KICKED: Limit = Limit::new("room.kicked", "PARLEY_LIMIT_ROOM_KICKED", [200, 1, 1000], "participants", None);
/// For so long a device whose participant was kicked has to ask an owner, and no longer than the call: few last for a day.
pub const KICK_KEEP: Limit = Limit::new("kick.keep", "PARLEY_LIMIT_KICK_KEEP", [86_400_000, 60_000, 604_800_000], "ms", None);
/// Muted one by one, or excepted where everyone is muted; sent to all participants at each change. Those who left do not count.
pub const ROOM_MUTED: Limit = Limit::new("room.muted", "PARLEY_LIMIT_ROOM_MUTED", [200, 1, 1000], "participants", Some(Code::TooManyMuted));
/// Sent to all participants at each change. Those who left do not count.
pub const ROOM_CO_OWNERS: Limit = Limit::new("room.coOwners", "PARLEY_LIMIT_ROOM_CO_OWNERS", [20, 1, 100], "participants", Some(Code::TooManyCoOwners));
/// The owner sees each of them; counted against the local roster.
pub const ROOM_LOBBY: Limit = Limit::new("room.lobby", "PARLEY_LIMIT_ROOM_LOBBY", [50, 1, 1000], "people waiting", Some(Code::LobbyFull));
/// Of one room and one network: a fifth of its lobby; a class behind one address is admitted in turns.
pub const ADDRESS_LOBBY: Limit = Limit::new("address.lobby", "PARLEY_LIMIT_ADDRESS_LOBBY", [10, 1, 1000], "people waiting", Some(Code::LobbyFull));
/// A quarter of an hour without an answer from the owner.
pub const LOBBY_TIMEOUT: Limit = Limit::new("lobby.timeout", "PARLEY_LIMIT_LOBBY_TIMEOUT", [900_000, 1000, 86_400_000], "ms", Some(Code::LobbyTimeout));
/// Soft unless the room was made with a cap: counted against the local roster; a section of 1,000 participants is half of the largest message of NATS.
pub const ROOM_PARTICIPANTS: Limit = Limit::new("room.participants", "PARLEY_LIMIT_ROOM_PARTICIPANTS", [100, 1, 1000], "participants", Some(Code::RoomFull));
/// Where there are other regions: until a cut has been detected, beyond which a participant that left could still resume.
pub const SEAT_REST: Limit = Limit::new("seat.rest", "PARLEY_LIMIT_SEAT_REST", [5000, 0, 60_000], "ms", Some(Code::RoomFull));
/// The deadline of a request to the home region of a room: several times the way around the world.
pub const HOME_TIMEOUT: Limit = Limit::new("home.timeout", "PARLEY_LIMIT_HOME_TIMEOUT", [2000, 100, 30_000], "ms", Some(Code::RoomHomeUnreachable));
/// Of one other region, by the name in the request, on each pod: a flood from one region leaves room for the others.
pub const HOME_REQUESTS: Limit = Limit::new("home.requests", "PARLEY_LIMIT_HOME_REQUESTS", [64, 1, 10_000], "requests under way", Some(Code::PodFull));
/// A join may be answered from what a pod read about a room of another region; entering always asks the home region.
pub const HOME_CACHE_TTL: Limit = Limit::new("home.cacheTtl", "PARLEY_LIMIT_HOME_CACHE_TTL", [60_000, 0, 600_000], "ms", None);
/// Of other regions, on each pod; over it the one that was read earliest is dropped.
pub const HOME_CACHED_ROOMS: Limit = Limit::new("home.cachedRooms", "PARLEY_LIMIT_HOME_CACHED_ROOMS", [2000, 1, 100_000], "rooms", None);
/// That a pod keeps for one follower which does not answer; a comparison finds those over it once the follower answers again.
pub const HOME_UNFOLLOWED: Limit = Limit::new("home.unfollowed", "PARLEY_LIMIT_HOME_UNFOLLOWED", [10_000, 1, 1_000_000], "records", None);
/// What a pod that died had not handed to a follower is found after this; a comparison reads all records of the region.
pub const HOME_COMPARE_INTERVAL: Limit = Limit::new("home.compareInterval", "PARLEY_LIMIT_HOME_COMPARE_INTERVAL", [600_000, 1000, 86_400_000], "ms", None);
/// 90 days: a room that is used once in a quarter stays; pods with participants in a room renew it about once a minute at most.
pub const ROOM_IDLE_TIMEOUT: Limit = Limit::new("room.idleTimeout", "PARLEY_LIMIT_ROOM_IDLE_TIMEOUT", [7_776_000_000, 600_000, 315_360_000_000], "ms", Some(Code::RoomNotFound));
/// A day, for a room that was made for a call: its link may be sent today for a call tomorrow, and one that no participant entered is soon gone.
pub const ROOM_CALL_ENTER_TIMEOUT: Limit = Limit::new("room.callEnterTimeout", "PARLEY_LIMIT_ROOM_CALL_ENTER_TIMEOUT", [86_400_000, 600_000, 315_360_000_000], "ms", Some(Code::RoomNotFound));
/// 14 days, once a participant entered: a call that is repeated every week keeps its link and its owner over a week without it.
pub const ROOM_CALL_IDLE_TIMEOUT: Limit = Limit::new("room.callIdleTimeout", "PARLEY_LIMIT_ROOM_CALL_IDLE_TIMEOUT", [1_209_600_000, 600_000, 315_360_000_000], "ms", Some(Code::RoomNotFound));
/// 20 kB for each in JetStream's 1 GB: a record with some bans and the seats of a hundred participants are half of it; rooms of calls are created up to half of the number.
pub const REGION_ROOMS: Limit = Limit::new("region.rooms", "PARLEY_LIMIT_REGION_ROOMS", [50_000, 1, 10_000_000], "named rooms", Some(Code::RegionFull));
/// Up to here media goes from peer to peer.
pub const MESH_PARTICIPANTS: Limit = Limit::new("mesh.participants", "PARLEY_LIMIT_MESH_PARTICIPANTS", [4, 1, 12], "participants", None);
/// A name fits a tile.
pub const NAME_CHARS: Limit = Limit::new("name.chars", "PARLEY_LIMIT_NAME_CHARS", [64, 1, 256], "characters", Some(Code::NameInvalid));
/// A long paragraph.
pub const CHAT_CHARS: Limit = Limit::new("chat.chars", "PARLEY_LIMIT_CHAT_CHARS", [2000, 1, 4000], "characters", Some(Code::ChatTooLong));
/// Faster than a participant types; a burst of twice that is allowed.
pub const CHAT_LINES: Limit = Limit::new("chat.lines", "PARLEY_LIMIT_CHAT_LINES", [5, 1, 1000], "lines per second", Some(Code::TooManyChatLines));
/// What a participant that resumes may have missed.
pub const CHAT_HISTORY: Limit = Limit::new("chat.history", "PARLEY_LIMIT_CHAT_HISTORY", [100, 0, 1000], "lines", None);
/// Of one resume; a room recovers its chat from several clients.
pub const CHAT_RESUME_LINES: Limit = Limit::new("chat.resumeLines", "PARLEY_LIMIT_CHAT_RESUME_LINES", [20, 0, 20], "lines", None);
/// Between the answer and the socket is one round trip.
pub const TICKET_TTL: Limit = Limit::new("ticket.ttl", "PARLEY_LIMIT_TICKET_TTL", [30_000, 1000, 300_000], "ms", Some(Code::TicketExpired));
/// A reload, a lift, a change of network.
pub const RESUME_GRACE: Limit = Limit::new("resume.grace", "PARLEY_LIMIT_RESUME_GRACE", [30_000, 1000, 600_000], "ms", Some(Code::ResumeExpired));
/// The same after a page was unloaded, which is a reload or the end: on a slow phone a page loads within it.
pub const RESUME_UNLOAD_GRACE: Limit = Limit::new("resume.unloadGrace", "PARLEY_LIMIT_RESUME_UNLOAD_GRACE", [10_000, 1000, 600_000], "ms", Some(Code::ResumeExpired));
/// Participants of a region that is cut off are shown as unreachable for so long: most cuts are shorter, and their media may still flow.
pub const UNREACHABLE_KEEP: Limit = Limit::new("unreachable.keep", "PARLEY_LIMIT_UNREACHABLE_KEEP", [300_000, 10_000, 3_600_000], "ms", None);
/// A connected client gets a new token after a third of it; a leaked token is soon invalid.
pub const RESUME_TTL: Limit = Limit::new("resume.ttl", "PARLEY_LIMIT_RESUME_TTL", [600_000, 60_000, 86_400_000], "ms", Some(Code::ResumeExpired));
/// Owners who may enter a full room, counted against the local roster; further ones need a free place like other participants.
pub const ROOM_OWNERS: Limit = Limit::new("room.owners", "PARLEY_LIMIT_ROOM_OWNERS", [5, 0, 100], "participants", Some(Code::RoomFull));
/// Participants that left, remembered for `resume.ttl` so that their tokens are refused: 83 a second; over it the earliest is dropped.
pub const POD_DEPARTURES: Limit = Limit::new("pod.departures", "PARLEY_LIMIT_POD_DEPARTURES", [50_000, 0, 1_000_000], "participants", None);
/// A participant who was removed makes no allocations after it; the socket sends fresh credentials before.
pub const TURN_TTL: Limit = Limit::new("turn.ttl", "PARLEY_LIMIT_TURN_TTL", [600_000, 2000, 86_400_000], "ms", None);
/// Of one network on a TURN node: 50 participants in calls of four have 150 ends of connections with three each; seven such networks fill the default ports; coturn answers 486.
pub const TURN_NETWORK_ALLOCATIONS: Limit = Limit::new("turn.networkAllocations", "PARLEY_LIMIT_TURN_NETWORK_ALLOCATIONS", [480, 8, 60_000], "allocations", None);
/// A client asks when a path breaks, at most every 5 s, and before its credentials end.
pub const SOCKET_ICE_REQUESTS: Limit = Limit::new("socket.iceRequests", "PARLEY_LIMIT_SOCKET_ICE_REQUESTS", [12, 1, 100_000], "requests per minute", Some(Code::TooManyIceRequests));
/// Of one network: an office whose TURN node ends, in which every client asks at once.
pub const ADDRESS_ICE_REQUESTS: Limit = Limit::new("address.iceRequests", "PARLEY_LIMIT_ADDRESS_ICE_REQUESTS", [600, 1, 10_000_000], "requests per minute", Some(Code::TooManyIceRequests));
/// A TURN node renews its lease every 2 s: two renewals may be lost before no client is sent to it.
pub const TURN_LEASE_DURATION: Limit = Limit::new("turn.leaseDuration", "PARLEY_LIMIT_TURN_LEASE_DURATION", [6000, 1000, 60_000], "ms", None);
/// An installation has tens; more are an attack with invented names, and are ignored.
pub const TURN_NODES: Limit = Limit::new("turn.nodes", "PARLEY_LIMIT_TURN_NODES", [256, 1, 10_000], "nodes", None);
/// One may end in the middle of a call; each further node costs every client an allocation for every connection and transport.
pub const TURN_OFFERED: Limit = Limit::new("turn.offered", "PARLEY_LIMIT_TURN_OFFERED", [2, 1, 8], "nodes", None);
/// A relay renews its lease every 2 s: two renewals may be lost before no client is sent to it.
pub const MEDIA_LEASE_DURATION: Limit = Limit::new("media.leaseDuration", "PARLEY_LIMIT_MEDIA_LEASE_DURATION", [6000, 1000, 60_000], "ms", None);
/// A region has tens; more are an attack with invented names, and are ignored.
pub const MEDIA_RELAYS: Limit = Limit::new("media.relays", "PARLEY_LIMIT_MEDIA_RELAYS", [256, 1, 10_000], "relays", None);
/// Of one room; each time as many more use one more relay, and their media crosses between the relays once.
pub const MEDIA_PARTICIPANTS_PER_RELAY: Limit = Limit::new("media.participantsPerRelay", "PARLEY_LIMIT_MEDIA_PARTICIPANTS_PER_RELAY", [50, 1, 10_000], "participants", None);
/// A participant that left a room keeps a token: it opens no session after this time, and the socket issues fresh ones.
pub const MEDIA_TOKEN_MAX_AGE: Limit = Limit::new("media.tokenMaxAge", "PARLEY_LIMIT_MEDIA_TOKEN_MAX_AGE", [300_000, 10_000, 3_600_000], "ms", None);
/// A session on a relay outlives a working day; then a fresh token opens the next one.
pub const MEDIA_SESSION: Limit = Limit::new("media.session", "PARLEY_LIMIT_MEDIA_SESSION", [43_200_000, 60_000, 604_800_000], "ms", None);
/// A long article with its pictures; its readers keep it in memory.
pub const PAGE_BYTES: Limit = Limit::new("page.bytes", "PARLEY_LIMIT_PAGE_BYTES", [16_777_216, 1024, 67_108_864], "bytes", Some(Code::PageTooLarge));
/// One message of a data channel in every browser; the manifest of the largest page stays at 11 KiB.
pub const PAGE_CHUNK_BYTES: Limit = Limit::new("page.chunkBytes", "PARLEY_LIMIT_PAGE_CHUNK_BYTES", [65_536, 16_384, 131_072], "bytes", None);
/// All pages of one tab: four of the largest.
pub const PAGE_MEMORY_BYTES: Limit = Limit::new("page.memoryBytes", "PARLEY_LIMIT_PAGE_MEMORY_BYTES", [67_108_864, 1024, 1_073_741_824], "bytes", Some(Code::PagesTooLarge));
/// Of one socket; each page takes memory of a pod.
pub const PAGE_PER_VISITOR: Limit = Limit::new("page.perVisitor", "PARLEY_LIMIT_PAGE_PER_VISITOR", [16, 1, 1000], "pages", Some(Code::TooManyPages));
/// Connections of a reader at once: enough to find every chunk, few enough to set up.
pub const PAGE_MAX_HOLDERS: Limit = Limit::new("page.maxHolders", "PARLEY_LIMIT_PAGE_MAX_HOLDERS", [6, 1, 32], "holders", None);
/// With more, each would get too little from a holder that also reads.
pub const PAGE_MAX_READERS: Limit = Limit::new("page.maxReaders", "PARLEY_LIMIT_PAGE_MAX_READERS", [8, 1, 256], "readers", None);
/// Of one socket, about pages: a reader sends some ten for each page.
pub const PAGE_REQUESTS: Limit = Limit::new("page.requests", "PARLEY_LIMIT_PAGE_REQUESTS", [60, 1, 1_000_000], "messages per minute", Some(Code::TooManyPageRequests));
/// Requests for pages and pipes from one address: an office that opens a link at once.
pub const ADDRESS_PAGES: Limit = Limit::new("address.pages", "PARLEY_LIMIT_ADDRESS_PAGES", [600, 1, 10_000_000], "requests per minute", Some(Code::TooManyPageRequests));
/// Each page is one NATS subscription.
pub const POD_PAGES: Limit = Limit::new("pod.pages", "PARLEY_LIMIT_POD_PAGES", [10_000, 1, 1_000_000], "pages", Some(Code::PodFull));
/// Pages that one address was the first to name on a pod: a tenth of `pod.pages`, so that no address uses all.
pub const ADDRESS_OPEN_PAGES: Limit = Limit::new("address.openPages", "PARLEY_LIMIT_ADDRESS_OPEN_PAGES", [1000, 1, 1_000_000], "pages", Some(Code::TooManyPageRequests));
/// Counts are sent this often at most, so that a thousand arrivals are not a million messages.
pub const PAGE_COUNT_INTERVAL: Limit = Limit::new("page.countInterval", "PARLEY_LIMIT_PAGE_COUNT_INTERVAL", [1000, 50, 60_000], "ms", None);
/// After a pod died its visitors reconnect to others: until then no page counts as gone.
pub const PAGE_SETTLE_TIME: Limit = Limit::new("page.settleTime", "PARLEY_LIMIT_PAGE_SETTLE_TIME", [10_000, 0, 600_000], "ms", None);
/// A full pod moves its participants at 400 a second, which others accept also on a slow processor (LIM-20); within the 30 s that Kubernetes gives a process to end.
pub const DRAIN_WINDOW: Limit = Limit::new("drain.window", "PARLEY_LIMIT_DRAIN_WINDOW", [20_000, 1000, 600_000], "ms", None);
/// A sender is informed within 2 s that a message was not delivered (P7).
pub const DIRECTED_TIMEOUT: Limit = Limit::new("directed.timeout", "PARLEY_LIMIT_DIRECTED_TIMEOUT", [1500, 100, 10_000], "ms", None);
/// Messages to other pods that wait for an answer; over it the oldest is reported undelivered.
pub const DIRECTED_PENDING: Limit = Limit::new("directed.pending", "PARLEY_LIMIT_DIRECTED_PENDING", [20_000, 1, 1_000_000], "messages", None);
