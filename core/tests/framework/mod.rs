//! Behaviour of the framework, one extension point after the other, in the order of a scheduling cycle.
//!
//! The plugins in `plugins/` exist for these tests; `catalog/schedc.toml` is their catalog, and each module compiles
//! the profile that it needs from `profiles/`. [`test_cluster::TestCluster`] is a scheduler with short functions for
//! nodes and pods. Plugins `A`, `B` and `C` follow the instructions of a test ([`plugins::stage::set_answer`]) and
//! record each call.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]
#![allow(missing_docs, unreachable_pub, reason = "no crate depends on a test")]

pub mod plugins;
mod test_cluster;

mod columns;
mod events;
mod extenders;
mod filter;
mod hints;
mod hypothetical;
mod life_cycle;
mod named_nodes;
mod observer;
mod percentage_of_nodes;
mod places;
mod post_filter;
mod pre_filter;
mod queue;
mod reserve_permit_bind;
mod score;
mod statuses;
mod two_profiles;
