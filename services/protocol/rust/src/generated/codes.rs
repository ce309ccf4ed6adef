//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.

/// What went wrong, by a name that does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// The request is not of the form this address takes.
    BadRequest,
    /// The request body is over the limit.
    BodyTooLarge,
    /// The request's head is larger than the edge or the pod takes.
    HeadTooLarge,
    /// The request was not complete in time.
    RequestTimeout,
    /// There is nothing at this address.
    NotFound,
    /// Pages of this origin may not use this installation.
    OriginDenied,
    /// This is no room id.
    RoomInvalid,
    /// No such named room.
    RoomNotFound,
    /// A room of this name exists in this region.
    RoomExists,
    /// This region keeps as many named rooms as it may have.
    RegionFull,
    /// The owner deleted this room.
    RoomDeleted,
    /// The room has as many participants as it may have.
    RoomFull,
    /// Too many people wait for this room already.
    LobbyFull,
    /// Nobody answered at the door.
    LobbyTimeout,
    /// Nobody of this id is in the room or waits for it.
    ParticipantNotFound,
    /// The room has no such ban.
    BanNotFound,
    /// The room has as many bans as it may have: lift one first.
    TooManyBans,
    /// Too many requests from this address, or of this participant.
    TooManyRequests,
    /// The owner locked the room.
    RoomLocked,
    /// The room's home region cannot be reached.
    RoomHomeUnreachable,
    /// The owner key is missing or wrong.
    OwnerKeyInvalid,
    /// Too many joins from this address.
    TooManyJoins,
    /// Too many rooms created from this address.
    TooManyRooms,
    /// Too many open sockets from this address.
    TooManySockets,
    /// This pod takes no more; another may.
    PodFull,
    /// The page is larger than this installation allows.
    PageTooLarge,
    /// What is at this address is no page: its manifest or its content does not agree with itself.
    PageInvalid,
    /// All pages of this tab together are larger than allowed: close one first.
    PagesTooLarge,
    /// This tab has as many pages as it may have: close one first.
    TooManyPages,
    /// Too many requests for pages.
    PagesTooFast,
    /// No media relay takes sessions now.
    NoRelay,
    /// This pod is starting, draining or without its bus.
    NotReady,
    /// The store of named rooms does not answer.
    StoreUnavailable,
    /// The display name is empty, too long or has control characters.
    NameInvalid,
    /// The first message must be enter or resume.
    EnterFirst,
    /// No enter or resume within the time limit.
    EnterTimeout,
    /// This socket has entered already.
    AlreadyEntered,
    /// The ticket is forged, of another room or unreadable.
    TicketInvalid,
    /// The ticket is too old: join again.
    TicketExpired,
    /// The ticket has been used: join again.
    TicketUsed,
    /// The resume token is forged, of another room or unreadable.
    ResumeInvalid,
    /// Too late to resume: join again.
    ResumeExpired,
    /// The same participant is connected elsewhere; this client stops for good.
    Replaced,
    /// The owner removed this participant.
    Kicked,
    /// This participant may not enter the room.
    Banned,
    /// This installation has no live broadcasts that anybody may open.
    LiveOff,
    /// The owner did not admit this participant.
    LobbyDenied,
    /// The message is not JSON or not of its type; the socket is closed after too many.
    BadMessage,
    /// A message of an unknown type; the socket is closed after too many.
    UnknownType,
    /// Not a frame of RFC 6455.
    BadFrame,
    /// A text message that is not UTF-8.
    BadEncoding,
    /// The message is over the size limit.
    MessageTooLarge,
    /// The message came in more fragments, or in smaller pieces, than allowed.
    TooManyFragments,
    /// The message was not complete in time.
    MessageTimeout,
    /// Incomplete messages from this address hold too many bytes.
    IncompleteBytes,
    /// This socket sends too much too fast.
    RateLimited,
    /// This socket reads too slowly.
    SlowConsumer,
    /// The chat line is too long.
    ChatTooLong,
    /// Too many chat lines: this one was not sent.
    ChatTooFast,
    /// Too many requests for ICE servers.
    IceTooFast,
    /// This pod is going away: resume on another.
    GoElsewhere,
    /// A fault of ours.
    Internal,
}

