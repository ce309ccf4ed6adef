//! The settings of a pod that carries media. Without `media-listen` it carries none. Rules STR-80, STR-81 and MEDIA-1.
use super::Refused;
use super::access::key_set;
use super::address::{address, without_brackets_of_ipv4};
use parley_access::Keys;
use parley_cluster::endpoint::Role;
use parley_cluster::url::Url;
use parley_media::hosts::Hosts;
use parley_media::{Certificates, Config};
use std::net::SocketAddr;

/// The settings of media.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Flags {
    /// Address and port for media over UDP: QUIC and WebTransport [none: no media]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_LISTEN", value_name = "ADDRESS:PORT")]
    pub(super) media_listen: Option<String>,
    /// Address and port for media over WebSocket, to which the edge forwards clients without WebTransport [media-listen, over TCP]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_WEBSOCKET_LISTEN", value_name = "ADDRESS:PORT")]
    pub(super) media_websocket_listen: Option<String>,
    /// Address and port at which other pods reach media-listen [media-listen, if it is one address]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_ADVERTISE", value_name = "ADDRESS:PORT")]
    pub(super) media_advertise: Option<String>,
    /// URL at which clients reach media-listen: https://HOST:PORT/ [media-listen, if it is a loopback address]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_URL", value_name = "URL")]
    pub(super) media_url: Option<String>,
    /// Hosts of relays to which clients may be redirected, and of origins of other regions, separated by commas: names, *.names, blocks of addresses [any that a relay can have]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_HOSTS", value_name = "HOSTS")]
    pub(super) media_hosts: Option<String>,
    /// Role in the tree of relays: origin or leaf [origin]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_ROLE", value_name = "origin|leaf")]
    pub(super) media_role: Option<String>,
    /// Key set that verifies tokens for media (JSON) [the keys of access token; none with access open]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_KEYS", value_name = "FILE")]
    pub(super) media_keys: Option<String>,
    /// Directory for the relay's own certificates, which clients pin [a temporary one]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_CERTIFICATE_DIR", value_name = "DIRECTORY")]
    pub(super) media_certificate_dir: Option<String>,
    /// Certificate chain of a public CA for the host of media-url (PEM), read again when it is replaced [the relay's own certificates]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_CERTIFICATE", value_name = "FILE")]
    pub(super) media_certificate: Option<String>,
    /// Private key of the certificate (PEM) [none]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_KEY", value_name = "FILE")]
    pub(super) media_key: Option<String>,
    /// URL of the OTLP/HTTP receiver of a collector, for spans of sessions: http://HOST:4318/v1/traces [none: no traces]
    #[arg(long, env = "PARLEY_RELAY_MEDIA_TRACES_URL", value_name = "URL")]
    pub(super) media_traces_url: Option<String>,
}

/// Returns the configuration of media; `None`: the pod carries none. `stream_keys` verify tokens for streams, where streams need tokens.
pub(super) fn read(flags: Flags, clustered: bool, stream_keys: Option<Keys>) -> Result<Option<Config>, Refused> {
    let Some(listen) = &flags.media_listen else { return no_media(&flags) };
    let listen = address("media-listen", listen)?;
    let websocket =
        flags.media_websocket_listen.as_deref().map(|text| address("media-websocket-listen", text)).transpose()?;
    let role = match flags.media_role.as_deref() {
        None | Some("origin") => Role::Origin,
        Some("leaf") => Role::Leaf,
        Some(other) => return refuse(format!("media-role must be origin or leaf, not {other}")),
    };
    if role == Role::Leaf && !clustered {
        return refuse("media-role leaf needs nats: without it there is no origin to get from");
    }
    Ok(Some(Config {
        listen,
        websocket: websocket.unwrap_or(listen),
        advertise: advertise(&flags, clustered, listen)?,
        url: url(&flags, listen)?,
        hosts: Hosts::parse(flags.media_hosts.as_deref().unwrap_or_default()).map_err(|entry| {
            Refused::Setting(format!("media-hosts must be names, *.names and address blocks by commas, not {entry}"))
        })?,
        role,
        keys: match &flags.media_keys {
            Some(path) => Some(key_set(Keys::default(), path)?),
            None => stream_keys,
        },
        traces_url: flags.media_traces_url.as_deref().map(traces_url).transpose()?,
        certificates: certificates(flags)?,
    }))
}

fn advertise(flags: &Flags, clustered: bool, listen: SocketAddr) -> Result<Option<SocketAddr>, Refused> {
    match &flags.media_advertise {
        Some(_) if !clustered => refuse("media-advertise needs nats: without it a relay is one pod alone"),
        Some(text) => address("media-advertise", text).map(Some),
        None if clustered && listen.ip().is_unspecified() => refuse(format!(
            "media-advertise must say where other pods reach media-listen, as {listen} is every address"
        )),
        None => Ok(None),
    }
}

fn url(flags: &Flags, listen: SocketAddr) -> Result<Option<Url>, Refused> {
    match &flags.media_url {
        Some(text) => {
            let url = Url::try_from(without_brackets_of_ipv4(text));
            url.map(Some).map_err(|error| Refused::Setting(format!("media-url {error}, not {text}")))
        }
        None if listen.ip().is_loopback() => Ok(None),
        None => refuse(format!("media-url must say where clients reach {listen}: https://HOST:PORT/")),
    }
}

fn traces_url(text: &str) -> Result<String, Refused> {
    let address = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    match address.and_then(|address| address.split_once('/')) {
        Some((host, path)) if !host.is_empty() && !path.is_empty() => Ok(text.to_owned()),
        _ => refuse(format!("media-traces-url must be like http://HOST:4318/v1/traces, not {text}")),
    }
}

fn certificates(flags: Flags) -> Result<Certificates, Refused> {
    match (flags.media_certificate, flags.media_key, flags.media_certificate_dir) {
        (Some(certificate), Some(key), None) => {
            Ok(Certificates::Public { certificate: certificate.into(), key: key.into() })
        }
        (None, None, directory) => Ok(Certificates::Pinned(directory.map(Into::into))),
        (Some(_), Some(_), Some(_)) => refuse(
            "media-certificate-dir is for certificates of the relay's own: set it, or media-certificate and media-key",
        ),
        _ => refuse("media-certificate and media-key must be set together"),
    }
}

/// Refuses settings that have no effect without `media-listen`.
fn no_media(flags: &Flags) -> Result<Option<Config>, Refused> {
    let idle = [
        ("media-websocket-listen", &flags.media_websocket_listen),
        ("media-advertise", &flags.media_advertise),
        ("media-url", &flags.media_url),
        ("media-hosts", &flags.media_hosts),
        ("media-role", &flags.media_role),
        ("media-keys", &flags.media_keys),
        ("media-certificate-dir", &flags.media_certificate_dir),
        ("media-certificate", &flags.media_certificate),
        ("media-key", &flags.media_key),
        ("media-traces-url", &flags.media_traces_url),
    ];
    match idle.iter().find(|(_, value)| value.is_some()) {
        Some((name, _)) => refuse(format!("{name} needs media-listen: without it a relay carries no media")),
        None => Ok(None),
    }
}

fn refuse<T>(sentence: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::Setting(sentence.into()))
}
