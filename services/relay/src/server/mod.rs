//! Sockets: accepting them, the upgrade, the connection of a client, and the sweep that pings and times out.
pub mod accept;
pub mod api;
pub mod authorize;
pub mod connection;
pub mod first_message;
pub(crate) mod lingering_close;
pub mod ops;
pub mod pages;
pub mod request;
pub mod respond;
pub(crate) mod stats_socket;
pub(crate) mod sweep;
pub mod upgrade;
pub mod upgrade_hold;
