//! A pod's settings: by flag, by environment, by file, in this order. An unknown name is refused wherever it stands: a typing
//! mistake must not become a default. Rules STR-80 to STR-82.
use crate::limits::{self, LIMITS, Limits};
use clap::{CommandFactory, FromArgMatches};
use file::File;
use flags::Flags;
use parley_access::Rules;
use parley_net::origins::Origins;
use parley_streams::replay::Rule;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

mod cluster;
mod file;
mod flags;
mod media;

/// The settings in force.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Address and port to listen on.
    pub listen: SocketAddr,
    /// Where probes and scrapers are answered apart from clients; `None`: on `listen` only.
    pub ops_listen: Option<SocketAddr>,
    /// Threads that relay.
    pub threads: usize,
    /// Pages that may open sockets.
    pub origins: Origins,
    /// What tokens must be like; `None`: none is asked for.
    pub access: Option<Rules>,
    /// How many proxies in front may be believed about X-Forwarded-For.
    pub trusted_proxies: usize,
    /// Topics that keep messages for late joiners.
    pub replay: Vec<Rule>,
    /// Whether `/ws` and `/stats` answer.
    pub stats: bool,
    /// How the pod takes part among others; `None`: alone.
    pub cluster: Option<parley_cluster::Config>,
    /// How the pod carries media; `None`: it carries none.
    pub media: Option<parley_media::Config>,
    /// The least that is logged.
    pub log_level: tracing::Level,
    /// The limits.
    pub limits: Limits,
}

