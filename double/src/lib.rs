//! An API server for tests: real HTTP, real watches, and faults when asked for. It is never part of a program.
//!
//! It keeps any objects of the kinds that a scheduler meets, as JSON, and answers as a real kube-apiserver does: lists (in
//! pages), watches (from a version, or all objects first as a stream; bookmarks, time-outs, 410), versions and conflicts,
//! patches, pods that are bound or end in time, Leases, events, reviews. It checks little of what objects say, fills in
//! only what a scheduler looks at, and everyone may do everything.
//!
//! ```
//! use std::time::Duration;
//!
//! use schedc_double::{Fault, Rule, Server};
//! use serde_json::json;
//!
//! let server = Server::start();
//! server.create(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}));
//! server.create(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}));
//! // The first binding happens, but nobody is told.
//! server.rule(Rule::new(Fault::LoseAnswer).verb("create").path("*/binding").times(1));
//!
//! // Here the program under test is started, with `server.url()` or `server.kubeconfig()`; this test only waits for it.
//! let is_bound = |server: &Server| {
//!     server.get("/api/v1/namespaces/default/pods/p").is_some_and(|pod| pod["spec"]["nodeName"] == "n")
//! };
//! assert!(!server.wait(Duration::from_millis(10), is_bound));
//! assert!(server.writes().is_empty());
//! ```
//!
//! | to | |
//! |---|---|
//! | start | [`Server::start`], [`Server::start_tls`]; [`Server::url`], [`Server::kubeconfig`], [`Server::authority`] |
//! | set the scene | [`Server::create`], [`Server::apply`], [`Server::merge`], [`Server::remove`] |
//! | look | [`Server::get`], [`Server::list`], [`Server::wait`], [`Server::until`] |
//! | know what was asked | [`Server::requests`], [`Server::writes`], [`Server::scenario`] |
//! | make things go wrong | [`Server::rule`], [`Server::compact`], [`Server::keep_changes`], [`Server::cut_connections`], [`Server::stop`], [`Server::resume`] |
//! | play others | [`Server::pods_end_after`], [`Server::bind_volumes`], [`Server::token`], [`Server::allow`] |
//!
//! # Differences from a real server
//!
//! Its answers were compared with those of kube-apiserver 1.36.2, request by request; the tests of `write`, `tests/watches.rs`
//! and `tests/clients.rs` hold what was seen. It differs in this:
//!
//! - Namespaces need not be there, and nothing goes with them.
//! - Objects are checked only for what a scheduler could get wrong: names, versions, uids, events' fields.
//! - A pod gets a scheduler's name, priority, preemption policy, restart policy and grace period, and no tolerations; a node
//!   gets no taint, volumes and claims get no finalizer. Answers are JSON, whatever is accepted.
//! - Objects cannot be deleted by the collection.
//! - Bookmarks come on time, whether or not something happened.
//! - An event of `events.k8s.io/v1` and one of `v1` are two.
//! - Nobody has to say who they are; a rule that answers 403 plays missing rights.
//! - A list that is read in pages stays readable until [`Server::compact`]; 200,000 changes are
//!   known unless [`Server::keep_changes`] says otherwise.

mod answer;
mod ask;
mod audit;
mod discovery;
mod faults;
mod kinds;
mod list;
mod listen;
mod patch;
mod refusal;
mod review;
mod selector;
mod server;
mod service;
mod shared;
mod store;
mod tls;
mod volumes;
mod watch;
mod write;

pub use audit::Asked;
pub use faults::{Fault, Rule};
pub use hyper::Version;
pub use server::Server;
