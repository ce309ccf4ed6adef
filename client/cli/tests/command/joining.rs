//! A participant of a room on a terminal.
use super::media::{Door, Scratch, ffmpeg, video};
use super::parley::{Parley, run, start};
use super::relay::{ANYWHERE, DEADLINE};
use super::service::{Service, participant};
use parley_protocol::server::{Goaway, Message};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Waits for the next line of output that contains a text.
async fn says(parley: &mut Parley, part: &str) -> String {
    let found = async {
        loop {
            let line = parley.line().await;
            if line.contains(part) {
                return line;
            }
        }
    };
    timeout(DEADLINE, found).await.unwrap_or_else(|_| panic!("never: {part}"))
}

#[tokio::test]
async fn a_participant_that_joins_is_received_and_its_leaving_is_reported() {
    let scratch = Scratch::new("join");
    let film = scratch.path("film.mp4");
    video(&film, 2).await;
    let door = Door::start(ANYWHERE, &scratch, "").await;
    let service = Service::start(&[&door]).await;
    let page = service.page();
    let mut listens = start(&["join", &page, "--name", "Ada"]);
    listens.complains("connected over QUIC").await;
    let mut publishes = start(&["join", &page, "--name", "Bo", "--publish", &film, "--loop"]);
    assert_eq!(says(&mut publishes, "Ada").await, "Ada joined\n");
    says(&mut listens, "Bo joined").await;
    says(&mut listens, "Bo: receiving 0.m4s").await;
    let line = says(&mut listens, "Bo: 0.m4s ").await;
    assert!(line.contains(" frames/s, ") && line.ends_with(" groups lost\n"), "{line}");
    assert!(publishes.interrupt().await.status.success());
    says(&mut listens, "Bo: 0.m4s stopped").await;
    says(&mut listens, "Bo left").await;
    assert!(listens.interrupt().await.status.success());
    service.until_left(&["Ada", "Bo"]).await;
}

#[tokio::test]
async fn each_track_has_a_json_line_a_second_also_after_the_relay_was_lost() {
    let scratch = Scratch::new("join-log");
    let film = scratch.path("film.mp4");
    video(&film, 2).await;
    let mut door = Door::start(ANYWHERE, &scratch, "").await;
    let service = Service::start(&[&door]).await;
    let (page, address) = (service.page(), door.address.clone());
    let mut publishes = start(&["join", &page, "--name", "Bo", "--publish", &film, "--loop"]);
    publishes.complains("connected over QUIC").await;
    let mut listens = start(&["join", &page, "--log"]);
    for round in 0..2 {
        let (mut picture, mut sound) = (0, 0);
        while picture < 60 || sound < 20 {
            let line: Value = serde_json::from_str(&listens.line().await).unwrap();
            assert_eq!((&line["name"], &line["participant"]), (&"Bo".into(), &participant(1).into()), "{line}");
            assert!(line["timeMs"].as_u64() > Some(0) && line["longestGapMs"].is_u64(), "{line}");
            assert_eq!(line["lostGroups"], 0, "{line}");
            let frames = line["frames"].as_u64().unwrap();
            assert_eq!(line["bytes"].as_u64() > Some(0), frames > 0, "{line}");
            if line["track"].as_str().unwrap().starts_with("0.") { picture += frames } else { sound += frames }
        }
        if round == 0 {
            door.kill().await;
            listens.complains("retrying in").await;
            door = Door::start(&address, &scratch, "").await;
        }
    }
}

#[tokio::test]
async fn mod_15_the_sounds_of_a_muted_participant_are_not_received_until_it_may_be_heard_again() {
    let scratch = Scratch::new("join-muted");
    let film = scratch.path("film.mp4");
    video(&film, 2).await;
    let door = Door::start(ANYWHERE, &scratch, "").await;
    let service = Service::start(&[&door]).await;
    let page = service.page();
    let mut publishes = start(&["join", &page, "--name", "Bo", "--publish", &film, "--loop"]);
    publishes.complains("connected over QUIC").await;
    let mutes = |participants: Value| {
        let mutes = json!({ "type": "mutes", "mutes": { "all": false, "participants": participants } });
        service.say(&serde_json::from_value(mutes).unwrap());
    };
    let mut listens = start(&["join", &page]);
    let (picture, sound) = ("Bo: receiving 0.m4s", "Bo: receiving 1.m4s");
    let mut begun = [says(&mut listens, "Bo: receiving ").await, says(&mut listens, "Bo: receiving ").await];
    begun.sort();
    assert!(begun[0].starts_with(picture) && begun[1].starts_with(sound), "{begun:?}");
    mutes(json!([participant(1)]));
    publishes.complains("an owner of the room muted this participant").await;
    // In either order.
    let mut told = Vec::new();
    while !["Bo is muted by an owner\n", "Bo: 1.m4s stopped\n"].iter().all(|line| told.iter().any(|one| one == line)) {
        told.push(says(&mut listens, "Bo").await);
    }
    // A report of the next interval, in which pictures went on.
    says(&mut listens, "Bo: 0.m4s ").await;
    let line = says(&mut listens, "Bo: ").await;
    assert!(line.starts_with("Bo: 0.m4s ") && !line.contains(" 0.0 frames/s"), "{line}");
    mutes(json!([]));
    publishes.complains("is not muted any more").await;
    says(&mut listens, sound).await;
}

