//! Parley's HTTP API: JSON both ways.
use crate::ending::Ending;
use crate::reach::Reach;
use std::time::Duration;
use ureq::http::Request;
use url::Url;

/// The service answers from memory.
const PATIENCE: Duration = Duration::from_secs(10);

/// Posts JSON; the answer's body, or why there is none.
pub async fn post(url: Url, key: Option<&str>, body: serde_json::Value) -> Result<serde_json::Value, Ending> {
    ask(&Reach::default(), "POST", url, key, Some(body)).await
}

/// Deletes.
pub async fn delete(url: Url, key: Option<&str>) -> Result<serde_json::Value, Ending> {
    ask(&Reach::default(), "DELETE", url, key, None).await
}

/// As [`post`], by another way.
pub async fn post_over(reach: &Reach, url: Url, body: serde_json::Value) -> Result<serde_json::Value, Ending> {
    ask(reach, "POST", url, None, Some(body)).await
}

async fn ask(
    reach: &Reach,
    method: &'static str,
    url: Url,
    key: Option<&str>,
    body: Option<serde_json::Value>,
) -> Result<serde_json::Value, Ending> {
    let mut request = Request::builder().method(method).uri(url.as_str());
    request = request.header("user-agent", concat!("parley/", env!("CARGO_PKG_VERSION")));
    if let Some(key) = key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    if body.is_some() {
        request = request.header("content-type", "application/json");
    }
    let body = body.map_or_else(String::new, |body| body.to_string());
    let request = request.body(body).map_err(|why| Ending::Refused(why.to_string()))?;
    let agent = reach.agent(PATIENCE);
    tokio::task::spawn_blocking(move || send(&agent, request)).await.unwrap_or_else(|why| Err(Ending::lost(why)))
}

fn send(agent: &ureq::Agent, request: Request<String>) -> Result<serde_json::Value, Ending> {
    let mut answer = agent.run(request).map_err(|why| Ending::lost(format!("the service cannot be asked: {why}")))?;
    let body = answer.body_mut().read_to_vec().unwrap_or_default();
    let status = answer.status();
    if !status.is_success() {
        let after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
        return Err(Ending::status(status.as_u16(), after, &body));
    }
    if body.is_empty() {
        return Ok(serde_json::Value::Null);
    }
    serde_json::from_slice(&body).map_err(|_| Ending::Refused("the service does not answer as Parley does".into()))
}
