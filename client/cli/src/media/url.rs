//! The URLs that commands accept.
use super::live::LiveUrl;
use crate::host_url::{host_of, segments};
use anyhow::{Context, bail, ensure};
use std::str::FromStr;
use url::Url;

/// Where media is published or watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MediaUrl {
    /// `https://HOST/live/NAME`: a live broadcast, by the URL of its page.
    Live(LiveUrl),
    /// `https://HOST/r/ROOM`: a room, by the URL of its page.
    Room(RoomUrl),
    /// `https://HOST:PORT/?jwt=TOKEN`: a relay itself.
    Relay(Url),
}

/// `https://HOST/r/ROOM`: the URL of the page of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomUrl {
    /// `https://HOST/`.
    pub host: Url,
    /// The id in the URL of its page.
    pub id: String,
}

const KEY: &str = "key=";
/// What is sent to a room whose link has a key must not be readable on the way.
const HAS_KEY: &str =
    "has an end-to-end key, and terminals neither encrypt nor decrypt: leave out #key= to take part without";
const FORMS: &str = "must be https://HOST/live/NAME, https://HOST/r/ROOM, or a relay's https://HOST:PORT/?jwt=TOKEN";

impl FromStr for MediaUrl {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let url: Url = text.parse().context(FORMS)?;
        ensure!(url.has_host() && url.username().is_empty() && url.password().is_none(), FORMS);
        match (url.scheme(), segments(&url).as_slice()) {
            ("https" | "http", ["live", name]) | ("https" | "http", ["live", name, "publish"]) => {
                Ok(MediaUrl::Live(LiveUrl { host: host_of(&url), name: (*name).to_owned() }))
            }
            ("https" | "http", ["r", room]) => {
                let has_key = url.fragment().is_some_and(|fragment| fragment.split('&').any(|part| part.starts_with(KEY)));
                ensure!(!has_key, HAS_KEY);
                Ok(MediaUrl::Room(RoomUrl { host: host_of(&url), id: (*room).to_owned() }))
            }
            ("https", []) | ("wss" | "ws", _) => Ok(MediaUrl::Relay(url)),
            _ => bail!(FORMS),
        }
    }
}

impl FromStr for RoomUrl {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        match text.parse() {
            Ok(MediaUrl::Room(room)) => Ok(room),
            Err(error) if error.to_string() == HAS_KEY => Err(error),
            _ => bail!("must be https://HOST/r/ROOM"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_16_the_link_of_an_encrypted_room_is_refused_and_says_why() {
        for link in ["https://h/r/standup@eu#key=AAECAwQFBgcICQoLDA0ODw", "http://h:8080/r/a-b#x&key=1"] {
            let refusals = [link.parse::<MediaUrl>().map(drop), link.parse::<RoomUrl>().map(drop)];
            for refusal in refusals {
                assert!(refusal.unwrap_err().to_string().contains("end-to-end key"), "{link}");
            }
        }
        assert!("https://h/r/standup@eu#top".parse::<RoomUrl>().is_ok());
    }

    #[test]
    fn a_url_is_that_of_a_page_or_of_a_relay() {
        let live = |host: &str| MediaUrl::Live(LiveUrl { host: host.parse().unwrap(), name: "lab".into() });
        let url = |text: &str| text.parse::<MediaUrl>().unwrap();
        assert_eq!(url("https://h/live/lab"), live("https://h/"));
        assert_eq!(url("http://localhost:8080/live/lab/publish?x#y"), live("http://localhost:8080/"));
        let room = RoomUrl { host: "https://h/".parse().unwrap(), id: "standup@eu".into() };
        assert_eq!(url("https://h/r/standup@eu/"), MediaUrl::Room(room));
        for other in ["https://h/live/lab", "https://h/", "h"] {
            assert!(other.parse::<RoomUrl>().is_err(), "{other}");
        }
        for relay in ["https://10.0.0.7:8141/?jwt=t", "https://h", "wss://h/media?at=h:1&jwt=t"] {
            assert_eq!(url(relay), MediaUrl::Relay(relay.parse().unwrap()));
        }
        for bad in
            ["", "h", "h:1", "ftp://h/", "http://h:1/", "https://h/live", "https://h/x/y", "https://u:p@h/live/x"]
        {
            assert!(bad.parse::<MediaUrl>().is_err(), "{bad}");
        }
    }
}
