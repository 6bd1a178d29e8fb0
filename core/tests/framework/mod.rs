//! How the framework behaves, an extension point after the other, in the order in which a pod meets them.
//!
//! The plugins in `plugins/` are made for these tests; `catalog/schedc.toml` tells schedc of them, and each module
//! compiles the profile that it needs from `profiles/`. [`test_cluster::TestCluster`] is a scheduler with nodes and pods in a few words.
//! Plugins `A`, `B` and `C` do what a test tells them ([`plugins::stage::tell`]) and note down each call.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]
#![allow(missing_docs, unreachable_pub, reason = "nobody depends on a test")]

pub mod plugins;
mod test_cluster;

mod columns;
mod events;
mod extenders;
mod filter;
mod hints;
mod hypothetical;
mod life_cycle;
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
