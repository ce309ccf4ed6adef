use super::guarded::{
    AUDIENCE, bad, claims, code, eddsa, enter, hs256, join_without_token, post, refusal, start, upgrade, verdict,
};
use super::pod::Client;
use super::raw::{Raw, frame};
use parley_net::codes::Code;
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

async fn still_talk(one: &mut Client, other: &mut Client) {
    one.send_text("still here").await;
    assert_eq!(other.receive_text().await, "still here");
}

#[tokio::test]
async fn str_101_to_106_an_invalid_token_is_refused_with_its_code_in_each_way_and_affects_no_other_client() {
    let pod = start(&[]).await;
    let good = hs256(&claims(json!({})));
    let (mut one, mut other) = (enter(&pod, "/lab/7", &good).await, enter(&pod, "/lab/7", &good).await);
    for (what, token, expected) in bad() {
        assert_eq!(upgrade(&pod, "/lab/7", &token).await, refusal(expected), "{what}");
        let (status, _, body) = post(&pod, "/v1/codes/lab/7", &token, "", "").await;
        assert_eq!((status, body), refusal(expected), "{what}");
        let mut client = join_without_token(&pod, "/lab/7").await;
        client.send_text(&token).await;
        let answer = json!({"topic": "/lab/7", "token": token, "authorised": false, "reason": expected.name()});
        assert_eq!(verdict(&mut client).await, answer, "{what}");
        assert_eq!(client.end().await, expected.close(), "{what}");
    }
    still_talk(&mut one, &mut other).await;
    let counters = &pod.0.relay.counters;
    let expected = bad().iter().filter(|(_, _, code)| *code == Code::TokenNotYetValid).count() as u64;
    let count = |counts: &parley_streams::counters::ByCode| {
        counts.iter().find(|(code, _)| *code == Code::TokenNotYetValid).unwrap().1
    };
    assert_eq!((count(&counters.refused), count(&counters.closed)), (2 * expected, expected));
    pod.until("no client waits", || pod.0.relay.access.as_ref().unwrap().unauthenticated() == 0).await;
}

#[tokio::test]
async fn str_107_the_first_message_is_answered_as_by_crossbar_and_then_the_stream_begins() {
    let pod = start(&[]).await;
    let crossbar = |path: &str| hs256(&claims(json!({"aud": format!("{AUDIENCE}{path}"), "publish": null})));
    let mut reader = join_without_token(&pod, "/out/lab/7").await;
    let token = crossbar("/out/lab/7");
    reader.send_text(&format!("{token}\n")).await;
    let answer = json!({"topic": "/out/lab/7", "token": token, "authorised": true, "reason": "ok"});
    assert_eq!(verdict(&mut reader).await, answer);
    pod.until_clients(1).await;
    let mut publisher = enter(&pod, "/in/lab/7", &crossbar("/in/lab/7")).await;
    publisher.send_text("hello").await;
    assert_eq!(reader.receive_text().await, "hello");
    assert_eq!(upgrade(&pod, "/in/lab/7", &token).await, refusal(Code::TokenInsufficientScope));
}

#[tokio::test]
async fn str_107_until_its_token_is_accepted_a_client_neither_receives_nor_publishes() {
    let pod = start(&[]).await;
    let token = eddsa(&claims(json!({})));
    let (mut one, mut other) = (enter(&pod, "/lab/7", &token).await, enter(&pod, "/lab/7", &token).await);
    let mut late = join_without_token(&pod, "/lab/7").await;
    pod.until("it waits", || pod.0.relay.access.as_ref().unwrap().unauthenticated() == 1).await;
    one.send_text("early").await;
    assert_eq!(other.receive_text().await, "early");
    late.send(Message::Ping(b"there?".as_slice().into())).await;
    late.send_text(&token).await;
    assert_eq!(verdict(&mut late).await["authorised"], true);
    pod.until_clients(3).await;
    one.send_text("late").await;
    assert_eq!(late.receive_text().await, "late");
    assert_eq!(other.receive_text().await, "late");
}

#[tokio::test]
async fn str_107_a_token_may_be_binary_fragmented_split_and_followed_by_the_stream() {
    let pod = start(&[]).await;
    let token = hs256(&claims(json!({})));
    let mut reader = enter(&pod, "/out/lab/7", &token).await;
    let (head, tail) = token.as_bytes().split_at(20);
    let ways = [frame(0x82, token.as_bytes()), [frame(0x01, head), frame(0x89, b"ping"), frame(0x80, tail)].concat()];
    for (at, way) in ways.into_iter().enumerate() {
        let mut raw = Raw::join(&pod, "/in/lab/7").await;
        raw.write(&[way, frame(0x81, b"first"), frame(0x01, b"sec")].concat()).await;
        assert_eq!(reader.receive_text().await, "first", "{at}");
        raw.write(&frame(0x80, b"ond")).await;
        assert_eq!(reader.receive_text().await, "second", "{at}");
    }
    let mut slow = Raw::join(&pod, "/in/lab/7").await;
    for byte in [frame(0x81, token.as_bytes()), frame(0x81, b"slow")].concat() {
        slow.write(&[byte]).await;
    }
    assert_eq!(reader.receive_text().await, "slow");
}

