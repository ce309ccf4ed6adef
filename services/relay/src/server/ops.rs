//! Health, readiness and metrics on a separate port, which answers even if clients use all sockets of the other one. Rule STR-65.
use super::respond::Response;
use super::{accept, pages};
use crate::relay::Relay;
use parley_net::codes::Code;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// The concurrent requests: a few probes and scrapers. More are closed without an answer; the edge does not route to this port.
const MAX_CONCURRENT: usize = 64;

/// Answers requests until the process ends, also while the pod drains.
pub async fn run(listener: TcpListener, relay: Arc<Relay>) {
    let permits = Arc::new(Semaphore::new(MAX_CONCURRENT));
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else { continue };
                let relay = Arc::clone(&relay);
                tokio::spawn(async move {
                    answer(stream, &relay).await;
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!(why = %error, "accept failed on ops-listen");
                tokio::time::sleep(accept::ACCEPT_RETRY_DELAY).await;
            }
        }
    }
}

async fn answer(mut stream: TcpStream, relay: &Relay) {
    let timeout = Duration::from_millis(relay.limits.headers_timeout);
    let head = tokio::time::timeout(timeout, accept::read_head(&mut stream, relay)).await;
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
