//! Two participants join a room, one sends the other a message, and both leave.
use crate::connection_end::ConnectionEnd;
use crate::doctor::guest::{Guest, room};
use crate::doctor::report::{CheckResult, Finding, rounded};
use crate::doctor::site::Site;
use crate::room::SocketEvent;
use parley_protocol::server::Message;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// A sender receives `undelivered` within 2 s (DIR-5), and joins are announced within one (P3).
const EVENT_TIMEOUT: Duration = Duration::from_secs(3);
const TEXT: &str = "how are you?";
const JOIN_ADVICE: &str = "Check the pods of signaling and their health at the edge (envoy_cluster_membership_healthy); \
                        services/protocol/generated/reference.md lists the codes.";
const BUS_ADVICE: &str = "The pods of signaling do not reach each other: check parley_peers and parley_region_peers, NATS, and the network policies.";

/// Runs the check.
pub async fn check(site: &Site) -> CheckResult {
    meet(site, site).await
}

/// The same with the participants at two hosts. The second one has a ticket of the first host, as after a handover.
pub async fn meet(one: &Site, other: &Site) -> CheckResult {
    let room = room();
    let refused = |who: &'static str| {
        move |why: ConnectionEnd| Finding::fail(format!("{who} cannot join: {}", why.reason()), JOIN_ADVICE)
    };
    let began = Instant::now();
    let mut first = Guest::join(one, &room).await.map_err(refused("the first participant"))?;
    let mut second = Guest::join_with_ticket_of(one, other, &room).await.map_err(refused("the second participant"))?;
    wait("the first participant was not informed of the second", first.receive(joined)).await?;
    if !second.others.contains(&first.participant) {
        wait("the second participant was not informed of the first", second.receive(joined)).await?;
    }
    let joined_after = began.elapsed();

    let began = Instant::now();
    first.send(&second.participant, TEXT).await;
    let directed = async {
        tokio::select! {
            received = second.receive(directed) => received,
            result = first.receive(undelivered) => Err(result.map_or_else(|why| why, |_| ConnectionEnd::lost("it was undelivered"))),
        }
    };
    let received = wait("a directed message did not arrive", directed).await?;
    let took = began.elapsed();
    if received != (first.participant.clone(), TEXT.as_bytes().to_vec()) {
        return Err(Finding::fail("a directed message was changed in transit", "Report this as a defect of Parley."));
    }

    drop(second);
    wait("the first participant was not informed that the second left", first.receive(left)).await?;
    let ms = rounded(joined_after.as_secs_f64() * 1e3, 100.0);
    let text = format!("two participants joined a room in {ms} ms; a directed message arrived");
    Ok(vec![Finding::ok(text).took(took).figure("metMs", ms)])
}

fn joined(event: &SocketEvent) -> Option<()> {
    matches!(event, SocketEvent::Message(Message::Joined(_))).then_some(())
}

fn left(event: &SocketEvent) -> Option<()> {
    matches!(event, SocketEvent::Message(Message::Left(_))).then_some(())
}

fn undelivered(event: &SocketEvent) -> Option<()> {
    matches!(event, SocketEvent::Message(Message::Undelivered(_))).then_some(())
}

/// The sender and the payload of a directed message.
fn directed(event: &SocketEvent) -> Option<(String, Vec<u8>)> {
    match event {
        SocketEvent::Directed(from, payload) => Some((from.clone(), payload.clone())),
        SocketEvent::Message(_) => None,
    }
}

async fn wait<T>(failure: &str, event: impl Future<Output = Result<T, ConnectionEnd>>) -> Result<T, Finding> {
    match timeout(EVENT_TIMEOUT, event).await {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(why)) => Err(Finding::fail(format!("{failure}: {}", why.reason()), BUS_ADVICE)),
        Err(_) => Err(Finding::fail(failure, BUS_ADVICE)),
    }
}
