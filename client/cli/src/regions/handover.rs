//! Decides whether a participant that lost its socket resumes in another region (REG-9). Its own attempts go on meanwhile, and have a head
//! start: a pod that ended is replaced long before.
use super::Place;
use crate::connect::ConnectOptions;
use crate::http;
use crate::media::BoxFuture;
use parley_protocol::routes;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// From the first attempt to resume; no participant leaves its region before.
const HEAD_START: Duration = Duration::from_millis(600);
/// Most attempts to resume need less: then all of those that lost a pod send no requests.
const PROBE_AFTER: Duration = Duration::from_millis(250);
/// A region that takes longer is not better than the one that a participant has.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

/// The decision while the participant tries to resume.
pub struct Handover {
    decision: Option<BoxFuture<'static, Option<Place>>>,
    /// Set when the pod answers on the socket: then the participant stays.
    answered: Arc<AtomicBool>,
}

impl Handover {
    /// No decision is under way. `answered` is set once the pod answers on the socket.
    pub fn new(answered: Arc<AtomicBool>) -> Self {
        Self { decision: None, answered }
    }

    /// At each attempt to resume. Does nothing while a decision is under way, and where there is no other region.
    pub fn begin(&mut self, choice: Option<(&[Place], &str)>, connect: &ConnectOptions) {
        let Some((all, current)) = choice.filter(|_| self.decision.is_none()) else { return };
        let (all, current, connect) = (all.to_vec(), current.to_owned(), connect.clone());
        let probe = move |place: &Place| answers(connect.clone(), place.clone());
        self.decision = Some(Box::pin(async move { decide(&all, &current, probe).await }));
    }

    /// Resolves with the region to which the participant moves. Cancel-safe.
    pub async fn moved(&mut self) -> Place {
        loop {
            let Some(decision) = &mut self.decision else { return std::future::pending().await };
            let decided = decision.await;
            self.decision = None;
            if let Some(place) = decided.filter(|_| !self.answered.load(Ordering::Relaxed)) {
                return place;
            }
        }
    }
}

/// Whether a region answers that it accepts participants, or has too many requests of this address.
pub async fn answers(connect: ConnectOptions, place: Place) -> bool {
    let mut url = place.url;
    url.set_path(routes::LIST_REGIONS);
    timeout(PROBE_TIMEOUT, http::is_open(&connect, url)).await.unwrap_or(false)
}

/// The nearest other region that answers, unless the own one does. All are asked at the same time, so the nearest is the first that answers.
async fn decide<Answer: Future<Output = bool> + Send + 'static>(
    all: &[Place],
    current: &str,
    probe: impl Fn(&Place) -> Answer,
) -> Option<Place> {
    let may_move_at = Instant::now() + HEAD_START;
    sleep(PROBE_AFTER).await;
    let mut probes = JoinSet::new();
    for place in all.iter().cloned() {
        let answer = probe(&place);
        probes.spawn(async move { (answer.await, place) });
    }
    let (mut nearest, mut may_move) = (None, false);
    while nearest.is_none() || !may_move {
        tokio::select! {
            () = sleep_until(may_move_at), if !may_move => may_move = true,
            Some(probed) = probes.join_next() => match probed {
                Ok((true, place)) if place.name == current => {
                    sleep_until(may_move_at).await;
                    return None;
                }
                Ok((true, place)) => {
                    nearest.get_or_insert(place);
                }
                _ => {}
            },
            else => return None,
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const NEVER: u32 = 60_000;

    /// Decides for a participant of eu, where each region answers after a time in ms, or refuses.
    async fn decided(answers: &[(&'static str, u32, bool)]) -> (Option<String>, Duration) {
        let place = |name: &str| Place { name: name.into(), url: format!("https://{name}/").parse().unwrap() };
        let all: Vec<_> = answers.iter().map(|(name, ..)| place(name)).collect();
        let answers = answers.to_vec();
        let probe = move |place: &Place| {
            let (_, after, is_open) = answers.iter().find(|(name, ..)| *name == place.name).copied().unwrap();
            async move {
                sleep(MS * after).await;
                is_open
            }
        };
        let began = Instant::now();
        (decide(&all, "eu", probe).await.map(|place| place.name), began.elapsed())
    }

    #[tokio::test]
    async fn reg_9_a_region_that_does_not_answer_is_left_for_the_nearest_other_one_after_a_head_start() {
        let (to, after) = decided(&[("eu", NEVER, true), ("us", 100, true), ("ap", 10, true)]).await;
        assert_eq!(to.as_deref(), Some("ap"));
        assert!(after >= HEAD_START, "{after:?}");
    }

    #[tokio::test]
    async fn reg_9_a_region_that_refuses_is_left_too_and_one_that_refuses_is_not_gone_to() {
        let (to, _) = decided(&[("ap", 0, false), ("eu", 0, false), ("us", 500, true)]).await;
        assert_eq!(to.as_deref(), Some("us"), "the first answer comes after the head start");
        assert_eq!(decided(&[("ap", 0, false), ("eu", 0, false)]).await.0, None);
    }

    #[tokio::test]
    async fn reg_9_a_region_that_answers_is_not_left_however_near_others_are() {
        assert_eq!(decided(&[("ap", 0, true), ("eu", 200, true), ("us", 0, true)]).await.0, None);
        assert_eq!(decided(&[("ap", 0, false), ("eu", 400, true), ("us", 500, true)]).await.0, None);
    }

    #[tokio::test]
    async fn reg_9_a_pod_that_answered_on_the_socket_is_not_left() {
        let place = Place { name: "us".into(), url: "https://us/".parse().unwrap() };
        let answered = Arc::new(AtomicBool::new(true));
        let decided = place.clone();
        let mut handover = Handover { decision: Some(Box::pin(async { Some(decided) })), answered: answered.clone() };
        assert!(timeout(MS * 10, handover.moved()).await.is_err());
        answered.store(false, Ordering::Relaxed);
        let decided = place.clone();
        handover.decision = Some(Box::pin(async { Some(decided) }));
        assert_eq!(timeout(MS * 10, handover.moved()).await, Ok(place));
    }
}
