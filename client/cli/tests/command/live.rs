//! Live broadcasts through a relay.
use super::media::{Door, Scratch, arguments, ffmpeg, hashes, video};
use super::parley::{run, start};
use super::relay::ANYWHERE;
use serde_json::Value;
use std::time::{SystemTime, UNIX_EPOCH};

#[tokio::test]
async fn med_10_a_watcher_receives_the_packets_of_a_file_unchanged_and_both_commands_end_with_it() {
    let scratch = Scratch::new("file");
    let (source, seen) = (scratch.path("source.mp4"), scratch.path("seen.mp4"));
    video(&source, 3).await;
    let door = Door::start(ANYWHERE, &scratch, "").await;
    let place = door.flags("live/file");
    let mut watches = start(&arguments("watch", &place, &["-o", &seen]));
    watches.complains("live/file has no publisher yet").await;
    let began = std::time::Instant::now();
    let published = run(&arguments("publish", &place, &[&source])).await;
    assert!(published.status.success(), "{published:?}");
    assert!(began.elapsed().as_secs_f64() > 2.5, "faster than it plays");
    let watched = watches.end().await;
    assert!(watched.status.success(), "{watched:?}");
    assert_eq!(hashes(&seen).await, hashes(&source).await);
}

#[tokio::test]
async fn packets_of_mpeg_ts_are_published_as_they_arrive() {
    let scratch = Scratch::new("packets");
    let (source, packets) = (scratch.path("source.mp4"), scratch.path("source.ts"));
    video(&source, 2).await;
    ffmpeg(&format!("-i {source} -c copy -f mpegts {packets}")).await;
    let packets = std::fs::read(packets).unwrap();
    let door = Door::start(ANYWHERE, &scratch, "").await;
    let place = door.flags("live/packets");
    let mut watches = start(&arguments("watch", &place, &["--log"]));
    watches.complains("has no publisher yet").await;
    let mut publishes = start(&arguments("publish", &place, &[]));
    publishes.write(&packets).await;
    let line: Value = serde_json::from_str(&watches.line().await).unwrap();
    assert_eq!((&line["broadcast"], &line["object"]), (&"live/packets".into(), &0.into()), "{line}");
    assert!(line["bytes"].as_u64().unwrap() > 0 && line["timestampMs"].is_f64() && line["timeMs"].is_f64(), "{line}");
    assert!(publishes.end().await.status.success());
    assert!(watches.end().await.status.success());
}

#[tokio::test]
async fn publisher_and_watcher_reconnect_to_a_relay_that_restarts() {
    let scratch = Scratch::new("killed");
    let source = scratch.path("source.mp4");
    video(&source, 2).await;
    let door = Door::start(ANYWHERE, &scratch, "").await;
    let (address, place) = (door.address.clone(), door.flags("live/again"));
    let mut publishes = start(&arguments("publish", &place, &[&source, "--loop"]));
    let mut watches = start(&arguments("watch", &place, &["--log"]));
    watches.line().await;
    door.kill().await;
    tokio::join!(publishes.complains("retrying in"), watches.complains("retrying in"));
    let _door = Door::start(&address, &scratch, "").await;
    tokio::join!(publishes.complains("connected over QUIC"), watches.complains("connected over QUIC"));
    let back = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64() * 1000.0;
    let mut seen = 0.0;
    while seen < back {
        let line: Value = serde_json::from_str(&watches.line().await).unwrap();
        seen = line["timeMs"].as_f64().unwrap();
    }
    assert!(publishes.interrupt().await.status.success());
    // The end of the broadcast reaches the watcher after all of its media.
    assert!(watches.end().await.status.success());
}

#[tokio::test]
async fn med_11_a_broadcast_is_also_carried_over_websocket() {
    let scratch = Scratch::new("websocket");
    let source = scratch.path("source.mp4");
    video(&source, 1).await;
    let door = Door::start(ANYWHERE, &scratch, "").await;
    let place = [format!("ws://{}/", door.websocket), "--broadcast=live/tcp".into()];
    let mut watches = start(&arguments("watch", &place, &["--log"]));
    watches.complains("connected over WebSocket").await;
    let publishes = start(&arguments("publish", &place, &[&source, "--loop"]));
    watches.line().await;
    assert!(publishes.interrupt().await.status.success());
}

#[tokio::test]
async fn a_closed_output_ends_the_command() {
    let scratch = Scratch::new("unread");
    let source = scratch.path("source.mp4");
    video(&source, 1).await;
    let door = Door::start(ANYWHERE, &scratch, "").await;
    let place = door.flags("live/unread");
    let mut watches = start(&arguments("watch", &place, &[]));
    let _publishes = start(&arguments("publish", &place, &[&source, "--loop"]));
    assert_eq!(&watches.read(8).await[4..], b"ftyp");
    drop(watches.0.stdout.take());
    assert!(watches.end().await.status.success());
}

#[tokio::test]
async fn an_input_that_cannot_be_published_is_refused_with_a_reason() {
    let scratch = Scratch::new("unfit");
    let ordinary = scratch.path("ordinary.mp4");
    video(&ordinary, 1).await;
    let old = scratch.path("old.ts");
    ffmpeg(&format!("-f lavfi -i testsrc=size=160x90:duration=1 -c:v mpeg2video -f mpegts {old}")).await;
    let cut = scratch.path("cut.mp4");
    std::fs::write(&cut, &std::fs::read(&ordinary).unwrap()[..2000]).unwrap();
    let door = Door::start(ANYWHERE, &scratch, "").await;
    let place = door.flags("live/unfit");
    let ordinary = std::fs::read(&ordinary).unwrap();
    for (input, sentence) in [
        (&b"garbage garbage garbage"[..], "it is neither MP4 nor MPEG-TS"),
        (b"", "it is empty"),
        (&ordinary, "an ordinary MP4 can be published as a file, not from standard input"),
    ] {
        let mut publishes = start(&arguments("publish", &place, &[]));
        let _ends_before_all_is_read = publishes.try_write(input).await;
        let output = publishes.end().await;
        assert_eq!(output.status.code(), Some(6), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(sentence), "{output:?}");
    }
    for (file, sentence) in [(&old, "neither H.264"), (&cut, "cut off")] {
        let output = run(&arguments("publish", &place, &[file])).await;
        assert_eq!(output.status.code(), Some(6), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(sentence), "{output:?}");
    }
    let output = run(&arguments("publish", &place, &["nowhere.mp4"])).await;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}