/// The longest time between two packets of a stream of a file, in seconds.
async fn longest_gap(file: &str, stream: &str) -> f64 {
    let packets = ffmpeg(&format!("-i {file} -map 0:{stream} -c copy -f framecrc -")).await;
    let packets = String::from_utf8(packets).unwrap();
    let unit = packets.lines().find_map(|line| line.strip_prefix("#tb 0: 1/")).unwrap().parse::<f64>().unwrap();
    let times = packets.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(',').nth(1).unwrap());
    let times: Vec<f64> = times.map(|time| time.trim().parse::<f64>().unwrap() / unit).collect();
    times.windows(2).map(|two| two[1] - two[0]).fold(0.0, f64::max)
}

#[tokio::test]
async fn mod_15_no_sound_of_a_muted_participant_is_written_and_all_of_its_pictures() {
    let scratch = Scratch::new("watch-muted");
    let (film, seen) = (scratch.path("film.mp4"), scratch.path("seen.mp4"));
    video(&film, 2).await;
    let door = Door::start(ANYWHERE, &scratch, "").await;
    let service = Service::start(&[&door]).await;
    let page = service.page();
    let mut publishes = start(&["join", &page, "--publish", &film, "--loop"]);
    publishes.complains("connected over QUIC").await;
    let mut watches = start(&["watch", &page, "-o", &seen]);
    watches.complains("connected over QUIC").await;
    let all = |all: bool| {
        let mutes = json!({ "type": "mutes", "mutes": { "all": all, "participants": [] } });
        service.say(&serde_json::from_value(mutes).unwrap());
    };
    sleep(Duration::from_secs(2)).await;
    all(true);
    publishes.complains("an owner of the room muted this participant").await;
    sleep(Duration::from_secs(6)).await;
    all(false);
    publishes.complains("is not muted any more").await;
    sleep(Duration::from_secs(2)).await;
    assert!(watches.interrupt().await.status.success());
    let (picture, sound) = (longest_gap(&seen, "v").await, longest_gap(&seen, "a").await);
    // When it may be heard again, up to two seconds from before are received, and the rest of a group.
    assert!(sound > 2.0 && picture < 0.5, "{sound} s without sounds, {picture} s without pictures");
}

#[tokio::test]
async fn invalid_rooms_and_inputs_are_refused() {
    let scratch = Scratch::new("join-refused");
    let unfit = scratch.path("unfit");
    std::fs::write(&unfit, "garbage").unwrap();
    let service = Service::start(&[]).await;
    let page = service.page();
    let live = page.replace("/r/", "/live/");
    for (arguments, code, sentence) in [
        (vec!["join", &live], 2, "must be https://HOST/r/ROOM"),
        (vec!["join", &page, "--loop"], 2, "--publish"),
        (vec!["join", &page, "--publish", &unfit], 6, "cannot be published"),
        (vec!["join", &page, "--publish", "nowhere.mp4"], 1, "nowhere.mp4"),
    ] {
        let output = run(&arguments).await;
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(code) && said.contains(sentence), "{output:?}");
    }
    service.refuse("ROOM_FULL");
    let output = run(&["join", &page]).await;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(3) && said.contains("ROOM_FULL (403)"), "{output:?}");
}

#[tokio::test]
async fn res_3_and_8_a_participant_whose_pod_drains_resumes_with_a_higher_generation_and_one_whose_room_is_deleted_ends()
 {
    let service = Service::start(&[]).await;
    let mut joins = start(&["join", &service.page(), "--name", "Ada"]);
    service.until_here(1).await;
    service.say(&Message::Goaway(Goaway { after_ms: 0 }));
    joins.complains("the pod of the room is draining; rejoining the room in").await;
    assert_eq!(service.until_resumed().await, [2]);
    service.say(&Message::RoomDeleted);
    let output = joins.end().await;
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("ROOM_DELETED"), "{output:?}");
}
