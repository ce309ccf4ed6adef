//! A participant of a room on a terminal.
use super::media::{Door, Scratch, video};
use super::parley::{Parley, run, start};
use super::relay::{ANYWHERE, DEADLINE};
use super::service::{Service, participant};
use parley_protocol::server::{Goaway, Message};
use serde_json::Value;
use tokio::time::timeout;

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
