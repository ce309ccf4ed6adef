//! What is said: lines for people, or lines of JSON.
use super::tally::Part;
use serde::Serialize;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a stranger calls themselves, as a terminal may have it: control characters tell it what to do, and those that turn the direction
/// of writing make one name look like another.
pub fn plain(name: &str) -> String {
    let turns = |letter| matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    name.chars().filter(|letter| !letter.is_control() && !turns(*letter)).collect()
}

/// A line about a track. For people.
#[allow(clippy::cast_precision_loss, reason = "for people")]
pub fn line(who: &str, track: &str, part: &Part, over: Duration) -> String {
    let Part { frames, bytes, longest, lost } = part;
    let per_second = |amount: u64| amount as f64 / over.as_secs_f64();
    format!(
        "{who}: {track} {:.1} frames/s, {:.0} kbit/s, longest gap {} ms, {lost} groups lost\n",
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

/// A line about a track. For programs.
pub fn json(participant: &str, name: &str, track: &str, part: &Part) -> anyhow::Result<String> {
    let line = Json {
        time_ms: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis(),
        participant,
        name,
        track,
        frames: part.frames,
        bytes: part.bytes,
        longest_gap_ms: part.longest.as_millis(),
        lost_groups: part.lost,
    };
    Ok(serde_json::to_string(&line)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_a_terminal_nothing() {
        assert_eq!(
            plain("Ada\u{1b}]52;c;ZXZpbA==\u{7}\n\u{9b}31m \u{7f}\u{202e}Bo\u{2069}"),
            "Ada]52;c;ZXZpbA==31m Bo"
        );
        assert_eq!(plain("Zoë 👩\u{200d}🔬"), "Zoë 👩\u{200d}🔬");
    }
}
