//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.

/// A stable code of a refusal or an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// The request is not HTTP, or not supported by this server.
    BadRequest,
    /// No resource exists at this address.
    NotFound,
    /// The method is neither GET nor HEAD.
    MethodNotAllowed,
    /// The request's head exceeds `headers.bytes`, or has too many headers.
    HeadersTooLarge,
    /// The head was not complete within `headers.timeout`.
    UpgradeTimeout,
    /// A topic requires a WebSocket.
    UpgradeRequired,
    /// Pages of this origin are not allowed to use the relay.
    OriginDenied,
    /// The path is not a topic.
    TopicInvalid,
    /// The path begins with a reserved name.
    TopicReserved,
    /// The pod has `pod.topics` topics.
    TooManyTopics,
    /// The pod has `pod.sockets` sockets.
    PodFull,
    /// The network has `address.sockets` sockets.
    TooManySockets,
    /// The pod drains, or NATS is disconnected and the request needs other pods.
    NotReady,
    /// The frame violates RFC 6455.
    BadFrame,
    /// A text message is not valid UTF-8.
    BadEncoding,
    /// A message exceeds `stream.messageBytes`, or `stream.fragments`.
    MessageTooLarge,
    /// A message was not complete within `stream.messageTimeout`.
    MessageTimeout,
    /// The pod exceeds a memory limit, or the network `address.reassemblyBytes`: `pod.reassemblyBytes`, `pod.queuedBytes`, or twice `media.cacheBytes`.
    MemoryLimitExceeded,
    /// The reader received nothing for `reader.stallTimeout`.
    SlowConsumer,
    /// The client sent nothing for `socket.idleTimeout`.
    IdleTimeout,
    /// The pod drains.
    Goaway,
    /// The topic requires a token and the request has none.
    TokenRequired,
    /// The form, key, algorithm, size or lifetime of the token is invalid.
    TokenInvalid,
    /// The token has expired.
    TokenExpired,
    /// The token is not valid yet (`nbf`, `iat`).
    TokenNotYetValid,
    /// The token is valid, but does not grant this request.
    TokenInsufficientScope,
    /// The token, or its subject, was revoked.
    TokenRevoked,
    /// The client sent no token within `token.timeout`.
    TokenTimeout,
    /// The code is not for this path, was used, or is older than `code.lifetime`.
    CodeInvalid,
    /// The pod has `pod.unauthenticated` sockets that have not sent a token, or the network `address.unauthenticated`.
    TooManyUnauthenticated,
    /// The pod has `pod.codes` codes, or the network `address.codes`.
    TooManyCodes,
    /// The pod has `pod.revocations` revocations; this one was refused.
    TooManyRevocations,
    /// The body of the request exceeds `body.bytes`.
    BodyTooLarge,
    /// The pod has `media.sessions` sessions, or the network `media.addressSessions`.
    TooManySessions,
    /// The session publishes more than `media.broadcasts`.
    TooManyBroadcasts,
    /// The session subscribes to more than `media.subscriptions` tracks.
    TooManySubscriptions,
    /// The pod has `media.handshakes` handshakes in progress.
    TooManyHandshakes,
}

impl Code {
    /// All codes.
    pub const ALL: [Code; 37] = [
        Code::BadRequest,
        Code::NotFound,
        Code::MethodNotAllowed,
        Code::HeadersTooLarge,
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
        Code::MemoryLimitExceeded,
        Code::SlowConsumer,
        Code::IdleTimeout,
        Code::Goaway,
        Code::TokenRequired,
        Code::TokenInvalid,
        Code::TokenExpired,
        Code::TokenNotYetValid,
        Code::TokenInsufficientScope,
        Code::TokenRevoked,
        Code::TokenTimeout,
        Code::CodeInvalid,
        Code::TooManyUnauthenticated,
        Code::TooManyCodes,
        Code::TooManyRevocations,
        Code::BodyTooLarge,
        Code::TooManySessions,
        Code::TooManyBroadcasts,
        Code::TooManySubscriptions,
        Code::TooManyHandshakes,
    ];

