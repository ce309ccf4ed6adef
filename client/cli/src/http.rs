//! Parley's HTTP API, with JSON bodies.
use crate::connect::ConnectOptions;
use crate::connection_end::ConnectionEnd;
use parley_protocol::bounded::Text;
use parley_protocol::codes::Code;
use parley_protocol::http::ErrorAnswer;
use parley_protocol::{decode, encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::time::sleep;
use ureq::http::{Request, StatusCode};
use url::Url;

/// How long a request may take: the service answers from memory.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Where an answer `BUSY` has no time.
const BUSY_PAUSE: Duration = Duration::from_secs(2);

/// The place that the service keeps for a request.
pub type Slot = Text<0, 64>;

/// Posts a body and parses the answer. `key`: the key of the owner of a room.
pub async fn post<Answer: DeserializeOwned>(
    url: Url,
    key: Option<&str>,
    body: &impl Serialize,
) -> Result<Answer, ConnectionEnd> {
    read(&request(&ConnectOptions::default(), "POST", url, key, Some(encode(body))).await?)
}

/// Why a request to one of several regions failed.
#[derive(Debug)]
pub struct Failure {
    /// The reason.
    pub end: ConnectionEnd,
    /// Whether it is one of this region, so that another one may answer: nothing answers, or there is no pod or no relay (MEDIA-26).
    pub is_of_region: bool,
}

/// Like [`post`], to one of several regions.
pub async fn post_in_region<Answer: DeserializeOwned>(url: Url, body: &impl Serialize) -> Result<Answer, Failure> {
    let sent = exchange(&ConnectOptions::default(), "POST", url, None, Some(encode(body))).await;
    let answer = sent.map_err(|end| Failure { is_of_region: matches!(end, ConnectionEnd::Lost { .. }), end })?;
    let is_of_region = matches!(answer.code(), Some(Code::NotReady | Code::RelayUnavailable));
    answer.success().and_then(|body| read(&body)).map_err(|end| Failure { end, is_of_region })
}

/// Gets and parses the answer.
pub async fn get<Answer: DeserializeOwned>(url: Url) -> Result<Answer, ConnectionEnd> {
    read(&request(&ConnectOptions::default(), "GET", url, None, None).await?)
}

/// Whether a GET request succeeds, or comes too often.
pub async fn is_open(connect: &ConnectOptions, url: Url) -> bool {
    let answer = exchange(connect, "GET", url, None, None).await;
    answer.is_ok_and(|answer| answer.status.is_success() || answer.status == StatusCode::TOO_MANY_REQUESTS)
}

/// Like [`post`], where a conflict (409) is an answer too.
pub async fn post_or_conflict<Answer: DeserializeOwned>(
    url: Url,
    body: &impl Serialize,
) -> Result<Answer, ConnectionEnd> {
    let answer = exchange(&ConnectOptions::default(), "POST", url, None, Some(encode(body))).await?;
    if answer.status == StatusCode::CONFLICT { read(&answer.body) } else { read(&answer.success()?) }
}

/// Sends a DELETE request.
pub async fn delete(url: Url, key: Option<&str>) -> Result<(), ConnectionEnd> {
    request(&ConnectOptions::default(), "DELETE", url, key, None).await.map(drop)
}

/// Like [`post`], with flags about reaching the host. While the service answers `BUSY`, repeats the request at the time and
/// with the slot of the answer (JOIN-15).
pub async fn post_in_turn<Answer: DeserializeOwned, Body: Serialize>(
    connect: &ConnectOptions,
    url: Url,
    with_slot: impl Fn(Option<Slot>) -> Body,
) -> Result<Answer, ConnectionEnd> {
    let mut slot = None;
    loop {
        let answer = exchange(connect, "POST", url.clone(), None, Some(encode(&with_slot(slot.take())))).await?;
        let Some((after, kept)) = answer.busy() else { return read(&answer.success()?) };
        announce_turn(after);
        // The service gives each slot a time of its own.
        let jitter = if kept.is_some() { Duration::ZERO } else { Duration::from_secs(1).mul_f64(fastrand::f64()) };
        sleep(after + jitter).await;
        slot = kept;
    }
}

/// Reports on stderr that the service lets clients in one after another.
pub fn announce_turn(after: Duration) {
    eprintln!("parley: many clients are arriving; the turn of this one comes in {:.1} s", after.as_secs_f64());
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
    exchange(connect, method, url, key, body).await?.success()
}

async fn exchange(
    connect: &ConnectOptions,
    method: &'static str,
    url: Url,
    key: Option<&str>,
    body: Option<Vec<u8>>,
) -> Result<Exchanged, ConnectionEnd> {
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

fn send(agent: &ureq::Agent, request: Request<Vec<u8>>) -> Result<Exchanged, ConnectionEnd> {
    let mut answer =
        agent.run(request).map_err(|why| ConnectionEnd::lost(format!("the service cannot be reached: {why}")))?;
    let body = answer.body_mut().read_to_vec().unwrap_or_default();
    let retry_after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    Ok(Exchanged { status: answer.status(), retry_after, body })
}

/// An answer of any status.
struct Exchanged {
    status: StatusCode,
    /// In seconds.
    retry_after: Option<u64>,
    body: Vec<u8>,
}

impl Exchanged {
    fn success(self) -> Result<Vec<u8>, ConnectionEnd> {
        if self.status.is_success() {
            Ok(self.body)
        } else {
            Err(ConnectionEnd::from_status(self.status.as_u16(), self.retry_after, &self.body))
        }
    }

    /// The code of a refusal.
    fn code(&self) -> Option<Code> {
        let answer: ErrorAnswer = decode(&self.body).filter(|_| !self.status.is_success())?;
        Code::named(&answer.code)
    }

    /// When to repeat the request, and the place that is kept for it, if the service answered `BUSY`.
    fn busy(&self) -> Option<(Duration, Option<Slot>)> {
        let answer: ErrorAnswer = decode(&self.body).filter(|_| !self.status.is_success())?;
        let after = answer.retry_after_ms.map_or(BUSY_PAUSE, Duration::from_millis);
        (Code::named(&answer.code) == Some(Code::Busy)).then_some((after, answer.slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: StatusCode, body: &str) -> Exchanged {
        Exchanged { status, retry_after: None, body: body.as_bytes().to_vec() }
    }

    #[test]
    fn join_15_the_request_is_repeated_after_busy_only_with_the_slot_of_the_answer() {
        let busy = r#"{"code":"BUSY","message":"","retryAfterMs":4000,"slot":"AAECAwQFBgcICQoLDA0ODw"}"#;
        let (after, slot) = answer(StatusCode::SERVICE_UNAVAILABLE, busy).busy().unwrap();
        assert_eq!(after, Duration::from_secs(4));
        assert_eq!(&*slot.unwrap(), "AAECAwQFBgcICQoLDA0ODw");
        let without = r#"{"code":"BUSY","message":""}"#;
        assert_eq!(answer(StatusCode::SERVICE_UNAVAILABLE, without).busy(), Some((BUSY_PAUSE, None)));
        let full = r#"{"code":"POD_FULL","message":"","retryAfterMs":4000}"#;
        assert_eq!(answer(StatusCode::SERVICE_UNAVAILABLE, full).busy(), None);
        assert_eq!(answer(StatusCode::OK, busy).busy(), None);
        assert_eq!(answer(StatusCode::BAD_GATEWAY, "<h1>").busy(), None);
    }
}
