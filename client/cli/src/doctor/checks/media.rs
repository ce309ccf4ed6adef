//! A broadcast that is published is seen, over QUIC and over WebSocket.
use crate::doctor::guest::{Guest, room};
use crate::doctor::report::{Finding, Looked, rounded};
use crate::doctor::site::Site;
use crate::ending::Ending;
use crate::media::dial::{Address, Dialled, Ends, Transport, dial};
use crate::media::ending::closed;
use anyhow::Context;
use futures_util::future::join;
use moq_net::Timestamp;
use moq_net::origin;
use moq_net::track::{Producer, Subscription};
use std::time::Duration;
use tokio::time::{Instant, interval, timeout};

/// Below the check's own limit, and above what a browser waits.
const PATIENCE: Duration = Duration::from_secs(8);
/// Between two frames, each the first of its group.
const FRAMES: Duration = Duration::from_millis(50);
/// Whoever watches wants no older ones.
const MAX_AGE: Duration = Duration::from_secs(1);
/// So many are seen before one is measured: the first waits for subscriptions.
const SEEN: usize = 5;
const TRACK: &str = "doctor";
const NO_ROOM: &str = "Look at the check join first: rooms hand out relays.";

/// One person publishes, another watches, in a room.
pub async fn look(site: &Site) -> Looked {
    let room = room();
    let refused = |why: Ending| Finding::fail(format!("nobody can join: {}", why.why()), NO_ROOM);
    let publisher = Guest::join(site, &room).await.map_err(refused)?;
    let watcher = Guest::join(site, &room).await.map_err(refused)?;
    let (from, to) = (relay(site, &publisher).await?, relay(site, &watcher).await?);
    let prefix = format!("rooms/{room}/{}", publisher.participant);
    let over = |transport| see(format!("{prefix}/{transport}"), from.address.clone(), to.address.clone(), transport);
    let (quic, websocket) = join(over(Transport::Quic), over(Transport::WebSocket)).await;
    let at = from.at;
    Ok(vec![
        quic.unwrap_or_else(|why| {
            let advice = format!(
                "Let UDP to {at} in to the relay, and out of where you are (relay.media.expose and .host say where that is); \
                 until then media comes over WebSocket, with more delay."
            );
            Finding::fail(format!("no media over QUIC, UDP to {at}: {why:#}"), advice)
        }),
        websocket.unwrap_or_else(|why| {
            let advice = "Look at the relays' pods and at what the edge says of them: nobody whose firewall stops UDP \
                          gets media.";
            Finding::fail(format!("no media over WebSocket, through the edge: {why:#}"), advice)
        }),
    ])
}

struct Relay {
    address: Address,
    /// Host and port of its QUIC.
    at: String,
}

/// What the room offers (MEDIA-6).
async fn relay(site: &Site, guest: &Guest) -> Result<Relay, Finding> {
    let refused = |why: Ending| Finding::fail(format!("no relay is offered: {}", why.why()), NO_ROOM);
    let Some(address) = guest.relay(site).await.map_err(refused)? else {
        let advice = "See that relays run and reach NATS (parley_relay_nats_connected); where relay.media.enabled is off \
                      on purpose, --skip media.";
        return Err(Finding::fail("the room has no relay that takes sessions (RELAY_UNAVAILABLE)", advice));
    };
    let at = address.quic.as_ref().map(|url| url[url::Position::BeforeHost..url::Position::AfterPort].to_owned());
    Ok(Relay { at: at.unwrap_or_default(), address })
}

/// Publishes a broadcast and watches it, both over one transport.
async fn see(name: String, from: Address, to: Address, over: Transport) -> anyhow::Result<Finding> {
    let (published, watched) = (moq_tokio::origin::spawn(), moq_tokio::origin::spawn());
    let broadcast = published.create_broadcast(name.as_str())?;
    let track = broadcast.create_track(TRACK, None)?;
    broadcast.announce(origin::Route::default())?;
    let began = Instant::now();
    let publishes = dial(from, Some(over), Ends { publish: Some(published.consume()), ..Ends::default() });
    let watches = dial(to, Some(over), Ends { subscribe: Some(watched.clone()), ..Ends::default() });
    let dialled = timeout(PATIENCE, join(publishes, watches)).await.context("no answer")?;
    let (publishes, watches) = (dialled.0?, dialled.1?);
    let watched = watched.consume();
    let seen = async {
        tokio::select! {
            seen = watch(&watched, &name, began) => seen,
            why = publish(&track, began) => Err(why),
            why = ended(&publishes) => Err(why),
            why = ended(&watches) => Err(why),
        }
    };
    let seen = timeout(PATIENCE, seen).await;
    publishes.close().await;
    watches.close().await;
    let (first, delay) = seen.context("connected, and no frame came")??;
    let first = rounded(first.as_secs_f64() * 1e3, 10.0);
    let said = format!("over {over}, the first frame came after {first} ms, later ones in");
    Ok(Finding::ok(said).took(delay).figure("firstFrameMs", first))
}

/// A frame says when it was made. Ends only where it cannot go on.
async fn publish(track: &Producer, began: Instant) -> anyhow::Error {
    let mut due = interval(FRAMES);
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

/// From dialling to the first frame, and from making to the arrival of one that had not to wait for anything.
async fn watch(origin: &origin::Consumer, name: &str, began: Instant) -> anyhow::Result<(Duration, Duration)> {
    let found = origin.routed_broadcast(name).await?;
    let wanted = Subscription::default().with_max_age(MAX_AGE);
    let mut track = found.track(TRACK)?.subscribe(wanted).await?.ordered();
    let (mut first, mut seen) = (None, 0);
    loop {
        let mut group = track.next_group().await?.context("the broadcast ended")?;
        let frame = group.read_frame().await?.context("a group without a frame")?;
        let now = began.elapsed();
        let first = *first.get_or_insert(now);
        seen += 1;
        if seen == SEEN {
            let made = u128::from_be_bytes(frame.payload.as_ref().try_into().context("a frame that nobody made")?);
            return Ok((first, now.saturating_sub(Duration::from_nanos(u64::try_from(made)?))));
        }
    }
}

/// Why a session was ended: a refused token is told after the handshake (MED-13).
async fn ended(session: &Dialled) -> anyhow::Error {
    let ending = closed(session.connection.clone().closed().await, true);
    anyhow::anyhow!("{}", ending.why())
}
