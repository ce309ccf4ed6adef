use super::pod::start;
use super::raw::{Raw, frame};
use tokio_tungstenite::tungstenite::Message;

#[tokio::test]
async fn str_10_text_and_binary_messages_arrive_complete_with_their_type_and_in_order() {
    let pod = start(&[]).await;
    let (mut publisher, mut reader) = (pod.join("/in/x").await, pod.join("/out/x").await);
    pod.until_clients(2).await;
    let sizes = [0, 1, 125, 126, 127, 4587, 65_535, 65_536, 300_000, 1 << 20];
    let messages: Vec<Message> = sizes
        .iter()
        .flat_map(|&size| {
            [Message::text("é".repeat(size / 2)), Message::binary((0..size).map(|at| at as u8).collect::<Vec<u8>>())]
        })
        .collect();
    let expected = messages.clone();
    let sending = async {
        for message in messages {
            publisher.send(message).await;
        }
    };
    let hearing = async {
        for message in expected {
            assert!(reader.receive().await == message, "{} bytes", message.len());
        }
    };
    tokio::join!(sending, hearing);
}

#[tokio::test]
async fn str_10_several_messages_in_one_packet_stay_separate() {
    let pod = start(&[]).await;
    let (mut publisher, mut reader) = (Raw::join(&pod, "/in/x").await, pod.join("/out/x").await);
    pod.until_clients(2).await;
    let packet: Vec<u8> = (0..500).flat_map(|at: u32| frame(0x81, at.to_string().as_bytes())).collect();
    publisher.write(&packet).await;
    for at in 0..500 {
        assert_eq!(reader.receive_text().await, at.to_string());
    }
}

#[tokio::test]
async fn str_11_fragments_arrive_as_one_message_and_control_frames_may_come_between() {
    let pod = start(&[]).await;
    let (mut publisher, mut reader) = (Raw::join(&pod, "/in/x").await, pod.join("/out/x").await);
    pod.until_clients(2).await;
    let bytes =
        [frame(0x01, b"one "), frame(0x89, b"?"), frame(0x00, b""), frame(0x00, b"two "), frame(0x80, b"three")]
            .concat();
    // Byte by byte, so that each header is split at each position.
    for byte in bytes {
        publisher.write(&[byte]).await;
    }
    assert_eq!(reader.receive_text().await, "one two three");
    let mut pong = [0; 3];
    tokio::io::AsyncReadExt::read_exact(&mut publisher.0, &mut pong).await.unwrap();
    assert_eq!(pong, [0x8a, 1, b'?']);
}

#[tokio::test]
async fn str_11_the_limit_is_exact_for_whole_and_fragmented_messages() {
    let pod = start(&["--limit=stream.messageBytes=2000"]).await;
    let mut reader = pod.join("/out/x").await;
    pod.until_clients(1).await;
    for fragments in [vec![2000], vec![1000, 1000], vec![0, 1999, 1]] {
        let mut publisher = Raw::join(&pod, "/in/x").await;
        publisher.write(&in_fragments(&fragments)).await;
        assert_eq!(reader.receive().await.len(), 2000);
    }
    for fragments in [vec![2001], vec![1000, 1001], vec![2000, 1]] {
        let mut publisher = Raw::join(&pod, "/in/x").await;
        publisher.write(&in_fragments(&fragments)).await;
        assert_eq!(publisher.end().await, 1009, "{fragments:?}");
    }
}

fn in_fragments(sizes: &[usize]) -> Vec<u8> {
    let last = sizes.len() - 1;
    let frames = sizes.iter().enumerate().map(|(at, &size)| {
        let first = if at == 0 { 0x02 } else { 0x00 } | if at == last { 0x80 } else { 0x00 };
        frame(first, &vec![b'x'; size])
    });
    frames.collect::<Vec<_>>().concat()
}
