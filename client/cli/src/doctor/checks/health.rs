//! The edge answers.
use crate::doctor::report::{CheckResult, Finding};
use crate::doctor::site::Site;
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, sleep};

/// Shorter than the limit of the check, so that the error is reported.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(8);
/// The interval at which a host without an answer is requested_at again.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
const PATH: &str = "/healthz";
/// Answered by pods. The edge answers 503 itself until it has found one that is ready, also just after an installation.
const OF_PODS: &str = "/v1/regions";
const UNAVAILABLE: u16 = 503;

/// The answer of the host.
pub struct Answer {
    status: u16,
    /// The header `Date`.
    pub date: Option<String>,
    /// When the request was sent.
    pub requested_at: SystemTime,
    /// From the request to the answer.
    pub took: Duration,
}

/// Requests the health of the edge.
pub async fn check(site: &Site) -> CheckResult {
    let answer = request(site).await?;
    if answer.status != 200 {
        let advice = "Check whether this is the edge of Parley: it answers 200 itself, also if its backends fail.";
        return Err(Finding::fail(format!("{PATH} answers {}", answer.status), advice));
    }
    Ok(vec![Finding::ok(format!("{PATH} answers 200")).took(answer.took)])
}

/// Waits until the edge and a pod answer, at most for `longest`.
pub async fn wait_for_answer(site: &Site, longest: Duration) {
    let until = Instant::now() + longest;
    let mut printed = false;
    while Instant::now() < until && !get(site, OF_PODS).await.is_ok_and(|answer| answer.status != UNAVAILABLE) {
        if !std::mem::replace(&mut printed, true) {
            eprintln!("parley: waiting for an answer of {}", site.url);
        }
        sleep(RETRY_INTERVAL).await;
    }
}

/// Requests the health of the edge over a connection of its own.
pub async fn request(site: &Site) -> Result<Answer, Finding> {
    get(site, PATH).await
}

async fn get(site: &Site, path: &str) -> Result<Answer, Finding> {
    let (agent, url) = (site.connect.agent(REQUEST_TIMEOUT), site.at(path));
    let requested_at = (SystemTime::now(), Instant::now());
    let response = tokio::task::spawn_blocking(move || agent.get(url.as_str()).call()).await;
    let failed = |why: String| {
        Finding::fail(
            format!("{path} does not answer: {why}"),
            "See the checks dns and tls, then the pods of the edge.",
        )
    };
    let answer = response.map_err(|why| failed(why.to_string()))?.map_err(|why| failed(why.to_string()))?;
    let date = answer.headers().get("date").and_then(|date| date.to_str().ok()).map(str::to_owned);
    Ok(Answer { status: answer.status().as_u16(), date, requested_at: requested_at.0, took: requested_at.1.elapsed() })
}
