//! The settings of a pod that carries media. Without `media-listen` it carries none. Rules STR-80, STR-81 and MEDIA-1.
use super::access::key_set;
use super::{Refused, address};
use parley_access::Keys;
use parley_cluster::endpoint::Role;
use parley_cluster::url::Url;
use parley_media::hosts::Hosts;
use parley_media::{Certificates, Config};
use std::net::SocketAddr;

/// What was given, from wherever.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) listen: Option<String>,
    pub(super) websocket: Option<String>,
    pub(super) advertise: Option<String>,
    pub(super) url: Option<String>,
    pub(super) hosts: Option<String>,
    pub(super) role: Option<String>,
    pub(super) keys: Option<String>,
    pub(super) directory: Option<String>,
    pub(super) certificate: Option<String>,
    pub(super) key: Option<String>,
    /// Whether there is NATS.
    pub(super) among_others: bool,
    /// What tokens for streams are verified with, where they are asked for.
    pub(super) stream_keys: Option<Keys>,
}

pub(super) fn read(given: Given) -> Result<Option<Config>, Refused> {
    let Some(listen) = &given.listen else { return no_media(&given) };
    let listen = address("media-listen", listen)?;
    let websocket = given.websocket.as_deref().map(|text| address("media-websocket-listen", text)).transpose()?;
    let role = match given.role.as_deref() {
        None | Some("origin") => Role::Origin,
        Some("leaf") => Role::Leaf,
        Some(other) => return refuse(format!("media-role must be origin or leaf, not {other}")),
    };
    if role == Role::Leaf && !given.among_others {
        return refuse("media-role leaf needs nats: without it there is no origin to get from");
    }
    Ok(Some(Config {
        listen,
        websocket: websocket.unwrap_or(listen),
        advertise: advertise(&given, listen)?,
        url: url(&given, listen)?,
        hosts: Hosts::parse(given.hosts.as_deref().unwrap_or_default()).map_err(|entry| {
            Refused::Setting(format!("media-hosts must be names, *.names and address blocks by commas, not {entry}"))
        })?,
        role,
        keys: match &given.keys {
            Some(path) => Some(key_set(Keys::default(), path)?),
            None => given.stream_keys.clone(),
        },
        certificates: certificates(given)?,
    }))
}

fn advertise(given: &Given, listen: SocketAddr) -> Result<Option<SocketAddr>, Refused> {
    match &given.advertise {
        Some(_) if !given.among_others => refuse("media-advertise needs nats: without it a relay is one pod alone"),
        Some(text) => address("media-advertise", text).map(Some),
        None if given.among_others && listen.ip().is_unspecified() => refuse(format!(
            "media-advertise must say where other pods reach media-listen, as {listen} is every address"
        )),
        None => Ok(None),
    }
}

fn url(given: &Given, listen: SocketAddr) -> Result<Option<Url>, Refused> {
    match &given.url {
        Some(text) => {
            let url = Url::try_from(text.clone());
            url.map(Some).map_err(|why| Refused::Setting(format!("media-url {why}, not {text}")))
        }
        None if listen.ip().is_loopback() => Ok(None),
        None => refuse(format!("media-url must say where clients reach {listen}: https://HOST:PORT/")),
    }
}

fn certificates(given: Given) -> Result<Certificates, Refused> {
    match (given.certificate, given.key, given.directory) {
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

/// Settings that do nothing without `media-listen` are a mistake.
fn no_media(given: &Given) -> Result<Option<Config>, Refused> {
    let idle = [
        ("media-websocket-listen", &given.websocket),
        ("media-advertise", &given.advertise),
        ("media-url", &given.url),
        ("media-hosts", &given.hosts),
        ("media-role", &given.role),
        ("media-keys", &given.keys),
        ("media-certificate-dir", &given.directory),
        ("media-certificate", &given.certificate),
        ("media-key", &given.key),
    ];
    match idle.iter().find(|(_, value)| value.is_some()) {
        Some((name, _)) => refuse(format!("{name} needs media-listen: without it a relay carries no media")),
        None => Ok(None),
    }
}

fn refuse<T>(sentence: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::Setting(sentence.into()))
}
