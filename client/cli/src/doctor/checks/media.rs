//! A broadcast that is published is received, over QUIC and over WebSocket.
use crate::connection_end::ConnectionEnd;
use crate::doctor::guest::{Guest, room};
use crate::doctor::report::{CheckResult, Finding, rounded};
use crate::doctor::site::Site;
use crate::media::dial::{Broadcasts, RelayAddress, Session, Transport, dial};
use crate::media::session_end::closed;
use anyhow::Context;
use futures_util::future::join;
use moq_net::Timestamp;
use moq_net::origin;
use moq_net::track::{Producer, Subscription};
use std::time::Duration;
use tokio::time::{Instant, interval, timeout};

/// Shorter than the limit of the check, and longer than a browser waits.
const TRANSPORT_TIMEOUT: Duration = Duration::from_secs(8);
/// The interval between frames, each of which begins a group.
const FRAME_INTERVAL: Duration = Duration::from_millis(50);
/// The age beyond which a subscriber skips groups.
const MAX_AGE: Duration = Duration::from_secs(1);
/// Which received frame is measured: the first ones wait for the subscription.
const MEASURED_FRAME: usize = 5;
const TRACK: &str = "doctor";
const JOIN_ADVICE: &str = "See the check join first: rooms offer relays.";

/// One participant of a room publishes, another one watches.
pub async fn check(site: &Site) -> CheckResult {
    cross(site, site).await
}

/// The same with the publisher at one host and the watcher at another.
pub async fn cross(publishing: &Site, watching: &Site) -> CheckResult {
    let room = room();
    let refused =
        |why: ConnectionEnd| Finding::fail(format!("a participant cannot join: {}", why.reason()), JOIN_ADVICE);
    let publisher = Guest::join(publishing, &room).await.map_err(refused)?;
    let watcher = Guest::join(watching, &room).await.map_err(refused)?;
    let (from, to) = (relay(&publisher).await?, relay(&watcher).await?);
    let prefix = format!("rooms/{room}/{}", publisher.participant);
    let probe =
        |transport| measure(format!("{prefix}/{transport}"), from.address.clone(), to.address.clone(), transport);
    let (quic, websocket) = join(probe(Transport::Quic), probe(Transport::WebSocket)).await;
    let at = from.at;
    Ok(vec![
        quic.unwrap_or_else(|why| {
            let advice = format!(
                "Let UDP to {at} in to the relay, and out of this network (relay.media.expose and .host set that address); \
                 until then media uses WebSocket, with more delay."
            );
            Finding::fail(format!("no media over QUIC, UDP to {at}: {why:#}"), advice)
        }),
        websocket.unwrap_or_else(|why| {
            let advice = "Check the relays' pods and their health at the edge: without it, users whose firewall blocks \
                          UDP get no media.";
            Finding::fail(format!("no media over WebSocket, through the edge: {why:#}"), advice)
        }),
    ])
}

struct Relay {
    address: RelayAddress,
    /// Host and port of its QUIC address.
    at: String,
}

/// The relay that the room offers (MEDIA-6).
async fn relay(guest: &Guest) -> Result<Relay, Finding> {
    let refused = |why: ConnectionEnd| Finding::fail(format!("no relay was offered: {}", why.reason()), JOIN_ADVICE);
    let Some(address) = guest.relay().await.map_err(refused)? else {
        let advice = "Check that relays run and reach NATS (parley_relay_nats_connected); if relay.media.enabled is off \
                      on purpose, use --skip media.";
        return Err(Finding::fail("the room has no relay that accepts sessions (RELAY_UNAVAILABLE)", advice));
    };
    let at = address.quic.as_ref().map(|url| url[url::Position::BeforeHost..url::Position::AfterPort].to_owned());
    Ok(Relay { at: at.unwrap_or_default(), address })
}

/// Publishes a broadcast and receives it, both over one transport.
async fn measure(name: String, from: RelayAddress, to: RelayAddress, over: Transport) -> anyhow::Result<Finding> {
    let (published, watched) = (moq_tokio::origin::spawn(), moq_tokio::origin::spawn());
    let broadcast = published.create_broadcast(name.as_str())?;
    let track = broadcast.create_track(TRACK, None)?;
    broadcast.announce(origin::Route::default())?;
    let began = Instant::now();
    let publisher = dial(from, Some(over), Broadcasts { publish: Some(published.consume()), ..Broadcasts::default() });
    let watcher = dial(to, Some(over), Broadcasts { subscribe: Some(watched.clone()), ..Broadcasts::default() });
    let dialled = timeout(TRANSPORT_TIMEOUT, join(publisher, watcher)).await.context("no answer")?;
    let (publisher, watcher) = (dialled.0?, dialled.1?);
    let watched = watched.consume();
    let received = async {
        tokio::select! {
            times = watch(&watched, &name, began) => times,
            why = publish(&track, began) => Err(why),
            why = ended(&publisher) => Err(why),
            why = ended(&watcher) => Err(why),
        }
    };
    let received = timeout(TRANSPORT_TIMEOUT, received).await;
    publisher.close().await;
    watcher.close().await;
    let (first, delay) = received.context("connected, but no frame arrived")??;
    let first = rounded(first.as_secs_f64() * 1e3, 10.0);
    let text = format!("over {over}, the first frame arrived after {first} ms, later ones in");
    Ok(Finding::ok(text).took(delay).figure("firstFrameMs", first))
}

/// Publishes frames that contain the time at which they were made. Returns only an error.
async fn publish(track: &Producer, began: Instant) -> anyhow::Error {
    let mut due = interval(FRAME_INTERVAL);
    loop {
        due.tick().await;
        let made = began.elapsed().as_nanos().to_be_bytes().to_vec();
        let sent = track.append_group().and_then(|mut group| {
            group.write_frame(Timestamp::now(), made)?;
            group.finish()
        });
        if let Err(why) = sent {
            return why.into();
        }
    }
}

/// Returns the time from connecting to the first frame, and the delay of a later frame, which waited for no subscription.
async fn watch(origin: &origin::Consumer, name: &str, began: Instant) -> anyhow::Result<(Duration, Duration)> {
    let found = origin.routed_broadcast(name).await?;
    let subscription = Subscription::default().with_max_age(MAX_AGE);
    let mut track = found.track(TRACK)?.subscribe(subscription).await?.ordered();
    let (mut first, mut received) = (None, 0);
    loop {
        let mut group = track.next_group().await?.context("the broadcast ended")?;
        let frame = group.read_frame().await?.context("a group without a frame")?;
        let now = began.elapsed();
        let first = *first.get_or_insert(now);
        received += 1;
        if received == MEASURED_FRAME {
            let made =
                u128::from_be_bytes(frame.payload.as_ref().try_into().context("a frame has an unexpected content")?);
            return Ok((first, now.saturating_sub(Duration::from_nanos(u64::try_from(made)?))));
        }
    }
}

/// Why a session ended: a relay refuses a token only after the handshake (MED-13).
async fn ended(session: &Session) -> anyhow::Error {
    let end = closed(session.connection.clone().closed().await, true);
    anyhow::anyhow!("{}", end.reason())
}