impl Code {
    /// All of them.
    pub const ALL: [Code; 62] = [
        Code::BadRequest,
        Code::BodyTooLarge,
        Code::HeadTooLarge,
        Code::RequestTimeout,
        Code::NotFound,
        Code::OriginDenied,
        Code::RoomInvalid,
        Code::RoomNotFound,
        Code::RoomExists,
        Code::RegionFull,
        Code::RoomDeleted,
        Code::RoomFull,
        Code::LobbyFull,
        Code::LobbyTimeout,
        Code::ParticipantNotFound,
        Code::BanNotFound,
        Code::TooManyBans,
        Code::TooManyRequests,
        Code::RoomLocked,
        Code::RoomHomeUnreachable,
        Code::OwnerKeyInvalid,
        Code::TooManyJoins,
        Code::TooManyRooms,
        Code::TooManySockets,
        Code::PodFull,
        Code::PageTooLarge,
        Code::PageInvalid,
        Code::PagesTooLarge,
        Code::TooManyPages,
        Code::PagesTooFast,
        Code::NoRelay,
        Code::NotReady,
        Code::StoreUnavailable,
        Code::NameInvalid,
        Code::EnterFirst,
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
        Code::LiveOff,
        Code::LobbyDenied,
        Code::BadMessage,
        Code::UnknownType,
        Code::BadFrame,
        Code::BadEncoding,
        Code::MessageTooLarge,
        Code::TooManyFragments,
        Code::MessageTimeout,
        Code::IncompleteBytes,
        Code::RateLimited,
        Code::SlowConsumer,
        Code::ChatTooLong,
        Code::ChatTooFast,
        Code::IceTooFast,
        Code::GoElsewhere,
        Code::Internal,
    ];

