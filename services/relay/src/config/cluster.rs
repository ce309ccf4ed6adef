//! The settings of a pod in a cluster. Without `nats` a relay is one pod alone. Rules STR-80, STR-81 and STR-90.
use super::Refused;
use super::address::{address, without_brackets_of_ipv4};
use async_nats::ServerAddr;
use async_nats::rustls::RootCertStore;
use async_nats::rustls::pki_types::CertificateDer;
use async_nats::rustls::pki_types::pem::PemObject;
use parley_cluster::bus::{Nats, Secret};
use parley_cluster::lease::{MAX_POD_NAME, is_name};
use parley_cluster::{Config, Public};
use std::net::Ipv6Addr;
use std::path::PathBuf;

/// The settings of a pod in a cluster.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Flags {
    /// NATS servers on which pods find each other, separated by commas: nats://HOST:PORT [none: one pod alone]
    #[arg(long, env = "PARLEY_RELAY_NATS", value_name = "SERVERS")]
    pub(super) nats: Option<String>,
    /// User on NATS [none]
    #[arg(long, env = "PARLEY_RELAY_NATS_USER", value_name = "USER")]
    pub(super) nats_user: Option<String>,
    /// Password of the user; preferably in the environment, which a list of processes does not show [none]
    #[arg(long, env = "PARLEY_RELAY_NATS_PASSWORD", value_name = "PASSWORD")]
    pub(super) nats_password: Option<String>,
    /// File with the password of the user [none]
    #[arg(long, env = "PARLEY_RELAY_NATS_PASSWORD_FILE", value_name = "FILE")]
    pub(super) nats_password_file: Option<String>,
    /// CAs of the NATS servers (PEM), read again at each connection: TLS from the first byte, and no other CA [none]
    #[arg(long, env = "PARLEY_RELAY_NATS_CA", value_name = "FILE")]
    pub(super) nats_ca: Option<String>,
    /// Name of the pod: letters, digits, - and _ [its link address]
    #[arg(long, env = "PARLEY_RELAY_POD", value_name = "NAME")]
    pub(super) pod: Option<String>,
    /// Region; pods of one region are linked [local]
    #[arg(long, env = "PARLEY_RELAY_REGION", value_name = "NAME")]
    pub(super) region: Option<String>,
    /// Zone in the region [local]
    #[arg(long, env = "PARLEY_RELAY_ZONE", value_name = "NAME")]
    pub(super) zone: Option<String>,
    /// Address and port for links from other pods [0.0.0.0:8112]
    #[arg(long, env = "PARLEY_RELAY_LINK_LISTEN", value_name = "ADDRESS:PORT")]
    pub(super) link_listen: Option<String>,
    /// Address and port at which other pods reach link-listen [link-listen, if it is one address]
    #[arg(long, env = "PARLEY_RELAY_LINK_ADVERTISE", value_name = "ADDRESS:PORT")]
    pub(super) link_advertise: Option<String>,
    /// Address and port for links from other regions [with link-advertise-public 0.0.0.0:8114, else none]
    #[arg(long, env = "PARLEY_RELAY_LINK_LISTEN_PUBLIC", value_name = "ADDRESS:PORT")]
    pub(super) link_listen_public: Option<String>,
    /// Host and port at which other regions reach link-listen-public [link-listen-public, if it is one address]
    #[arg(long, env = "PARLEY_RELAY_LINK_ADVERTISE_PUBLIC", value_name = "HOST:PORT")]
    pub(super) link_advertise_public: Option<String>,
}

/// The longest name of a region or zone.
const MAX_PLACE_NAME: usize = 64;
/// The longest name of a region among several, as in signaling: with the longest name of a pod in Kubernetes it makes a valid name.
const MAX_REGION: usize = 16;

/// Returns the configuration of the cluster; `None`: this pod is alone.
pub(super) fn read(flags: Flags) -> Result<Option<Config>, Refused> {
    let Some(servers) = &flags.nats else { return alone(&flags) };
    let nats = nats(servers, &flags)?;
    let listen = address("link-listen", flags.link_listen.as_deref().unwrap_or("0.0.0.0:8112"))?;
    let advertise = flags.link_advertise.as_deref().map(|text| address("link-advertise", text)).transpose()?;
    if listen.ip().is_unspecified() && advertise.is_none() {
        return Err(Refused::Setting(format!(
            "link-advertise must say where other pods reach link-listen, as {listen} is every address"
        )));
    }
    if let Some(pod) = flags.pod.as_ref().filter(|pod| !is_name(pod)) {
        return Err(Refused::Setting(format!(
            "pod must be letters, digits, - and _, at most {MAX_POD_NAME}, not {pod}"
        )));
    }
    let (region, zone) = (place("region", flags.region)?, place("zone", flags.zone)?);
    if region.contains('_') {
        return Err(Refused::Setting(format!(
            "region must be letters, digits and -, as other regions know a relay as REGION_POD, not {region}"
        )));
    }
    let public = public(flags.link_listen_public, flags.link_advertise_public, &region)?;
    Ok(Some(Config { nats, pod: flags.pod, region, zone, listen, advertise, public }))
}

