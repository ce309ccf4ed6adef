//! Permissions to publish and watch, and how a relay is found (MEDIA-8, MED-13, MED-15).
use super::fake;
use super::media::{Door, Scratch, arguments, video};
use super::parley::{run, start, start_with};
use super::relay::ANYWHERE;

const SECRET: &str = "a secret of thirty-two bytes ...";

/// A relay that requires tokens.
async fn guarded(scratch: &Scratch) -> Door {
    let secret = scratch.path("secret");
    std::fs::write(&secret, SECRET).unwrap();
    Door::start(ANYWHERE, scratch, &format!("--access=token --token-secret-file={secret}")).await
}

/// A token signed by the command.
async fn token(expires: &str) -> String {
    let arguments =
        ["stream", "token", "--audience=parley:media", "--publish=live/x", "--subscribe=live/x", "--expires"];
    let arguments = [&arguments[..], &[expires]].concat();
    let signed = start_with(&arguments, &[("PARLEY_TOKEN_SECRET", SECRET)]).end().await;
    String::from_utf8(signed.stdout).unwrap().trim().to_owned()
}

fn offer(door: &Door, token: &str) -> String {
    let (address, hash) = (&door.address, &door.hash);
    let relay = format!(r#"{{"url":"https://{address}/","token":"{token}","certificateHashes":["{hash}"]}}"#);
    format!(r#"{{"broadcast":"live/x","relay":{relay}}}"#)
}

/// Answers the next request of a relay. The list of regions, which is requested at the same time, does not exist.
async fn answer(server: &fake::Server, status: &str, body: &str) -> String {
    loop {
        let (mut stream, head) = fake::request(server).await;
        if !head.starts_with("GET /v1/regions ") {
            fake::respond(&mut stream, status, body).await;
            return head;
        }
        fake::respond(&mut stream, "404 Not Found", "").await;
    }
}

#[tokio::test]
async fn med_13_a_refused_token_ends_the_command() {
    let scratch = Scratch::new("refused");
    let door = guarded(&scratch).await;
    for query in ["", "?jwt=nonsense"] {
        let output = run(&arguments("watch", &door.flags_with("live/x", query), &[])).await;
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("refused the token"), "{output:?}");
    }
    let mut place = door.flags_with("live/x", "");
    place[4] = "A".repeat(43) + "=";
    let output = run(&arguments("watch", &place, &[])).await;
    assert_eq!(output.status.code(), Some(3), "another relay's certificate: {output:?}");
}

#[tokio::test]
async fn media_8_the_client_requests_a_relay_again_when_the_token_expires() {
    let scratch = Scratch::new("renewed");
    let source = scratch.path("source.mp4");
    video(&source, 1).await;
    let door = guarded(&scratch).await;
    let (long, short) = (token("1h").await, token("3s").await);
    let place = door.flags_with("live/x", &format!("?jwt={long}"));
    let _publishes = start(&arguments("publish", &place, &[&source, "--loop"]));
    let host = fake::Server::start().await;
    let page = format!("{}/live/x", host.url("").replace("ws:", "http:"));
    let mut watches = start(&["watch", &page, "--log"]);
    let asked = answer(&host, "200 OK", &offer(&door, &short)).await;
    assert!(asked.starts_with("POST /v1/live/x HTTP/1.1\r\n"), "{asked}");
    watches.line().await;
    watches.complains("the token expired").await;
    answer(&host, "200 OK", &offer(&door, &long)).await;
    watches.complains("connected over QUIC").await;
    for _ in 0..100 {
        watches.line().await;
    }
}

#[tokio::test]
async fn media_8_a_permanent_refusal_of_signaling_ends_the_command_and_a_transient_one_does_not() {
    let host = fake::Server::start().await;
    let page = format!("{}/live/x", host.url("").replace("ws:", "http:"));
    let mut watches = start(&["watch", &page]);
    answer(&host, "503 Service Unavailable", r#"{"code":"RELAY_UNAVAILABLE","message":"…"}"#).await;
    watches.complains("RELAY_UNAVAILABLE (503); retrying in").await;
    answer(&host, "403 Forbidden", r#"{"code":"LIVE_DISABLED","message":"…"}"#).await;
    let output = watches.end().await;
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("LIVE_DISABLED (403)"), "{output:?}");
}

#[tokio::test]
async fn an_invalid_url_is_an_error_of_the_command_line() {
    for place in ["x", "http://127.0.0.1:1/", "https://127.0.0.1:1/elsewhere"] {
        assert_eq!(run(&["watch", place]).await.status.code(), Some(2), "{place}");
    }
}
