//! NATS core: a subject for each topic, through one server.
use super::load::{Ages, Load, Report};
use anyhow::Context;
use futures_util::StreamExt;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub fn server(at: SocketAddr) -> anyhow::Result<Child> {
    let binary = std::env::var("NATS_SERVER").unwrap_or_else(|_| "nats-server".into());
    let arguments = ["-a", "127.0.0.1", "-p", &at.port().to_string()];
    Command::new(&binary)
        .args(arguments)
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("NATS_SERVER: {binary}"))
}

async fn client(at: SocketAddr) -> anyhow::Result<async_nats::Client> {
    Ok(super::retry(async || async_nats::connect(format!("nats://{at}")).await).await?)
}

pub async fn send(at: SocketAddr, load: Load) -> anyhow::Result<Report> {
    let client = client(at).await?;
    let subjects: Vec<async_nats::Subject> = (0..load.topics).map(|topic| format!("hop.{topic}").into()).collect();
    // The receiver reports that it has subscribed.
    let mut ready = client.subscribe("ready").await?;
    client.flush().await?;
    ready.next().await.context("no receiver")?;
    let report = load
        .send(async |topic, batch| Ok(client.publish(subjects[topic as usize].clone(), batch.bytes().clone()).await?))
        .await?;
    client.publish("hop.end", "".into()).await?;
    client.flush().await?;
    Ok(report)
}

pub async fn receive(at: SocketAddr, _load: Load) -> anyhow::Result<Report> {
    let client = client(at).await?;
    let mut messages = client.subscribe("hop.>").await?;
    client.flush().await?;
    let saying = tokio::spawn({
        let client = client.clone();
        async move {
            // The sender may not have subscribed yet.
            loop {
                let _ = client.publish("ready", "".into()).await;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    });
    let mut ages = Ages::default();
    while let Some(message) = messages.next().await {
        if ages.count() == 0 {
            saying.abort();
        }
        if message.subject.as_str() == "hop.end" {
            break;
        }
        ages.take(&message.payload);
    }
    ages.report()
}
