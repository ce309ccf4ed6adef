//! A visitor's socket to the service, opened again when it is lost (PAGE-5).
use super::message::{Ask, Signal, Told};
use crate::again::{GOOD, pause};
use crate::ending::{Again, Ending};
use crate::reach::{Reach, Socket};
use futures_util::{SinkExt, StreamExt};
use parley_protocol::codes::Code;
use parley_protocol::routes::PAGES_SOCKET;
use parley_protocol::visit::Welcome;
use parley_protocol::{decode, directed};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::tungstenite::Message;
use url::Url;

/// A service that does not answer in this time is not there.
const OPENING: Duration = Duration::from_secs(10);
/// After which a socket that is silent is tried; as long again, and it is gone.
const QUIET: Duration = Duration::from_secs(15);
const CLOSING: Duration = Duration::from_secs(2);
/// What is said on the socket; while there is none it is forgotten.
#[derive(Debug)]
pub enum Say {
    /// To the service.
    Ask(Ask),
    /// To another visitor, with an id of its own (DIR-3).
    To(String, String, Signal),
}

/// What comes of it.
#[derive(Debug)]
pub enum Heard {
    /// A socket is there, and we are a new visitor.
    Up(Welcome),
    /// From the service.
    Told(Told),
    /// From another visitor.
    From(String, Signal),
    /// It was lost, and is tried again.
    Down(String),
    /// Trying again cannot help.
    Over(Ending),
}

/// Where the service has visitors' sockets.
pub fn address(host: &Url) -> Result<Url, Ending> {
    let mut url = host.clone();
    url.set_path(PAGES_SOCKET);
    let scheme = if url.scheme() == "https" { "wss" } else { "ws" };
    url.set_scheme(scheme).map_err(|()| Ending::Refused(format!("{host} is no host")))?;
    Ok(url)
}

/// Keeps a socket until nobody says anything any more.
pub async fn keep(url: Url, reach: Reach, mut says: mpsc::Receiver<Say>, tell: mpsc::Sender<Heard>) {
    let mut tries = 0;
    loop {
        let began = Instant::now();
        let Err(ending) = visit(&url, &reach, &mut says, &tell).await else { return };
        let Ending::Lost { why, again } = ending else { return drop(tell.send(Heard::Over(ending)).await) };
        if began.elapsed() > GOOD {
            tries = 0;
        }
        let woken = Instant::now() + pause(again, tries);
        tries += 1;
        if tell.send(Heard::Down(why)).await.is_err() {
            return;
        }
        loop {
            tokio::select! {
                () = sleep_until(woken) => break,
                said = says.recv() => if said.is_none() { return },
            }
        }
    }
}

/// Serves one socket until it is lost, or nobody says anything any more.
async fn visit(
    url: &Url,
    reach: &Reach,
    says: &mut mpsc::Receiver<Say>,
    tell: &mpsc::Sender<Heard>,
) -> Result<(), Ending> {
    let opened = timeout(OPENING, reach.socket(url, None)).await;
    let mut socket = opened.map_err(|_| Ending::lost("the service does not answer"))??;
    let (mut quiet, mut pinged, mut move_at) = (Instant::now() + QUIET, false, None);
    loop {
        tokio::select! {
            heard = hear(&mut socket) => {
                let heard = heard?;
                (quiet, pinged) = (Instant::now() + QUIET, false);
                if let Heard::Told(Told::Goaway(told)) = heard {
                    move_at = Some(Instant::now() + Duration::from_millis(told.after_ms));
                } else if tell.send(heard).await.is_err() {
                    return Ok(());
                }
            }
            said = says.recv() => match said {
                Some(Say::Ask(ask)) => send(&mut socket, json(&ask)?).await?,
                Some(Say::To(to, id, signal)) => send(&mut socket, directed::text(&to, &id, &json(&signal)?)).await?,
                None => {
                    let _late = timeout(CLOSING, socket.close(None)).await;
                    return Ok(());
                }
            },
            () = sleep_until(quiet) => {
                if std::mem::replace(&mut pinged, true) {
                    return Err(Ending::lost("the service went silent"));
                }
                quiet += QUIET;
                send(&mut socket, json(&Ask::Ping)?).await?;
            }
            () = sleep_until(move_at.unwrap_or(quiet)), if move_at.is_some() => {
                return Err(Ending::Lost { why: "the service is served by another pod".into(), again: Again::AtOnce });
            }
        }
    }
}

/// The next message that says something. May be given up halfway.
async fn hear(socket: &mut Socket) -> Result<Heard, Ending> {
    loop {
        let message = match socket.next().await {
            Some(Ok(message @ (Message::Text(_) | Message::Binary(_)))) => message.into_data(),
            Some(Ok(Message::Close(frame))) => return Err(closed(Ending::closed(frame.as_ref()))),
            Some(Ok(_)) => continue,
            Some(Err(why)) => return Err(closed(Ending::of(why))),
            None => return Err(Ending::lost("the service was lost")),
        };
        if let Some((from, payload)) = directed::received(&message) {
            match decode(payload) {
                Some(signal) => return Ok(Heard::From(from.to_owned(), signal)),
                None => continue,
            }
        }
        return match decode(&message) {
            Some(Told::Welcome(arrived)) => Ok(Heard::Up(arrived)),
            Some(Told::Error(error)) if error.fatal => Err(refused(&error.code)),
            Some(told) => Ok(Heard::Told(told)),
            // Of a newer service.
            None => continue,
        };
    }
}

fn refused(code: &str) -> Ending {
    let why = format!("the service refused: {code}");
    let reconnects = Code::named(code).unwrap_or(Code::Internal).reconnect();
    if reconnects { Ending::lost(why) } else { Ending::Refused(why) }
}

/// A socket that ends without a word about why is opened again.
fn closed(ending: Ending) -> Ending {
    if ending == Ending::Done { Ending::lost("the service closed the socket") } else { ending }
}

async fn send(socket: &mut Socket, text: String) -> Result<(), Ending> {
    socket.send(Message::text(text)).await.map_err(Ending::of)
}

fn json(message: &impl serde::Serialize) -> Result<String, Ending> {
    serde_json::to_string(message).map_err(|why| Ending::Refused(why.to_string()))
}
