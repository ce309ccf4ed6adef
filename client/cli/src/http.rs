//! Parley's HTTP API, with JSON bodies.
use crate::connect::ConnectOptions;
use crate::connection_end::ConnectionEnd;
use parley_protocol::{decode, encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
use ureq::http::Request;
use url::Url;

/// How long a request may take: the service answers from memory.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Posts a body and parses the answer. `key`: the key of the owner of a room.
pub async fn post<Answer: DeserializeOwned>(
    url: Url,
    key: Option<&str>,
    body: &impl Serialize,
) -> Result<Answer, ConnectionEnd> {
    read(&request(&ConnectOptions::default(), "POST", url, key, Some(encode(body))).await?)
}

/// Sends a DELETE request.
pub async fn delete(url: Url, key: Option<&str>) -> Result<(), ConnectionEnd> {
    request(&ConnectOptions::default(), "DELETE", url, key, None).await.map(drop)
}

/// Like [`post`], with flags about reaching the host.
pub async fn post_over<Answer: DeserializeOwned>(
    connect: &ConnectOptions,
    url: Url,
    body: &impl Serialize,
) -> Result<Answer, ConnectionEnd> {
    read(&request(connect, "POST", url, None, Some(encode(body))).await?)
}

/// The refusal if an answer is not one of Parley.
pub fn invalid_answer() -> ConnectionEnd {
    ConnectionEnd::Refused("the answer is not one of Parley".into())
}

fn read<Answer: DeserializeOwned>(body: &[u8]) -> Result<Answer, ConnectionEnd> {
    decode(body).ok_or_else(invalid_answer)
}

async fn request(
    connect: &ConnectOptions,
    method: &'static str,
    url: Url,
    key: Option<&str>,
    body: Option<Vec<u8>>,
) -> Result<Vec<u8>, ConnectionEnd> {
    let mut request = Request::builder().method(method).uri(url.as_str());
    request = request.header("user-agent", concat!("parley/", env!("CARGO_PKG_VERSION")));
    if let Some(key) = key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    if body.is_some() {
        request = request.header("content-type", "application/json");
    }
    let request = request.body(body.unwrap_or_default()).map_err(|why| ConnectionEnd::Refused(why.to_string()))?;
    let agent = connect.agent(REQUEST_TIMEOUT);
    tokio::task::spawn_blocking(move || send(&agent, request)).await.unwrap_or_else(|why| Err(ConnectionEnd::lost(why)))
}

fn send(agent: &ureq::Agent, request: Request<Vec<u8>>) -> Result<Vec<u8>, ConnectionEnd> {
    let mut answer =
        agent.run(request).map_err(|why| ConnectionEnd::lost(format!("the service cannot be reached: {why}")))?;
    let body = answer.body_mut().read_to_vec().unwrap_or_default();
    let status = answer.status();
    if !status.is_success() {
        let after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
        return Err(ConnectionEnd::from_status(status.as_u16(), after, &body));
    }
    Ok(body)
}
