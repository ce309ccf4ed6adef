//! Statistics as a table that fits a terminal.
use serde::Deserialize;
use std::fmt::Write;

/// The statistics that a relay sends; see `Summary` of the relay.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Summary {
    sockets: u64,
    topics: u64,
    received: u64,
    delivered: u64,
    delivered_bytes: u64,
    dropped: u64,
    queued_bytes: u64,
    clients: Vec<Client>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Client {
    topic: String,
    role: String,
    remote_addr: String,
    stats: Both,
    dropped: u64,
    queued: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Both {
    tx: Rate,
    rx: Rate,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Rate {
    size: f64,
    fps: f64,
}

impl Rate {
    fn kilobits(&self) -> f64 {
        self.size * self.fps * 8.0 / 1000.0
    }
}

/// Two lines above the clients, and one below if they do not fit.
const OTHER_LINES: usize = 3;
/// The columns other than the topic.
const OTHER_COLUMNS: usize = 76;
const MIN_TOPIC: usize = 16;

/// One line for each client, truncated to the size.
pub fn draw(summary: &Summary, width: usize, height: usize) -> String {
    let Summary { sockets, topics, received, delivered, dropped, .. } = summary;
    let (megabytes, queued) = (summary.delivered_bytes / 1_000_000, summary.queued_bytes / 1000);
    let mut lines = vec![format!(
        "{sockets} sockets, {topics} topics; {received} messages in, {delivered} out ({megabytes} MB), {dropped} dropped, {queued} kB queued"
    )];
    let topic = width.saturating_sub(OTHER_COLUMNS).max(MIN_TOPIC);
    lines.push(format!(
        "{:topic$} {:4} {:>10} {:>7} {:>10} {:>7} {:>8} {:>6}  FROM",
        "TOPIC", "ROLE", "IN kbit/s", "/s", "OUT kbit/s", "/s", "DROPPED", "QUEUED"
    ));
    let rows = height.saturating_sub(OTHER_LINES);
    for client in summary.clients.iter().take(rows) {
        let Client { role, remote_addr, stats: Both { tx, rx }, dropped, queued, .. } = client;
        let name: String = client.topic.chars().take(topic).collect();
        lines.push(format!(
            "{name:topic$} {role:4} {:10.1} {:7.1} {:10.1} {:7.1} {dropped:8} {queued:6}  {remote_addr}",
            tx.kilobits(),
            tx.fps,
            rx.kilobits(),
            rx.fps
        ));
    }
    if summary.clients.len() > rows {
        lines.push(format!("and {} more", summary.clients.len() - rows));
    }
    lines.iter().fold(String::new(), |mut out, line| {
        // Control characters in names must not reach the terminal.
        let printable = line.chars().filter(|letter| !letter.is_control());
        let _ = writeln!(out, "{}", printable.take(width).collect::<String>());
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(clients: usize) -> Summary {
        let client = r#"{"topic":"/out/cam","role":"out","remoteAddr":"10.0.0.7","connected":"2026-11-21T15:04:37Z",
            "stats":{"tx":{"size":0,"fps":0},"rx":{"size":4583,"fps":30}},"dropped":3,"queued":1}"#;
        let clients = vec![client; clients].join(",");
        serde_json::from_str(&format!(r#"{{"sockets":2,"topics":1,"clients":[{clients}],"new":1}}"#)).unwrap()
    }

    #[test]
    fn each_client_is_a_line() {
        let table = draw(&summary(1), 120, 24);
        let line = table.lines().nth(2).unwrap();
        for part in ["/out/cam", "1099.9", "30.0", "10.0.0.7"] {
            assert!(line.contains(part), "{table}");
        }
    }

    #[test]
    fn a_table_fits_the_terminal_and_counts_omitted_clients() {
        for (width, height) in [(40, 5), (120, 10), (1, 1)] {
            let table = draw(&summary(50), width, height);
            assert!(table.lines().count() <= height.max(OTHER_LINES), "{table}");
            assert!(table.lines().all(|line| line.chars().count() <= width), "{table}");
        }
        assert!(draw(&summary(50), 120, 10).ends_with("and 43 more\n"));
    }
}
