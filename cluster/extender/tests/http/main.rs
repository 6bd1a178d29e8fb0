//! Extenders that are real HTTP servers: each verb, what can go wrong, and what kube-scheduler asks.

mod cluster;
mod faults;
mod recorded;
mod server;
mod tls;
mod verbs;
