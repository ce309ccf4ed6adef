//! One broadcast, and its successor where it was lost.
use super::Output;
use super::wanted::{MOVING, Wanted};
use moq_net::bytes::Bytes;
use moq_net::origin::Consumer;
use parley_containers::export::{Chunk, Export};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// After which whoever waits is told why.
const SILENCE: Duration = Duration::from_secs(1);
/// Between two looks at a broadcast that cannot be read.
const AGAIN: Duration = Duration::from_millis(250);

/// Writes until the broadcast ends; one that is lost is waited for.
pub async fn write(
    origin: Consumer,
    wanted: Wanted,
    mut is_up: watch::Receiver<bool>,
    output: &mut Output,
) -> anyhow::Result<()> {
    let mut head = None;
    loop {
        let Some(broadcast) = find(&origin, &wanted).await else { return Ok(()) };
        match carry(&origin, &broadcast, &mut head, output).await? {
            Ok(()) if wanted.returns(&origin, &mut is_up).await => {}
            Ok(()) => return Ok(()),
            Err(why) => {
                eprintln!("parley: {broadcast} was lost ({why:#}); waiting for it");
                sleep(AGAIN).await;
            }
        }
    }
}

/// The name of the first that is there.
async fn find(origin: &Consumer, wanted: &Wanted) -> Option<String> {
    let mut announced = origin.announced();
    let mut silence = Some(SILENCE);
    loop {
        let next = wanted.next(&mut announced);
        let change = match silence.take() {
            None => next.await,
            Some(silence) => match timeout(silence, next).await {
                Ok(change) => change,
                Err(_) => {
                    eprintln!("parley: {}: waiting", wanted.describe());
                    continue;
                }
            },
        };
        let change = change?;
        if change.there {
            return Some(change.broadcast);
        }
    }
}

/// Writes one broadcast to its end, or says why it broke off.
async fn carry(
    origin: &Consumer,
    broadcast: &str,
    head: &mut Option<Bytes>,
    output: &mut Output,
) -> anyhow::Result<anyhow::Result<()>> {
    let there = match origin.request_broadcast(broadcast).await {
        Ok(there) => there,
        Err(why) => return Ok(Err(why.into())),
    };
    let mut export = match Export::open(origin.clone(), broadcast).await {
        Ok(export) => export,
        Err(why) => return Ok(Err(why)),
    };
    loop {
        let chunk = match export.read().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => {
                let _it_stays_without_media = timeout(MOVING, there.closed()).await;
                return Ok(Ok(()));
            }
            Err(why) => return Ok(Err(why)),
        };
        match chunk {
            // A player that goes on after a break knows what it plays.
            Chunk::Head(bytes) if head.as_ref() == Some(&bytes) => {}
            Chunk::Head(bytes) => output.write(head.insert(bytes)).await?,
            Chunk::Fragment(bytes) => output.write(&bytes).await?,
        }
    }
}
