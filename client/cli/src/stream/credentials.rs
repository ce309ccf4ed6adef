//! How a token is sent: in a header, as the first message, or exchanged for a single-use code. Rules STR-107 to STR-110.
use crate::connection_end::ConnectionEnd;
use anyhow::{Context, bail, ensure};
use clap::ValueEnum;
use std::path::PathBuf;
use std::time::Duration;
use tokio_tungstenite::tungstenite::http::uri::{PathAndQuery, Scheme};
use tokio_tungstenite::tungstenite::http::{StatusCode, Uri};

/// A token, and how it is sent.
#[derive(Clone, Debug, clap::Args)]
pub struct Credentials {
    /// The token
    #[arg(long, env = "PARLEY_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// File that contains the token; it is read for each connection
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    token_file: Option<PathBuf>,
    /// How the token is sent
    #[arg(long, value_enum, default_value_t = Delivery::Header, value_name = "DOOR")]
    token_door: Delivery,
}

/// How a token is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Delivery {
    /// `Authorization: Bearer` on the upgrade.
    Header,
    /// As the first message, as clients of Crossbar do.
    FirstMessage,
    /// Exchanged for a single-use code in the URL, as web pages do.
    Code,
}

/// The path of streams at Parley's edge.
const STREAMS_PATH: &str = "/streams";
/// How long the exchange may take.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(10);

impl Credentials {
    /// The URL of a connection, and what authenticates it.
    pub async fn prepare(&self, url: &Uri) -> anyhow::Result<Result<Connection, ConnectionEnd>> {
        let Some(token) = self.read()? else {
            return Ok(Ok(Connection { url: url.clone(), header: None, message: None }));
        };
        let (mut header, mut message, mut address) = (None, None, url.clone());
        match self.token_door {
            Delivery::Header => header = Some(format!("Bearer {token}")),
            Delivery::FirstMessage => message = Some(token),
            Delivery::Code => {
                let of = url.clone();
                match tokio::task::spawn_blocking(move || code(&of, &token)).await?? {
                    Ok(code) => address = with_query(url, &code)?,
                    Err(end) => return Ok(Err(end)),
                }
            }
        }
        Ok(Ok(Connection { url: address, header, message }))
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.token_file.is_none() && self.token.as_ref().is_none_or(|token| token.trim().is_empty())
    }

    fn read(&self) -> anyhow::Result<Option<String>> {
        let token = match &self.token_file {
            Some(path) => Some(std::fs::read_to_string(path).with_context(|| path.display().to_string())?),
            None => self.token.clone(),
        };
        let token = token.map(|token| token.trim().to_owned()).filter(|token| !token.is_empty());
        let plain = token.as_ref().is_none_or(|token| token.bytes().all(|byte| byte.is_ascii_graphic()));
        ensure!(plain, "the token contains invalid characters");
        Ok(token)
    }
}

/// A connection that is ready to be opened.
pub struct Connection {
    /// Its URL.
    pub url: Uri,
    /// The value of `Authorization`.
    pub header: Option<String>,
    /// The first message to send.
    pub message: Option<String>,
}

/// Exchanges a token for a code that admits one socket.
fn code(url: &Uri, token: &str) -> anyhow::Result<Result<String, ConnectionEnd>> {
    let mut parts = url.clone().into_parts();
    parts.scheme = Some(if url.scheme_str() == Some("wss") { Scheme::HTTPS } else { Scheme::HTTP });
    parts.path_and_query = Some(PathAndQuery::try_from(codes_path(url.path()))?);
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(EXCHANGE_TIMEOUT)).build().into();
    let response = agent.post(Uri::from_parts(parts)?).header("authorization", format!("Bearer {token}")).send_empty();
    let mut answer = match response {
        Ok(answer) => answer,
        Err(why) => return Ok(Err(ConnectionEnd::lost(format!("no code was issued: {why}")))),
    };
    if answer.status() == StatusCode::NOT_FOUND {
        return Ok(Err(ConnectionEnd::Refused("the server issues no codes: it does not require tokens".into())));
    }
    let body = answer.body_mut().read_to_vec().unwrap_or_default();
    if !answer.status().is_success() {
        let after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
        return Ok(Err(ConnectionEnd::from_status(answer.status().as_u16(), after, &body)));
    }
    let body: serde_json::Value = serde_json::from_slice(&body).context("the answer with the code is not JSON")?;
    let Some(code) = body["code"].as_str() else { bail!("the answer has no code") };
    Ok(Ok(code.to_owned()))
}

/// Where codes for a path are issued. At Parley's edge, streams are below `/streams`, which is the prefix of no topic (STR-5).
fn codes_path(path: &str) -> String {
    let topic = path.strip_prefix(STREAMS_PATH).filter(|topic| topic.starts_with('/'));
    topic.map_or_else(|| format!("/v1/codes{path}"), |topic| format!("{STREAMS_PATH}/v1/codes{topic}"))
}

fn with_query(url: &Uri, code: &str) -> anyhow::Result<Uri> {
    let mut parts = url.clone().into_parts();
    let between = if url.query().is_some() { '&' } else { '?' };
    let path = url.path_and_query().map_or("/", PathAndQuery::as_str);
    parts.path_and_query = Some(PathAndQuery::try_from(format!("{path}{between}code={code}"))?);
    Ok(Uri::from_parts(parts)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_added_to_a_url_with_or_without_a_query() {
        for (url, whole) in [("ws://h:1/in/a", "ws://h:1/in/a?code=x"), ("wss://h/a?b=c", "wss://h/a?b=c&code=x")] {
            assert_eq!(with_query(&url.parse().unwrap(), "x").unwrap(), whole);
        }
    }

    #[test]
    fn str_110_codes_are_requested_at_the_path_of_streams() {
        for (path, codes) in [
            ("/out/x", "/v1/codes/out/x"),
            ("/streams/out/x", "/streams/v1/codes/out/x"),
            ("/streamside/x", "/v1/codes/streamside/x"),
        ] {
            assert_eq!(codes_path(path), codes);
        }
    }
}
