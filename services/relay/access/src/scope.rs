//! What a token allows on a path. Rules STR-103, STR-105 and STR-106.
use super::pattern;
use super::token::Claims;
use parley_net::codes::Code;
use parley_streams::{Role, Route};

/// The role that claims permit on a route: at most the one that its path requests.
pub fn role(claims: &Claims, audience: &str, route: &Route) -> Result<Role, Code> {
    if claims.is_for(&format!("{audience}{}", path(route))) {
        return Ok(route.role);
    }
    if !claims.is_for(audience) {
        return Err(Code::TokenInsufficientScope);
    }
    let allows = |patterns: &[String]| patterns.iter().any(|one| pattern::matches(one, name(route)));
    let publishes = route.role.publishes() && allows(&claims.publish);
    let subscribes = route.role.subscribes() && allows(&claims.subscribe);
    match (publishes, subscribes) {
        (true, true) => Ok(Role::Both),
        (true, false) => Ok(Role::Publish),
        (false, true) => Ok(Role::Subscribe),
        (false, false) => Err(Code::TokenInsufficientScope),
    }
}

/// The path as it was requested: `/in/lab/7`.
pub fn path(route: &Route) -> String {
    match route.role {
        Role::Publish => format!("/in/{}", name(route)),
        Role::Both | Role::Subscribe => route.topic.clone(),
    }
}

/// The name of the topic to which patterns apply, the same for both ends: `lab/7`.
fn name(route: &Route) -> &str {
    let topic = &route.topic;
    topic.strip_prefix("/out/").or(topic.strip_prefix('/')).unwrap_or(topic)
}
