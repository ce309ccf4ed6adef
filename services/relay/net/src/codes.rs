//! The relay's stable codes, with HTTP status and WebSocket close code. Those that signaling has too mean the same there.

/// What went wrong, in a word that does not change.
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
    /// All of them, for metrics and documentation.
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

    /// The name on the wire and in metrics.
    pub const fn name(self) -> &'static str {
        self.entry().0
    }

    /// The HTTP status of a refusal.
    pub const fn http(self) -> u16 {
        self.entry().1
    }

    /// The close code of a socket that was open already.
    pub const fn close(self) -> u16 {
        self.entry().2
    }

    /// The same request may succeed later.
    pub const fn retry(self) -> bool {
        self.entry().3
    }

    const fn entry(self) -> (&'static str, u16, u16, bool) {
        match self {
            Code::BadRequest => ("BAD_REQUEST", 400, 1002, false),
            Code::NotFound => ("NOT_FOUND", 404, 1008, false),
            Code::MethodNotAllowed => ("METHOD_NOT_ALLOWED", 405, 1008, false),
            Code::HeadTooLarge => ("HEAD_TOO_LARGE", 431, 1008, false),
            Code::UpgradeTimeout => ("UPGRADE_TIMEOUT", 408, 1008, true),
            Code::UpgradeRequired => ("UPGRADE_REQUIRED", 426, 1008, false),
            Code::OriginDenied => ("ORIGIN_DENIED", 403, 1008, false),
            Code::TopicInvalid => ("TOPIC_INVALID", 400, 1008, false),
            Code::TopicReserved => ("TOPIC_RESERVED", 400, 1008, false),
            Code::TooManyTopics => ("TOO_MANY_TOPICS", 503, 4504, true),
            Code::PodFull => ("POD_FULL", 503, 4504, true),
            Code::TooManySockets => ("TOO_MANY_SOCKETS", 429, 4428, true),
            Code::NotReady => ("NOT_READY", 503, 4505, true),
            Code::BadFrame => ("BAD_FRAME", 400, 1002, false),
            Code::BadEncoding => ("BAD_ENCODING", 400, 1007, false),
            Code::MessageTooLarge => ("MESSAGE_TOO_LARGE", 413, 1009, false),
            Code::MessageTimeout => ("MESSAGE_TIMEOUT", 408, 4433, true),
            Code::PodMemory => ("POD_MEMORY", 503, 1013, true),
            Code::SlowConsumer => ("SLOW_CONSUMER", 503, 4430, true),
            Code::SocketIdle => ("SOCKET_IDLE", 408, 4432, true),
            Code::GoElsewhere => ("GO_ELSEWHERE", 503, 1012, true),
            Code::TokenRequired => ("TOKEN_REQUIRED", 401, 4440, false),
            Code::TokenInvalid => ("TOKEN_INVALID", 401, 4441, false),
            Code::TokenExpired => ("TOKEN_EXPIRED", 401, 4442, false),
            Code::TokenEarly => ("TOKEN_EARLY", 401, 4443, true),
            Code::TokenScope => ("TOKEN_SCOPE", 403, 4444, false),
            Code::TokenRevoked => ("TOKEN_REVOKED", 403, 4445, false),
            Code::TokenTimeout => ("TOKEN_TIMEOUT", 408, 4446, true),
            Code::CodeInvalid => ("CODE_INVALID", 403, 4447, false),
            Code::TooManyWaiting => ("TOO_MANY_WAITING", 503, 4504, true),
            Code::TooManyCodes => ("TOO_MANY_CODES", 503, 4504, true),
            Code::TooManyRevocations => ("TOO_MANY_REVOCATIONS", 503, 4504, true),
            Code::BodyTooLarge => ("BODY_TOO_LARGE", 413, 1008, false),
            Code::TooManySessions => ("TOO_MANY_SESSIONS", 503, 4504, true),
            Code::TooManyBroadcasts => ("TOO_MANY_BROADCASTS", 429, 4428, true),
            Code::TooManySubscriptions => ("TOO_MANY_SUBSCRIPTIONS", 429, 4428, true),
            Code::TooManyHandshakes => ("TOO_MANY_HANDSHAKES", 503, 4504, true),
        }
    }
}
