//! The sounds of participants whom owners muted (MED-76): what clients do not get of them, whatever they ask for.
use moq_net::track::{Producer, Subscriber, Subscription};
use moq_net::{Timestamp, broadcast, group, origin};
use moq_tokio::Connection;
use std::time::Duration;
use tokio::time::timeout;

use crate::client::{publish_with, subscribe_with};
use crate::misbehaving::reset_of;
use crate::relay::{Relay, anything, token};

const WITHIN: Duration = Duration::from_secs(10);
/// After so long nothing more was on its way.
const QUIET: Duration = Duration::from_millis(500);
const BROADCAST: &str = "rooms/standup/p1/page";
const SOUNDS: [&str; 2] = ["microphone", "screen-audio"];
const VERSIONS: [&str; 2] = ["moq-lite-06", "moq-lite-05"];

/// A participant with two sounds and a camera.
struct Participant {
    tracks: Vec<Producer>,
    _kept: (origin::Producer, broadcast::Producer, Connection),
}

impl Participant {
    fn of(relay: &Relay) -> Self {
        let origin = moq_tokio::origin::spawn();
        let broadcast = origin.create_broadcast(BROADCAST).unwrap();
        let names = SOUNDS.into_iter().chain(["camera/high"]);
        let tracks = names.map(|name| broadcast.create_track(name, None).unwrap()).collect();
        broadcast.announce(Default::default()).unwrap();
        let url = relay.url(&token("rooms/standup/p1/*", "rooms/standup/**"));
        let connection = publish_with(VERSIONS[0], url, &origin);
        Self { tracks, _kept: (origin, broadcast, connection) }
    }

    /// Begins a group of each track, with a frame.
    fn begin(&self, text: &str) -> Vec<group::Producer> {
        let begin = |track: &Producer| {
            let mut group = track.append_group().unwrap();
            write(&mut group, text);
            group
        };
        self.tracks.iter().map(begin).collect()
    }
}

fn write(group: &mut group::Producer, text: &str) {
    group.write_frame(Timestamp::from_millis(0).unwrap(), text.as_bytes().to_vec()).unwrap();
}

/// A client that subscribes to all tracks.
struct Listener {
    tracks: Vec<Subscriber>,
    _kept: (broadcast::Consumer, Connection),
}

impl Listener {
    async fn dial(relay: &Relay, version: &str, socket: bool) -> (broadcast::Consumer, Connection) {
        let token = token("", "rooms/standup/**");
        let url = if socket { relay.websocket(&token) } else { relay.url(&token) };
        let (origin, connection) = subscribe_with(version, url);
        (timeout(WITHIN, origin.consume().routed_broadcast(BROADCAST)).await.unwrap().unwrap(), connection)
    }

    async fn of(relay: &Relay, version: &str, socket: bool) -> Self {
        let (broadcast, connection) = Self::dial(relay, version, socket).await;
        let mut tracks = Vec::new();
        for name in SOUNDS.into_iter().chain(["camera/high"]) {
            let wanted = broadcast.track(name).unwrap().subscribe(Subscription::default());
            tracks.push(timeout(WITHIN, wanted).await.unwrap().unwrap());
        }
        Self { tracks, _kept: (broadcast, connection) }
    }

    /// Waits until each of these tracks has a group with this frame, and returns the groups after it.
    async fn hear(&mut self, tracks: std::ops::Range<usize>, text: &str) -> Vec<group::Consumer> {
        let mut groups = Vec::new();
        for track in &mut self.tracks[tracks] {
            let hearing = async {
                loop {
                    let mut group = track.recv_group().await.unwrap().unwrap();
                    if group.read_frame().await.unwrap().unwrap().payload == text.as_bytes() {
                        return group;
                    }
                }
            };
            let heard = timeout(WITHIN, hearing).await;
            assert!(heard.is_ok(), "{text} does not arrive");
            groups.extend(heard);
        }
        groups
    }

    /// Checks that no group of a sound arrives.
    async fn hears_nothing(&mut self) {
        for (track, name) in self.tracks.iter_mut().zip(SOUNDS) {
            assert!(timeout(QUIET, track.recv_group()).await.is_err(), "a group of {name}");
        }
    }
}

