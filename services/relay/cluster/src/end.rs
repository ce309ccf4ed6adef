//! Why a link between two pods ended, in words that do not change: in the log and in metrics. Rule STR-98.

/// Why a link ended, or was not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// The other side closed, or vanished.
    Peer,
    /// Nothing was heard for `link.idleTimeout`.
    Dead,
    /// This pod goes.
    Leaving,
    /// A newer link of the same pod took its place.
    Replaced,
    /// A later run of the other side's pod is linked.
    Epoch,
    /// The other side could not be reached.
    Unreachable,
    /// It was not opened within `link.openTimeout`.
    Timeout,
    /// Another version of the wire.
    Version,
    /// No certificate, or not the one in the lease of the pod that the other side should be, or says it is.
    Certificate,
    /// What came is no frame of a link.
    Frame,
    /// A batch larger than any may be.
    TooLarge,
    /// A number that was never given to a topic, or was given before, or a topic that has one.
    Number,
    /// The pod has `link.peers`.
    Full,
}

impl End {
    /// All of them.
    pub const ALL: [End; 13] = [
        End::Peer,
        End::Dead,
        End::Leaving,
        End::Replaced,
        End::Epoch,
        End::Unreachable,
        End::Timeout,
        End::Version,
        End::Certificate,
        End::Frame,
        End::TooLarge,
        End::Number,
        End::Full,
    ];

    /// The name in the log and in metrics.
    pub const fn name(self) -> &'static str {
        match self {
            End::Peer => "LINK_CLOSED",
            End::Dead => "LINK_IDLE_TIMEOUT",
            End::Leaving => "LINK_DRAINING",
            End::Replaced => "LINK_REPLACED",
            End::Epoch => "LINK_STALE_EPOCH",
            End::Unreachable => "LINK_UNREACHABLE",
            End::Timeout => "LINK_TIMEOUT",
            End::Version => "LINK_VERSION_MISMATCH",
            End::Certificate => "LINK_CERTIFICATE_INVALID",
            End::Frame => "LINK_PROTOCOL_ERROR",
            End::TooLarge => "LINK_TOO_LARGE",
            End::Number => "LINK_SUBSCRIPTION_ID",
            End::Full => "LINK_FULL",
        }
    }
}
