//! The settings of a pod among others. Without `nats` a relay is one pod alone. Rules STR-80, STR-81 and STR-90.
use super::{Refused, address};
use async_nats::ServerAddr;
use async_nats::rustls::RootCertStore;
use async_nats::rustls::pki_types::CertificateDer;
use async_nats::rustls::pki_types::pem::PemObject;
use parley_cluster::Config;
use parley_cluster::bus::{Nats, Secret};
use parley_cluster::lease::{MAX_POD_NAME, is_name};
use std::path::PathBuf;

/// What was given, from wherever.
#[derive(Debug, Default)]
pub(super) struct Given {
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
}

/// Longer names of regions and zones are mistakes.
const PLACE_NAME: usize = 64;

pub(super) fn read(given: Given) -> Result<Option<Config>, Refused> {
    let Some(servers) = given.nats else { return alone(&given) };
    for server in servers.split(',') {
        let address: ServerAddr = server
            .trim()
            .parse()
            .map_err(|_| Refused::Setting("nats must be nats://HOST:PORT, several by commas".into()))?;
        if address.has_user_pass() {
            return Err(Refused::Setting("nats must not name a user: set nats-user and nats-password".into()));
        }
    }
    let password = match (given.nats_password, given.nats_password_file) {
        (Some(_), Some(_)) => {
            return Err(Refused::Setting(
                "the NATS password is set twice: nats-password and nats-password-file".into(),
            ));
        }
        (password, None) => password,
        (None, Some(path)) => Some(super::access::read(&path)?.trim_end().to_owned()),
    };
    let login = match (given.nats_user, password) {
        (Some(user), Some(password)) => Some((user, Secret(password))),
        (None, None) => None,
        _ => return Err(Refused::Setting("nats-user and its password must be set together".into())),
    };
    let ca = given.nats_ca.map(ca).transpose()?;
    let listen = address("link-listen", given.link_listen.as_deref().unwrap_or("0.0.0.0:8112"))?;
    let advertise = given.link_advertise.as_deref().map(|text| address("link-advertise", text)).transpose()?;
    if listen.ip().is_unspecified() && advertise.is_none() {
        return Err(Refused::Setting(format!(
            "link-advertise must say where other pods reach link-listen, as {listen} is every address"
        )));
    }
    if let Some(pod) = given.pod.as_ref().filter(|pod| !is_name(pod)) {
        return Err(Refused::Setting(format!(
            "pod must be letters, digits, - and _, at most {MAX_POD_NAME}, not {pod}"
        )));
    }
    let place = |name: &str, given: Option<String>| {
        let place = given.unwrap_or_else(|| "local".into());
        let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        match place.chars().all(plain) && (1..=PLACE_NAME).contains(&place.len()) {
            true => Ok(place),
            false => Err(Refused::Setting(format!("{name} must be letters, digits, - and _, not {place}"))),
        }
    };
    let (region, zone) = (place("region", given.region)?, place("zone", given.zone)?);
    Ok(Some(Config { nats: Nats { servers, login, ca }, pod: given.pod, region, zone, listen, advertise }))
}

/// The file, if certificates are in it now: the client reads it anew whenever it connects.
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

/// Settings that do nothing without `nats` are a mistake, those that a shared environment sets for every pod apart.
fn alone(given: &Given) -> Result<Option<Config>, Refused> {
    let idle = [("link-listen", &given.link_listen), ("link-advertise", &given.link_advertise)];
    match idle.iter().find(|(_, value)| value.is_some()) {
        Some((name, _)) => Err(Refused::Setting(format!("{name} needs nats: without it a relay is one pod alone"))),
        None => Ok(None),
    }
}
