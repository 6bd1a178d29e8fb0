//! Type-erased schedulers: what commands and drivers hold, so that they are compiled once and not for each set of profiles.
//!
//! A [`Scheduler`](crate::scheduler::Scheduler) is generic over its profiles, its client and its tasks. Commands and drivers do not need these
//! types. They hold an [`AnyScheduler`], made by an [`AnyBundle`], and each virtual call is a whole step, such as one attempt. Inside of
//! an attempt all calls are static: there is no virtual call between a popped pod and its decision.
//!
//! | module | content |
//! |---|---|
//! | `bundle` | [`AnyBundle`]: what is compiled in, and how its scheduler starts |
//! | `client` | [`AnyClient`]: a client behind a pointer |
//! | `cluster` | [`AnyCluster`]: a cache and the plugins, without a queue |
//! | `record` | [`AttemptRecord`]: how long each extension point of an attempt took |
//! | `scheduler` | [`AnyScheduler`] |
//! | `tasks` | [`AnyTasks`]: a set of tasks behind a pointer |

mod bundle;
mod client;
mod cluster;
mod record;
mod scheduler;
mod tasks;

pub use bundle::AnyBundle;
pub use client::AnyClient;
pub use cluster::{AnyCluster, AnyMeter};
pub use record::{AttemptObserver, AttemptRecord, Clock};
pub use scheduler::AnyScheduler;
pub use tasks::AnyTasks;
