//! The settings file. Rule STR-80.
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Default, Deserialize)]
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
    pub(super) log_level: Option<String>,
    pub(super) limits: BTreeMap<String, u64>,
}
