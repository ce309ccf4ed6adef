//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.

/// What went wrong, by a name that does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// No HTTP request, or one this server does not take.
    BadRequest,
    /// Nothing at this address.
    NotFound,
    /// A method other than GET and HEAD.
    MethodNotAllowed,
    /// The request's head is over `head.bytes`, or has too many headers.
    HeadTooLarge,
    /// The head was not complete within `head.timeout`.
    UpgradeTimeout,
    /// A topic is reached with a WebSocket.
    UpgradeRequired,
    /// A page of this origin may not use the relay.
    OriginDenied,
    /// The path is not a topic.
    TopicInvalid,
    /// The path begins with a name that the relay keeps for itself.
    TopicReserved,
    /// The pod has `pod.topics` topics.
    TooManyTopics,
    /// The pod has `pod.sockets` sockets.
    PodFull,
    /// The network has `address.sockets` sockets.
    TooManySockets,
    /// The pod drains, or NATS is away and other pods are needed for this.
    NotReady,
    /// Not a frame of RFC 6455.
    BadFrame,
    /// A text message that is not UTF-8.
    BadEncoding,
    /// A message over `stream.messageBytes`, or in more than `stream.fragments`.
    MessageTooLarge,
    /// A message that was not complete within `stream.messageTime`.
    MessageTimeout,
    /// The pod holds too much, or the network `address.assemblyBytes`: `pod.assemblyBytes`, `pod.queuedBytes`, or twice `media.cacheBytes`.
    PodMemory,
    /// The reader took nothing for `reader.stuckTime`.
    SlowConsumer,
    /// Nothing was heard for `socket.idleTimeout`.
    SocketIdle,
    /// The pod is going away.
    GoElsewhere,
    /// A token is needed here and there is none.
    TokenRequired,
    /// Not a token of this relay: its form, key, algorithm, sizes or lifetime.
    TokenInvalid,
    /// The token was good until now or before.
    TokenExpired,
    /// The token is not good yet.
    TokenEarly,
    /// The token is good, but not for this.
    TokenScope,
    /// The token, or whoever it was made for, was revoked.
    TokenRevoked,
    /// No token came within `token.timeout`.
    TokenTimeout,
    /// Not a code for this path, or it was used, or it is over `code.lifetime` old.
    CodeInvalid,
    /// The pod has `pod.waiting` sockets whose token has yet to come, or the network `address.waiting`.
    TooManyWaiting,
    /// The pod has `pod.codes` codes, or the network `address.codes`.
    TooManyCodes,
    /// The pod has `pod.revocations` revocations; this one was not taken.
    TooManyRevocations,
    /// The body of a request is over `body.bytes`.
    BodyTooLarge,
    /// The pod has `media.sessions` sessions, or the network `media.addressSessions`.
    TooManySessions,
    /// The session publishes more than `media.broadcasts`.
    TooManyBroadcasts,
    /// The session watches more than `media.subscriptions` tracks.
    TooManySubscriptions,
    /// The pod has `media.handshakes` sessions that are about to begin.
    TooManyHandshakes,
}

impl Code {
    /// All of them.
    pub const ALL: [Code; 37] = [
        Code::BadRequest,
        Code::NotFound,
        Code::MethodNotAllowed,
        Code::HeadTooLarge,
        Code::UpgradeTimeout,
        Code::UpgradeRequired,
        Code::OriginDenied,
        Code::TopicInvalid,
        Code::TopicReserved,
        Code::TooManyTopics,
        Code::PodFull,
        Code::TooManySockets,
        Code::NotReady,
        Code::BadFrame,
        Code::BadEncoding,
        Code::MessageTooLarge,
        Code::MessageTimeout,
        Code::PodMemory,
        Code::SlowConsumer,
        Code::SocketIdle,
        Code::GoElsewhere,
        Code::TokenRequired,
        Code::TokenInvalid,
        Code::TokenExpired,
        Code::TokenEarly,
        Code::TokenScope,
        Code::TokenRevoked,
        Code::TokenTimeout,
        Code::CodeInvalid,
        Code::TooManyWaiting,
        Code::TooManyCodes,
        Code::TooManyRevocations,
        Code::BodyTooLarge,
        Code::TooManySessions,
        Code::TooManyBroadcasts,
        Code::TooManySubscriptions,
        Code::TooManyHandshakes,
    ];

