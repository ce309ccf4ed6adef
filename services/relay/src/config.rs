//! The settings of a pod: a flag has precedence over the environment, and that over the settings file. An unknown name is refused in each,
//! as a typing mistake must not become a default. Rules STR-80 to STR-82.
use crate::limits::{self, LIMITS, Limits};
use address::address;
use clap::CommandFactory;
use file::File;
use flags::Flags;
use parley_access::{Keys, Rules};
use parley_net::origins::Origins;
use parley_streams::replay::Rule;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::SocketAddr;

mod access;
mod address;
mod cluster;
mod file;
mod flags;
mod media;

/// The settings of a pod.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Address and port to listen on.
    pub listen: SocketAddr,
    /// A second address that answers probes and scrapers only; `None`: `listen` answers them.
    pub ops_listen: Option<SocketAddr>,
    /// The number of threads of the runtime.
    pub threads: usize,
    /// The origins of pages that may open sockets.
    pub origins: Origins,
    /// The rules for tokens; `None`: access is open.
    pub access: Option<Rules>,
    /// The files of key sets, to be read again when they are replaced.
    pub key_files: Vec<KeyFile>,
    /// The number of proxies in front of the relay whose entries in X-Forwarded-For are trusted.
    pub trusted_proxies: usize,
    /// The topics that keep messages for late subscribers.
    pub replay: Vec<Rule>,
    /// Whether `/ws` and `/stats` are served.
    pub stats: bool,
    /// The cluster that the pod is part of; `None`: the pod is alone.
    pub cluster: Option<parley_cluster::Config>,
    /// Media over QUIC; `None`: the pod carries no media.
    pub media: Option<parley_media::Config>,
    /// The least severe level that is logged.
    pub log_level: tracing::Level,
    /// The limits.
    pub limits: Limits,
}

/// A file with a key set, and the keys that were read from it.
#[derive(Clone, Debug)]
pub struct KeyFile {
    /// Where the file is.
    pub path: String,
    /// The keys, of which `access` or `media` has a clone.
    pub keys: Keys,
}