    /// The code with this name; `None` for an unknown name, such as one of a newer service.
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
            Code::HeadersTooLarge => "HEADERS_TOO_LARGE",
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
            Code::MemoryLimitExceeded => "MEMORY_LIMIT_EXCEEDED",
            Code::SlowConsumer => "SLOW_CONSUMER",
            Code::IdleTimeout => "IDLE_TIMEOUT",
            Code::Goaway => "GOAWAY",
            Code::TokenRequired => "TOKEN_REQUIRED",
            Code::TokenInvalid => "TOKEN_INVALID",
            Code::TokenExpired => "TOKEN_EXPIRED",
            Code::TokenNotYetValid => "TOKEN_NOT_YET_VALID",
            Code::TokenInsufficientScope => "TOKEN_INSUFFICIENT_SCOPE",
            Code::TokenRevoked => "TOKEN_REVOKED",
            Code::TokenTimeout => "TOKEN_TIMEOUT",
            Code::CodeInvalid => "CODE_INVALID",
            Code::TooManyUnauthenticated => "TOO_MANY_UNAUTHENTICATED",
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
            Code::HeadersTooLarge => 431,
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
            Code::MemoryLimitExceeded => 503,
            Code::SlowConsumer => 503,
            Code::IdleTimeout => 408,
            Code::Goaway => 503,
            Code::TokenRequired => 401,
            Code::TokenInvalid => 401,
            Code::TokenExpired => 401,
            Code::TokenNotYetValid => 401,
            Code::TokenInsufficientScope => 403,
            Code::TokenRevoked => 403,
            Code::TokenTimeout => 408,
            Code::CodeInvalid => 403,
            Code::TooManyUnauthenticated => 503,
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
            Code::HeadersTooLarge => 1008,
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
            Code::MemoryLimitExceeded => 1013,
            Code::SlowConsumer => 4430,
            Code::IdleTimeout => 4432,
            Code::Goaway => 1012,
            Code::TokenRequired => 4440,
            Code::TokenInvalid => 4441,
            Code::TokenExpired => 4442,
            Code::TokenNotYetValid => 4443,
            Code::TokenInsufficientScope => 4444,
            Code::TokenRevoked => 4445,
            Code::TokenTimeout => 4446,
            Code::CodeInvalid => 4447,
            Code::TooManyUnauthenticated => 4504,
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
        matches!(self, Code::UpgradeTimeout | Code::TooManyTopics | Code::PodFull | Code::TooManySockets | Code::NotReady | Code::MessageTimeout | Code::MemoryLimitExceeded | Code::SlowConsumer | Code::IdleTimeout | Code::Goaway | Code::TokenNotYetValid | Code::TokenTimeout | Code::TooManyUnauthenticated | Code::TooManyCodes | Code::TooManyRevocations | Code::TooManySessions | Code::TooManyBroadcasts | Code::TooManySubscriptions | Code::TooManyHandshakes)
    }
}

/// The codes that close a media session: their number in `CONNECTION_CLOSE`, above 64 (MED-13).
pub mod session {
    /// PATH_INVALID
    pub const PATH_INVALID: u16 = 404;
    /// TOO_MANY_BROADCASTS
    pub const TOO_MANY_BROADCASTS: u16 = 429;
    /// TOO_MANY_SUBSCRIPTIONS
    pub const TOO_MANY_SUBSCRIPTIONS: u16 = 429;
    /// GOAWAY
    pub const GOAWAY: u16 = 503;
    /// MEMORY_LIMIT_EXCEEDED
    pub const MEMORY_LIMIT_EXCEEDED: u16 = 503;
    /// TOO_MANY_SESSIONS
    pub const TOO_MANY_SESSIONS: u16 = 503;
    /// NOT_READY
    pub const NOT_READY: u16 = 503;

    /// Names and numbers.
    pub const ALL: [(&str, u16); 7] = [
        ("PATH_INVALID", PATH_INVALID),
        ("TOO_MANY_BROADCASTS", TOO_MANY_BROADCASTS),
        ("TOO_MANY_SUBSCRIPTIONS", TOO_MANY_SUBSCRIPTIONS),
        ("GOAWAY", GOAWAY),
        ("MEMORY_LIMIT_EXCEEDED", MEMORY_LIMIT_EXCEEDED),
        ("TOO_MANY_SESSIONS", TOO_MANY_SESSIONS),
        ("NOT_READY", NOT_READY),
    ];
}