#[tokio::test]
async fn str_104_a_token_of_64_kb_is_refused_in_each_way() {
    let pod = start(&[]).await;
    let token = hs256(&claims(json!({"sub": "s".repeat(64 * 1024)})));
    let mut client = join_without_token(&pod, "/lab/7").await;
    client.send_text(&token).await;
    assert_eq!(verdict(&mut client).await["reason"], "TOKEN_INVALID");
    assert_eq!(client.end().await, Code::TokenInvalid.close());
    assert_eq!(upgrade(&pod, "/lab/7", &token).await, refusal(Code::HeadersTooLarge));
    assert_eq!(upgrade(&pod, "/lab/7", &token[..4097]).await, refusal(Code::TokenInvalid));
    let (status, _, body) = post(&pod, "/v1/codes/lab/7", &token, "", "").await;
    assert_eq!((status, body), refusal(Code::HeadersTooLarge));
}

#[tokio::test]
async fn str_107_a_client_that_sends_no_token_is_closed() {
    let pod = start(&["--limit=token.timeout=300"]).await;
    let mut silent = join_without_token(&pod, "/lab/7").await;
    assert_eq!(verdict(&mut silent).await["reason"], "TOKEN_TIMEOUT");
    assert_eq!(silent.end().await, Code::TokenTimeout.close());
}

#[tokio::test]
async fn str_107_the_number_of_unauthenticated_sockets_is_limited() {
    let pod = start(&["--limit=pod.unauthenticated=2"]).await;
    let access = pod.0.relay.access.as_ref().unwrap();
    let two = (join_without_token(&pod, "/lab/7").await, join_without_token(&pod, "/lab/7").await);
    pod.until("two wait", || access.unauthenticated() == 2).await;
    let third = super::raw::request(&pod, &format!("GET /lab/7 HTTP/1.1\r\n{}\r\n", super::raw::UPGRADE)).await;
    assert_eq!((third.0, third.2), refusal(Code::TooManyUnauthenticated));
    assert_eq!(upgrade(&pod, "/lab/7", &eddsa(&claims(json!({})))).await.0, 101);
    drop(two);
    pod.until("no client waits", || access.unauthenticated() == 0).await;
}

#[tokio::test]
async fn str_70_a_draining_pod_closes_unauthenticated_sockets() {
    let pod = start(&[]).await;
    let mut waits = join_without_token(&pod, "/lab/7").await;
    pod.until("it waits", || pod.0.relay.access.as_ref().unwrap().unauthenticated() == 1).await;
    pod.0.relay.begin_drain();
    assert_eq!(waits.end().await, 1012);
}

#[tokio::test]
async fn str_107_an_invalid_frame_ends_an_unauthenticated_socket_and_a_close_is_answered() {
    let pod = start(&["--limit=socket.closeTimeout=200"]).await;
    for (bytes, expected) in [
        (vec![0xff; 64], 1002),
        (frame(0x81, &[0xff]), 1007),
        (frame(0x88, &1001u16.to_be_bytes()), 1001),
        (frame(0x01, b"").into_iter().chain(frame(0x00, b"").repeat(20)).collect(), Code::TokenInvalid.close()),
    ] {
        let mut raw = Raw::join(&pod, "/lab/7").await;
        raw.write(&bytes).await;
        assert_eq!(raw.end().await, expected, "{:x?}", &bytes[..8]);
    }
}

#[tokio::test]
async fn str_106_a_token_for_one_direction_allows_only_that_on_a_bidirectional_topic() {
    let pod = start(&[]).await;
    let may =
        |publish: &[&str], subscribe: &[&str]| hs256(&claims(json!({"publish": publish, "subscribe": subscribe})));
    let (sends, hears) = (may(&["lab/7"], &[]), may(&[], &["lab/*"]));
    let mut reader = enter(&pod, "/lab/7", &hears).await;
    let mut publisher = enter(&pod, "/lab/7", &sends).await;
    reader.send_text("discarded").await;
    pod.until("discarded", || pod.0.relay.counters.discarded.get() == 1).await;
    publisher.send_text("heard").await;
    assert_eq!(reader.receive_text().await, "heard");
    let mut both = enter(&pod, "/lab/7", &may(&["**"], &["**"])).await;
    both.send_text("to all").await;
    assert_eq!(reader.receive_text().await, "to all");
    assert_eq!(pod.0.relay.counters.delivered.get(), 2, "a client that may only publish received a message");
    for (path, token) in [("/out/lab/7", &sends), ("/in/lab/7", &hears)] {
        assert_eq!(upgrade(&pod, path, token).await, refusal(Code::TokenInsufficientScope), "{path}");
    }
    for (path, token) in [("/in/lab/7", &sends), ("/out/lab/7", &hears)] {
        assert_eq!(upgrade(&pod, path, token).await.0, 101, "{path}");
    }
}