    /// The code of a name; `None` of a name that a newer service may have.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }

    /// The first code that closes a WebSocket with this number.
    pub fn of_close(close: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.close() == close)
    }

    /// The name on the wire and in metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Code::BadRequest => "BAD_REQUEST",
            Code::NotFound => "NOT_FOUND",
            Code::MethodNotAllowed => "METHOD_NOT_ALLOWED",
            Code::HeadTooLarge => "HEAD_TOO_LARGE",
            Code::UpgradeTimeout => "UPGRADE_TIMEOUT",
            Code::UpgradeRequired => "UPGRADE_REQUIRED",
            Code::OriginDenied => "ORIGIN_DENIED",
            Code::TopicInvalid => "TOPIC_INVALID",
            Code::TopicReserved => "TOPIC_RESERVED",
            Code::TooManyTopics => "TOO_MANY_TOPICS",
            Code::PodFull => "POD_FULL",
            Code::TooManySockets => "TOO_MANY_SOCKETS",
            Code::NotReady => "NOT_READY",
            Code::BadFrame => "BAD_FRAME",
            Code::BadEncoding => "BAD_ENCODING",
            Code::MessageTooLarge => "MESSAGE_TOO_LARGE",
            Code::MessageTimeout => "MESSAGE_TIMEOUT",
            Code::PodMemory => "POD_MEMORY",
            Code::SlowConsumer => "SLOW_CONSUMER",
            Code::SocketIdle => "SOCKET_IDLE",
            Code::GoElsewhere => "GO_ELSEWHERE",
            Code::TokenRequired => "TOKEN_REQUIRED",
            Code::TokenInvalid => "TOKEN_INVALID",
            Code::TokenExpired => "TOKEN_EXPIRED",
            Code::TokenEarly => "TOKEN_EARLY",
            Code::TokenScope => "TOKEN_SCOPE",
            Code::TokenRevoked => "TOKEN_REVOKED",
            Code::TokenTimeout => "TOKEN_TIMEOUT",
            Code::CodeInvalid => "CODE_INVALID",
            Code::TooManyWaiting => "TOO_MANY_WAITING",
            Code::TooManyCodes => "TOO_MANY_CODES",
            Code::TooManyRevocations => "TOO_MANY_REVOCATIONS",
            Code::BodyTooLarge => "BODY_TOO_LARGE",
            Code::TooManySessions => "TOO_MANY_SESSIONS",
            Code::TooManyBroadcasts => "TOO_MANY_BROADCASTS",
            Code::TooManySubscriptions => "TOO_MANY_SUBSCRIPTIONS",
            Code::TooManyHandshakes => "TOO_MANY_HANDSHAKES",
        }
    }

    /// The HTTP status of a refusal.
    pub const fn http(self) -> u16 {
        match self {
            Code::BadRequest => 400,
            Code::NotFound => 404,
            Code::MethodNotAllowed => 405,
            Code::HeadTooLarge => 431,
            Code::UpgradeTimeout => 408,
            Code::UpgradeRequired => 426,
            Code::OriginDenied => 403,
            Code::TopicInvalid => 400,
            Code::TopicReserved => 400,
            Code::TooManyTopics => 503,
            Code::PodFull => 503,
            Code::TooManySockets => 429,
            Code::NotReady => 503,
            Code::BadFrame => 400,
            Code::BadEncoding => 400,
            Code::MessageTooLarge => 413,
            Code::MessageTimeout => 408,
            Code::PodMemory => 503,
            Code::SlowConsumer => 503,
            Code::SocketIdle => 408,
            Code::GoElsewhere => 503,
            Code::TokenRequired => 401,
            Code::TokenInvalid => 401,
            Code::TokenExpired => 401,
            Code::TokenEarly => 401,
            Code::TokenScope => 403,
            Code::TokenRevoked => 403,
            Code::TokenTimeout => 408,
            Code::CodeInvalid => 403,
            Code::TooManyWaiting => 503,
            Code::TooManyCodes => 503,
            Code::TooManyRevocations => 503,
            Code::BodyTooLarge => 413,
            Code::TooManySessions => 503,
            Code::TooManyBroadcasts => 429,
            Code::TooManySubscriptions => 429,
            Code::TooManyHandshakes => 503,
        }
    }

    /// The WebSocket close code.
    pub const fn close(self) -> u16 {
        match self {
            Code::BadRequest => 1002,
            Code::NotFound => 1008,
            Code::MethodNotAllowed => 1008,
            Code::HeadTooLarge => 1008,
            Code::UpgradeTimeout => 1008,
            Code::UpgradeRequired => 1008,
            Code::OriginDenied => 1008,
            Code::TopicInvalid => 1008,
            Code::TopicReserved => 1008,
            Code::TooManyTopics => 4504,
            Code::PodFull => 4504,
            Code::TooManySockets => 4428,
            Code::NotReady => 4505,
            Code::BadFrame => 1002,
            Code::BadEncoding => 1007,
            Code::MessageTooLarge => 1009,
            Code::MessageTimeout => 4433,
            Code::PodMemory => 1013,
            Code::SlowConsumer => 4430,
            Code::SocketIdle => 4432,
            Code::GoElsewhere => 1012,
            Code::TokenRequired => 4440,
            Code::TokenInvalid => 4441,
            Code::TokenExpired => 4442,
            Code::TokenEarly => 4443,
            Code::TokenScope => 4444,
            Code::TokenRevoked => 4445,
            Code::TokenTimeout => 4446,
            Code::CodeInvalid => 4447,
            Code::TooManyWaiting => 4504,
            Code::TooManyCodes => 4504,
            Code::TooManyRevocations => 4504,
            Code::BodyTooLarge => 1008,
            Code::TooManySessions => 4504,
            Code::TooManyBroadcasts => 4428,
            Code::TooManySubscriptions => 4428,
            Code::TooManyHandshakes => 4504,
        }
    }

    /// Whether the same request may succeed later.
    pub const fn retry(self) -> bool {
        matches!(self, Code::UpgradeTimeout | Code::TooManyTopics | Code::PodFull | Code::TooManySockets | Code::NotReady | Code::MessageTimeout | Code::PodMemory | Code::SlowConsumer | Code::SocketIdle | Code::GoElsewhere | Code::TokenEarly | Code::TokenTimeout | Code::TooManyWaiting | Code::TooManyCodes | Code::TooManyRevocations | Code::TooManySessions | Code::TooManyBroadcasts | Code::TooManySubscriptions | Code::TooManyHandshakes)
    }
}

