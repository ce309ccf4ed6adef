//! Which tracks of somebody are received: as a browser that shows them large does, one rendition of each picture, and one of each sound.
use parley_containers::tracks::Track;
use std::collections::BTreeMap;

/// The usual ones come first: they are what tracks of other names are.
const PICTURES: [&str; 2] = ["camera", "screen"];
const SOUNDS: [&str; 2] = ["microphone", "screen-audio"];

/// What a track shows is told by the first part of its name: `camera/low` and `camera/high` are one (MEDIA-14). No more than these four are
/// subscribed to, whatever a stranger lists: a relay closes a session that watches too many.
pub fn choose(tracks: &[Track]) -> Vec<Track> {
    let mut pictures = BTreeMap::<&str, &Track>::new();
    let mut sounds = BTreeMap::<&str, &Track>::new();
    for track in tracks {
        if track.pixels.is_none() {
            sounds.entry(source(track, SOUNDS)).or_insert(track);
            continue;
        }
        let best = pictures.entry(source(track, PICTURES)).or_insert(track);
        if track.pixels > best.pixels {
            *best = track;
        }
    }
    pictures.into_values().chain(sounds.into_values()).cloned().collect()
}

/// Clients that name their tracks otherwise have one picture and one voice.
fn source(track: &Track, known: [&'static str; 2]) -> &'static str {
    let first = track.name.split('/').next();
    known.into_iter().find(|source| Some(*source) == first).unwrap_or(known[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use parley_containers::tracks::taken;

    fn track(name: &str, pixels: Option<u64>) -> Track {
        Track { name: name.into(), pixels }
    }

    fn names(tracks: impl IntoIterator<Item = Track>) -> Vec<String> {
        tracks.into_iter().map(|track| track.name).collect()
    }

    #[test]
    fn media_14_the_largest_of_each_picture_and_every_sound() {
        let all = [
            track("camera/low", Some(1)),
            track("camera/high", Some(9)),
            track("screen", Some(0)),
            track("microphone", None),
            track("screen-audio", None),
        ];
        assert_eq!(names(choose(&all)), ["camera/high", "screen", "microphone", "screen-audio"]);
        assert!(choose(&[]).is_empty());
    }

    #[test]
    fn a_stranger_who_lists_many_tracks_has_one_picture_and_one_voice() {
        let many = (0..64_u64).map(|nth| track(&format!("v{nth:02}"), Some(nth)));
        let all: Vec<_> = many.chain((0..64).map(|nth| track(&format!("a{nth:02}"), None))).collect();
        assert_eq!(names(choose(&all)), ["v63", "a00"]);
    }

    #[test]
    fn names_that_would_tell_a_terminal_to_do_something_are_left_out_and_more_than_eight_tracks() {
        let long = "x".repeat(65);
        let unfit = ["", "a b", "\u{1b}]52;c;ZXZpbA==\u{7}", "a\u{9b}31m", "ä", "a\nb", long.as_str()];
        assert_eq!(names(taken(unfit.map(|name| track(name, None)).into_iter())), [""; 0]);
        let fit = ["0.m4s", "camera/high", "screen-audio", "a_b", "Video0", &long[..64]];
        assert_eq!(names(taken(fit.map(|name| track(name, None)).into_iter())), fit);
        assert_eq!(taken((0..64).map(|nth| track(&format!("{nth}"), None))).count(), 8);
    }
}
