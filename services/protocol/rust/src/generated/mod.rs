//! Generated from `services/protocol/src` by `npm run generate -w services/protocol`: not edited by hand.

pub mod audiences;
pub mod client;
pub mod codes;
pub mod http;
pub mod limits;
pub mod link;
pub mod manifest;
pub mod media;
pub mod peer;
pub mod relay_codes;
pub mod routes;
pub mod server;
pub mod shared;
pub mod subjects;
pub mod tokens;
pub mod visit;
pub mod visitor;
