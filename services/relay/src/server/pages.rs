//! The answers to HTTP requests without an upgrade: health, readiness, metrics, the statistics page. Rules STR-24, STR-62 to STR-65
//! and STR-132.
use super::request::Request;
use super::respond::Response;
use super::{authorize, stats_socket};
use crate::relay::Relay;
use crate::stats::{metrics, page};
use parley_net::codes::Code;
use parley_streams::route;

/// Answers a request without an upgrade.
pub fn answer(request: &Request, relay: &Relay) -> Result<Response, Code> {
    if request.path() == "/metrics" {
        authorize::check_operator(request, relay)?;
    }
    if let Some(answer) = for_operators(request, relay) {
        return answer;
    }
    match request.path() {
        stats_socket::PATH if relay.settings.stats => Err(Code::UpgradeRequired),
        path => match page::at(path).filter(|_| relay.settings.stats) {
            Some(asset) => Ok(Response::ok(asset.content_type, asset.body)
                .with("Content-Security-Policy", page::policy(request.header("host")))
                .with("Referrer-Policy", "no-referrer".into())),
            None => Err(code_for(&request.target, relay)),
        },
    }
}

/// Answers a probe or a scraper. `None`: the path is not one of theirs.
pub(crate) fn for_operators(request: &Request, relay: &Relay) -> Option<Result<Response, Code>> {
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        return Some(Err(Code::MethodNotAllowed));
    }
    match request.path() {
        "/healthz" => Some(Ok(Response::ok("text/plain", "ok\n"))),
        "/readyz" if relay.is_draining() || relay.media.as_ref().is_some_and(|media| media.has_namesake()) => {
            Some(Err(Code::NotReady))
        }
        "/readyz" => Some(Ok(Response::ok("text/plain", "ready\n"))),
        "/metrics" => Some(Ok(Response::ok("text/plain; version=0.0.4", metrics::text(relay)))),
        _ => None,
    }
}

fn code_for(target: &str, relay: &Relay) -> Code {
    match route::parse(target, parley_net::size(relay.limits.topic_bytes)) {
        Ok(_) => Code::UpgradeRequired,
        Err(Code::TopicReserved) => Code::NotFound,
        Err(_) if target == "/" => Code::NotFound,
        Err(code) => code,
    }
}
