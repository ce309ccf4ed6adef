//! `parley stream pub`: publishes standard input to a topic.
use super::framing::{Boundary, Framer};
use super::link::{Link, Socket};
use crate::connection_end::ConnectionEnd;
use crate::exit::Exit;
use anyhow::Context;
use tokio::io::{AsyncReadExt, Stdin, stdin};
use tokio_tungstenite::tungstenite::{Bytes, Message, Utf8Bytes};

/// Publishes standard input: `ffmpeg ... -f mpegts - | parley stream pub ws://HOST/in/cam`.
#[derive(Debug, clap::Args)]
pub struct Flags {
    #[command(flatten)]
    link: Link,
    /// Send text messages; one for each line unless --message-per is given
    #[arg(long, conflicts_with = "binary")]
    text: bool,
    /// Send binary messages, the default
    #[arg(long)]
    binary: bool,
    /// What becomes one message: line, chunk=BYTES, or frame: what one read returns, MPEG-TS by complete packets [frame]
    #[arg(long, value_name = "WHAT")]
    message_per: Option<Boundary>,
}

/// The most bytes of one read.
const READ: usize = 1 << 16;

struct Input {
    stdin: Stdin,
    buffer: Vec<u8>,
    framer: Framer,
    text: bool,
    /// A message that is read but not sent, or that was lost with the connection. It is sent again.
    next: Option<Message>,
    ended: bool,
}

impl Flags {
    /// Publishes until the input ends.
    pub async fn run(self) -> anyhow::Result<Exit> {
        let boundary = self.message_per.unwrap_or(if self.text { Boundary::Line } else { Boundary::Frame });
        let (buffer, framer) = (vec![0; READ], Framer::new(boundary));
        let mut input = Input { stdin: stdin(), buffer, framer, text: self.text, next: None, ended: false };
        self.link.keep(async |socket: &mut Socket| input.publish(socket).await).await
    }
}

impl Input {
    async fn publish(&mut self, socket: &mut Socket) -> anyhow::Result<ConnectionEnd> {
        loop {
            if let Some(message) = self.next.clone() {
                if let Err(end) = socket.send(message).await {
                    return Ok(end);
                }
                self.next = None;
            }
            if let Some(bytes) = self.framer.next()? {
                self.next = Some(self.message(bytes)?);
            } else if self.ended {
                let Some(rest) = self.framer.rest() else { return Ok(ConnectionEnd::Done) };
                self.next = Some(self.message(rest)?);
            } else {
                tokio::select! {
                    read = self.stdin.read(&mut self.buffer) => {
                        let size = read.context("standard input")?;
                        self.ended = size == 0;
                        self.framer.feed(&self.buffer[..size]);
                    }
                    // A topic may also deliver the messages of others. They are discarded.
                    received = socket.receive() => if let Err(end) = received { return Ok(end) },
                }
            }
        }
    }

    fn message(&self, bytes: Bytes) -> anyhow::Result<Message> {
        if !self.text {
            return Ok(Message::Binary(bytes));
        }
        Ok(Message::Text(Utf8Bytes::try_from(bytes).context("the input is not UTF-8 text")?))
    }
}
