//! Type-erased schedulers. Commands and drivers use these, and are therefore compiled once, not for each set of
//! profiles.
//!
//! A [`Scheduler`](crate::scheduler::Scheduler) is generic over its profiles, its client and its tasks. Commands and
//! drivers do not need these types. They have an [`AnyScheduler`], made by an [`AnyBundle`], and each virtual call is a
//! whole step, such as one attempt. Inside of an attempt all calls are static: there is no virtual call between a
//! popped pod and its decision.
//!
//! | module | content |
//! |---|---|
//! | `bundle` | [`AnyBundle`]: compiled profiles, and functions that start their schedulers |
//! | `client` | [`AnyClient`]: a client with an erased type |
//! | `cluster` | [`AnyCluster`]: a cache and the plugins, without a queue |
//! | `record` | [`AttemptRecord`]: durations of the extension points of an attempt |
//! | `scheduler` | [`AnyScheduler`] |
//! | `tasks` | [`AnyTasks`]: a set of tasks with an erased type |

mod bundle;
mod client;
mod cluster;
mod record;
mod scheduler;
mod tasks;

pub use bundle::AnyBundle;
pub use client::AnyClient;
pub use cluster::{AnyCluster, AnyMeter, SCENARIO_TIME};
pub use record::{AttemptObserver, AttemptRecord, Clock};
pub use scheduler::AnyScheduler;
pub use tasks::AnyTasks;
