//! Which tracks of somebody are received: as a browser that shows them large does, one rendition of each picture, and every voice.
use parley_containers::tracks::Track;
use std::collections::BTreeMap;

/// A picture is told by the first part of its track's name: `camera/low` and `camera/high` are one (MEDIA-14).
pub fn choose(tracks: &[Track]) -> Vec<Track> {
    let mut pictures = BTreeMap::<&str, &Track>::new();
    for track in tracks.iter().filter(|track| track.pixels.is_some()) {
        let source = track.name.split('/').next().unwrap_or_default();
        let best = pictures.entry(source).or_insert(track);
        if track.pixels > best.pixels {
            *best = track;
        }
    }
    let voices = tracks.iter().filter(|track| track.pixels.is_none());
    pictures.into_values().chain(voices).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_14_the_largest_of_each_picture_and_every_voice() {
        let track = |name: &str, pixels| Track { name: name.into(), pixels };
        let all = [
            track("camera/low", Some(1)),
            track("camera/high", Some(9)),
            track("screen", Some(0)),
            track("microphone", None),
            track("screen-audio", None),
        ];
        let chosen: Vec<_> = choose(&all).into_iter().map(|track| track.name).collect();
        assert_eq!(chosen, ["camera/high", "screen", "microphone", "screen-audio"]);
        assert!(choose(&[]).is_empty());
    }
}
