//! Sockets: accepting them, the upgrade, one connection's life, and the sweep that pings and times out.
pub mod accept;
pub mod api;
pub mod connection;
pub mod doors;
pub mod farewell;
pub mod first_message;
pub mod hold;
pub mod ops;
pub mod pages;
pub mod request;
pub mod respond;
pub mod stats_socket;
pub mod sweep;
pub mod upgrade;
pub mod visitor;
