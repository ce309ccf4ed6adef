//! Health, readiness and metrics on a port of their own, which no crowd of clients fills. Rule STR-65.
use super::respond::Response;
use super::{accept, pages};
use crate::relay::Relay;
use parley_net::codes::Code;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Requests at once: a few probes and scrapers. More are dropped unheard, as no edge leads here.
const AT_ONCE: usize = 64;

/// Answers until the process ends, also while the pod drains.
pub async fn run(listener: TcpListener, relay: Arc<Relay>) {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
                let relay = Arc::clone(&relay);
                tokio::spawn(async move {
                    answer(stream, &relay).await;
                    drop(place);
                });
            }
            Err(why) => {
                tracing::warn!(%why, "accept failed on ops-listen");
                tokio::time::sleep(accept::BREATH).await;
            }
        }
    }
}

async fn answer(mut stream: TcpStream, relay: &Relay) {
    let patience = Duration::from_millis(relay.limits.headers_timeout);
    let head = tokio::time::timeout(patience, accept::read_head(&mut stream, relay)).await;
    let (response, is_head) = match head.unwrap_or(Err(Code::UpgradeTimeout)) {
        Ok(Some((request, _))) => {
            let answer = pages::for_operators(&request, relay).unwrap_or(Err(Code::NotFound));
            (answer.unwrap_or_else(Response::refusal), request.method == "HEAD")
        }
        Ok(None) => return,
        Err(code) => (Response::refusal(code), false),
    };
    response.send(&mut stream, is_head).await;
}
