//! A whole scheduler, of kube-scheduler's default profile, at an API server that real requests go to.
//!
//! | module | shows |
//! |---|---|
//! | `extenders` | webhooks have their say, and what is wrong with them costs no more than their time |
//! | `faults` | whatever goes wrong on the way, pods are bound once, and to nodes that have room |
//! | `inspection` | what a scheduler knows can be held against what is so |
//! | `logging` | an attempt is logged before its outcome |
//! | `looking` | who only looks on writes nothing; it says what it would do, or what kube-scheduler does otherwise |
//! | `replicas` | so they are when the leader is killed, held up or stopped |
//! | `requests` | what is asked for is what kube-scheduler asks for |
//! | `volumes` | volumes are bound before pods are |
//!
//! Each scheduler ([`Replica`](replica::Replica)) is a thread with a runtime of its own, so that it can be killed, or held up, in
//! the midst of things. Time goes by faster for it than for others: nobody waits long for a backoff.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod cluster;
#[path = "../../../extender/tests/http/server.rs"]
#[allow(dead_code, reason = "the tests of schedc-extender have it do more")]
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
