//! Statistics as JSON, in the format that Crossbar's tools read. Rules STR-60 and STR-61.
use crate::relay::Relay;
use crate::relay::clients::{Client, Rate};
use serde::Serialize;
use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// One client. The fields of Crossbar come first, then additional ones.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    topic: &'a str,
    broadcaster: bool,
    connected: String,
    #[serde(rename = "remoteAddr")]
    remote_address: IpAddr,
    #[serde(rename = "userAgent")]
    user_agent: &'a str,
    stats: Directions,
    role: &'static str,
    dropped: u64,
    queued: usize,
}

#[derive(Debug, Serialize)]
struct Directions {
    tx: Direction,
    rx: Direction,
}

#[derive(Debug, Serialize)]
struct Direction {
    /// The time since the last message, in the format of Go's durations; `Never` if there was none.
    last: String,
    size: f64,
    fps: f64,
}

/// The content of a push.
#[derive(Debug, Serialize)]
pub struct Summary<'a> {
    sockets: usize,
    topics: usize,
    received: u64,
    #[serde(rename = "receivedBytes")]
    received_bytes: u64,
    delivered: u64,
    #[serde(rename = "deliveredBytes")]
    delivered_bytes: u64,
    dropped: u64,
    discarded: u64,
    #[serde(rename = "queuedBytes")]
    queued_bytes: u64,
    #[serde(rename = "uptimeMs")]
    uptime_ms: u64,
    /// At most `stats.clients` of them.
    clients: Vec<Report<'a>>,
}

/// One client's report. `now`: milliseconds of the pod's clock.
pub fn of(client: &Client, now: u64) -> Report<'_> {
    let counts = client.reader.counts();
    let rates = client.rates();
    let role = match (client.route.role.publishes(), client.route.role.subscribes()) {
        (true, true) => "both",
        (true, false) => "in",
        _ => "out",
    };
    Report {
        topic: &client.route.topic,
        broadcaster: client.route.role.publishes(),
        connected: rfc3339(client.connected),
        remote_address: client.address,
        user_agent: &client.user_agent,
        stats: Directions { tx: direction(rates.sent, now), rx: direction(rates.received, now) },
        role,
        dropped: counts.dropped.messages,
        queued: counts.queued,
    }
}

/// The report about the whole pod, with its clients.
pub fn summary(relay: &Relay, max: usize) -> Vec<u8> {
    let now = relay.now();
    let mut clients = relay.clients.all();
    clients.sort_by(|one, other| (&one.route.topic, one.reader.id).cmp(&(&other.route.topic, other.reader.id)));
    let count = &relay.counters;
    let summary = Summary {
        sockets: clients.len(),
        topics: relay.topics.count(),
        received: count.received.get(),
        received_bytes: count.received_bytes.get(),
        delivered: count.delivered.get(),
        delivered_bytes: count.delivered_bytes.get(),
        dropped: count.dropped.get(),
        discarded: count.discarded.get(),
        queued_bytes: relay.backlog.bytes(),
        uptime_ms: now,
        clients: clients.iter().take(max).map(|client| of(client, now)).collect(),
    };
    serde_json::to_vec(&summary).unwrap_or_default()
}

fn direction(rate: Rate, now: u64) -> Direction {
    let last = match rate.last {
        0 => "Never".to_owned(),
        seen => format!("{:?}", Duration::from_millis(now.saturating_sub(seen))),
    };
    Direction { last, size: rate.size.round(), fps: (rate.fps * 100.0).round() / 100.0 }
}

/// A time in the format of RFC 3339: UTC, to the second. Computes the date with Howard Hinnant's algorithm `civil_from_days`.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_formatted_as_in_rfc_3339() {
        let cases = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_273_477, "2026-11-21T15:04:37Z"),
        ];
        for (seconds, text) in cases {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
