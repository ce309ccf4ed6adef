//! The command line. The environment and the settings file have the same settings: clap merges the three. Rule STR-80.
use super::{access, cluster, media};
use clap::{CommandFactory, FromArgMatches, Parser};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// Relays stream topics over WebSocket.
#[derive(Debug, Parser)]
#[command(name = "parley-relay", version, disable_help_subcommand = true)]
pub(super) struct Flags {
    /// Settings file (TOML) [none]
    #[arg(long, env = "PARLEY_RELAY_CONFIG", value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Address and port to listen on [0.0.0.0:8111]
    #[arg(long, env = "PARLEY_RELAY_LISTEN", value_name = "ADDRESS:PORT")]
    pub(super) listen: Option<String>,
    /// Address and port that serve health, readiness and metrics only, independent of clients [none]
    #[arg(long, env = "PARLEY_RELAY_OPS_LISTEN", value_name = "ADDRESS:PORT")]
    pub(super) ops_listen: Option<String>,
    /// Number of threads; 0: one for each available processor [0]
    #[arg(long, env = "PARLEY_RELAY_THREADS", value_name = "N")]
    pub(super) threads: Option<String>,
    /// Origins of pages that may open sockets, separated by commas; *: any [*]
    #[arg(long, env = "PARLEY_RELAY_ORIGINS", value_name = "ORIGINS")]
    pub(super) origins: Option<String>,
    #[command(flatten)]
    pub(super) access: access::Flags,
    /// Number of proxies in front whose entries in X-Forwarded-For are trusted [0]
    #[arg(long, env = "PARLEY_RELAY_TRUSTED_PROXIES", value_name = "N")]
    pub(super) trusted_proxies: Option<String>,
    /// Topics that keep their last messages for late subscribers: prefix=N, separated by commas [none]
    #[arg(long, env = "PARLEY_RELAY_REPLAY", value_name = "PREFIX=N")]
    pub(super) replay: Option<String>,
    /// Whether /ws and /stats are served: on or off [on]
    #[arg(long, env = "PARLEY_RELAY_STATS", value_name = "on|off")]
    pub(super) stats: Option<String>,
    #[command(flatten)]
    pub(super) cluster: cluster::Flags,
    #[command(flatten)]
    pub(super) media: media::Flags,
    /// error, warn, info, debug or trace [info]
    #[arg(long, env = "PARLEY_RELAY_LOG_LEVEL", value_name = "LEVEL")]
    pub(super) log_level: Option<String>,
    /// Change a limit: name=value; can be repeated. Names and defaults: README.md
    #[arg(long = "limit", value_name = "NAME=VALUE")]
    pub(super) limits: Vec<String>,
}

impl Flags {
    /// Parses a command line. A flag that is absent has the value of `environment`, and otherwise that of `file`: to clap, both are defaults.
    /// `environment` is an argument, and not the environment of the process, so that tests can pass their own.
    pub(super) fn merge(
        arguments: &[OsString],
        environment: &BTreeMap<String, String>,
        file: &BTreeMap<String, String>,
    ) -> Result<Self, clap::Error> {
        let command = Self::command().mut_args(|argument| {
            let variable = argument.get_env().and_then(|name| environment.get(name.to_str()?));
            let value = variable.or_else(|| file.get(argument.get_long()?)).cloned();
            let argument = argument.env(None::<&str>).hide_default_value(true);
            match value {
                Some(value) => argument.default_value(value),
                None => argument,
            }
        });
        Self::from_arg_matches(&command.try_get_matches_from(arguments)?)
    }
}
