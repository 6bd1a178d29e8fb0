//! Behaviour of the scheduling queue. The module `table` executes the rows of the table in `docs/queue.md`. `model`
//! compares the queue with a reference queue over random histories.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]
#![allow(missing_docs, unreachable_pub, reason = "no crate depends on a test")]

mod queue_fixture;

mod backoff;
mod counts;
mod events;
mod in_flight;
mod model;
mod nominations;
mod order;
mod table;
