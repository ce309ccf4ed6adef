//! The settings of a pod among others. Without `nats` a relay is one pod alone. Rules STR-80, STR-81 and STR-90.
use super::{Refused, address};
use crate::cluster::Config;
use crate::cluster::bus::{Nats, Secret};
use crate::cluster::lease::POD_NAME;
use async_nats::ServerAddr;

/// What was given, from wherever.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) nats: Option<String>,
    pub(super) nats_user: Option<String>,
    pub(super) nats_password: Option<String>,
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
    let login = match (given.nats_user, given.nats_password) {
        (Some(user), Some(password)) => Some((user, Secret(password))),
        (None, None) => None,
        _ => return Err(Refused::Setting("nats-user and nats-password must be set together".into())),
    };
    let listen = address("link-listen", given.link_listen.as_deref().unwrap_or("0.0.0.0:8112"))?;
    let advertise = given.link_advertise.as_deref().map(|text| address("link-advertise", text)).transpose()?;
    if listen.ip().is_unspecified() && advertise.is_none() {
        return Err(Refused::Setting(format!(
            "link-advertise must say where other pods reach link-listen, as {listen} is every address"
        )));
    }
    if given.pod.as_ref().is_some_and(|pod| pod.len() > POD_NAME) {
        return Err(Refused::Setting(format!("pod must have at most {POD_NAME} bytes")));
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
    Ok(Some(Config { nats: Nats { servers, login }, pod: given.pod, region, zone, listen, advertise }))
}

/// Settings that do nothing without `nats` are a mistake, those that a shared environment sets for every pod apart.
fn alone(given: &Given) -> Result<Option<Config>, Refused> {
    let idle = [("link-listen", &given.link_listen), ("link-advertise", &given.link_advertise)];
    match idle.iter().find(|(_, value)| value.is_some()) {
        Some((name, _)) => Err(Refused::Setting(format!("{name} needs nats: without it a relay is one pod alone"))),
        None => Ok(None),
    }
}
