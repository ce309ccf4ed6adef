//! The relay's own link, without its WebSockets: the outgoing side as publishers use it, the decoder as the hearing end does.
use super::load::{Ages, Load, Report};
use anyhow::Context;
use parley_relay::cluster::counts::Counts;
use parley_relay::cluster::frames::{Decoder, Event};
use parley_relay::cluster::lanes::{Bounds, Lane, Next, Outgoing};
use parley_relay::limits::Limits;
use parley_relay::server::connection::TcpOutlet;
use parley_relay::topics::Remote;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

pub async fn send(at: SocketAddr, load: Load) -> anyhow::Result<Report> {
    let (stream, _) = TcpListener::bind(at).await?.accept().await?;
    stream.set_nodelay(true)?;
    let (inbound, outbound) = stream.into_split();
    let bounds = Bounds::of(&Limits::default());
    let outgoing = Arc::new(Outgoing::new(Box::new(TcpOutlet(outbound)), bounds, Arc::new(Counts::default())));
    let lanes: Vec<Lane> = (0..load.topics)
        .map(|topic| {
            outgoing.open(topic.into());
            Lane::new(&outgoing, topic.into())
        })
        .collect();
    let flushing = Arc::clone(&outgoing);
    let sending = tokio::spawn(async move {
        while poll_fn(|cx| flushing.flush(cx)).await == Next::Blocked {
            let _ = inbound.as_ref().writable().await;
        }
    });
    let report = load
        .send(async |topic, batch| {
            lanes[topic as usize].send(&batch, Instant::now());
            tokio::task::yield_now().await;
            Ok(())
        })
        .await?;
    outgoing.finish();
    sending.await?;
    Ok(report)
}

pub async fn receive(at: SocketAddr, _load: Load) -> anyhow::Result<Report> {
    let mut stream = super::patiently(async || TcpStream::connect(at).await).await?;
    let (mut decoder, mut ages) = (Decoder::default(), Ages::default());
    let mut input = vec![0; 256 * 1024];
    loop {
        let read = stream.read(&mut input).await?;
        if read == 0 {
            return ages.report();
        }
        let fed = decoder.feed(&input[..read], &mut |event| {
            if let Event::Batch { batch, .. } = event {
                ages.take(batch.bytes());
            }
            Ok(())
        });
        fed.map_err(|end| anyhow::anyhow!("{end:?}")).context("the link")?;
    }
}
