//! `parley stream stats`: the clients of a relay and their traffic. Rules STR-60 and STR-61.
mod table;

use super::link::{Link, Socket};
use crate::connection_end::ConnectionEnd;
use crate::exit::Exit;
use std::io::{IsTerminal, Write};
use terminal_size::{Height, Width, terminal_size};
use tokio_tungstenite::tungstenite::Message;

/// Shows the statistics of a relay: a table that is updated on a terminal, JSON lines otherwise.
#[derive(Debug, clap::Args)]
pub struct Flags {
    #[command(flatten)]
    link: Link,
    /// Show the statistics once
    #[arg(long)]
    once: bool,
    /// Write JSON lines on a terminal too
    #[arg(long)]
    json: bool,
    /// Time between two updates, in milliseconds
    #[arg(long, default_value_t = 1000, value_name = "MS", value_parser = clap::value_parser!(u32).range(200..=3_600_000))]
    every: u32,
}

/// The size if the terminal does not report one.
const SIZE: (u16, u16) = (100, 40);
/// Moves the cursor to the upper left and clears the screen.
const HOME: &str = "\x1b[H\x1b[J";

impl Flags {
    /// Shows statistics until the user stops the command.
    pub async fn run(self) -> anyhow::Result<Exit> {
        let link = self.link.clone().or_path("/ws")?;
        link.keep(async |socket: &mut Socket| self.show(socket).await).await
    }

    async fn show(&self, socket: &mut Socket) -> anyhow::Result<ConnectionEnd> {
        let mut out = std::io::stdout();
        let live = out.is_terminal() && !self.json;
        if let Err(end) = socket.send(Message::text(format!(r#"{{"push":{}}}"#, self.every))).await {
            return Ok(end);
        }
        loop {
            let message = match socket.receive().await {
                Ok(message) => message.into_data(),
                Err(end) => return Ok(end),
            };
            let shown = if live {
                let (Width(width), Height(height)) = terminal_size().unwrap_or((Width(SIZE.0), Height(SIZE.1)));
                let height = if self.once { usize::MAX } else { usize::from(height) };
                let table = table::draw(&serde_json::from_slice(&message)?, usize::from(width), height);
                if self.once { table } else { format!("{HOME}{table}") }
            } else {
                format!("{}\n", String::from_utf8_lossy(&message))
            };
            if out.write_all(shown.as_bytes()).and_then(|()| out.flush()).is_err() || self.once {
                return Ok(ConnectionEnd::Done);
            }
        }
    }
}
