//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.

/// A stable code of a refusal or an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// The request does not have the form that this route requires.
    BadRequest,
    /// The request body exceeds the size limit.
    BodyTooLarge,
    /// The request headers exceed the size limit of the edge or the pod.
    HeadersTooLarge,
    /// The request was not complete in time.
    RequestTimeout,
    /// No resource exists at this address.
    NotFound,
    /// Pages of this origin are not allowed to use this installation.
    OriginDenied,
    /// The path does not contain a valid room id.
    RoomInvalid,
    /// No named room with this name exists.
    RoomNotFound,
    /// A room of this name exists in this region.
    RoomExists,
    /// The region has reached its maximum number of named rooms.
    RegionFull,
    /// The owner deleted this room.
    RoomDeleted,
    /// The owner ended the call of this room.
    CallEnded,
    /// The room has reached its maximum number of participants.
    RoomFull,
    /// The lobby of this room is full.
    LobbyFull,
    /// The owner did not answer within the time limit of the lobby.
    LobbyTimeout,
    /// No participant with this id is in the room or in its lobby.
    ParticipantNotFound,
    /// The room has no ban with this id.
    BanNotFound,
    /// The room has reached its maximum number of bans: lift one first.
    TooManyBans,
    /// The room has reached its maximum number of single mutes.
    TooManyMuted,
    /// The room has reached its maximum number of co-owners.
    TooManyCoOwners,
    /// Too many requests from this address, or of this participant.
    TooManyRequests,
    /// The owner locked the room.
    RoomLocked,
    /// The room's home region cannot be reached.
    RoomHomeUnreachable,
    /// The owner key is missing or wrong, and no co-owner asks who may.
    OwnerKeyInvalid,
    /// Too many joins from this address.
    TooManyJoins,
    /// Too many rooms created from this address.
    TooManyRooms,
    /// Too many open sockets from this address.
    TooManySockets,
    /// This pod has reached a limit; another pod may accept the request.
    PodFull,
    /// Many clients are arriving: repeat the request after the stated time, with the slot of this answer.
    Busy,
    /// The page exceeds the size limit of this installation.
    PageTooLarge,
    /// The manifest or the content of this page is invalid.
    PageInvalid,
    /// All pages of this tab together exceed the size limit: close one first.
    PagesTooLarge,
    /// This tab has reached its maximum number of pages: close one first.
    TooManyPages,
    /// Too many requests for pages.
    TooManyPageRequests,
    /// No media relay accepts sessions now.
    RelayUnavailable,
    /// This pod is starting, draining or not connected to NATS.
    NotReady,
    /// The store of named rooms does not answer.
    StoreUnavailable,
    /// The display name is empty, too long or contains forbidden characters.
    NameInvalid,
    /// The first message must be enter or resume.
    EnterRequired,
    /// The socket sent no enter or resume within the time limit.
    EnterTimeout,
    /// This socket has already entered.
    AlreadyEntered,
    /// The ticket is forged, for another room or unreadable.
    TicketInvalid,
    /// The ticket has expired: join again.
    TicketExpired,
    /// The ticket has been used: join again.
    TicketUsed,
    /// The resume token is forged, for another room or unreadable.
    ResumeInvalid,
    /// The resume token has expired: join again.
    ResumeExpired,
    /// The same participant connected again; this client does not reconnect.
    Replaced,
    /// The owner removed this participant.
    Kicked,
    /// This participant is banned from the room.
    Banned,
    /// Live broadcasts are disabled on this installation.
    LiveDisabled,
    /// The owner did not admit this participant.
    LobbyDenied,
    /// The message is not valid JSON or does not match its schema; after too many of these the socket is closed.
    BadMessage,
    /// The message has an unknown type; after too many of these the socket is closed.
    UnknownType,
    /// The frame violates RFC 6455.
    BadFrame,
    /// A text message is not valid UTF-8.
    BadEncoding,
    /// The message exceeds the size limit.
    MessageTooLarge,
    /// The message was sent in too many fragments or pieces.
    TooManyFragments,
    /// The message was not complete in time.
    MessageTimeout,
    /// Incomplete messages from this address hold too many bytes.
    ReassemblyLimitExceeded,
    /// This socket exceeds its rate of messages or bytes.
    RateLimited,
    /// This socket reads too slowly.
    SlowConsumer,
    /// The chat line exceeds the length limit.
    ChatTooLong,
    /// Too many chat lines or reactions: this one was not sent.
    TooManyChatLines,
    /// Too many requests for ICE servers.
    TooManyIceRequests,
    /// Too many reports of quality: this one was not counted.
    TooManyReports,
    /// This pod is draining: resume on another.
    Goaway,
    /// An internal error of the service.
    Internal,
}

