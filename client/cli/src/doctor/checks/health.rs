//! Its edge answers.
use crate::doctor::report::{Finding, Looked};
use crate::doctor::site::Site;
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, sleep};

/// Below the check's own limit, so that what went wrong is told.
const PATIENCE: Duration = Duration::from_secs(8);
/// Between two looks at a host that does not answer yet.
const AGAIN: Duration = Duration::from_millis(500);
const PATH: &str = "/healthz";

/// What it said.
pub struct Answer {
    status: u16,
    /// Its `Date`.
    pub date: Option<String>,
    /// When it was asked.
    pub asked: SystemTime,
    /// From asking to the answer.
    pub took: Duration,
}

/// Asks how it is.
pub async fn look(site: &Site) -> Looked {
    let answer = ask(site).await?;
    if answer.status != 200 {
        let advice = "See whether this is Parley's edge: it answers 200 itself, whatever becomes of what is behind it.";
        return Err(Finding::fail(format!("{PATH} answers {}", answer.status), advice));
    }
    Ok(vec![Finding::ok(format!("{PATH} answers 200")).took(answer.took)])
}

/// Waits until there is an answer, and no longer than so.
pub async fn answers(site: &Site, longest: Duration) {
    let until = Instant::now() + longest;
    let mut told = false;
    while Instant::now() < until && ask(site).await.is_err() {
        if !std::mem::replace(&mut told, true) {
            eprintln!("parley: waiting until {} answers", site.url);
        }
        sleep(AGAIN).await;
    }
}

/// Asks, over a connection of its own.
pub async fn ask(site: &Site) -> Result<Answer, Finding> {
    let (agent, url) = (site.reach.agent(PATIENCE), site.at(PATH));
    let asked = (SystemTime::now(), Instant::now());
    let got = tokio::task::spawn_blocking(move || agent.get(url.as_str()).call()).await;
    let unanswered = |why: String| {
        Finding::fail(
            format!("{PATH} does not answer: {why}"),
            "Look at the checks dns and tls, then at the edge's pods.",
        )
    };
    let answer = got.map_err(|why| unanswered(why.to_string()))?.map_err(|why| unanswered(why.to_string()))?;
    let date = answer.headers().get("date").and_then(|date| date.to_str().ok()).map(str::to_owned);
    Ok(Answer { status: answer.status().as_u16(), date, asked: asked.0, took: asked.1.elapsed() })
}
