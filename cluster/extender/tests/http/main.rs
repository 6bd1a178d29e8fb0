//! Extenders as real HTTP servers: each verb, failures, and the requests of kube-scheduler.

mod cluster;
mod faults;
mod recorded;
mod server;
mod tls;
mod verbs;
