use super::pod::start;
use std::time::{Duration, Instant};

#[tokio::test]
async fn str_70_a_drain_accepts_no_client_redirects_all_in_batches_and_ends() {
    let pod = start(&["--limit=drain.window=1000", "--limit=socket.closeTimeout=300"]).await;
    let mut clients = Vec::new();
    for at in 0..40 {
        clients.push(pod.join(&format!("/t{}", at % 7)).await);
    }
    let mut stats = pod.join("/ws").await;
    let silent = super::raw::Raw::join(&pod, "/silent").await;
    pod.until_clients(41).await;
    let began = Instant::now();
    let ends = clients.into_iter().map(|mut client| {
        tokio::spawn(async move {
            let code = client.end().await;
            (code, began.elapsed())
        })
    });
    let ends: Vec<_> = ends.collect();
    let (address, stats) = (pod.0.address, tokio::spawn(async move { stats.end().await }));
    parley_relay::drain::run(&pod.0).await;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(pod.0.relay.clients.count(), 0);
    let mut latest = Duration::ZERO;
    for end in ends {
        let (code, after) = end.await.unwrap();
        assert_eq!(code, 1012);
        latest = latest.max(after);
    }
    assert!(latest > Duration::from_millis(500), "all at once: {latest:?}");
    assert_eq!(stats.await.unwrap(), 1012);
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
    drop(silent);
}
