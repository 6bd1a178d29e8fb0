//! Extenders that are real HTTP servers: each verb, and what can go wrong.

mod cluster;
mod faults;
mod server;
mod tls;
mod verbs;