/// Why settings were not taken.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// A flag; also the answers to `--help` and `--version`.
    #[error(transparent)]
    Flag(#[from] clap::Error),
    /// A sentence that says which setting is wrong and how.
    #[error("{0}")]
    Setting(String),
    /// A limit.
    #[error(transparent)]
    Limit(#[from] limits::Refused),
}

impl Refused {
    /// Prints it and ends the process: 2, or 0 for `--help` and `--version`.
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
/// Has no flag: command lines are seen by everybody on the machine.
const SECRET: &str = "PARLEY_RELAY_TOKEN_SECRET";

/// Reads the settings from a command line (with the program's name in front) and an environment.
pub fn read(
    arguments: impl IntoIterator<Item = OsString>,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<Settings, Refused> {
    let environment: BTreeMap<String, String> =
        environment.into_iter().filter(|(name, value)| name.starts_with(PREFIX) && !value.is_empty()).collect();
    refuse_unknown(&environment)?;
    // The environment given counts, not the process's: so that tests can give their own.
    let command = Flags::command().mut_args(|argument| argument.env(None::<&str>));
    let flags = Flags::from_arg_matches(&command.try_get_matches_from(arguments)?)?;
    let given = |flag: &Option<String>, name: &str| {
        flag.clone().or_else(|| environment.get(&format!("{PREFIX}{name}")).cloned())
    };
    let path = flags.config.clone().or_else(|| environment.get("PARLEY_RELAY_CONFIG").map(PathBuf::from));
    let file = path.as_deref().map(read_file).transpose()?.unwrap_or_default();

    let listen = given(&flags.listen, "LISTEN").or(file.listen).unwrap_or_else(|| "0.0.0.0:8111".into());
    let ops_listen = given(&flags.ops_listen, "OPS_LISTEN").or(file.ops_listen);
    let threads = number("threads", given(&flags.threads, "THREADS"), file.threads, 256)?;
    let trusted =
        number("trusted-proxies", given(&flags.trusted_proxies, "TRUSTED_PROXIES"), file.trusted_proxies, 10)?;
    let origins = given(&flags.origins, "ORIGINS").map(|list| parts(&list)).or(file.origins);
    let access = access::rules(access::Given {
        access: given(&flags.access, "ACCESS").or(file.access),
        audience: given(&flags.audience, "AUDIENCE").or(file.audience),
        secret: environment.get(SECRET).cloned(),
        secret_file: given(&flags.token_secret_file, "TOKEN_SECRET_FILE").or(file.token_secret_file),
        keys_file: given(&flags.keys, "KEYS").or(file.keys),
    })?;
    let replay = match given(&flags.replay, "REPLAY") {
        Some(list) => parts(&list).iter().map(|one| rule(one)).collect::<Result<_, _>>()?,
        None => file
            .replay
            .unwrap_or_default()
            .into_iter()
            .map(|(prefix, messages)| checked(prefix, messages))
            .collect::<Result<_, _>>()?,
    };
    let stats = match given(&flags.stats, "STATS").as_deref() {
        Some("on") => true,
        Some("off") => false,
        Some(other) => return Err(Refused::Setting(format!("stats must be on or off, not {other}"))),
        None => file.stats.unwrap_or(true),
    };
    let among = cluster::Given {
        nats: given(&flags.nats, "NATS").or(file.nats),
        nats_user: given(&flags.nats_user, "NATS_USER").or(file.nats_user),
        nats_password: given(&flags.nats_password, "NATS_PASSWORD").or(file.nats_password),
        nats_password_file: given(&flags.nats_password_file, "NATS_PASSWORD_FILE").or(file.nats_password_file),
        nats_ca: given(&flags.nats_ca, "NATS_CA").or(file.nats_ca),
        pod: given(&flags.pod, "POD").or(file.pod),
        region: given(&flags.region, "REGION").or(file.region),
        zone: given(&flags.zone, "ZONE").or(file.zone),
        link_listen: given(&flags.link_listen, "LINK_LISTEN").or(file.link_listen),
        link_advertise: given(&flags.link_advertise, "LINK_ADVERTISE").or(file.link_advertise),
    };
    let cluster = cluster::read(among)?;
    let media = media::read(media::Given {
        listen: given(&flags.media_listen, "MEDIA_LISTEN").or(file.media_listen),
        websocket: given(&flags.media_websocket_listen, "MEDIA_WEBSOCKET_LISTEN").or(file.media_websocket_listen),
        advertise: given(&flags.media_advertise, "MEDIA_ADVERTISE").or(file.media_advertise),
        url: given(&flags.media_url, "MEDIA_URL").or(file.media_url),
        hosts: given(&flags.media_hosts, "MEDIA_HOSTS").or(file.media_hosts),
        role: given(&flags.media_role, "MEDIA_ROLE").or(file.media_role),
        keys: given(&flags.media_keys, "MEDIA_KEYS").or(file.media_keys),
        directory: given(&flags.media_certificate_dir, "MEDIA_CERTIFICATE_DIR").or(file.media_certificate_dir),
        certificate: given(&flags.media_certificate, "MEDIA_CERTIFICATE").or(file.media_certificate),
        key: given(&flags.media_key, "MEDIA_KEY").or(file.media_key),
        among_others: cluster.is_some(),
        stream_keys: access.as_ref().map(|rules| rules.keys.clone()),
    })?;
    let level = given(&flags.log_level, "LOG_LEVEL").or(file.log_level).unwrap_or_else(|| "info".into());
    Ok(Settings {
        listen: address("listen", &listen)?,
        ops_listen: ops_listen.map(|text| address("ops-listen", &text)).transpose()?,
        threads: if threads == 0 { std::thread::available_parallelism().map_or(1, usize::from) } else { threads },
        origins: allowed(origins)?,
        access,
        trusted_proxies: trusted,
        replay,
        stats,
        cluster,
        media,
        log_level: level.parse().map_err(|_| Refused::Setting(format!("log-level is not known: {level}")))?,
        limits: read_limits(&file.limits, &environment, &flags.limits)?,
    })
}

/// The runtime these settings ask for. One thread needs no locks between threads, and no waking across processors.
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

fn read_file(path: &Path) -> Result<File, Refused> {
    let shown = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|why| Refused::Setting(format!("{shown} cannot be read: {why}")))?;
    toml::from_str(&text).map_err(|why| Refused::Setting(format!("{shown}: {}", why.to_string().trim_end())))
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

fn number(name: &str, given: Option<String>, file: Option<usize>, most: usize) -> Result<usize, Refused> {
    let refused = |given: &dyn std::fmt::Display| Refused::Setting(format!("{name} must be 0 to {most}, not {given}"));
    let value = match given {
        Some(text) => text.parse().map_err(|_| refused(&text))?,
        None => file.unwrap_or(0),
    };
    if value > most { Err(refused(&value)) } else { Ok(value) }
}

fn address(name: &str, text: &str) -> Result<SocketAddr, Refused> {
    text.parse().map_err(|_| Refused::Setting(format!("{name} must be ADDRESS:PORT, not {text}")))
}

fn allowed(origins: Option<Vec<String>>) -> Result<Origins, Refused> {
    let Some(list) = origins else { return Ok(Origins::Any) };
    if list.iter().any(|origin| origin == "*") {
        return Ok(Origins::Any);
    }
    match list.iter().find(|origin| !origin.contains("://") || origin.ends_with('/')) {
        Some(bad) => Err(Refused::Setting(format!("an origin is scheme://host or scheme://host:port, not {bad}"))),
        None => Ok(Origins::Only(list)),
    }
}

fn rule(text: &str) -> Result<Rule, Refused> {
    let (prefix, messages) = text.rsplit_once('=').unwrap_or((text, ""));
    let messages = messages.parse().map_err(|_| Refused::Setting(format!("replay must be PREFIX=N, not {text}")))?;
    checked(prefix.into(), messages)
}

fn checked(prefix: String, messages: usize) -> Result<Rule, Refused> {
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

mod access;
#[cfg(test)]
mod tests;
