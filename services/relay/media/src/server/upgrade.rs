//! The WebSocket handshake (RFC 6455) with MoQ as the subprotocol (MED-11, MED-13).
use anyhow::Result;
use qmux::Version;
use qmux::ws::tokio_tungstenite::accept_hdr_async_with_config;
use qmux::ws::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use qmux::ws::tungstenite::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use qmux::ws::tungstenite::protocol::WebSocketConfig;
use qmux::ws::{KeepAlive, Upgraded};
use std::time::Duration;
use url::Url;

use crate::server::counted::CountedTcp;
use crate::server::{Limits, Refusal};

/// The largest message: one record of QMux (16 kB), or one frame of the oldest wire format. It is buffered as a whole.
const MAX_MESSAGE: usize = 1 << 20;

/// Completes the handshake. Returns a MoQ session and the requested URL, or the code with which `check` refused the request.
#[allow(clippy::result_large_err, reason = "the type of the response is tungstenite's")]
pub(crate) async fn upgrade(
    stream: CountedTcp,
    limits: &Limits,
    check: impl FnOnce(&HeaderMap) -> Result<(), Refusal> + Unpin,
) -> Result<Result<(qmux::Session, Url), Refusal>> {
    let (mut found, mut refused) = (None, None);
    let answer = |request: &Request, mut response: Response| {
        if let Err(code) = check(request.headers()) {
            refused = Some(code);
            return Err(refusal(StatusCode::FORBIDDEN, code));
        }
        let Some(url) = address(request) else { return Err(refusal(StatusCode::BAD_REQUEST, "BAD_REQUEST")) };
        let Ok(protocol) = protocol(request.headers()) else {
            return Err(refusal(StatusCode::BAD_REQUEST, "BAD_REQUEST"));
        };
        if let Some(name) = protocol.as_deref().and_then(|name| HeaderValue::from_str(name).ok()) {
            response.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, name);
        }
        found = Some((protocol, url));
        Ok(response)
    };
    let config = WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE));
    let socket = accept_hdr_async_with_config(stream, answer, Some(config)).await;
    if let Some(code) = refused {
        return Ok(Err(code));
    }
    let socket = socket?;
    let Some((protocol, url)) = found else { anyhow::bail!("the callback was not called") };
    let idle = Duration::from_millis(limits.idle_time);
    let mut session = qmux::Config::default();
    session.max_streams_bidi = (limits.subscriptions + crate::server::quic::SPARE_STREAMS) as u64;
    session.max_streams_uni = crate::server::quic::MAX_GROUPS.into();
    // TCP retransmits with growing intervals, so the timeout is three times that of QUIC.
    let keep_alive = KeepAlive::new(idle / 3, idle * 3);
    let socket = Upgraded::new(socket).with_keep_alive(keep_alive).with_session_config(session);
    let socket = match &protocol {
        Some(protocol) => socket.with_alpn(protocol),
        None => socket,
    };
    Ok(Ok((socket.accept(), url)))
}

fn refusal(status: StatusCode, code: Refusal) -> ErrorResponse {
    let mut response = ErrorResponse::new(Some(format!("{{\"code\":\"{code}\"}}")));
    *response.status_mut() = status;
    response
}

fn address(request: &Request) -> Option<Url> {
    let host = request.headers().get(header::HOST)?.to_str().ok()?;
    Url::parse(&format!("ws://{host}{}", request.uri().path_and_query()?)).ok()
}

/// Returns the elements of a list header, over all of its lines.
pub(crate) fn list<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> impl DoubleEndedIterator<Item = &'a str> + use<'a> {
    let lines: Vec<&str> = headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
    lines.into_iter().flat_map(|line| line.split(',')).map(str::trim).filter(|item| !item.is_empty())
}

/// Selects the best offered protocol; `None` if the client offers none, an error if it offers only unknown ones.
fn protocol(headers: &HeaderMap) -> Result<Option<String>, ()> {
    let offered: Vec<&str> = list(headers, &header::SEC_WEBSOCKET_PROTOCOL).collect();
    if offered.is_empty() {
        return Ok(None);
    }
    supported().find(|name| offered.contains(&name.as_str())).map(Some).ok_or(())
}

/// Returns the supported protocols, best first: MoQ over each draft of QMux that can carry it, then QMux alone.
fn supported() -> impl Iterator<Item = String> {
    let carries = |alpn: &str, version: Version| {
        let draft: Option<u32> = alpn.strip_prefix("moqt-").and_then(|draft| draft.parse().ok());
        // MoQ from draft 18 is defined for QMux-01 only.
        version.is_qmux() && (draft.is_none_or(|draft| draft < 18) || version == Version::QMux01)
    };
    let pairs = moq_net::ALPNS.iter().flat_map(move |alpn| {
        let versions = Version::ALL.iter().filter(move |version| carries(alpn, **version));
        versions.map(move |version| format!("{}{alpn}", version.prefix()))
    });
    pairs.chain(qmux::ALPNS.iter().map(|name| (*name).to_owned()))
}
