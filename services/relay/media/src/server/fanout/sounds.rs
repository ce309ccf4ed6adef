//! The sounds of participants of rooms, which owners may mute: relays know them by their names alone (MED-76).

/// The tracks of a participant's broadcast that are sounds, as Parley's clients name them.
const SOUNDS: [&str; 2] = ["microphone", "screen-audio"];
/// The first segment of the broadcasts of rooms.
const ROOMS: &str = "rooms";

/// Returns the participant whose sound a track is: of `rooms/{room}/{participant}/{broadcast}`.
pub(crate) fn speaker<'a>(broadcast: &'a str, track: &str) -> Option<&'a str> {
    let mut segments = broadcast.split('/');
    let (rooms, _room, participant, _) = (segments.next()?, segments.next()?, segments.next()?, segments.next()?);
    (rooms == ROOMS && segments.next().is_none() && SOUNDS.contains(&track)).then_some(participant)
}

/// Reports whether a token is for the broadcasts of a room, by its patterns.
pub(crate) fn is_of_room(subscribe: &[String]) -> bool {
    subscribe.iter().any(|pattern| pattern.strip_prefix(ROOMS).is_some_and(|rest| rest.starts_with('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn med_76_a_sound_is_a_track_of_that_name_in_the_broadcast_of_a_participant() {
        for track in SOUNDS {
            assert_eq!(speaker("rooms/standup/p1/x2", track), Some("p1"));
        }
        for (broadcast, track) in [
            ("rooms/standup/p1/x2", "camera/high"),
            ("rooms/standup/p1", "microphone"),
            ("rooms/standup/p1/x2/y", "microphone"),
            ("live/cam", "microphone"),
            ("lab/rooms/p1/x", "microphone"),
        ] {
            assert_eq!(speaker(broadcast, track), None, "{broadcast} {track}");
        }
    }

    #[test]
    fn med_76_a_token_is_for_a_room_by_its_patterns() {
        let is = |patterns: &[&str]| is_of_room(&patterns.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>());
        assert!(is(&["rooms/standup/**"]) && is(&["lab/*", "rooms/*/p1/*"]));
        assert!(!is(&["live/cam"]) && !is(&["roomsful/a"]) && !is(&["**"]) && !is(&[]));
    }
}