/// Returns how pods of other regions reach this one; `None`: they do not.
fn public(listen: Option<String>, advertise: Option<String>, region: &str) -> Result<Option<Public>, Refused> {
    if listen.is_none() && advertise.is_none() {
        return Ok(None);
    }
    let listen = address("link-listen-public", listen.as_deref().unwrap_or("0.0.0.0:8114"))?;
    if listen.ip().is_unspecified() && advertise.is_none() {
        return Err(Refused::Setting(format!(
            "link-advertise-public must say where other regions reach link-listen-public, as {listen} is every address"
        )));
    }
    let advertise = advertise.as_deref().map(without_brackets_of_ipv4);
    if let Some(advertise) = advertise.as_ref().filter(|text| !is_host_and_port(text)) {
        return Err(Refused::Setting(format!("link-advertise-public must be HOST:PORT, not {advertise}")));
    }
    if region.len() > MAX_REGION {
        return Err(Refused::Setting(format!(
            "region must have at most {MAX_REGION} characters among several regions, not {region}"
        )));
    }
    Ok(Some(Public { listen, advertise }))
}

/// Whether this is a host and a port; an IPv6 address is in brackets, as `2001:db8::7:8114` is an address without a port too.
fn is_host_and_port(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let is_host = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').is_some_and(|address| address.parse::<Ipv6Addr>().is_ok()),
        None => !host.is_empty() && !host.contains(':'),
    };
    is_host && port.parse::<u16>().is_ok_and(|port| port != 0)
}

fn nats(servers: &str, flags: &Flags) -> Result<Nats, Refused> {
    for server in servers.split(',') {
        let address: ServerAddr = server
            .trim()
            .parse()
            .map_err(|_| Refused::Setting("nats must be nats://HOST:PORT, several by commas".into()))?;
        if address.has_user_pass() {
            return Err(Refused::Setting("nats must not name a user: set nats-user and nats-password".into()));
        }
    }
    let password = match (flags.nats_password.clone(), &flags.nats_password_file) {
        (Some(_), Some(_)) => {
            return Err(Refused::Setting(
                "the NATS password is set twice: nats-password and nats-password-file".into(),
            ));
        }
        (password, None) => password,
        (None, Some(path)) => Some(super::access::read(path)?.trim_end().to_owned()),
    };
    let login = match (flags.nats_user.clone(), password) {
        (Some(user), Some(password)) => Some((user, Secret(password))),
        (None, None) => None,
        _ => return Err(Refused::Setting("nats-user and its password must be set together".into())),
    };
    let ca = flags.nats_ca.clone().map(ca).transpose()?;
    Ok(Nats { servers: servers.to_owned(), login, ca })
}

fn place(name: &str, value: Option<String>) -> Result<String, Refused> {
    let place = value.unwrap_or_else(|| "local".into());
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    match place.chars().all(plain) && (1..=MAX_PLACE_NAME).contains(&place.len()) {
        true => Ok(place),
        false => Err(Refused::Setting(format!("{name} must be letters, digits, - and _, not {place}"))),
    }
}

/// Checks that the file has certificates now, and returns its path: the client of NATS reads it again at each connection.
fn ca(path: String) -> Result<PathBuf, Refused> {
    let pem = super::access::read(&path)?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let added = certificate.ok().and_then(|certificate| roots.add(certificate).ok());
        added.ok_or_else(|| Refused::Setting(format!("nats-ca: {path} has a certificate that cannot be read")))?;
    }
    match roots.is_empty() {
        true => Err(Refused::Setting(format!("nats-ca: {path} holds no certificate (PEM)"))),
        false => Ok(path.into()),
    }
}

/// Refuses settings that have no effect without `nats`. `pod`, `region` and `zone` are allowed: a shared environment sets them for every pod.
fn alone(flags: &Flags) -> Result<Option<Config>, Refused> {
    let idle = [
        ("link-listen", &flags.link_listen),
        ("link-advertise", &flags.link_advertise),
        ("link-listen-public", &flags.link_listen_public),
        ("link-advertise-public", &flags.link_advertise_public),
    ];
    match idle.iter().find(|(_, value)| value.is_some()) {
        Some((name, _)) => Err(Refused::Setting(format!("{name} needs nats: without it a relay is one pod alone"))),
        None => Ok(None),
    }
}