    /// The code of a name; `None` of a name that a newer service may have.
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
            Code::HeadTooLarge => "HEAD_TOO_LARGE",
            Code::RequestTimeout => "REQUEST_TIMEOUT",
            Code::NotFound => "NOT_FOUND",
            Code::OriginDenied => "ORIGIN_DENIED",
            Code::RoomInvalid => "ROOM_INVALID",
            Code::RoomNotFound => "ROOM_NOT_FOUND",
            Code::RoomExists => "ROOM_EXISTS",
            Code::RegionFull => "REGION_FULL",
            Code::RoomDeleted => "ROOM_DELETED",
            Code::RoomFull => "ROOM_FULL",
            Code::LobbyFull => "LOBBY_FULL",
            Code::LobbyTimeout => "LOBBY_TIMEOUT",
            Code::ParticipantNotFound => "PARTICIPANT_NOT_FOUND",
            Code::BanNotFound => "BAN_NOT_FOUND",
            Code::TooManyBans => "TOO_MANY_BANS",
            Code::TooManyRequests => "TOO_MANY_REQUESTS",
            Code::RoomLocked => "ROOM_LOCKED",
            Code::RoomHomeUnreachable => "ROOM_HOME_UNREACHABLE",
            Code::OwnerKeyInvalid => "OWNER_KEY_INVALID",
            Code::TooManyJoins => "TOO_MANY_JOINS",
            Code::TooManyRooms => "TOO_MANY_ROOMS",
            Code::TooManySockets => "TOO_MANY_SOCKETS",
            Code::PodFull => "POD_FULL",
            Code::PageTooLarge => "PAGE_TOO_LARGE",
            Code::PageInvalid => "PAGE_INVALID",
            Code::PagesTooLarge => "PAGES_TOO_LARGE",
            Code::TooManyPages => "TOO_MANY_PAGES",
            Code::PagesTooFast => "PAGES_TOO_FAST",
            Code::NoRelay => "NO_RELAY",
            Code::NotReady => "NOT_READY",
            Code::StoreUnavailable => "STORE_UNAVAILABLE",
            Code::NameInvalid => "NAME_INVALID",
            Code::EnterFirst => "ENTER_FIRST",
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
            Code::LiveOff => "LIVE_OFF",
            Code::LobbyDenied => "LOBBY_DENIED",
            Code::BadMessage => "BAD_MESSAGE",
            Code::UnknownType => "UNKNOWN_TYPE",
            Code::BadFrame => "BAD_FRAME",
            Code::BadEncoding => "BAD_ENCODING",
            Code::MessageTooLarge => "MESSAGE_TOO_LARGE",
            Code::TooManyFragments => "TOO_MANY_FRAGMENTS",
            Code::MessageTimeout => "MESSAGE_TIMEOUT",
            Code::IncompleteBytes => "INCOMPLETE_BYTES",
            Code::RateLimited => "RATE_LIMITED",
            Code::SlowConsumer => "SLOW_CONSUMER",
            Code::ChatTooLong => "CHAT_TOO_LONG",
            Code::ChatTooFast => "CHAT_TOO_FAST",
            Code::IceTooFast => "ICE_TOO_FAST",
            Code::GoElsewhere => "GO_ELSEWHERE",
            Code::Internal => "INTERNAL",
        }
    }

    /// The HTTP status of a refusal.
    pub const fn http(self) -> Option<u16> {
        match self {
            Code::BadRequest => Some(400),
            Code::BodyTooLarge => Some(413),
            Code::HeadTooLarge => Some(431),
            Code::RequestTimeout => Some(408),
            Code::NotFound => Some(404),
            Code::OriginDenied => Some(403),
            Code::RoomInvalid => Some(400),
            Code::RoomNotFound => Some(404),
            Code::RoomExists => Some(409),
            Code::RegionFull => Some(503),
            Code::RoomDeleted => Some(410),
            Code::RoomFull => Some(409),
            Code::LobbyFull => None,
            Code::LobbyTimeout => None,
            Code::ParticipantNotFound => Some(404),
            Code::BanNotFound => Some(404),
            Code::TooManyBans => Some(409),
            Code::TooManyRequests => Some(429),
            Code::RoomLocked => Some(423),
            Code::RoomHomeUnreachable => Some(503),
            Code::OwnerKeyInvalid => Some(403),
            Code::TooManyJoins => Some(429),
            Code::TooManyRooms => Some(429),
            Code::TooManySockets => Some(429),
            Code::PodFull => Some(503),
            Code::PageTooLarge => None,
            Code::PageInvalid => None,
            Code::PagesTooLarge => None,
            Code::TooManyPages => None,
            Code::PagesTooFast => None,
            Code::NoRelay => Some(503),
            Code::NotReady => Some(503),
            Code::StoreUnavailable => Some(503),
            Code::NameInvalid => Some(400),
            Code::EnterFirst => None,
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
            Code::LiveOff => Some(403),
            Code::LobbyDenied => Some(403),
            Code::BadMessage => None,
            Code::UnknownType => None,
            Code::BadFrame => None,
            Code::BadEncoding => None,
            Code::MessageTooLarge => None,
            Code::TooManyFragments => None,
            Code::MessageTimeout => None,
            Code::IncompleteBytes => None,
            Code::RateLimited => None,
            Code::SlowConsumer => None,
            Code::ChatTooLong => None,
            Code::ChatTooFast => None,
            Code::IceTooFast => None,
            Code::GoElsewhere => None,
            Code::Internal => Some(500),
        }
    }

    /// The WebSocket close code, where the socket is closed.
    pub const fn close(self) -> Option<u16> {
        match self {
            Code::BadRequest => None,
            Code::BodyTooLarge => None,
            Code::HeadTooLarge => None,
            Code::RequestTimeout => None,
            Code::NotFound => None,
            Code::OriginDenied => None,
            Code::RoomInvalid => Some(4404),
            Code::RoomNotFound => Some(4404),
            Code::RoomExists => None,
            Code::RegionFull => None,
            Code::RoomDeleted => Some(4410),
            Code::RoomFull => Some(4409),
            Code::LobbyFull => Some(4417),
            Code::LobbyTimeout => Some(4418),
            Code::ParticipantNotFound => None,
            Code::BanNotFound => None,
            Code::TooManyBans => None,
            Code::TooManyRequests => Some(4431),
            Code::RoomLocked => Some(4423),
            Code::RoomHomeUnreachable => Some(4503),
            Code::OwnerKeyInvalid => None,
            Code::TooManyJoins => None,
            Code::TooManyRooms => None,
            Code::TooManySockets => Some(4428),
            Code::PodFull => Some(4504),
            Code::PageTooLarge => None,
            Code::PageInvalid => None,
            Code::PagesTooLarge => None,
            Code::TooManyPages => None,
            Code::PagesTooFast => None,
            Code::NoRelay => None,
            Code::NotReady => Some(4505),
            Code::StoreUnavailable => Some(4506),
            Code::NameInvalid => Some(4406),
            Code::EnterFirst => Some(4405),
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
            Code::LiveOff => None,
            Code::LobbyDenied => Some(4416),
            Code::BadMessage => Some(4400),
            Code::UnknownType => Some(4400),
            Code::BadFrame => Some(1002),
            Code::BadEncoding => Some(1007),
            Code::MessageTooLarge => Some(1009),
            Code::TooManyFragments => Some(1008),
            Code::MessageTimeout => Some(4433),
            Code::IncompleteBytes => Some(4434),
            Code::RateLimited => Some(4429),
            Code::SlowConsumer => Some(4430),
            Code::ChatTooLong => None,
            Code::ChatTooFast => None,
            Code::IceTooFast => None,
            Code::GoElsewhere => Some(1012),
            Code::Internal => Some(1011),
        }
    }

    /// Whether the same request may succeed later.
    pub const fn retry(self) -> bool {
        matches!(self, Code::RequestTimeout | Code::RegionFull | Code::RoomFull | Code::LobbyFull | Code::LobbyTimeout | Code::TooManyRequests | Code::RoomLocked | Code::RoomHomeUnreachable | Code::TooManyJoins | Code::TooManyRooms | Code::TooManySockets | Code::PodFull | Code::PagesTooFast | Code::NoRelay | Code::NotReady | Code::StoreUnavailable | Code::MessageTimeout | Code::IncompleteBytes | Code::RateLimited | Code::SlowConsumer | Code::ChatTooFast | Code::IceTooFast | Code::GoElsewhere | Code::Internal)
    }

    /// Whether a client whose socket was closed with it connects again by itself.
    pub const fn reconnect(self) -> bool {
        matches!(self, Code::TooManyRequests | Code::RoomHomeUnreachable | Code::TooManySockets | Code::PodFull | Code::NotReady | Code::StoreUnavailable | Code::EnterTimeout | Code::MessageTimeout | Code::IncompleteBytes | Code::RateLimited | Code::SlowConsumer | Code::GoElsewhere | Code::Internal)
    }
}