/// What closes a session of media: the number of the code in `CONNECTION_CLOSE`, above 64 (MED-13).
pub mod session {
    /// PATH_INVALID
    pub const PATH_INVALID: u16 = 404;
    /// TOO_MANY_BROADCASTS
    pub const TOO_MANY_BROADCASTS: u16 = 429;
    /// TOO_MANY_SUBSCRIPTIONS
    pub const TOO_MANY_SUBSCRIPTIONS: u16 = 429;
    /// GO_ELSEWHERE
    pub const GO_ELSEWHERE: u16 = 503;
    /// POD_MEMORY
    pub const POD_MEMORY: u16 = 503;
    /// TOO_MANY_SESSIONS
    pub const TOO_MANY_SESSIONS: u16 = 503;
    /// NOT_READY
    pub const NOT_READY: u16 = 503;

    /// Names and numbers.
    pub const ALL: [(&str, u16); 7] = [
        ("PATH_INVALID", PATH_INVALID),
        ("TOO_MANY_BROADCASTS", TOO_MANY_BROADCASTS),
        ("TOO_MANY_SUBSCRIPTIONS", TOO_MANY_SUBSCRIPTIONS),
        ("GO_ELSEWHERE", GO_ELSEWHERE),
        ("POD_MEMORY", POD_MEMORY),
        ("TOO_MANY_SESSIONS", TOO_MANY_SESSIONS),
        ("NOT_READY", NOT_READY),
    ];
}
