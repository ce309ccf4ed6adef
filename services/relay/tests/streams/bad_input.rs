use super::pod::start;
use super::raw::{Raw, frame};

#[tokio::test]
async fn str_14_an_invalid_frame_closes_only_its_socket() {
    let pod = start(&["--limit=socket.closeTimeout=200"]).await;
    let (mut one, mut other) = (pod.join("/x").await, pod.join("/x").await);
    pod.until_clients(2).await;
    let cases: Vec<(Vec<u8>, u16)> = vec![
        (vec![0x82, 0x05, 1, 2, 3, 4, 5], 1002),
        (frame(0xc2, b"x"), 1002),
        (frame(0x83, b"x"), 1002),
        (frame(0x80, b"x"), 1002),
        ([frame(0x01, b"x"), frame(0x81, b"y")].concat(), 1002),
        (frame(0x09, b"x"), 1002),
        (frame(0x89, &[0; 126]), 1002),
        (frame(0x88, &[3]), 1002),
        (frame(0x88, &[0x03, 0xed]), 1002),
        ([vec![0x82, 0xff], vec![0xff; 8], vec![0; 4]].concat(), 1002),
        ([vec![0x82, 0xff, 0, 0, 0, 0, 0xff], vec![0; 7]].concat(), 1009),
        (frame(0x81, &[b'o', b'k', 0xff]), 1007),
        ([frame(0x01, &[0xc3]), frame(0x80, b"x")].concat(), 1007),
        (vec![0xff; 4096], 1002),
    ];
    for (bytes, code) in cases {
        let mut bad = Raw::join(&pod, "/out/elsewhere").await;
        bad.write(&bytes).await;
        assert_eq!(bad.end().await, code, "{:x?}", &bytes[..bytes.len().min(16)]);
    }
    one.send_text("still here").await;
    assert_eq!(other.receive_text().await, "still here");
    pod.until_clients(2).await;
}

#[tokio::test]
async fn str_13_and_14_complete_messages_before_an_invalid_frame_arrive_and_invalid_text_does_not() {
    let pod = start(&[]).await;
    let mut reader = pod.join("/out/x").await;
    pod.until_clients(1).await;
    let mut bad = Raw::join(&pod, "/in/x").await;
    bad.write(&[frame(0x81, b"good"), frame(0x81, &[0xff]), frame(0x81, b"late")].concat()).await;
    assert_eq!(bad.end().await, 1007);
    let mut good = pod.join("/in/x").await;
    good.send_text("next").await;
    assert_eq!(reader.receive_text().await, "good");
    assert_eq!(reader.receive_text().await, "next");
}

#[tokio::test]
async fn str_11_endless_fragments_end() {
    let pod = start(&["--limit=stream.fragments=1000", "--limit=stream.messageBytes=100000"]).await;
    let mut empty = Raw::join(&pod, "/in/x").await;
    empty.write(&frame(0x02, b"")).await;
    empty.write(&frame(0x00, b"").repeat(1000)).await;
    assert_eq!(empty.end().await, 1009);
    let mut full = Raw::join(&pod, "/in/x").await;
    full.write(&frame(0x02, &[0; 1000])).await;
    full.write(&frame(0x00, &[0; 1000]).repeat(100)).await;
    assert_eq!(full.end().await, 1009);
}

#[tokio::test]
async fn str_12_an_endless_message_ends_its_socket_and_successive_messages_do_not() {
    let pod = start(&["--limit=stream.messageTimeout=2000"]).await;
    let mut reader = pod.join("/out/x").await;
    pod.until_clients(1).await;
    let (mut never, mut steady) = (Raw::join(&pod, "/in/y").await, Raw::join(&pod, "/in/x").await);
    never.write(&frame(0x02, b"begun")).await;
    // Each write ends one message and begins the next, for longer than the timeout of one message.
    steady.write(&frame(0x01, b"a")).await;
    for _ in 0..20 {
        tokio::time::sleep(std::time::Duration::from_millis(120)).await;
        steady.write(&[frame(0x80, b"b"), frame(0x01, b"a")].concat()).await;
        assert_eq!(reader.receive_text().await, "ab");
    }
    assert_eq!(never.end().await, 4433);
}

#[tokio::test]
async fn str_15_a_claimed_length_costs_no_memory_and_incomplete_messages_are_bounded_together() {
    let pod = start(&["--limit=pod.reassemblyBytes=200000"]).await;
    let claims_much = [vec![0x82, 0xff], (10u64 << 20).to_be_bytes().to_vec(), vec![0; 4], vec![1; 100]].concat();
    let mut claiming = Vec::new();
    for _ in 0..5 {
        let mut raw = Raw::join(&pod, "/in/x").await;
        raw.write(&claims_much).await;
        claiming.push(raw);
    }
    pod.until("all counted", || pod.0.relay.reassembly.bytes() > 5 * 100).await;
    assert!(pod.0.relay.reassembly.bytes() < 5 * 1000);
    claiming[0].write(&vec![2; 300_000]).await;
    assert_eq!(claiming[0].end().await, 1013);
    drop(claiming);
    pod.until("all released", || pod.0.relay.reassembly.bytes() == 0).await;
}

#[tokio::test]
async fn str_131_incomplete_messages_are_bounded_for_each_network() {
    let flags = ["--limit=address.reassemblyBytes=200000", "--limit=stream.messageBytes=150000", "--trusted-proxies=1"];
    let pod = start(&flags).await;
    let join = async |address: &str| {
        let mut raw = Raw::connect(&pod).await;
        let head = format!("GET /in/x HTTP/1.1\r\n{}X-Forwarded-For: {address}\r\n\r\n", super::raw::UPGRADE);
        raw.write(head.as_bytes()).await;
        assert!(raw.head().await.starts_with("HTTP/1.1 101 "));
        raw
    };
    let begun = frame(0x02, &vec![1; 120_000]);
    let (mut one, mut over, mut other) =
        (join("2001:db8:1:2::1").await, join("2001:db8:1:2::2").await, join("2001:db8:1:3::1").await);
    one.write(&begun).await;
    pod.until("the first is counted", || pod.0.relay.reassembly.bytes() >= 120_000).await;
    over.write(&begun).await;
    assert_eq!(over.end().await, 1013);
    other.write(&begun).await;
    pod.until("another network's is counted", || pod.0.relay.reassembly.bytes() >= 240_000).await;
    other.write(&frame(0x80, b"end")).await;
    one.write(&frame(0x80, b"end")).await;
    pod.until("both messages are whole", || pod.0.relay.counters.received.get() == 2).await;
    drop((one, over, other));
    pod.until("all released", || pod.0.relay.reassembly.bytes() == 0).await;
}
