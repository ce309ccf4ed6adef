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
    /// The address has `address.sockets` sockets.
    TooManySockets,
    /// The pod drains.
    NotReady,
    /// Not a frame of RFC 6455.
    BadFrame,
    /// A text message that is not UTF-8.
    BadEncoding,
    /// A message over `stream.messageBytes`, or in more than `stream.fragments`.
    MessageTooLarge,
    /// A message that was not complete within `stream.messageTime`.
    MessageTimeout,
    /// The pod holds `pod.assemblyBytes` of incomplete messages.
    PodMemory,
    /// The reader took nothing for `reader.stuckTime`.
    SlowConsumer,
    /// Nothing was heard for `socket.idleTimeout`.
    SocketIdle,
    /// The pod is going away.
    GoElsewhere,
}

impl Code {
    /// All of them, for metrics and documentation.
    pub const ALL: [Code; 21] = [
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
        }
    }
}
