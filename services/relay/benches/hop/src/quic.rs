//! QUIC: one connection, with a stream for each second of a topic, as in Media over QUIC.
use super::load::{Ages, Load, Report};
use anyhow::Context;
use bytes::Bytes;
use quinn::{ClientConfig, Endpoint, RecvStream, SendStream, ServerConfig, TransportConfig, VarInt};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// The number of concurrent streams: two for each topic.
const STREAMS: u32 = 2000;

pub async fn send(at: SocketAddr, load: Load, certificate: &Path) -> anyhow::Result<Report> {
    let made = rcgen::generate_simple_self_signed(vec!["relay".into()])?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let config = ServerConfig::with_single_cert(vec![made.cert.der().clone()], key.into())?;
    let endpoint = Endpoint::server(config, at)?;
    let written = certificate.with_extension("part");
    std::fs::write(&written, made.cert.der())?;
    std::fs::rename(&written, certificate)?;
    let connection = endpoint.accept().await.context("no receiver")?.await?;
    let mut groups: Vec<Option<(SendStream, u32)>> = (0..load.topics).map(|_| None).collect();
    let report = load
        .send(async |topic, batch| {
            let group = &mut groups[topic as usize];
            if group.as_ref().is_none_or(|(_, sent)| *sent == load.per_second) {
                if let Some((mut stream, _)) = group.take() {
                    stream.finish()?;
                }
                *group = Some((connection.open_uni().await?, 0));
            }
            let (stream, sent) = group.as_mut().context("no group")?;
            *sent += 1;
            let length = Bytes::copy_from_slice(&u32::try_from(batch.bytes().len())?.to_be_bytes());
            Ok(stream.write_all_chunks(&mut [length, batch.bytes().clone()]).await?)
        })
        .await?;
    for (mut stream, _) in groups.into_iter().flatten() {
        stream.finish()?;
    }
    // The receiver closes the connection when it has received everything.
    connection.closed().await;
    Ok(report)
}

pub async fn receive(at: SocketAddr, load: Load, certificate: &Path) -> anyhow::Result<Report> {
    let certificate = super::retry(async || std::fs::read(certificate)).await?;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from(certificate))?;
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_uni_streams(VarInt::from_u32(STREAMS))
        .max_idle_timeout(Some(Duration::from_secs(10).try_into()?));
    config.transport_config(Arc::new(transport));
    let mut endpoint = Endpoint::client("127.0.0.1:0".parse()?)?;
    endpoint.set_default_client_config(config);
    let connection = endpoint.connect(at, "relay")?.await?;
    let (came, mut coming) = mpsc::unbounded_channel();
    let accepting = connection.clone();
    tokio::spawn(async move {
        while let Ok(stream) = accepting.accept_uni().await {
            tokio::spawn(read(stream, came.clone()));
        }
    });
    let mut ages = Ages::default();
    while ages.count() < load.messages() as usize {
        let Ok(Some(frame)) = tokio::time::timeout(Duration::from_secs(5), coming.recv()).await else { break };
        ages.take(&frame);
    }
    let report = ages.report();
    connection.close(VarInt::from_u32(0), b"");
    endpoint.wait_idle().await;
    report
}

async fn read(mut stream: RecvStream, came: mpsc::UnboundedSender<Bytes>) -> anyhow::Result<()> {
    loop {
        let mut length = [0; 4];
        stream.read_exact(&mut length).await?;
        let mut frame = vec![0; u32::from_be_bytes(length) as usize];
        stream.read_exact(&mut frame).await?;
        came.send(frame.into())?;
    }
}
