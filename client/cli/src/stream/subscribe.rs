//! `parley stream sub`: writes the messages of a topic to standard output.
use super::link::{Link, Socket};
use crate::connection_end::ConnectionEnd;
use crate::exit::Exit;
use anyhow::Context;
use serde::Serialize;
use std::io::ErrorKind;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncWriteExt, Stdout, stdout};
use tokio_tungstenite::tungstenite::Message;

/// Writes the messages of a topic: `parley stream sub ws://HOST/out/cam | ffplay -`.
#[derive(Debug, clap::Args)]
pub struct Flags {
    #[command(flatten)]
    link: Link,
    /// End each message with a line feed
    #[arg(long, conflicts_with = "log")]
    lines: bool,
    /// Write one JSON line about each message instead of its content
    #[arg(long)]
    log: bool,
}

/// Messages that have arrived already are written together, up to this many bytes.
const WRITE: usize = 1 << 16;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    /// Milliseconds since 1970.
    time_ms: u64,
    kind: &'static str,
    bytes: usize,
}

impl Flags {
    /// Writes until standard output is closed.
    pub async fn run(self) -> anyhow::Result<Exit> {
        let mut out = stdout();
        self.link.keep(async |socket: &mut Socket| self.write(socket, &mut out).await).await
    }

    async fn write(&self, socket: &mut Socket, out: &mut Stdout) -> anyhow::Result<ConnectionEnd> {
        let mut output = Vec::new();
        loop {
            let mut next = Some(socket.receive().await);
            output.clear();
            let end = loop {
                match next {
                    Some(Ok(message)) => self.render(&message, &mut output)?,
                    Some(Err(end)) => break Some(end),
                    None => break None,
                }
                next = if output.len() < WRITE { socket.try_receive() } else { None };
            };
            let written = async { out.write_all(&output).await.and(out.flush().await) }.await;
            match written {
                Err(why) if why.kind() == ErrorKind::BrokenPipe => return Ok(ConnectionEnd::Done),
                other => other.context("standard output")?,
            }
            if let Some(end) = end {
                return Ok(end);
            }
        }
    }

    fn render(&self, message: &Message, output: &mut Vec<u8>) -> anyhow::Result<()> {
        let kind = if message.is_text() { "text" } else { "binary" };
        if self.log {
            let time_ms = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?;
            serde_json::to_writer(&mut *output, &Line { time_ms, kind, bytes: message.len() })?;
            output.push(b'\n');
            return Ok(());
        }
        match message {
            Message::Text(text) => output.extend_from_slice(text.as_bytes()),
            Message::Binary(bytes) => output.extend_from_slice(bytes),
            _ => {}
        }
        if self.lines {
            output.push(b'\n');
        }
        Ok(())
    }
}
