//! `parley stream pub`: standard input to a topic.
use super::cut::{Cut, Cutter};
use super::link::{Link, Socket};
use crate::ending::Ending;
use crate::exit::Exit;
use anyhow::Context;
use tokio::io::{AsyncReadExt, Stdin, stdin};
use tokio_tungstenite::tungstenite::{Bytes, Message, Utf8Bytes};

/// Publishes standard input: `ffmpeg ... -f mpegts - | parley stream pub ws://HOST/in/cam`.
#[derive(Debug, clap::Args)]
pub struct Flags {
    #[command(flatten)]
    link: Link,
    /// Send text messages; without --message-per one for each line
    #[arg(long, conflicts_with = "binary")]
    text: bool,
    /// Send binary messages, as is done without this
    #[arg(long)]
    binary: bool,
    /// What becomes one message: line, chunk=BYTES, or frame: what there is, MPEG-TS by whole packets [frame]
    #[arg(long, value_name = "WHAT")]
    message_per: Option<Cut>,
}

/// What one read of the input takes at most.
const READ: usize = 1 << 16;

struct Input {
    stdin: Stdin,
    buffer: Vec<u8>,
    cutter: Cutter,
    text: bool,
    /// Read, and not yet sent: sent again when the connection was lost over it.
    next: Option<Message>,
    ended: bool,
}

impl Flags {
    /// Publishes until the input ends.
    pub async fn run(self) -> anyhow::Result<Exit> {
        let cut = self.message_per.unwrap_or(if self.text { Cut::Line } else { Cut::Frame });
        let (buffer, cutter) = (vec![0; READ], Cutter::new(cut));
        let mut input = Input { stdin: stdin(), buffer, cutter, text: self.text, next: None, ended: false };
        self.link.keep(async |socket: &mut Socket| input.publish(socket).await).await
    }
}

impl Input {
    async fn publish(&mut self, socket: &mut Socket) -> anyhow::Result<Ending> {
        loop {
            if let Some(message) = self.next.clone() {
                if let Err(ending) = socket.send(message).await {
                    return Ok(ending);
                }
                self.next = None;
            }
            if let Some(bytes) = self.cutter.next()? {
                self.next = Some(self.message(bytes)?);
            } else if self.ended {
                let Some(rest) = self.cutter.rest() else { return Ok(Ending::Done) };
                self.next = Some(self.message(rest)?);
            } else {
                tokio::select! {
                    read = self.stdin.read(&mut self.buffer) => {
                        let size = read.context("standard input")?;
                        self.ended = size == 0;
                        self.cutter.feed(&self.buffer[..size]);
                    }
                    // What others say on a topic that is heard and published is not for this command.
                    heard = socket.hear() => if let Err(ending) = heard { return Ok(ending) },
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
