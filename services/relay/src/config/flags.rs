//! The command line, and the names of the same settings in the environment. Rule STR-80.
use clap::Parser;
use std::path::PathBuf;

/// Relays stream topics over WebSocket.
#[derive(Debug, Default, Parser)]
#[command(name = "parley-relay", version, disable_help_subcommand = true)]
pub(super) struct Flags {
    /// Settings file (TOML) [none]
    #[arg(long, env = "PARLEY_RELAY_CONFIG", value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Address and port to listen on [0.0.0.0:8111]
    #[arg(long, env = "PARLEY_RELAY_LISTEN", value_name = "ADDRESS:PORT")]
    pub(super) listen: Option<String>,
    /// Address and port on which health, readiness and metrics answer too, whatever clients do [none]
    #[arg(long, env = "PARLEY_RELAY_OPS_LISTEN", value_name = "ADDRESS:PORT")]
    pub(super) ops_listen: Option<String>,
    /// Threads that relay; 0: as many as there are processors to use [0]
    #[arg(long, env = "PARLEY_RELAY_THREADS", value_name = "N")]
    pub(super) threads: Option<String>,
    /// Origins of pages that may open sockets, by commas; *: any [*]
    #[arg(long, env = "PARLEY_RELAY_ORIGINS", value_name = "ORIGINS")]
    pub(super) origins: Option<String>,
    /// Whether tokens are asked for: open or token [open]
    #[arg(long, env = "PARLEY_RELAY_ACCESS", value_name = "open|token")]
    pub(super) access: Option<String>,
    /// What tokens are made for [parley:streams]
    #[arg(long, env = "PARLEY_RELAY_AUDIENCE", value_name = "NAME")]
    pub(super) audience: Option<String>,
    /// Key set that tokens with a kid are verified with (JSON) [none]
    #[arg(long, env = "PARLEY_RELAY_KEYS", value_name = "FILE")]
    pub(super) keys: Option<String>,
    /// File with the secret of tokens without a kid; itself it may only be in PARLEY_RELAY_TOKEN_SECRET [none]
    #[arg(long, env = "PARLEY_RELAY_TOKEN_SECRET_FILE", value_name = "FILE")]
    pub(super) token_secret_file: Option<String>,
    /// Proxies in front that may be believed about X-Forwarded-For [0]
    #[arg(long, env = "PARLEY_RELAY_TRUSTED_PROXIES", value_name = "N")]
    pub(super) trusted_proxies: Option<String>,
    /// Topics that keep their last messages for late joiners: prefix=N, by commas [none]
    #[arg(long, env = "PARLEY_RELAY_REPLAY", value_name = "PREFIX=N")]
    pub(super) replay: Option<String>,
    /// Whether /ws and /stats answer: on or off [on]
    #[arg(long, env = "PARLEY_RELAY_STATS", value_name = "on|off")]
    pub(super) stats: Option<String>,
    /// NATS servers on which pods find each other, by commas: nats://HOST:PORT [none: one pod alone]
    #[arg(long, env = "PARLEY_RELAY_NATS", value_name = "SERVERS")]
    pub(super) nats: Option<String>,
    /// User there [none]
    #[arg(long, env = "PARLEY_RELAY_NATS_USER", value_name = "USER")]
    pub(super) nats_user: Option<String>,
    /// Its password; better in the environment, where a list of processes does not show it [none]
    #[arg(long, env = "PARLEY_RELAY_NATS_PASSWORD", value_name = "PASSWORD")]
    pub(super) nats_password: Option<String>,
    /// File with its password [none]
    #[arg(long, env = "PARLEY_RELAY_NATS_PASSWORD_FILE", value_name = "FILE")]
    pub(super) nats_password_file: Option<String>,
    /// CAs that certify the NATS servers (PEM), read again at each connection: TLS from the first byte, and no other CA [none]
    #[arg(long, env = "PARLEY_RELAY_NATS_CA", value_name = "FILE")]
    pub(super) nats_ca: Option<String>,
    /// The pod's name among others: letters, digits, - and _ [its link address]
    #[arg(long, env = "PARLEY_RELAY_POD", value_name = "NAME")]
    pub(super) pod: Option<String>,
    /// Pods of one region link [local]
    #[arg(long, env = "PARLEY_RELAY_REGION", value_name = "NAME")]
    pub(super) region: Option<String>,
    /// Where in the region [local]
    #[arg(long, env = "PARLEY_RELAY_ZONE", value_name = "NAME")]
    pub(super) zone: Option<String>,
    /// Address and port for links from other pods [0.0.0.0:8112]
    #[arg(long, env = "PARLEY_RELAY_LINK_LISTEN", value_name = "ADDRESS:PORT")]
    pub(super) link_listen: Option<String>,
    /// Where other pods reach it [link-listen, if it is one address]
    #[arg(long, env = "PARLEY_RELAY_LINK_ADVERTISE", value_name = "ADDRESS:PORT")]
    pub(super) link_advertise: Option<String>,
    /// Address and port for media, over UDP: QUIC and WebTransport [none: it carries no media]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_LISTEN", value_name = "ADDRESS:PORT")]
    pub(super) media_listen: Option<String>,
    /// Address and port for media over WebSocket, where the edge leads clients without WebTransport [media-listen's, over TCP]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_WEBSOCKET_LISTEN", value_name = "ADDRESS:PORT")]
    pub(super) media_websocket_listen: Option<String>,
    /// Where other pods reach media-listen [media-listen, if it is one address]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_ADVERTISE", value_name = "ADDRESS:PORT")]
    pub(super) media_advertise: Option<String>,
    /// Where clients reach media-listen: https://HOST:PORT/ [media-listen, if it is this machine alone]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_URL", value_name = "URL")]
    pub(super) media_url: Option<String>,
    /// Hosts of relays that clients may be sent to, by commas: names, *.names, blocks of addresses [any that a relay can have]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_HOSTS", value_name = "HOSTS")]
    pub(super) media_hosts: Option<String>,
    /// Place in the tree of relays: origin or leaf [origin]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_ROLE", value_name = "origin|leaf")]
    pub(super) media_role: Option<String>,
    /// Key set that tokens for media are verified with (JSON) [the keys of access token; none with access open]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_KEYS", value_name = "FILE")]
    pub(super) media_keys: Option<String>,
    /// Directory for certificates of its own, which clients pin [a new one, which ends with the relay]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_CERTIFICATE_DIR", value_name = "DIRECTORY")]
    pub(super) media_certificate_dir: Option<String>,
    /// Certificate chain of a public CA for media-url's host (PEM), read again when it is replaced [its own certificates]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_CERTIFICATE", value_name = "FILE")]
    pub(super) media_certificate: Option<String>,
    /// Its key (PEM) [none]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_KEY", value_name = "FILE")]
    pub(super) media_key: Option<String>,
    /// error, warn, info, debug or trace [info]
    #[arg(long, env = "PARLEY_RELAY_LOG_LEVEL", value_name = "LEVEL")]
    pub(super) log_level: Option<String>,
    /// Change a limit: name=value; may be given again. Names and defaults: README.md
    #[arg(long = "limit", value_name = "NAME=VALUE")]
    pub(super) limits: Vec<String>,
}
