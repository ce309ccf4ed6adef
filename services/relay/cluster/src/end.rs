//! The reasons for which a link between two pods ends, with stable names for the log and for metrics. Rule STR-98.

/// The reason for which a link ended or was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// The peer closed the link, or vanished.
    Peer,
    /// The peer sent nothing for `link.idleTimeout`.
    IdleTimeout,
    /// This pod drains.
    Draining,
    /// A newer link of the same pod replaced it.
    Replaced,
    /// A later run of the peer's pod is linked.
    StaleEpoch,
    /// The peer could not be reached.
    Unreachable,
    /// The link did not open within `link.openTimeout`.
    Timeout,
    /// The peer has another version of the protocol.
    Version,
    /// The peer presented no certificate, or not the one in the lease of its pod.
    Certificate,
    /// The peer sent bytes that are not a frame of the protocol.
    Frame,
    /// The peer sent a batch over the size limit.
    TooLarge,
    /// The peer sent an unknown or a used number, or subscribed twice to one topic.
    SubscriptionId,
    /// The peer requested or sent messages of a hop that its link does not carry.
    Hop,
    /// The pod has `link.peers` links, or `link.ocean.peers` of another region.
    Full,
}

impl End {
    /// All reasons.
    pub const ALL: [End; 14] = [
        End::Peer,
        End::IdleTimeout,
        End::Draining,
        End::Replaced,
        End::StaleEpoch,
        End::Unreachable,
        End::Timeout,
        End::Version,
        End::Certificate,
        End::Frame,
        End::TooLarge,
        End::SubscriptionId,
        End::Hop,
        End::Full,
    ];

    /// The name in the log and in metrics.
    pub const fn name(self) -> &'static str {
        match self {
            End::Peer => "LINK_CLOSED",
            End::IdleTimeout => "LINK_IDLE_TIMEOUT",
            End::Draining => "LINK_DRAINING",
            End::Replaced => "LINK_REPLACED",
            End::StaleEpoch => "LINK_STALE_EPOCH",
            End::Unreachable => "LINK_UNREACHABLE",
            End::Timeout => "LINK_TIMEOUT",
            End::Version => "LINK_VERSION_MISMATCH",
            End::Certificate => "LINK_CERTIFICATE_INVALID",
            End::Frame => "LINK_PROTOCOL_ERROR",
            End::TooLarge => "LINK_TOO_LARGE",
            End::SubscriptionId => "LINK_SUBSCRIPTION_ID",
            End::Hop => "LINK_HOP_INVALID",
            End::Full => "LINK_FULL",
        }
    }
}
