//! Selects the tracks that are received, as a browser that shows a large tile does: one rendition of each video source, and each audio source.
use parley_containers::tracks::Track;
use std::collections::BTreeMap;

/// The usual sources. The first of each kind also stands for all unknown names.
const VIDEO_SOURCES: [&str; 2] = ["camera", "screen"];
const AUDIO_SOURCES: [&str; 2] = ["microphone", "screen-audio"];

/// The first part of a track's name is its source: `camera/low` and `camera/high` have the same one (MEDIA-14). At most these four sources are
/// subscribed to, whatever a catalog lists: a relay closes a session with too many subscriptions.
pub fn select(tracks: &[Track]) -> Vec<Track> {
    let mut video = BTreeMap::<&str, &Track>::new();
    let mut audio = BTreeMap::<&str, &Track>::new();
    for track in tracks {
        if track.pixels.is_none() {
            audio.entry(source(track, AUDIO_SOURCES)).or_insert(track);
            continue;
        }
        let best = video.entry(source(track, VIDEO_SOURCES)).or_insert(track);
        if track.pixels > best.pixels {
            *best = track;
        }
    }
    video.into_values().chain(audio.into_values()).cloned().collect()
}

/// The source of a track. Tracks with unknown names count as the first known source.
fn source(track: &Track, known: [&'static str; 2]) -> &'static str {
    let first = track.name.split('/').next();
    known.into_iter().find(|source| Some(*source) == first).unwrap_or(known[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use parley_containers::tracks::accepted;

    fn track(name: &str, pixels: Option<u64>) -> Track {
        Track { name: name.into(), pixels }
    }

    fn names(tracks: impl IntoIterator<Item = Track>) -> Vec<String> {
        tracks.into_iter().map(|track| track.name).collect()
    }

    #[test]
    fn media_14_the_largest_rendition_of_each_video_source_and_each_audio_source() {
        let all = [
            track("camera/low", Some(1)),
            track("camera/high", Some(9)),
            track("screen", Some(0)),
            track("microphone", None),
            track("screen-audio", None),
        ];
        assert_eq!(names(select(&all)), ["camera/high", "screen", "microphone", "screen-audio"]);
        assert!(select(&[]).is_empty());
    }

    #[test]
    fn a_catalog_with_many_tracks_of_unknown_names_yields_one_video_and_one_audio_track() {
        let many = (0..64_u64).map(|nth| track(&format!("v{nth:02}"), Some(nth)));
        let all: Vec<_> = many.chain((0..64).map(|nth| track(&format!("a{nth:02}"), None))).collect();
        assert_eq!(names(select(&all)), ["v63", "a00"]);
    }

    #[test]
    fn a_catalog_keeps_at_most_eight_tracks_and_none_with_control_characters_in_the_name() {
        let long = "x".repeat(65);
        let invalid = ["", "a b", "\u{1b}]52;c;ZXZpbA==\u{7}", "a\u{9b}31m", "ä", "a\nb", long.as_str()];
        assert_eq!(names(accepted(invalid.map(|name| track(name, None)).into_iter())), [""; 0]);
        let valid = ["0.m4s", "camera/high", "screen-audio", "a_b", "Video0", &long[..64]];
        assert_eq!(names(accepted(valid.map(|name| track(name, None)).into_iter())), valid);
        assert_eq!(accepted((0..64).map(|nth| track(&format!("{nth}"), None))).count(), 8);
    }
}