async fn listeners(relay: &Relay) -> Vec<Listener> {
    let mut listeners = Vec::new();
    for (version, socket) in VERSIONS.into_iter().flat_map(|version| [(version, false), (version, true)]) {
        listeners.push(Listener::of(relay, version, socket).await);
    }
    listeners
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_76_clients_get_no_sound_of_a_muted_participant_and_its_pictures_go_on() {
    let relay = Relay::start().await;
    let participant = Participant::of(&relay);
    let mut groups = participant.begin("before");
    let mut listeners = listeners(&relay).await;
    let mut open = Vec::new();
    for listener in &mut listeners {
        open.push(listener.hear(0..3, "before").await);
    }
    relay.mute("p1");
    for group in &mut groups {
        write(group, "in the open group");
    }
    for group in &mut open {
        let mut frames = group.iter_mut().map(|group| timeout(WITHIN, group.read_frame()));
        for _ in SOUNDS {
            let ended = frames.next().unwrap().await.expect("the open group stays open");
            assert!(!matches!(ended, Ok(Some(_))), "{ended:?}");
        }
        assert_eq!(frames.next().unwrap().await.unwrap().unwrap().unwrap().payload, &b"in the open group"[..]);
    }
    let _withheld = participant.begin("withheld");
    for listener in &mut listeners {
        listener.hear(2..3, "withheld").await;
        listener.hears_nothing().await;
    }
    let mut late = Listener::of(&relay, VERSIONS[0], false).await;
    late.hears_nothing().await;
    relay.unmute("p1");
    let _after = participant.begin("after");
    for listener in listeners.iter_mut().chain([&mut late]) {
        listener.hear(0..3, "after").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_76_a_relay_withholds_what_comes_from_another_relay_and_passes_it_on() {
    let (origin, leaf) = (Relay::start().await, Relay::start().await);
    leaf.dial(&[&origin]).await;
    let participant = Participant::of(&origin);
    let _before = participant.begin("before");
    let mut near = Listener::of(&origin, VERSIONS[0], false).await;
    let mut far = Listener::of(&leaf, VERSIONS[0], false).await;
    for listener in [&mut near, &mut far] {
        listener.hear(0..3, "before").await;
    }
    leaf.mute("p1");
    let _withheld = participant.begin("withheld");
    near.hear(0..3, "withheld").await;
    far.hear(2..3, "withheld").await;
    far.hears_nothing().await;
    // An origin has listeners of its own, and does not decide for the leaf.
    origin.mute("p1");
    leaf.unmute("p1");
    let _after = participant.begin("after");
    far.hear(0..3, "after").await;
    near.hears_nothing().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_76_other_participants_and_other_broadcasts_are_heard() {
    let relay = Relay::start().await;
    let participant = Participant::of(&relay);
    relay.mute("p2");
    let _groups = participant.begin("heard");
    Listener::of(&relay, VERSIONS[0], false).await.hear(0..3, "heard").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_76_a_part_of_a_sound_is_withheld_as_well_and_single_groups_are_of_pictures_only() {
    let relay = Relay::start().await;
    let participant = Participant::of(&relay);
    let _earlier = participant.begin("earlier");
    let mut kept = Vec::new();
    for version in VERSIONS {
        let (broadcast, connection) = Listener::dial(&relay, version, false).await;
        for (name, is_refused) in [(SOUNDS[0], true), (SOUNDS[1], true), ("camera/high", false)] {
            let track = broadcast.track(name).unwrap();
            let fetched = timeout(WITHIN, track.fetch_group(0, None)).await.unwrap();
            assert_eq!(fetched.is_err(), is_refused, "FETCH of {name} with {version}");
        }
        let part = Subscription::default().with_groups(1..);
        let wanted = broadcast.track(SOUNDS[0]).unwrap().subscribe(part);
        kept.push((timeout(WITHIN, wanted).await.unwrap().unwrap(), broadcast, connection));
    }
    let _said = participant.begin("said");
    for (part, ..) in &mut kept {
        let group = timeout(WITHIN, part.recv_group()).await.expect("no group arrives").unwrap().unwrap();
        assert_eq!(group.sequence, 1);
    }
    relay.mute("p1");
    let _withheld = participant.begin("withheld");
    for (part, ..) in &mut kept {
        assert!(timeout(QUIET, part.recv_group()).await.is_err(), "a group of a muted participant");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_76_a_name_that_is_padded_over_the_largest_request_is_refused_and_with_less_padding_it_is_still_a_sound() {
    let relay = Relay::start().await;
    let participant = Participant::of(&relay);
    let _groups = participant.begin("said");
    relay.mute("p1");
    for (kind, slashes, code) in [(2u8, 9000, 0), (3, 9000, 0), (3, 1000, 0x33)] {
        let integer = |value: usize| (u16::try_from(value).unwrap() | 1 << 14).to_be_bytes();
        let path = format!("{BROADCAST}{}", "/".repeat(slashes));
        let mut body = if kind == 2 { vec![7] } else { Vec::new() };
        body.extend(integer(path.len()));
        body.extend(path.bytes());
        body.push(u8::try_from(SOUNDS[0].len()).unwrap());
        body.extend(SOUNDS[0].bytes());
        // Priority, age or group, and no bounds.
        body.extend([100, 0, 0, 0, 0, 0]);
        let mut request = vec![kind];
        request.extend(integer(body.len()));
        request.extend(body);
        let asking = reset_of(relay.url(&token("", "rooms/standup/**")), BROADCAST, &request);
        assert_eq!(timeout(WITHIN, asking).await.expect("no answer"), Some(code), "{kind} with {slashes}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn med_76_a_token_for_a_room_opens_no_session_with_a_version_that_the_fan_out_does_not_serve() {
    let relay = Relay::start().await;
    for socket in [false, true] {
        let url = |token: &str| if socket { relay.websocket(token) } else { relay.url(token) };
        let (_origin, refused) = subscribe_with("moq-lite-04", url(&token("", "rooms/standup/**")));
        let ended = timeout(WITHIN, refused.closed()).await.expect("the session goes on");
        assert!(ended.is_err(), "{ended:?}");
        let (_origin, connection) = subscribe_with("moq-lite-04", url(&token("", "live/cam")));
        let connection = timeout(WITHIN, connection.established()).await.unwrap().unwrap();
        let (_other, also) = subscribe_with("moq-lite-04", url(&anything()));
        let _also = timeout(WITHIN, also.established()).await.unwrap().unwrap();
        assert!(timeout(QUIET, connection.closed()).await.is_err(), "a session of a live broadcast ended");
    }
}
