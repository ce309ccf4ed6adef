//! Two people meet in a room, one tells the other something, and both leave.
use crate::doctor::guest::{Guest, room};
use crate::doctor::report::{Finding, Looked, rounded};
use crate::doctor::site::Site;
use crate::ending::Ending;
use crate::room::Heard;
use parley_protocol::server::Message;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// A sender is told of what nobody took within 2 s (DIR-5), and joins are known in one (P3).
const PATIENCE: Duration = Duration::from_secs(3);
const SAID: &str = "how are you?";
const NO_ENTRY: &str = "Look at signaling's pods and at what the edge says of them (envoy_cluster_membership_healthy); \
                        codes are listed in services/protocol/generated/reference.md.";
const ALONE: &str =
    "Signaling's pods do not hear each other: look at parley_peers, at NATS, and at policies between them.";

/// Meets.
pub async fn look(site: &Site) -> Looked {
    let room = room();
    let refused =
        |who: &'static str| move |why: Ending| Finding::fail(format!("{who} cannot join: {}", why.why()), NO_ENTRY);
    let began = Instant::now();
    let mut first = Guest::join(site, &room).await.map_err(refused("a first person"))?;
    let mut second = Guest::join(site, &room).await.map_err(refused("a second person"))?;
    wait("the first person heard nothing of the second", first.hear(joined)).await?;
    if !second.others.contains(&first.participant) {
        wait("the second person heard nothing of the first", second.hear(joined)).await?;
    }
    let met = began.elapsed();

    let began = Instant::now();
    first.tell(&second.participant, SAID).await;
    let directed = async {
        tokio::select! {
            heard = second.hear(directed) => heard,
            told = first.hear(undelivered) => Err(told.map_or_else(|why| why, |_| Ending::lost("nobody took it"))),
        }
    };
    let heard = wait("a message from one person to the other did not arrive", directed).await?;
    let told = began.elapsed();
    if heard != (first.participant.clone(), SAID.as_bytes().to_vec()) {
        return Err(Finding::fail(
            "a message from one person to the other was bent on its way",
            "Report this: no part of Parley may do that.",
        ));
    }

    drop(second);
    wait("the first person did not hear that the second left", first.hear(left)).await?;
    let ms = rounded(met.as_secs_f64() * 1e3, 100.0);
    let said = format!("two people met in a room in {ms} ms, and one told the other something");
    Ok(vec![Finding::ok(said).took(told).figure("metMs", ms)])
}

fn joined(heard: &Heard) -> Option<()> {
    matches!(heard, Heard::Message(Message::Joined(_))).then_some(())
}

fn left(heard: &Heard) -> Option<()> {
    matches!(heard, Heard::Message(Message::Left(_))).then_some(())
}

fn undelivered(heard: &Heard) -> Option<()> {
    matches!(heard, Heard::Message(Message::Undelivered(_))).then_some(())
}

/// Sender and payload.
fn directed(heard: &Heard) -> Option<(String, Vec<u8>)> {
    match heard {
        Heard::Directed(from, payload) => Some((from.clone(), payload.clone())),
        Heard::Message(_) => None,
    }
}

async fn wait<T>(otherwise: &str, heard: impl Future<Output = Result<T, Ending>>) -> Result<T, Finding> {
    match timeout(PATIENCE, heard).await {
        Ok(Ok(heard)) => Ok(heard),
        Ok(Err(why)) => Err(Finding::fail(format!("{otherwise}: {}", why.why()), ALONE)),
        Err(_) => Err(Finding::fail(otherwise, ALONE)),
    }
}
