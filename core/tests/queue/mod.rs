//! How the scheduling queue behaves. `docs/queue.md` has the same in a table, whose rows `table` walks; `model` holds the
//! queue against a naive one over random histories.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]
#![allow(missing_docs, unreachable_pub, reason = "nobody depends on a test")]

mod queue_fixture;

mod backoff;
mod counts;
mod events;
mod in_flight;
mod model;
mod nominations;
mod order;
mod table;
