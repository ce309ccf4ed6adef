//! The API at `/v1`: one-use codes and revocations. Only a relay that requires tokens has it. Rules STR-110, STR-112 and STR-114.
use super::authorize;
use super::request::Request;
use super::respond::Response;
use crate::relay::Relay;
use parley_access::{Access, Revocation};
use parley_net::codes::Code;
use parley_net::network;
use parley_net::size;
use parley_streams::route;
use std::net::IpAddr;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// The seconds for which a browser may cache a preflight.
const PREFLIGHT_MAX_AGE: &str = "600";

/// Answers a request of `/v1`. `None`: it is not one. `rest`: the input after its head.
pub async fn answer(
    request: &Request,
    rest: &[u8],
    stream: &mut TcpStream,
    address: IpAddr,
    relay: &Relay,
) -> Option<Response> {
    let access = relay.access.as_ref()?;
    let path = request.target.strip_prefix("/v1/codes").filter(|path| path.starts_with('/'));
    match (request.method.as_str(), path) {
        ("OPTIONS", Some(_)) => {
            let allowed = check_origin(request, relay).map(|()| preflight());
            Some(with_cors(allowed.unwrap_or_else(|code| refusal(code, relay)), request, relay))
        }
        ("POST", Some(path)) => {
            let issued = code(request, path, address, relay, access).await;
            Some(with_cors(issued.unwrap_or_else(|code| refusal(code, relay)), request, relay))
        }
        ("POST", None) if request.path() == "/v1/revocations" => {
            let revoked = revoke(request, rest.to_vec(), stream, relay, access).await;
            Some(revoked.map_or_else(|code| refusal(code, relay), |()| Response::no_content()))
        }
        _ => None,
    }
}

async fn code(
    request: &Request,
    path: &str,
    address: IpAddr,
    relay: &Relay,
    access: &Access,
) -> Result<Response, Code> {
    check_origin(request, relay)?;
    let token = authorize::bearer(request).ok_or(Code::TokenRequired)?;
    let route = route::parse(path, size(relay.limits.topic_bytes))?;
    let code = access.issue(token.as_bytes(), &route, network::of(address)).await?;
    Ok(Response::created(&serde_json::json!({ "code": code, "expiresIn": relay.limits.code_lifetime / 1000 })))
}

async fn revoke(
    request: &Request,
    body: Vec<u8>,
    stream: &mut TcpStream,
    relay: &Relay,
    access: &Access,
) -> Result<(), Code> {
    let token = authorize::bearer(request).ok_or(Code::TokenRequired)?;
    let body = read_body(request, body, stream, relay).await?;
    let revocation: Revocation = serde_json::from_slice(&body).map_err(|_| Code::BadRequest)?;
    access.revoke(token.as_bytes(), revocation).await
}

async fn read_body(
    request: &Request,
    mut body: Vec<u8>,
    stream: &mut TcpStream,
    relay: &Relay,
) -> Result<Vec<u8>, Code> {
    let length = request.header("content-length").and_then(|length| length.parse().ok()).ok_or(Code::BadRequest)?;
    if length > size(relay.limits.body_bytes) {
        return Err(Code::BodyTooLarge);
    }
    let read = async {
        while body.len() < length {
            if !stream.read_buf(&mut body).await.is_ok_and(|read| read > 0) {
                return Err(Code::BadRequest);
            }
        }
        body.truncate(length);
        Ok(body)
    };
    let timeout = Duration::from_millis(relay.limits.headers_timeout);
    tokio::time::timeout(timeout, read).await.unwrap_or(Err(Code::UpgradeTimeout))
}

fn refusal(code: Code, relay: &Relay) -> Response {
    relay.counters.refused.count(code);
    Response::refusal(code)
}

fn check_origin(request: &Request, relay: &Relay) -> Result<(), Code> {
    if request.is_origin_allowed(&relay.settings.origins) { Ok(()) } else { Err(Code::OriginDenied) }
}

fn preflight() -> Response {
    Response::no_content()
        .with("Access-Control-Allow-Methods", "POST".into())
        .with("Access-Control-Allow-Headers", "Authorization".into())
        .with("Access-Control-Max-Age", PREFLIGHT_MAX_AGE.into())
}

/// Adds the CORS headers with which a page of an allowed origin can read the answer.
fn with_cors(response: Response, request: &Request, relay: &Relay) -> Response {
    let response = response.with("Vary", "Origin".into());
    match request.header("origin").filter(|_| check_origin(request, relay).is_ok()) {
        Some(origin) => response
            .with("Access-Control-Allow-Origin", origin.into())
            .with("Access-Control-Expose-Headers", "Retry-After".into()),
        None => response,
    }
}
