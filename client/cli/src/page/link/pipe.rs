//! A topic of the stream relay that two visitors meet on (PAGE-15). What is sent while the other is not there yet is lost, as on any
//! topic: whoever uses it says again what comes first.
use super::{MESSAGE_MAX, News, Order, Teller, Way};
use crate::ending::Ending;
use crate::reach::{Reach, Socket};
use anyhow::{Context, ensure};
use futures_util::{SinkExt, StreamExt};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use url::Url;

/// Below which Parley's edge has streams.
const STREAMS: &str = "/streams/pages/";
const OPENING: Duration = Duration::from_secs(10);
const CLOSING: Duration = Duration::from_secs(2);

/// Where it is.
pub struct Place {
    /// `https://HOST/`.
    pub host: Url,
    /// How it is reached.
    pub reach: Reach,
    /// Its name.
    pub pipe: String,
    /// For relays that ask for one.
    pub token: String,
}

/// Carries messages until it is over, and says why.
pub async fn run(place: Place, orders: mpsc::Receiver<Order>, teller: Teller) {
    let why = match open(&place).await {
        Ok(socket) => {
            carry(socket, orders, &teller).await.map_or_else(|why| format!("{why:#}"), |()| "it ended".into())
        }
        Err(why) => format!("{why:#}"),
    };
    teller.tell(News::Ended(why)).await;
}

async fn open(place: &Place) -> anyhow::Result<Socket> {
    let mut url = place.host.clone();
    url.set_path(&format!("{STREAMS}{}", place.pipe));
    let scheme = if url.scheme() == "https" { "wss" } else { "ws" };
    url.set_scheme(scheme).ok().context("no address")?;
    let header = (!place.token.is_empty()).then(|| ("Authorization", format!("Bearer {}", place.token)));
    let opened =
        timeout(OPENING, place.reach.socket(&url, header)).await.context("the stream relay does not answer")?;
    opened.map_err(|ending| anyhow::anyhow!("{}", ending.why()))
}

async fn carry(mut socket: Socket, mut orders: mpsc::Receiver<Order>, teller: &Teller) -> anyhow::Result<()> {
    teller.tell(News::Open(Way::Relay)).await;
    loop {
        tokio::select! {
            came = socket.next() => match came.context("the stream relay ended the connection")? {
                Ok(Message::Text(text)) => drop(teller.tell(News::Text(text.to_string())).await),
                Ok(Message::Binary(bytes)) => {
                    ensure!(bytes.len() <= MESSAGE_MAX as usize, "a message is too large");
                    teller.tell(News::Binary(bytes)).await;
                }
                Ok(Message::Close(frame)) => return said(&Ending::closed(frame.as_ref())),
                Ok(_) => {}
                Err(why) => return said(&Ending::of(why)),
            },
            order = orders.recv() => match order {
                Some(Order::Text(text)) => socket.send(Message::text(text)).await?,
                Some(Order::Chunk(bytes)) => {
                    socket.send(Message::binary(bytes)).await?;
                    teller.tell(News::Sent).await;
                }
                Some(Order::Answer(_) | Order::Candidate(_)) => {}
                Some(Order::End) | None => {
                    let _late = timeout(CLOSING, socket.close(None)).await;
                    return Ok(());
                }
            },
        }
    }
}

fn said(ending: &Ending) -> anyhow::Result<()> {
    Err(anyhow::anyhow!("{}", ending.why()))
}
