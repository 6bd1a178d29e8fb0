//! A whole scheduler with kube-scheduler's default profile, at a fake API server with real requests.
//!
//! | module | content |
//! |---|---|
//! | `extenders` | extenders are called, and their failures only delay pods |
//! | `faults` | under faults, each pod is bound once, to a node with capacity |
//! | `inspection` | the scheduler's cache can be compared with the API server |
//! | `logging` | an attempt is logged before its outcome |
//! | `observers` | dry runs and shadow mode write nothing, and report decisions and differences |
//! | `replicas` | each pod is bound once when the leader is killed, suspended or stopped |
//! | `requests` | the requests equal kube-scheduler's |
//! | `volumes` | volumes are bound before their pods |
//! | `cluster` | a cluster for tests, without API server and scheduler |
//! | `replica` | a scheduler on a separate thread |
//! | `extender`, `extender_replica` | an extender, and schedulers with extenders |
//!
//! Each scheduler ([`Replica`](replica::Replica)) is a thread with a separate runtime, which can be killed or suspended
//! at any time. Its clock runs fast, which shortens backoffs.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod cluster;
#[path = "../../../extender/tests/http/server.rs"]
#[allow(dead_code, reason = "the tests of schedc-extender use more of this module")]
mod extender;
mod extender_replica;
mod extenders;
mod faults;
mod inspection;
mod logging;
mod observers;
mod replica;
mod replicas;
mod requests;
mod volumes;

mod pipelines {
    schedc_macros::profile!("../../profiles/default.toml", "tests/scheduler/impatient.toml");
}
