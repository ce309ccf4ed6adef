//! The relay's own link without WebSockets: the outgoing side as publishers use it, and the decoder as the receiving pod uses it. `tcp` is the
//! same without TLS.
use super::load::{Ages, Load, Report};
use anyhow::Context;
use parley_cluster::counts::Counts;
use parley_cluster::frames::{Decoder, Event};
use parley_cluster::hash::Hash;
use parley_cluster::outgoing::{Bounds, Next, Outgoing, Subscription};
use parley_cluster::stream::split;
use parley_cluster::tls::Identity;
use parley_net::socket;
use parley_relay::limits::Limits;
use parley_relay::server::connection::TcpOutlet;
use parley_streams::reader::Outlet;
use parley_streams::{RemoteSubscriber, Stamp};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The bytes of one read of the socket, as on the receiving pod.
const READ: usize = 256 * 1024;

pub async fn send(at: SocketAddr, load: Load, certificate: &Path) -> anyhow::Result<Report> {
    let identity = Identity::new()?;
    let listener = TcpListener::bind(at).await?;
    let written = certificate.with_extension("part");
    std::fs::write(&written, String::from(identity.certificate))?;
    std::fs::rename(&written, certificate)?;
    let (stream, _) = listener.accept().await?;
    socket::prepare(&stream);
    let (stream, _) = identity.accept(stream).await.map_err(|end| anyhow::anyhow!("{end:?}"))?;
    let (inbound, outbound) = split(stream, READ);
    let (stream, outgoing) = (inbound.stream(), outgoing(Box::new(outbound)));
    let flushing = Arc::clone(&outgoing);
    let sending = tokio::spawn(async move {
        while poll_fn(|cx| flushing.flush(cx)).await == Next::Blocked {
            let _ = stream.writable().await;
        }
    });
    send_through(&outgoing, load, sending).await
}

pub async fn send_plain(at: SocketAddr, load: Load) -> anyhow::Result<Report> {
    let (stream, _) = TcpListener::bind(at).await?.accept().await?;
    socket::prepare(&stream);
    let (inbound, outbound) = stream.into_split();
    let outgoing = outgoing(Box::new(TcpOutlet(outbound)));
    let flushing = Arc::clone(&outgoing);
    let sending = tokio::spawn(async move {
        while poll_fn(|cx| flushing.flush(cx)).await == Next::Blocked {
            let _ = inbound.as_ref().writable().await;
        }
    });
    send_through(&outgoing, load, sending).await
}

fn outgoing(outlet: Box<dyn Outlet>) -> Arc<Outgoing> {
    Arc::new(Outgoing::new(outlet, Bounds::of(&Limits::default().cluster()), Arc::new(Counts::default())))
}

async fn send_through(outgoing: &Arc<Outgoing>, load: Load, sending: JoinHandle<()>) -> anyhow::Result<Report> {
    let lanes: Vec<Subscription> = (0..load.topics)
        .map(|topic| {
            outgoing.open(topic.into());
            Subscription::new(outgoing, topic.into(), None)
        })
        .collect();
    let report = load
        .send(async |topic, batch| {
            lanes[topic as usize].send(&batch, Stamp::default(), Instant::now());
            tokio::task::yield_now().await;
            Ok(())
        })
        .await?;
    outgoing.finish();
    sending.await?;
    Ok(report)
}

pub async fn receive(at: SocketAddr, certificate: &Path) -> anyhow::Result<Report> {
    let certificate = super::retry(async || std::fs::read_to_string(certificate)).await?;
    let certificate = Hash::try_from(certificate).map_err(anyhow::Error::msg)?;
    let stream = TcpStream::connect(at).await?;
    let stream = Identity::new()?.connect(stream, certificate).await.map_err(|end| anyhow::anyhow!("{end:?}"))?;
    let (mut inbound, _outbound) = split(stream, READ);
    receive_from(async |input| Ok(inbound.read(input).await?)).await
}

pub async fn receive_plain(at: SocketAddr) -> anyhow::Result<Report> {
    let mut stream = super::retry(async || TcpStream::connect(at).await).await?;
    receive_from(async |input| Ok(stream.read(input).await?)).await
}

async fn receive_from(mut read: impl AsyncFnMut(&mut [u8]) -> anyhow::Result<usize>) -> anyhow::Result<Report> {
    let (mut decoder, mut ages) = (Decoder::default(), Ages::default());
    let mut input = vec![0; READ];
    loop {
        let read = read(&mut input).await?;
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
