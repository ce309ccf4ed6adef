//! A message that is published to a stream is received.
use crate::connect::WebSocket;
use crate::connection_end::ConnectionEnd;
use crate::doctor::report::{CheckResult, Finding};
use crate::doctor::site::Site;
use futures_util::{SinkExt, StreamExt};
use std::time::Duration;
use tokio::time::{Instant, interval};
use tokio_tungstenite::tungstenite::Message;

/// The interval at which messages are published until one is received: relays exchange their subscriptions with a delay.
const PUBLISH_INTERVAL: Duration = Duration::from_millis(250);
/// Shorter than the limit of the check, so that the error is reported.
const RECEIVE_TIMEOUT: Duration = Duration::from_secs(7);
const RELAY_UNAVAILABLE: &str =
    "Check the relays' pods and their health at the edge (envoy_cluster_membership_healthy).";
const NOT_RECEIVED: &str = "Publisher and subscriber may be on two relays that do not reach each other: check \
                       parley_relay_links_receiving, and the network policies for port 8112.";
/// The answers of a relay if the token is missing or does not permit the request (STR-101 to STR-106).
const UNAUTHORISED: [&str; 3] = ["TOKEN_REQUIRED", "(401)", "(403)"];

/// Publishes messages and waits for one of them.
pub async fn check(site: &Site) -> CheckResult {
    cross(site, site).await
}

/// The same with the publisher at one host and the subscriber at another.
pub async fn cross(from: &Site, to: &Site) -> CheckResult {
    let topic = format!("doctor-{:016x}", fastrand::u64(..));
    let open = async |site: &Site, side: &str| {
        let url = site.socket_at(&format!("/streams/{side}/{topic}"));
        let header = site.token.as_ref().map(|token| ("Authorization", format!("Bearer {token}")));
        site.connect.socket(&url, header).await.map_err(|why| refused(&why, site.token.is_some()))
    };
    let (mut subscriber, mut publisher) = (open(to, "out").await?, open(from, "in").await?);
    let received = tokio::time::timeout(RECEIVE_TIMEOUT, round_trip(&mut subscriber, &mut publisher)).await;
    let (same, took) = match received {
        Err(_) => return Err(Finding::fail(format!("no message published to /in/{topic} was received"), NOT_RECEIVED)),
        Ok(Err(why)) => return Err(refused(&why, from.token.is_some())),
        Ok(Ok(received)) => received,
    };
    for mut socket in [subscriber, publisher] {
        let _ = socket.close(None).await;
    }
    if !same {
        return Err(Finding::fail(
            "a stream delivered a message that was not published",
            "Report this as a defect of Parley.",
        ));
    }
    Ok(vec![Finding::ok("a message published to a stream is received").took(took)])
}

/// Returns whether the first received message is one of the published, and how long it took.
async fn round_trip(subscriber: &mut WebSocket, publisher: &mut WebSocket) -> Result<(bool, Duration), ConnectionEnd> {
    let mut due = interval(PUBLISH_INTERVAL);
    let mut sent = Vec::new();
    loop {
        let (from_subscriber, next) = tokio::select! {
            _ = due.tick() => {
                let text = format!("parley doctor {}", sent.len());
                sent.push((text.clone(), Instant::now()));
                publisher.send(Message::text(text)).await.map_err(ConnectionEnd::from_error)?;
                continue;
            }
            next = subscriber.next() => (true, next),
            next = publisher.next() => (false, next),
        };
        match next {
            Some(Ok(Message::Text(text))) if from_subscriber => {
                let one = sent.iter().find(|(text_sent, _)| *text_sent == text.as_str());
                return Ok(one.map_or((false, Duration::ZERO), |(_, at)| (true, at.elapsed())));
            }
            // A publisher receives a message only from a relay that handled the first message as a token (STR-107).
            Some(Ok(Message::Text(_))) => return Err(ConnectionEnd::NoToken("TOKEN_REQUIRED".into())),
            Some(Ok(Message::Close(frame))) => return Err(ConnectionEnd::from_close(frame.as_ref())),
            Some(Ok(_)) => {}
            Some(Err(why)) => return Err(ConnectionEnd::from_error(why)),
            None => return Err(ConnectionEnd::lost("the relay ended the connection")),
        }
    }
}

fn refused(why: &ConnectionEnd, has_token: bool) -> Finding {
    let needs_token =
        matches!(why, ConnectionEnd::NoToken(_)) || UNAUTHORISED.iter().any(|code| why.reason().contains(code));
    match (needs_token, has_token) {
        (true, false) => Finding::warn(
            "the relay requires a token",
            "Pass one that permits to publish and subscribe to doctor-* with --token, or use --skip stream.",
        ),
        (true, true) => Finding::fail(
            format!("the relay refused the token: {}", why.reason()),
            "Pass one that permits to publish and subscribe to doctor-*, signed with a key that the relays have.",
        ),
        (false, _) => Finding::fail(format!("a socket on a stream failed: {}", why.reason()), RELAY_UNAVAILABLE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn str_107_a_required_token_is_a_warning_and_a_refused_one_a_failure() {
        let asks = ConnectionEnd::NoToken("TOKEN_REQUIRED".into());
        for (why, has_token, verdict, advice) in [
            (&asks, false, "warn", "--token"),
            (&asks, true, "fail", "signed with a key"),
            (&ConnectionEnd::from_status(401, None, b""), true, "fail", "signed with a key"),
            (&ConnectionEnd::from_status(503, None, b""), false, "fail", "relays' pods"),
        ] {
            let finding = serde_json::to_value(refused(why, has_token)).unwrap();
            assert_eq!(finding["verdict"], verdict, "{why:?}");
            assert!(finding["advice"].as_str().unwrap().contains(advice), "{finding}");
        }
    }
}
