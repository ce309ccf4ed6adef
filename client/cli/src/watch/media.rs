//! Writes one broadcast, without its sounds while its publisher is muted (MOD-15), and its successor if it is lost.
use super::Output;
use super::selection::{MOVE_TIMEOUT, Selection};
use super::withdrawal::Arrivals;
use crate::room::Mute;
use moq_net::bytes::Bytes;
use moq_net::origin::Consumer;
use parley_containers::export::{Chunk, Export};
use std::pin::pin;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// How long after the start the command says what it waits for.
const FIRST_NOTICE: Duration = Duration::from_secs(1);
/// The pause before a broadcast that cannot be read is tried again.
const RETRY_INTERVAL: Duration = Duration::from_millis(250);

/// Writes until the broadcast ends. A broadcast that is lost is waited for.
pub async fn write(
    origin: Consumer,
    selection: Selection,
    mut is_up: watch::Receiver<bool>,
    output: &mut Output,
) -> anyhow::Result<()> {
    let mut head = None;
    loop {
        let Some(broadcast) = find(&origin, &selection).await else { return Ok(()) };
        match write_broadcast(&origin, &broadcast, selection.mute(&broadcast), &mut head, output).await? {
            Ok(()) if selection.returns(&origin, &mut is_up).await => {}
            Ok(()) => return Ok(()),
            Err(why) => {
                eprintln!("parley: {broadcast} was lost ({why:#}); waiting for it");
                sleep(RETRY_INTERVAL).await;
            }
        }
    }
}

/// The name of the first selected broadcast that is announced.
async fn find(origin: &Consumer, selection: &Selection) -> Option<String> {
    let mut announced = origin.announced();
    let mut notice = Some(FIRST_NOTICE);
    loop {
        let next = selection.next(&mut announced);
        let change = match notice.take() {
            None => next.await,
            Some(after) => match timeout(after, next).await {
                Ok(change) => change,
                Err(_) => {
                    eprintln!("parley: {}: waiting", selection.describe());
                    continue;
                }
            },
        };
        let change = change?;
        if change.present {
            return Some(change.broadcast);
        }
    }
}

/// Writes one broadcast to its end, or returns why it was interrupted.
async fn write_broadcast(
    origin: &Consumer,
    broadcast: &str,
    mut mute: Mute,
    head: &mut Option<Bytes>,
    output: &mut Output,
) -> anyhow::Result<anyhow::Result<()>> {
    let announced = match origin.request_broadcast(broadcast).await {
        Ok(announced) => announced,
        Err(why) => return Ok(Err(why.into())),
    };
    let arrivals = Arrivals::default();
    let mut withdrawn = pin!(arrivals.withdrawn(&announced));
    let mut without_sounds = false;
    loop {
        let opened = tokio::select! {
            opened = Export::open(origin.clone(), broadcast, !mute.is_muted()) => opened,
            why = &mut withdrawn => Err(why),
        };
        let mut export = match opened {
            Ok(export) => export,
            Err(why) => return Ok(Err(why)),
        };
        loop {
            let read = tokio::select! {
                read = export.read() => read,
                why = &mut withdrawn => Err(why),
                () = mute.changed() => break,
            };
            arrivals.record();
            let chunk = match read {
                Ok(Some(chunk)) => chunk,
                Ok(None) => {
                    let _still_announced = timeout(MOVE_TIMEOUT, announced.closed()).await;
                    return Ok(Ok(()));
                }
                Err(why) => return Ok(Err(why)),
            };
            match chunk {
                // After an interruption the same header is not repeated: the player already has it.
                Chunk::Head(bytes) if head.as_ref() == Some(&bytes) => {}
                // The header of before describes the pictures too.
                Chunk::Head(_) if without_sounds && head.is_some() => {}
                Chunk::Head(bytes) => output.write(head.insert(bytes)).await?,
                Chunk::Fragment(bytes) => output.write(&bytes).await?,
            }
        }
        without_sounds = mute.is_muted();
    }
}
