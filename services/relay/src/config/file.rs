//! The settings file. Rule STR-80.
use super::Refused;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Every setting of a file. Its parser refuses unknown names and other types, with the line.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct File {
    pub(super) listen: Option<String>,
    pub(super) ops_listen: Option<String>,
    pub(super) threads: Option<usize>,
    pub(super) origins: Option<Vec<String>>,
    pub(super) access: Option<String>,
    pub(super) audience: Option<String>,
    pub(super) keys: Option<String>,
    pub(super) token_secret_file: Option<String>,
    pub(super) trusted_proxies: Option<usize>,
    pub(super) replay: Option<BTreeMap<String, usize>>,
    pub(super) stats: Option<bool>,
    pub(super) nats: Option<String>,
    pub(super) nats_user: Option<String>,
    pub(super) nats_password: Option<String>,
    pub(super) nats_password_file: Option<String>,
    pub(super) nats_ca: Option<String>,
    pub(super) pod: Option<String>,
    pub(super) region: Option<String>,
    pub(super) zone: Option<String>,
    pub(super) link_listen: Option<String>,
    pub(super) link_advertise: Option<String>,
    pub(super) media_listen: Option<String>,
    pub(super) media_websocket_listen: Option<String>,
    pub(super) media_advertise: Option<String>,
    pub(super) media_hosts: Option<String>,
    pub(super) media_url: Option<String>,
    pub(super) media_role: Option<String>,
    pub(super) media_keys: Option<String>,
    pub(super) media_certificate_dir: Option<String>,
    pub(super) media_certificate: Option<String>,
    pub(super) media_key: Option<String>,
    pub(super) media_traces_url: Option<String>,
    pub(super) log_level: Option<String>,
    pub(super) limits: BTreeMap<String, u64>,
}

impl File {
    pub(super) fn read(path: &Path) -> Result<Self, Refused> {
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Refused::Setting(format!("{shown} cannot be read: {error}")))?;
        toml::from_str(&text).map_err(|error| Refused::Setting(format!("{shown}: {}", error.to_string().trim_end())))
    }

    /// Returns the settings by name, with values as a command line has them. `replay` and `limits` are tables and are not among them.
    pub(super) fn values(&self) -> BTreeMap<String, String> {
        let Ok(Value::Object(settings)) = serde_json::to_value(self) else { return BTreeMap::new() };
        settings.into_iter().filter_map(|(name, value)| Some((name, text(value)?))).collect()
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(on) => Some(if on { "on" } else { "off" }.into()),
        Value::Array(list) => Some(list.into_iter().filter_map(text).collect::<Vec<_>>().join(",")),
        Value::Null | Value::Object(_) => None,
    }
}