/// Why settings were refused.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// A wrong flag; also the output of `--help` and `--version`.
    #[error(transparent)]
    Flag(#[from] clap::Error),
    /// A sentence that names the setting and says what is wrong.
    #[error("{0}")]
    Setting(String),
    /// A wrong limit.
    #[error(transparent)]
    Limit(#[from] limits::Refused),
}

impl Refused {
    /// Prints the error and ends the process with status 2, or 0 for `--help` and `--version`.
    pub fn exit(self) -> ! {
        match self {
            Refused::Flag(error) => error.exit(),
            other => {
                eprintln!("settings: {other}");
                std::process::exit(2)
            }
        }
    }
}

const PREFIX: &str = "PARLEY_RELAY_";
/// The secret has no flag, as other users of the machine can read command lines.
const SECRET: &str = "PARLEY_RELAY_TOKEN_SECRET";

/// Reads the settings from a command line, which begins with the name of the program, and from an environment.
pub fn read(
    arguments: impl IntoIterator<Item = OsString>,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<Settings, Refused> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let environment: BTreeMap<String, String> =
        environment.into_iter().filter(|(name, value)| name.starts_with(PREFIX) && !value.is_empty()).collect();
    refuse_unknown(&environment)?;
    let path = Flags::merge(&arguments, &environment, &BTreeMap::new())?.config;
    let file = path.as_deref().map(File::read).transpose()?.unwrap_or_default();
    let flags = Flags::merge(&arguments, &environment, &file.values())?;

    let paths = [flags.access.keys.clone(), flags.media.media_keys.clone()];
    let access = access::rules(flags.access, environment.get(SECRET).cloned())?;
    let cluster = cluster::read(flags.cluster)?;
    let stream_keys = access.as_ref().map(|rules| rules.keys.clone());
    let media = media::read(flags.media, cluster.is_some(), stream_keys)?;
    let keys = [access.as_ref().map(|rules| &rules.keys), media.as_ref().and_then(|media| media.keys.as_ref())];
    let key_files = paths.into_iter().zip(keys);
    let key_files = key_files.filter_map(|(path, keys)| Some(KeyFile { path: path?, keys: keys?.clone() })).collect();
    Ok(Settings {
        listen: address("listen", flags.listen.as_deref().unwrap_or("0.0.0.0:8111"))?,
        ops_listen: flags.ops_listen.map(|text| address("ops-listen", &text)).transpose()?,
        threads: match number("threads", flags.threads, 256)? {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        },
        origins: origins(flags.origins.as_deref())?,
        access,
        key_files,
        trusted_proxies: number("trusted-proxies", flags.trusted_proxies, 10)?,
        replay: replay(flags.replay.as_deref(), file.replay)?,
        stats: stats(flags.stats.as_deref())?,
        cluster,
        media,
        log_level: log_level(flags.log_level.as_deref().unwrap_or("info"))?,
        limits: read_limits(&file.limits, &environment, &flags.limits)?,
    })
}

/// Builds the runtime with `settings.threads`. A single thread needs no locks between threads and no wake-ups across processors.
pub fn runtime(settings: &Settings) -> std::io::Result<tokio::runtime::Runtime> {
    let mut builder = match settings.threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.worker_threads(settings.threads).enable_all().build()
}

fn refuse_unknown(environment: &BTreeMap<String, String>) -> Result<(), Refused> {
    let command = Flags::command();
    let known = |name: &str| {
        command.get_arguments().any(|argument| argument.get_env().is_some_and(|known| known == name))
            || name == SECRET
            || LIMITS.iter().any(|limit| limits::key(limit.name) == name)
    };
    let unknown: Vec<&str> = environment.keys().map(String::as_str).filter(|name| !known(name)).collect();
    if unknown.is_empty() { Ok(()) } else { Err(Refused::Setting(format!("unknown {}", unknown.join(", ")))) }
}

fn read_limits(
    file: &BTreeMap<String, u64>,
    environment: &BTreeMap<String, String>,
    flags: &[String],
) -> Result<Limits, Refused> {
    let mut limits = Limits::default();
    for (name, value) in file {
        limits.set(name, &value.to_string())?;
    }
    for row in LIMITS {
        if let Some(value) = environment.get(&limits::key(row.name)) {
            limits.set(row.name, value)?;
        }
    }
    for flag in flags {
        let (name, value) =
            flag.split_once('=').ok_or_else(|| Refused::Setting(format!("limit must be NAME=VALUE, not {flag}")))?;
        limits.set(name, value)?;
    }
    limits.check()?;
    Ok(limits)
}

fn number(name: &str, text: Option<String>, max: usize) -> Result<usize, Refused> {
    let Some(text) = text else { return Ok(0) };
    match text.parse() {
        Ok(number) if number <= max => Ok(number),
        _ => Err(Refused::Setting(format!("{name} must be 0 to {max}, not {text}"))),
    }
}

fn stats(text: Option<&str>) -> Result<bool, Refused> {
    match text {
        None | Some("on") => Ok(true),
        Some("off") => Ok(false),
        Some(other) => Err(Refused::Setting(format!("stats must be on or off, not {other}"))),
    }
}

fn log_level(text: &str) -> Result<tracing::Level, Refused> {
    text.parse().map_err(|_| Refused::Setting(format!("log-level is not known: {text}")))
}

fn origins(text: Option<&str>) -> Result<Origins, Refused> {
    let Some(list) = text.map(parts) else { return Ok(Origins::Any) };
    if list.iter().any(|origin| origin == "*") {
        return Ok(Origins::Any);
    }
    match list.iter().find(|origin| !origin.contains("://") || origin.ends_with('/')) {
        Some(bad) => Err(Refused::Setting(format!("an origin is scheme://host or scheme://host:port, not {bad}"))),
        None => Ok(Origins::Only(list)),
    }
}

fn replay(text: Option<&str>, file: Option<BTreeMap<String, usize>>) -> Result<Vec<Rule>, Refused> {
    match text {
        Some(list) => parts(list).iter().map(|part| parse_replay(part)).collect(),
        None => file.into_iter().flatten().map(|(prefix, messages)| check_replay(prefix, messages)).collect(),
    }
}

fn parse_replay(text: &str) -> Result<Rule, Refused> {
    let (prefix, messages) = text.rsplit_once('=').unwrap_or((text, ""));
    let messages = messages.parse().map_err(|_| Refused::Setting(format!("replay must be PREFIX=N, not {text}")))?;
    check_replay(prefix.into(), messages)
}

fn check_replay(prefix: String, messages: usize) -> Result<Rule, Refused> {
    if !prefix.starts_with('/') || prefix.starts_with("/in/") {
        return Err(Refused::Setting(format!(
            "replay: {prefix} must begin with / and name a topic readers open, such as /out/"
        )));
    }
    Ok(Rule { prefix, messages })
}

fn parts(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
