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
    /// What participants send each other is encrypted with a key in the fragment (MEDIA-16).
    pub has_key: bool,
}

const KEY_PARAMETER: &str = "key=";
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
                let fragment = url.fragment().unwrap_or_default();
                let has_key = fragment.split('&').any(|part| part.starts_with(KEY_PARAMETER));
                Ok(MediaUrl::Room(RoomUrl { host: host_of(&url), id: (*room).to_owned(), has_key }))
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
            _ => bail!("must be https://HOST/r/ROOM"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_16_the_key_in_the_link_of_a_room_is_noticed() {
        for (link, has_key) in [
            ("https://h/r/standup@eu#key=AAECAwQFBgcICQoLDA0ODw", true),
            ("http://h:8080/r/a-b#x&key=1", true),
            ("https://h/r/standup@eu#monkey=1", false),
            ("https://h/r/standup@eu?key=1", false),
        ] {
            assert_eq!(link.parse::<RoomUrl>().unwrap().has_key, has_key, "{link}");
        }
    }

    #[test]
    fn a_url_is_that_of_a_page_or_of_a_relay() {
        let live = |host: &str| MediaUrl::Live(LiveUrl { host: host.parse().unwrap(), name: "lab".into() });
        let url = |text: &str| text.parse::<MediaUrl>().unwrap();
        assert_eq!(url("https://h/live/lab"), live("https://h/"));
        assert_eq!(url("http://localhost:8080/live/lab/publish?x#y"), live("http://localhost:8080/"));
        let room = RoomUrl { host: "https://h/".parse().unwrap(), id: "standup@eu".into(), has_key: false };
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
