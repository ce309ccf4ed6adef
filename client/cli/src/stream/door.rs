//! How a token gets in: in a header, as the first message, or changed for a one-use code. Rules STR-107 to STR-110.
use crate::ending::Ending;
use anyhow::{Context, bail, ensure};
use clap::ValueEnum;
use std::path::PathBuf;
use std::time::Duration;
use tokio_tungstenite::tungstenite::http::uri::{PathAndQuery, Scheme};
use tokio_tungstenite::tungstenite::http::{StatusCode, Uri};

/// A token, and the door it is for.
#[derive(Clone, Debug, clap::Args)]
pub struct Credentials {
    /// Token to come in with
    #[arg(long, env = "PARLEY_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// File that holds the token; read again for each connection
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    token_file: Option<PathBuf>,
    /// How the token gets in
    #[arg(long, value_enum, default_value_t = Door::Header, value_name = "DOOR")]
    token_door: Door,
}

/// The ways in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Door {
    /// `Authorization: Bearer` on the upgrade.
    Header,
    /// The first message, as Crossbar's clients do.
    FirstMessage,
    /// A one-use code in the address, as web pages do.
    Code,
}

/// Where Parley's edge has streams.
const EDGE: &str = "/streams";
/// A server that takes longer for a code is not there.
const PATIENCE: Duration = Duration::from_secs(10);

impl Credentials {
    /// Where to connect, and what to say there first.
    pub async fn prepare(&self, url: &Uri) -> anyhow::Result<Result<Entry, Ending>> {
        let Some(token) = self.read()? else { return Ok(Ok(Entry { url: url.clone(), header: None, message: None })) };
        let (mut header, mut message, mut address) = (None, None, url.clone());
        match self.token_door {
            Door::Header => header = Some(format!("Bearer {token}")),
            Door::FirstMessage => message = Some(token),
            Door::Code => {
                let of = url.clone();
                match tokio::task::spawn_blocking(move || code(&of, &token)).await?? {
                    Ok(code) => address = with_query(url, &code)?,
                    Err(ending) => return Ok(Err(ending)),
                }
            }
        }
        Ok(Ok(Entry { url: address, header, message }))
    }

    /// Whether there is no token to come in with.
    pub fn none(&self) -> bool {
        self.token_file.is_none() && self.token.as_ref().is_none_or(|token| token.trim().is_empty())
    }

    fn read(&self) -> anyhow::Result<Option<String>> {
        let token = match &self.token_file {
            Some(path) => Some(std::fs::read_to_string(path).with_context(|| path.display().to_string())?),
            None => self.token.clone(),
        };
        let token = token.map(|token| token.trim().to_owned()).filter(|token| !token.is_empty());
        let plain = token.as_ref().is_none_or(|token| token.bytes().all(|byte| byte.is_ascii_graphic()));
        ensure!(plain, "the token holds what no token can");
        Ok(token)
    }
}

/// A way in that is ready to be tried.
pub struct Entry {
    /// Where.
    pub url: Uri,
    /// For `Authorization`.
    pub header: Option<String>,
    /// To be sent before anything else.
    pub message: Option<String>,
}

/// Changes a token for a code that lets one socket in.
fn code(url: &Uri, token: &str) -> anyhow::Result<Result<String, Ending>> {
    let mut parts = url.clone().into_parts();
    parts.scheme = Some(if url.scheme_str() == Some("wss") { Scheme::HTTPS } else { Scheme::HTTP });
    parts.path_and_query = Some(PathAndQuery::try_from(codes_path(url.path()))?);
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(PATIENCE)).build().into();
    let asked = agent.post(Uri::from_parts(parts)?).header("authorization", format!("Bearer {token}")).send_empty();
    let mut answer = match asked {
        Ok(answer) => answer,
        Err(why) => return Ok(Err(Ending::lost(format!("no code: {why}")))),
    };
    if answer.status() == StatusCode::NOT_FOUND {
        return Ok(Err(Ending::Refused("the server gives no codes: it does not ask for tokens".into())));
    }
    let body = answer.body_mut().read_to_vec().unwrap_or_default();
    if !answer.status().is_success() {
        let after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
        return Ok(Err(Ending::status(answer.status().as_u16(), after, &body)));
    }
    let body: serde_json::Value = serde_json::from_slice(&body).context("the answer with the code is not JSON")?;
    let Some(code) = body["code"].as_str() else { bail!("the answer has no code") };
    Ok(Ok(code.to_owned()))
}

/// Where codes for a path come from. Through Parley's edge streams are below `/streams`, which no topic begins with (STR-5).
fn codes_path(path: &str) -> String {
    let topic = path.strip_prefix(EDGE).filter(|topic| topic.starts_with('/'));
    topic.map_or_else(|| format!("/v1/codes{path}"), |topic| format!("{EDGE}/v1/codes{topic}"))
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
    fn a_code_joins_the_address_whether_or_not_it_has_a_query() {
        for (url, whole) in [("ws://h:1/in/a", "ws://h:1/in/a?code=x"), ("wss://h/a?b=c", "wss://h/a?b=c&code=x")] {
            assert_eq!(with_query(&url.parse().unwrap(), "x").unwrap(), whole);
        }
    }

    #[test]
    fn str_110_codes_are_asked_for_where_the_streams_are() {
        for (path, codes) in [
            ("/out/x", "/v1/codes/out/x"),
            ("/streams/out/x", "/streams/v1/codes/out/x"),
            ("/streamside/x", "/v1/codes/streamside/x"),
        ] {
            assert_eq!(codes_path(path), codes);
        }
    }
}
