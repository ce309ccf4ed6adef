use super::pod::start;
use futures_util::StreamExt;
use parley_relay::stats::answers;
use serde_json::Value;
use tokio_tungstenite::tungstenite::Message;

#[tokio::test]
async fn str_60_a_message_on_ws_is_answered_with_one_object_for_each_client() {
    let pod = start(&["--limit=stats.interval=20"]).await;
    let mut camera = pod.join_with("/in/lab", |request| request.with_header("User-Agent", "camera/1")).await;
    let mut reader = pod.join("/out/lab").await;
    pod.until_clients(2).await;
    for _ in 0..5 {
        camera.send(Message::binary(vec![0; 1000])).await;
        reader.receive().await;
    }
    tokio::time::sleep(std::time::Duration::from_millis(1300)).await;
    let mut stats = pod.join("/ws").await;
    stats.send_text("-").await;
    let mut clients: Vec<Value> = Vec::new();
    for _ in 0..2 {
        clients.push(serde_json::from_str(&stats.receive_text().await).unwrap());
    }
    clients.sort_by_key(|client| !client["broadcaster"].as_bool().unwrap());
    let [sends, hears] = &clients[..] else { panic!("{clients:?}") };
    assert_eq!(
        (&sends["topic"], &sends["userAgent"], &sends["remoteAddr"]),
        (&"/out/lab".into(), &"camera/1".into(), &"127.0.0.1".into())
    );
    assert_eq!((&sends["stats"]["tx"]["size"], &hears["stats"]["rx"]["size"]), (&1000.0.into(), &1000.0.into()));
    assert_eq!((&sends["stats"]["rx"]["last"], &hears["stats"]["tx"]["last"]), (&"Never".into(), &"Never".into()));
    assert!(
        sends["stats"]["tx"]["fps"].as_f64().unwrap() > 0.0
            && sends["stats"]["tx"]["last"].as_str().unwrap().ends_with('s')
    );
    assert!(sends["connected"].as_str().unwrap().ends_with('Z'));
}

#[tokio::test]
async fn str_61_ws_starts_and_stops_pushing_on_request() {
    let pod = start(&["--limit=stats.interval=20"]).await;
    let _client = pod.join("/x").await;
    pod.until_clients(1).await;
    let mut stats = pod.join("/ws").await;
    stats.send_text(r#"{"push":20}"#).await;
    for _ in 0..3 {
        let pushed: Value = serde_json::from_str(&stats.receive_text().await).unwrap();
        assert_eq!(
            (&pushed["sockets"], &pushed["topics"], &pushed["clients"][0]["topic"]),
            (&1.into(), &1.into(), &"/x".into())
        );
    }
    stats.send_text(r#"{"push":0}"#).await;
    stats.send(Message::Ping(vec![1].into())).await;
    while stats.socket.next().await.unwrap().unwrap() != Message::Pong(vec![1].into()) {}
    assert!(tokio::time::timeout(std::time::Duration::from_millis(200), stats.socket.next()).await.is_err());
}

#[tokio::test]
async fn str_61_statistics_sockets_are_limited_and_can_be_off() {
    let pod = start(&["--limit=stats.sockets=1"]).await;
    let _kept = pod.join("/ws").await;
    let mut second = pod.join("/ws").await;
    assert_eq!(second.end().await, 4428);
    let off = start(&["--stats=off"]).await;
    assert_eq!(super::raw::get(&off, "/stats").await.0, 404);
    let refused = format!("GET /ws HTTP/1.1\r\n{}\r\n", super::raw::UPGRADE);
    assert_eq!(super::raw::request(&off, &refused).await.0, 400);
}

#[tokio::test]
async fn str_60_to_61_a_socket_is_answered_at_most_once_an_interval() {
    let pod = start(&["--limit=stats.interval=300"]).await;
    let _client = pod.join("/x").await;
    pod.until_clients(1).await;
    let mut stats = pod.join("/ws").await;
    let (began, mut answers) = (std::time::Instant::now(), 0);
    for question in ["-", r#"{"push":20}"#].iter().cycle() {
        stats.send_text(question).await;
        let wait = tokio::time::timeout(std::time::Duration::from_millis(10), stats.receive()).await;
        answers += u128::from(wait.is_ok());
        if began.elapsed().as_millis() > 1400 {
            break;
        }
    }
    let intervals = began.elapsed().as_millis() / 300;
    assert!((2..=intervals + 1).contains(&answers), "{answers} in {intervals} intervals");
}

#[tokio::test]
async fn str_60_sockets_that_request_at_the_same_time_share_one_answer() {
    let pod = start(&["--limit=stats.interval=2000"]).await;
    let _client = pod.join("/x").await;
    pod.until_clients(1).await;
    let relay = &pod.0.relay;
    let (first, second) = (answers::clients(relay), answers::clients(relay));
    assert!(first.as_ptr() == second.as_ptr() && !first.is_empty());
    assert_eq!(answers::pod(relay).as_ptr(), answers::pod(relay).as_ptr());
}