impl Code {
    /// All codes.
    pub const ALL: [Code; 67] = [
        Code::BadRequest,
        Code::BodyTooLarge,
        Code::HeadersTooLarge,
        Code::RequestTimeout,
        Code::NotFound,
        Code::OriginDenied,
        Code::RoomInvalid,
        Code::RoomNotFound,
        Code::RoomExists,
        Code::RegionFull,
        Code::RoomDeleted,
        Code::CallEnded,
        Code::RoomFull,
        Code::LobbyFull,
        Code::LobbyTimeout,
        Code::ParticipantNotFound,
        Code::BanNotFound,
        Code::TooManyBans,
        Code::TooManyMuted,
        Code::TooManyCoOwners,
        Code::TooManyRequests,
        Code::RoomLocked,
        Code::RoomHomeUnreachable,
        Code::OwnerKeyInvalid,
        Code::TooManyJoins,
        Code::TooManyRooms,
        Code::TooManySockets,
        Code::PodFull,
        Code::Busy,
        Code::PageTooLarge,
        Code::PageInvalid,
        Code::PagesTooLarge,
        Code::TooManyPages,
        Code::TooManyPageRequests,
        Code::RelayUnavailable,
        Code::NotReady,
        Code::StoreUnavailable,
        Code::NameInvalid,
        Code::EnterRequired,
        Code::EnterTimeout,
        Code::AlreadyEntered,
        Code::TicketInvalid,
        Code::TicketExpired,
        Code::TicketUsed,
        Code::ResumeInvalid,
        Code::ResumeExpired,
        Code::Replaced,
        Code::Kicked,
        Code::Banned,
        Code::LiveDisabled,
        Code::LobbyDenied,
        Code::BadMessage,
        Code::UnknownType,
        Code::BadFrame,
        Code::BadEncoding,
        Code::MessageTooLarge,
        Code::TooManyFragments,
        Code::MessageTimeout,
        Code::ReassemblyLimitExceeded,
        Code::RateLimited,
        Code::SlowConsumer,
        Code::ChatTooLong,
        Code::TooManyChatLines,
        Code::TooManyIceRequests,
        Code::TooManyReports,
        Code::Goaway,
        Code::Internal,
    ];

    /// The code with this name; `None` for an unknown name, such as one of a newer service.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }

    /// The first code that closes a WebSocket with this number.
    pub fn of_close(close: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.close() == Some(close))
    }

    /// The name on the wire and in metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Code::BadRequest => "BAD_REQUEST",
            Code::BodyTooLarge => "BODY_TOO_LARGE",
            Code::HeadersTooLarge => "HEADERS_TOO_LARGE",
            Code::RequestTimeout => "REQUEST_TIMEOUT",
            Code::NotFound => "NOT_FOUND",
            Code::OriginDenied => "ORIGIN_DENIED",
            Code::RoomInvalid => "ROOM_INVALID",
            Code::RoomNotFound => "ROOM_NOT_FOUND",
            Code::RoomExists => "ROOM_EXISTS",
            Code::RegionFull => "REGION_FULL",
            Code::RoomDeleted => "ROOM_DELETED",
            Code::CallEnded => "CALL_ENDED",
            Code::RoomFull => "ROOM_FULL",
            Code::LobbyFull => "LOBBY_FULL",
            Code::LobbyTimeout => "LOBBY_TIMEOUT",
            Code::ParticipantNotFound => "PARTICIPANT_NOT_FOUND",
            Code::BanNotFound => "BAN_NOT_FOUND",
            Code::TooManyBans => "TOO_MANY_BANS",
            Code::TooManyMuted => "TOO_MANY_MUTED",
            Code::TooManyCoOwners => "TOO_MANY_CO_OWNERS",
            Code::TooManyRequests => "TOO_MANY_REQUESTS",
            Code::RoomLocked => "ROOM_LOCKED",
            Code::RoomHomeUnreachable => "ROOM_HOME_UNREACHABLE",
            Code::OwnerKeyInvalid => "OWNER_KEY_INVALID",
            Code::TooManyJoins => "TOO_MANY_JOINS",
            Code::TooManyRooms => "TOO_MANY_ROOMS",
            Code::TooManySockets => "TOO_MANY_SOCKETS",
            Code::PodFull => "POD_FULL",
            Code::Busy => "BUSY",
            Code::PageTooLarge => "PAGE_TOO_LARGE",
            Code::PageInvalid => "PAGE_INVALID",
            Code::PagesTooLarge => "PAGES_TOO_LARGE",
            Code::TooManyPages => "TOO_MANY_PAGES",
            Code::TooManyPageRequests => "TOO_MANY_PAGE_REQUESTS",
            Code::RelayUnavailable => "RELAY_UNAVAILABLE",
            Code::NotReady => "NOT_READY",
            Code::StoreUnavailable => "STORE_UNAVAILABLE",
            Code::NameInvalid => "NAME_INVALID",
            Code::EnterRequired => "ENTER_REQUIRED",
            Code::EnterTimeout => "ENTER_TIMEOUT",
            Code::AlreadyEntered => "ALREADY_ENTERED",
            Code::TicketInvalid => "TICKET_INVALID",
            Code::TicketExpired => "TICKET_EXPIRED",
            Code::TicketUsed => "TICKET_USED",
            Code::ResumeInvalid => "RESUME_INVALID",
            Code::ResumeExpired => "RESUME_EXPIRED",
            Code::Replaced => "REPLACED",
            Code::Kicked => "KICKED",
            Code::Banned => "BANNED",
            Code::LiveDisabled => "LIVE_DISABLED",
            Code::LobbyDenied => "LOBBY_DENIED",
            Code::BadMessage => "BAD_MESSAGE",
            Code::UnknownType => "UNKNOWN_TYPE",
            Code::BadFrame => "BAD_FRAME",
            Code::BadEncoding => "BAD_ENCODING",
            Code::MessageTooLarge => "MESSAGE_TOO_LARGE",
            Code::TooManyFragments => "TOO_MANY_FRAGMENTS",
            Code::MessageTimeout => "MESSAGE_TIMEOUT",
            Code::ReassemblyLimitExceeded => "REASSEMBLY_LIMIT_EXCEEDED",
            Code::RateLimited => "RATE_LIMITED",
            Code::SlowConsumer => "SLOW_CONSUMER",
            Code::ChatTooLong => "CHAT_TOO_LONG",
            Code::TooManyChatLines => "TOO_MANY_CHAT_LINES",
            Code::TooManyIceRequests => "TOO_MANY_ICE_REQUESTS",
            Code::TooManyReports => "TOO_MANY_REPORTS",
            Code::Goaway => "GOAWAY",
            Code::Internal => "INTERNAL",
        }
    }

    /// The HTTP status of a refusal.
    pub const fn http(self) -> Option<u16> {
        match self {
            Code::BadRequest => Some(400),
            Code::BodyTooLarge => Some(413),
            Code::HeadersTooLarge => Some(431),
            Code::RequestTimeout => Some(408),
            Code::NotFound => Some(404),
            Code::OriginDenied => Some(403),
            Code::RoomInvalid => Some(400),
            Code::RoomNotFound => Some(404),
            Code::RoomExists => Some(409),
            Code::RegionFull => Some(503),
            Code::RoomDeleted => Some(410),
            Code::CallEnded => None,
            Code::RoomFull => Some(409),
            Code::LobbyFull => None,
            Code::LobbyTimeout => None,
            Code::ParticipantNotFound => Some(404),
            Code::BanNotFound => Some(404),
            Code::TooManyBans => Some(409),
            Code::TooManyMuted => Some(409),
            Code::TooManyCoOwners => Some(409),
            Code::TooManyRequests => Some(429),
            Code::RoomLocked => Some(423),
            Code::RoomHomeUnreachable => Some(503),
            Code::OwnerKeyInvalid => Some(403),
            Code::TooManyJoins => Some(429),
            Code::TooManyRooms => Some(429),
            Code::TooManySockets => Some(429),
            Code::PodFull => Some(503),
            Code::Busy => Some(503),
            Code::PageTooLarge => None,
            Code::PageInvalid => None,
            Code::PagesTooLarge => None,
            Code::TooManyPages => None,
            Code::TooManyPageRequests => None,
            Code::RelayUnavailable => Some(503),
            Code::NotReady => Some(503),
            Code::StoreUnavailable => Some(503),
            Code::NameInvalid => Some(400),
            Code::EnterRequired => None,
            Code::EnterTimeout => None,
            Code::AlreadyEntered => None,
            Code::TicketInvalid => None,
            Code::TicketExpired => None,
            Code::TicketUsed => None,
            Code::ResumeInvalid => None,
            Code::ResumeExpired => None,
            Code::Replaced => None,
            Code::Kicked => None,
            Code::Banned => Some(403),
            Code::LiveDisabled => Some(403),
            Code::LobbyDenied => Some(403),
            Code::BadMessage => None,
            Code::UnknownType => None,
            Code::BadFrame => None,
            Code::BadEncoding => None,
            Code::MessageTooLarge => None,
            Code::TooManyFragments => None,
            Code::MessageTimeout => None,
            Code::ReassemblyLimitExceeded => None,
            Code::RateLimited => None,
            Code::SlowConsumer => None,
            Code::ChatTooLong => None,
            Code::TooManyChatLines => None,
            Code::TooManyIceRequests => None,
            Code::TooManyReports => None,
            Code::Goaway => None,
            Code::Internal => Some(500),
        }
    }

    /// The WebSocket close code, if the code closes the socket.
    pub const fn close(self) -> Option<u16> {
        match self {
            Code::BadRequest => None,
            Code::BodyTooLarge => None,
            Code::HeadersTooLarge => None,
            Code::RequestTimeout => None,
            Code::NotFound => None,
            Code::OriginDenied => None,
            Code::RoomInvalid => Some(4404),
            Code::RoomNotFound => Some(4404),
            Code::RoomExists => None,
            Code::RegionFull => None,
            Code::RoomDeleted => Some(4410),
            Code::CallEnded => Some(4419),
            Code::RoomFull => Some(4409),
            Code::LobbyFull => Some(4417),
            Code::LobbyTimeout => Some(4418),
            Code::ParticipantNotFound => None,
            Code::BanNotFound => None,
            Code::TooManyBans => None,
            Code::TooManyMuted => None,
            Code::TooManyCoOwners => None,
            Code::TooManyRequests => Some(4431),
            Code::RoomLocked => Some(4423),
            Code::RoomHomeUnreachable => Some(4503),
            Code::OwnerKeyInvalid => None,
            Code::TooManyJoins => None,
            Code::TooManyRooms => None,
            Code::TooManySockets => Some(4428),
            Code::PodFull => Some(4504),
            Code::Busy => None,
            Code::PageTooLarge => None,
            Code::PageInvalid => None,
            Code::PagesTooLarge => None,
            Code::TooManyPages => None,
            Code::TooManyPageRequests => None,
            Code::RelayUnavailable => None,
            Code::NotReady => Some(4505),
            Code::StoreUnavailable => Some(4506),
            Code::NameInvalid => Some(4406),
            Code::EnterRequired => Some(4405),
            Code::EnterTimeout => Some(4408),
            Code::AlreadyEntered => None,
            Code::TicketInvalid => Some(4401),
            Code::TicketExpired => Some(4402),
            Code::TicketUsed => Some(4403),
            Code::ResumeInvalid => Some(4411),
            Code::ResumeExpired => Some(4412),
            Code::Replaced => Some(4413),
            Code::Kicked => Some(4414),
            Code::Banned => Some(4415),
            Code::LiveDisabled => None,
            Code::LobbyDenied => Some(4416),
            Code::BadMessage => Some(4400),
            Code::UnknownType => Some(4400),
            Code::BadFrame => Some(1002),
            Code::BadEncoding => Some(1007),
            Code::MessageTooLarge => Some(1009),
            Code::TooManyFragments => Some(1008),
            Code::MessageTimeout => Some(4433),
            Code::ReassemblyLimitExceeded => Some(4434),
            Code::RateLimited => Some(4429),
            Code::SlowConsumer => Some(4430),
            Code::ChatTooLong => None,
            Code::TooManyChatLines => None,
            Code::TooManyIceRequests => None,
            Code::TooManyReports => None,
            Code::Goaway => Some(1012),
            Code::Internal => Some(1011),
        }
    }

    /// Whether the same request may succeed later.
    pub const fn retry(self) -> bool {
        matches!(self, Code::RequestTimeout | Code::RegionFull | Code::CallEnded | Code::RoomFull | Code::LobbyFull | Code::LobbyTimeout | Code::TooManyRequests | Code::RoomLocked | Code::RoomHomeUnreachable | Code::TooManyJoins | Code::TooManyRooms | Code::TooManySockets | Code::PodFull | Code::Busy | Code::TooManyPageRequests | Code::RelayUnavailable | Code::NotReady | Code::StoreUnavailable | Code::MessageTimeout | Code::ReassemblyLimitExceeded | Code::RateLimited | Code::SlowConsumer | Code::TooManyChatLines | Code::TooManyIceRequests | Code::Goaway | Code::Internal)
    }

    /// Whether a client whose socket was closed with this code reconnects by itself.
    pub const fn reconnect(self) -> bool {
        matches!(self, Code::TooManyRequests | Code::RoomHomeUnreachable | Code::TooManySockets | Code::PodFull | Code::NotReady | Code::StoreUnavailable | Code::EnterTimeout | Code::MessageTimeout | Code::ReassemblyLimitExceeded | Code::RateLimited | Code::SlowConsumer | Code::Goaway | Code::Internal)
    }
}
