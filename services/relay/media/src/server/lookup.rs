//! Looks up the host of a relay for a link (MED-42).
use anyhow::{Context, Result};
use parking_lot::Mutex;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How long an attempt waits for DNS: its clients ask a second time after one or two seconds.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(3);

/// The look-ups of one link. At most one is under way: it occupies a thread until DNS answers or the system's resolver gives up, and no attempt can
/// end it. An attempt that gets no answer uses the last one.
pub(crate) struct Lookups {
    one: Arc<Semaphore>,
    last: Arc<Mutex<Option<Answer>>>,
}

struct Answer {
    host: String,
    addresses: Vec<SocketAddr>,
}

impl Default for Lookups {
    fn default() -> Self {
        Self { one: Arc::new(Semaphore::new(1)), last: Arc::default() }
    }
}

impl Lookups {
    /// Returns the addresses of `host` that `lookup` returns, or those of its last answer.
    ///
    /// # Errors
    /// There is no answer, and none was received before.
    pub async fn addresses(
        &self,
        host: &str,
        lookup: impl Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'static,
    ) -> Result<Vec<SocketAddr>> {
        let found = self.look_up(host.to_owned(), lookup).await;
        found.or_else(|error| {
            let last = self.last.lock();
            last.as_ref().filter(|last| last.host == host).map(|last| last.addresses.clone()).ok_or(error)
        })
    }

    async fn look_up(
        &self,
        host: String,
        lookup: impl Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'static,
    ) -> Result<Vec<SocketAddr>> {
        let permit = self.one.clone().try_acquire_owned().context("the last look-up has no answer yet")?;
        let last = self.last.clone();
        // A task of its own, as the permit is held for as long as the thread is.
        let answered = tokio::spawn(async move {
            let addresses = lookup.await?;
            *last.lock() = Some(Answer { host, addresses: addresses.clone() });
            drop(permit);
            Ok::<_, io::Error>(addresses)
        });
        Ok(timeout(LOOKUP_TIMEOUT, answered).await.context("no answer of DNS")???)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn med_42_one_look_up_is_under_way_and_attempts_use_the_last_answer_until_then() {
        let lookups = Lookups::default();
        let (answer, answered) = oneshot::channel();
        let silent = lookups.addresses("a.example", async { Ok(answered.await.unwrap()) });
        assert!(timeout(Duration::ZERO, silent).await.is_err());
        let second = lookups.addresses("a.example", async { panic!("a second look-up is under way") });
        assert!(second.await.unwrap_err().to_string().contains("no answer yet"));

        let addresses = vec![SocketAddr::from(([192, 0, 2, 1], 443))];
        answer.send(addresses.clone()).unwrap();
        drop(lookups.one.acquire().await.unwrap());
        // The attempt ended before its answer came.
        let failed = ready(Err(io::ErrorKind::NotFound.into()));
        assert_eq!(lookups.addresses("a.example", failed).await.unwrap(), addresses);
        assert!(timeout(Duration::ZERO, lookups.addresses("a.example", pending())).await.is_err());
        assert_eq!(lookups.addresses("a.example", pending()).await.unwrap(), addresses);
        assert!(lookups.addresses("b.example", pending()).await.is_err());
    }
}
