//! Parses the path of a request to a topic and a role. Rules STR-1 to STR-6.
use parley_net::codes::Code;
use serde::{Deserialize, Serialize};

/// The role of a client on its topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// `/topic`: publishes and subscribes.
    Both,
    /// `/in/topic`: publishes to the clients of `/out/topic`, and receives nothing.
    Publish,
    /// `/out/topic`: subscribes; messages that it sends are discarded.
    Subscribe,
}

impl Role {
    /// Whether the client publishes.
    pub const fn publishes(self) -> bool {
        !matches!(self, Role::Subscribe)
    }

    /// Whether the client subscribes.
    pub const fn subscribes(self) -> bool {
        !matches!(self, Role::Publish)
    }
}

/// A topic and the role of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The name of the topic: `/demo`, or `/out/demo` for both ends of a one-way stream.
    pub topic: String,
    /// The role of the client.
    pub role: Role,
}

/// First segments that are not topics: paths that the relay answers itself, and paths that operators commonly use.
pub const RESERVED: [&str; 15] = [
    "stats",
    "ws",
    "metrics",
    "health",
    "healthz",
    "ready",
    "readyz",
    "livez",
    "api",
    "v1",
    "streams",
    "debug",
    ".well-known",
    "favicon.ico",
    "robots.txt",
];

/// Parses the target of a request, such as `/in/lab/camera%201?x=y`. It is decoded once, so a part that is encoded twice stays
/// encoded once. `topic_bytes`: the length limit of the decoded path.
pub fn parse(target: &str, topic_bytes: usize) -> Result<Route, Code> {
    let encoded = target.split(['?', '#']).next().unwrap_or_default();
    let path = decode(encoded).ok_or(Code::TopicInvalid)?;
    let name = path.strip_prefix('/').ok_or(Code::TopicInvalid)?;
    if path.len() > topic_bytes || !name.split('/').all(is_segment) {
        return Err(Code::TopicInvalid);
    }
    let (first, rest) = name.split_once('/').map_or((name, None), |(first, rest)| (first, Some(rest)));
    if RESERVED.iter().any(|reserved| first.eq_ignore_ascii_case(reserved)) {
        return Err(Code::TopicReserved);
    }
    match (first, rest) {
        ("in" | "out", None) => Err(Code::TopicInvalid),
        ("in", Some(rest)) => Ok(Route { topic: format!("/out/{rest}"), role: Role::Publish }),
        ("out", _) => Ok(Route { topic: path, role: Role::Subscribe }),
        _ => Ok(Route { topic: path, role: Role::Both }),
    }
}

fn is_segment(segment: &str) -> bool {
    !matches!(segment, "" | "." | "..") && !segment.contains(|letter: char| letter.is_control() || letter == '\\')
}

fn decode(encoded: &str) -> Option<String> {
    if !encoded.contains('%') {
        return Some(encoded.to_owned());
    }
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => digit(rest.next()?)? << 4 | digit(rest.next()?)?,
            plain => plain,
        });
    }
    String::from_utf8(bytes).ok()
}

fn digit(letter: u8) -> Option<u8> {
    match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'a'..=b'f' => Some(letter - b'a' + 10),
        b'A'..=b'F' => Some(letter - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(target: &str) -> Result<(String, Role), Code> {
        parse(target, 512).map(|route| (route.topic, route.role))
    }

    #[test]
    fn str_1_to_3_and_6_the_path_determines_topic_and_role_and_the_query_is_ignored() {
        let cases = [
            ("/demo", "/demo", Role::Both),
            ("/lab/7/camera", "/lab/7/camera", Role::Both),
            ("/in/demo", "/out/demo", Role::Publish),
            ("/out/demo", "/out/demo", Role::Subscribe),
            ("/in/lab/7", "/out/lab/7", Role::Publish),
            ("/in/in/x", "/out/in/x", Role::Publish),
            ("/inner", "/inner", Role::Both),
            ("/demo?key=1#top", "/demo", Role::Both),
            ("/caf%C3%A9%20x", "/café x", Role::Both),
            ("/in%2Fdemo", "/out/demo", Role::Publish),
            ("/%252e%252e", "/%2e%2e", Role::Both),
        ];
        for (target, topic, role) in cases {
            assert_eq!(route(target), Ok((topic.to_owned(), role)), "{target}");
        }
    }

    #[test]
    fn str_4_malformed_paths_are_refused() {
        let long = format!("/{}", "x".repeat(512));
        let malformed = [
            "",
            "/",
            "demo",
            "*",
            "//",
            "//demo",
            "/demo/",
            "/a//b",
            "/./a",
            "/a/..",
            "/../etc/passwd",
            "/%2e%2e/a",
            "/a%00b",
            "/a%0ab",
            "/a%7f",
            "/a\\b",
            "/%5c",
            "/%",
            "/%1",
            "/%zz",
            "/%ff",
            "/%c3",
            "/in",
            "/out",
            "/in/",
            "/out/",
            "/in//x",
            "/in/../x",
            "/in%2F",
            "http://host/demo",
            &long,
        ];
        for target in malformed {
            assert_eq!(route(target), Err(Code::TopicInvalid), "{target}");
        }
    }

    #[test]
    fn str_5_reserved_names_are_refused_in_any_case_but_only_as_the_first_segment() {
        for name in RESERVED {
            assert_eq!(route(&format!("/{name}")), Err(Code::TopicReserved));
            assert_eq!(route(&format!("/{}/deeper", name.to_uppercase())), Err(Code::TopicReserved));
            assert!(route(&format!("/lab/{name}")).is_ok());
            assert!(route(&format!("/out/{name}")).is_ok());
        }
        assert_eq!(route("/%73tats"), Err(Code::TopicReserved));
    }
}
