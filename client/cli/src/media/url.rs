//! The URLs that commands accept.
use super::live::Live;
use anyhow::{Context, bail, ensure};
use std::str::FromStr;
use url::Url;

/// Where media is published or watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// `https://HOST/live/NAME`: a live broadcast, by the URL of its page.
    Live(Live),
    /// `https://HOST/r/ROOM`: a room, by the URL of its page.
    Room(Room),
    /// `https://HOST:PORT/?jwt=TOKEN`: a relay itself.
    Relay(Url),
}

/// A room of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// `https://HOST/`.
    pub host: Url,
    /// The id in the URL of its page.
    pub id: String,
}

const FORMS: &str = "must be https://HOST/live/NAME, https://HOST/r/ROOM, or a relay's https://HOST:PORT/?jwt=TOKEN";

impl FromStr for Place {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let url: Url = text.parse().context(FORMS)?;
        ensure!(url.has_host() && url.username().is_empty() && url.password().is_none(), FORMS);
        let path: Vec<&str> = url.path().split('/').skip(1).filter(|segment| !segment.is_empty()).collect();
        match (url.scheme(), path.as_slice()) {
            ("https" | "http", ["live", name]) | ("https" | "http", ["live", name, "publish"]) => {
                Ok(Place::Live(Live { host: host(&url), name: (*name).to_owned() }))
            }
            ("https" | "http", ["r", room]) => Ok(Place::Room(Room { host: host(&url), id: (*room).to_owned() })),
            ("https", []) | ("wss" | "ws", _) => Ok(Place::Relay(url)),
            _ => bail!(FORMS),
        }
    }
}

impl FromStr for Room {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        match text.parse() {
            Ok(Place::Room(room)) => Ok(room),
            _ => bail!("must be https://HOST/r/ROOM"),
        }
    }
}

fn host(url: &Url) -> Url {
    let mut host = url.clone();
    host.set_path("/");
    host.set_query(None);
    host.set_fragment(None);
    host
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_that_of_a_page_or_of_a_relay() {
        let live = |host: &str| Place::Live(Live { host: host.parse().unwrap(), name: "lab".into() });
        let place = |text: &str| text.parse::<Place>().unwrap();
        assert_eq!(place("https://h/live/lab"), live("https://h/"));
        assert_eq!(place("http://localhost:8080/live/lab/publish?x#y"), live("http://localhost:8080/"));
        let room = Room { host: "https://h/".parse().unwrap(), id: "standup@eu".into() };
        assert_eq!(place("https://h/r/standup@eu/"), Place::Room(room));
        for other in ["https://h/live/lab", "https://h/", "h"] {
            assert!(other.parse::<Room>().is_err(), "{other}");
        }
        for relay in ["https://10.0.0.7:8141/?jwt=t", "https://h", "wss://h/media?at=h:1&jwt=t"] {
            assert_eq!(place(relay), Place::Relay(relay.parse().unwrap()));
        }
        for bad in
            ["", "h", "h:1", "ftp://h/", "http://h:1/", "https://h/live", "https://h/x/y", "https://u:p@h/live/x"]
        {
            assert!(bad.parse::<Place>().is_err(), "{bad}");
        }
    }
}
