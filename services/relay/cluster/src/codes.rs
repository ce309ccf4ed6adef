//! One-use codes that open a socket on any pod. A code names the pod that issued it; the other pods ask that pod, whose memory alone
//! decides. Rule STR-117.
use super::bus::{Bus, RequestError};
use super::counts::Counts;
use futures_util::StreamExt;
use parley_access::Answer;
use parley_access::one_use::{self, Codes, Memory, Pass};
use parley_net::codes::Code;
use parley_protocol::subjects::relay_codes_subject;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::AbortHandle;

/// The codes of all pods of a region.
pub(crate) struct ClusterCodes {
    own: Arc<Memory>,
    bus: Bus,
    timeout: Duration,
    counts: Arc<Counts>,
    answering: AbortHandle,
}

/// The size limit of an answer in bytes: a path, a `jti` and a `sub` of the greatest length that limits allow.
const MAX_ANSWER: usize = 64 * 1024;

impl ClusterCodes {
    /// Starts to answer the other pods. Requests to them take at most `timeout`.
    pub fn start(own: Memory, bus: &Bus, timeout: Duration, counts: &Arc<Counts>) -> Self {
        let own = Arc::new(own);
        let answering = tokio::spawn(answer_requests(Arc::clone(&own), bus.clone(), Arc::clone(counts))).abort_handle();
        Self { own, bus: bus.clone(), timeout, counts: Arc::clone(counts), answering }
    }

    async fn request(&self, prefix: &str, code: String) -> Result<Option<Pass>, Code> {
        match self.bus.request(&relay_codes_subject(prefix), code.into_bytes(), self.timeout).await {
            Ok(answer) => Ok(self.read(&answer)),
            // The pod ended, and its codes with it.
            Err(RequestError::NoResponders) => Ok(None),
            Err(RequestError::Unavailable) => Err(Code::NotReady),
        }
    }

    fn read(&self, answer: &[u8]) -> Option<Pass> {
        let pass = (answer.len() <= MAX_ANSWER).then(|| serde_json::from_slice(answer).ok()).flatten();
        pass.unwrap_or_else(|| {
            self.counts.invalid.add(1);
            None
        })
    }
}

impl Drop for ClusterCodes {
    fn drop(&mut self) {
        self.answering.abort();
    }
}

impl Codes for ClusterCodes {
    fn store(&self, pass: Pass, network: IpAddr) -> Answer<'_, String> {
        self.own.store(pass, network)
    }

    fn take(&self, code: &str) -> Answer<'_, Option<Pass>> {
        match one_use::prefix(code) {
            Some(prefix) if prefix != self.own.prefix() => {
                let (prefix, code) = (prefix.to_owned(), code.to_owned());
                Box::pin(async move { self.request(&prefix, code).await })
            }
            _ => self.own.take(code),
        }
    }
}

async fn answer_requests(own: Arc<Memory>, bus: Bus, counts: Arc<Counts>) {
    let Ok(mut requests) = bus.subscribe(&relay_codes_subject(own.prefix())).await else { return };
    while let Some(request) = requests.next().await {
        let code = std::str::from_utf8(&request.payload).ok();
        let code = code.filter(|code| one_use::prefix(code) == Some(own.prefix()));
        // Without a reply subject the code would be used up without opening a socket.
        let (Some(code), Some(reply)) = (code, request.reply) else {
            counts.invalid.add(1);
            continue;
        };
        let pass = own.take(code).await.ok().flatten();
        bus.publish(&reply, serde_json::to_vec(&pass).unwrap_or_default()).await;
    }
}
