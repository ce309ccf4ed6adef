//! One-use codes that open a socket on any pod: a code says whose it is, and the others ask that pod, whose memory alone
//! decides. Rule STR-117.
use super::bus::{Bus, Unanswered};
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

/// The codes of a region.
pub struct Spread {
    own: Arc<Memory>,
    bus: Bus,
    patience: Duration,
    counts: Arc<Counts>,
    answering: AbortHandle,
}

/// More is no answer: a path, a `jti` and a `sub` as long as limits let them be.
const ANSWER: usize = 64 * 1024;

impl Spread {
    /// Asks the others, for at most `patience`, and answers them.
    pub fn start(own: Memory, bus: &Bus, patience: Duration, counts: &Arc<Counts>) -> Self {
        let own = Arc::new(own);
        let answering = tokio::spawn(answer(Arc::clone(&own), bus.clone(), Arc::clone(counts))).abort_handle();
        Self { own, bus: bus.clone(), patience, counts: Arc::clone(counts), answering }
    }

    async fn ask(&self, mark: &str, code: String) -> Result<Option<Pass>, Code> {
        match self.bus.ask(&relay_codes_subject(mark), code.into_bytes(), self.patience).await {
            Ok(answer) => Ok(self.read(&answer)),
            // It ended, and its codes with it.
            Err(Unanswered::Nobody) => Ok(None),
            Err(Unanswered::Away) => Err(Code::NotReady),
        }
    }

    fn read(&self, answer: &[u8]) -> Option<Pass> {
        let pass = (answer.len() <= ANSWER).then(|| serde_json::from_slice(answer).ok()).flatten();
        pass.unwrap_or_else(|| {
            self.counts.broken.add(1);
            None
        })
    }
}

impl Drop for Spread {
    fn drop(&mut self) {
        self.answering.abort();
    }
}

impl Codes for Spread {
    fn keep(&self, pass: Pass, network: IpAddr) -> Answer<'_, String> {
        self.own.keep(pass, network)
    }

    fn take(&self, code: &str) -> Answer<'_, Option<Pass>> {
        match one_use::mark(code) {
            Some(mark) if mark != self.own.mark() => {
                let (mark, code) = (mark.to_owned(), code.to_owned());
                Box::pin(async move { self.ask(&mark, code).await })
            }
            _ => self.own.take(code),
        }
    }
}

async fn answer(own: Arc<Memory>, bus: Bus, counts: Arc<Counts>) {
    let Ok(mut questions) = bus.hear(&relay_codes_subject(own.mark())).await else { return };
    while let Some(question) = questions.next().await {
        let code = std::str::from_utf8(&question.payload).ok();
        let code = code.filter(|code| one_use::mark(code) == Some(own.mark()));
        // Without an address for the answer the code would be used up for nobody.
        let (Some(code), Some(asker)) = (code, question.reply) else {
            counts.broken.add(1);
            continue;
        };
        let pass = own.take(code).await.ok().flatten();
        bus.say(&asker, serde_json::to_vec(&pass).unwrap_or_default()).await;
    }
}
