//! Output about tracks: text for people, or JSON lines.
use super::tally::Interval;
use serde::Serialize;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A display name that is safe on a terminal. It removes control characters, and the characters that change the direction of text, which make
/// one name look like another.
pub fn printable(name: &str) -> String {
    let directional = |letter| matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    name.chars().filter(|letter| !letter.is_control() && !directional(*letter)).collect()
}

/// A line of text about a track.
#[allow(clippy::cast_precision_loss, reason = "for people")]
pub fn line(name: &str, track: &str, interval: &Interval, elapsed: Duration) -> String {
    let Interval { frames, bytes, longest, lost } = interval;
    let per_second = |amount: u64| amount as f64 / elapsed.as_secs_f64();
    format!(
        "{name}: {track} {:.1} frames/s, {:.0} kbit/s, longest gap {} ms, {lost} groups lost\n",
        per_second(*frames),
        per_second(*bytes) * 8.0 / 1e3,
        longest.as_millis()
    )
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Json<'a> {
    /// Milliseconds since 1970.
    time_ms: u128,
    participant: &'a str,
    name: &'a str,
    track: &'a str,
    frames: u64,
    bytes: u64,
    longest_gap_ms: u128,
    lost_groups: u64,
}

/// A JSON line about a track.
pub fn json(participant: &str, name: &str, track: &str, interval: &Interval) -> anyhow::Result<String> {
    let line = Json {
        time_ms: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis(),
        participant,
        name,
        track,
        frames: interval.frames,
        bytes: interval.bytes,
        longest_gap_ms: interval.longest.as_millis(),
        lost_groups: interval.lost,
    };
    Ok(serde_json::to_string(&line)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_contain_no_control_characters() {
        assert_eq!(
            printable("Ada\u{1b}]52;c;ZXZpbA==\u{7}\n\u{9b}31m \u{7f}\u{202e}Bo\u{2069}"),
            "Ada]52;c;ZXZpbA==31m Bo"
        );
        assert_eq!(printable("Zoë 👩\u{200d}🔬"), "Zoë 👩\u{200d}🔬");
    }
}
