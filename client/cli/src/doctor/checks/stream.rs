//! A message that is published to a stream is heard.
use crate::doctor::report::{Finding, Looked};
use crate::doctor::site::Site;
use crate::ending::Ending;
use crate::reach::Socket;
use futures_util::{SinkExt, StreamExt};
use std::time::Duration;
use tokio::time::{Instant, interval};
use tokio_tungstenite::tungstenite::Message;

/// Published again until it is heard: relays tell each other what is listened to.
const AGAIN: Duration = Duration::from_millis(250);
/// Below the check's own limit.
const PATIENCE: Duration = Duration::from_secs(7);
const RELAY_UNAVAILABLE: &str =
    "Look at the relays' pods and at what the edge says of them (envoy_cluster_membership_healthy).";
const UNHEARD: &str = "Publisher and reader may be on two relays that do not reach each other: look at \
                       parley_relay_links_receiving, and at policies on port 8112.";
/// What the relay answers whoever has no token, or one that is not for this (STR-101 to STR-106).
const UNAUTHORISED: [&str; 3] = ["TOKEN_REQUIRED", "(401)", "(403)"];

/// Publishes, and listens.
pub async fn look(site: &Site) -> Looked {
    let topic = format!("doctor-{:016x}", fastrand::u64(..));
    let open = async |side: &str| {
        let url = site.socket_at(&format!("/streams/{side}/{topic}"));
        let header = site.token.as_ref().map(|token| ("Authorization", format!("Bearer {token}")));
        site.reach.socket(&url, header).await.map_err(|why| refused(&why, site.token.is_some()))
    };
    let (mut hears, mut says) = (open("out").await?, open("in").await?);
    let heard = tokio::time::timeout(PATIENCE, hear_back(&mut hears, &mut says)).await;
    let (said, took) = match heard {
        Err(_) => return Err(Finding::fail(format!("what was published to /in/{topic} was not heard"), UNHEARD)),
        Ok(Err(why)) => return Err(refused(&why, site.token.is_some())),
        Ok(Ok(heard)) => heard,
    };
    for mut socket in [hears, says] {
        let _ = socket.close(None).await;
    }
    if !said {
        return Err(Finding::fail(
            "a stream carried what nobody published",
            "Report this: no part of Parley may do that.",
        ));
    }
    Ok(vec![Finding::ok("what is published to a stream is heard").took(took)])
}

/// Whether what came first is what was said, and how long that took.
async fn hear_back(hears: &mut Socket, says: &mut Socket) -> Result<(bool, Duration), Ending> {
    let mut due = interval(AGAIN);
    let mut sent = Vec::new();
    loop {
        let (is_reader, next) = tokio::select! {
            _ = due.tick() => {
                let text = format!("parley doctor {}", sent.len());
                sent.push((text.clone(), Instant::now()));
                says.send(Message::text(text)).await.map_err(Ending::of)?;
                continue;
            }
            next = hears.next() => (true, next),
            next = says.next() => (false, next),
        };
        match next {
            Some(Ok(Message::Text(text))) if is_reader => {
                let one = sent.iter().find(|(said, _)| *said == text.as_str());
                return Ok(one.map_or((false, Duration::ZERO), |(_, at)| (true, at.elapsed())));
            }
            // To whoever publishes only a relay that took the message for a token says something (STR-107).
            Some(Ok(Message::Text(_))) => return Err(Ending::NoToken("TOKEN_REQUIRED".into())),
            Some(Ok(Message::Close(frame))) => return Err(Ending::closed(frame.as_ref())),
            Some(Ok(_)) => {}
            Some(Err(why)) => return Err(Ending::of(why)),
            None => return Err(Ending::lost("the relay ended the connection")),
        }
    }
}

fn refused(why: &Ending, has_token: bool) -> Finding {
    let asks = matches!(why, Ending::NoToken(_)) || UNAUTHORISED.iter().any(|code| why.why().contains(code));
    match (asks, has_token) {
        (true, false) => Finding::warn(
            "the relay asks for a token",
            "Give one for publishing and subscribing to doctor-* with --token to see a message through, or --skip stream.",
        ),
        (true, true) => Finding::fail(
            format!("the relay does not take the token: {}", why.why()),
            "Give one that may publish to and subscribe to doctor-*, signed with a key that the relays have.",
        ),
        (false, _) => Finding::fail(format!("no socket on a stream: {}", why.why()), RELAY_UNAVAILABLE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn str_107_a_relay_that_asks_for_a_token_is_well_and_one_that_refuses_it_is_not() {
        let asks = Ending::NoToken("TOKEN_REQUIRED".into());
        for (why, has_token, verdict, told) in [
            (&asks, false, "warn", "--token"),
            (&asks, true, "fail", "signed with a key"),
            (&Ending::status(401, None, b""), true, "fail", "signed with a key"),
            (&Ending::status(503, None, b""), false, "fail", "relays' pods"),
        ] {
            let finding = serde_json::to_value(refused(why, has_token)).unwrap();
            assert_eq!(finding["verdict"], verdict, "{why:?}");
            assert!(finding["advice"].as_str().unwrap().contains(told), "{finding}");
        }
    }
}