#[tokio::test]
async fn str_108_a_token_in_the_header_is_accepted_and_another_scheme_is_ignored() {
    let pod = start(&[]).await;
    let bearer = |token: String| {
        move |request: tokio_tungstenite::tungstenite::ClientRequestBuilder| {
            request.with_header("Authorization", format!("Bearer {token}"))
        }
    };
    let mut reader = pod.join_with("/lab/7", bearer(eddsa(&claims(json!({}))))).await;
    pod.until_clients(1).await;
    let basic = format!("GET /lab/7 HTTP/1.1\r\n{}Authorization: Basic eDp5\r\n\r\n", super::raw::UPGRADE);
    let mut raw = Raw::connect(&pod).await;
    raw.write(basic.as_bytes()).await;
    assert!(raw.head().await.starts_with("HTTP/1.1 101 "));
    raw.write(&[frame(0x81, hs256(&claims(json!({}))).as_bytes()), frame(0x81, b"in")].concat()).await;
    assert_eq!(reader.receive_text().await, "in");
}

#[tokio::test]
async fn str_100_a_relay_with_open_access_requires_no_token_and_has_no_routes_for_tokens() {
    let pod = super::pod::start(&[]).await;
    let (mut one, mut other) = (pod.join("/lab/7?code=x").await, pod.join("/lab/7").await);
    pod.until_clients(2).await;
    one.send_text("no token").await;
    assert_eq!(other.receive_text().await, "no token");
    for path in ["/v1/codes/lab/7", "/v1/revocations"] {
        assert_eq!(post(&pod, path, "x", "", "{}").await.0, 405, "{path}");
    }
}

#[tokio::test]
async fn str_109_and_110_a_code_opens_one_socket_on_exactly_its_path() {
    let pod = start(&[]).await;
    let token = eddsa(&claims(json!({"sub": "ada"})));
    let made = code(&pod, "/in/lab/7", &token).await;
    assert_eq!(made.len(), 30);
    let mut reader = enter(&pod, "/out/lab/7", &token).await;
    let mut publisher = pod.join(&format!("/in/lab/7?x=1&code={made}")).await;
    publisher.send_text("by code").await;
    assert_eq!(reader.receive_text().await, "by code");
    let with = async |path: &str, code: &str| {
        let target = format!("GET {path}?code={code} HTTP/1.1\r\n{}\r\n", super::raw::UPGRADE);
        let (status, _, body) = super::raw::request(&pod, &target).await;
        (status, body)
    };
    let kept = code(&pod, "/in/lab/7", &token).await;
    let both = format!("/in/lab/7?code={kept}");
    assert_eq!(upgrade(&pod, &both, "x").await, refusal(Code::TokenInvalid), "[STR-109] the header counts");
    drop(pod.join(&both).await);
    let elsewhere = code(&pod, "/in/lab/7", &token).await;
    for (path, tried) in [
        ("/in/lab/7", made.as_str()),
        ("/out/lab/7", &elsewhere),
        ("/in/lab/7", &elsewhere),
        ("/in/lab/7", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
        ("/in/lab/7", ""),
        ("/in/lab/7", "%41%2e"),
    ] {
        assert_eq!(with(path, tried).await, refusal(Code::CodeInvalid), "{path} {tried}");
    }
}

#[tokio::test]
async fn str_131_unauthenticated_sockets_are_limited_for_each_network() {
    let pod = start(&["--limit=address.unauthenticated=2", "--trusted-proxies=1"]).await;
    let upgrade = async |address: &str| {
        let mut raw = Raw::connect(&pod).await;
        let head = format!("GET /lab/7 HTTP/1.1\r\n{}X-Forwarded-For: {address}\r\n\r\n", super::raw::UPGRADE);
        raw.write(head.as_bytes()).await;
        let status = raw.head().await.split(' ').nth(1).unwrap().to_owned();
        (status, raw)
    };
    let (first, _first) = upgrade("2001:db8:1:2::1").await;
    let (second, _second) = upgrade("2001:db8:1:2::2").await;
    let (third, mut refused) = upgrade("2001:db8:1:2::3").await;
    let (other, _other) = upgrade("2001:db8:1:3::1").await;
    assert_eq!((&*first, &*second, &*other), ("101", "101", "101"));
    assert_eq!(third, Code::TooManyUnauthenticated.http().to_string());
    assert_eq!(refused.rest().await, br#"{"code":"TOO_MANY_UNAUTHENTICATED"}"#);
}
