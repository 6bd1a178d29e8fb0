//! Background tasks of plugins: they watch the cluster, wait, and change objects.
//!
//! A plugin starts a task with [`Handle::spawn`](crate::handle::Handle::spawn). The task runs while its scheduler is
//! the leader: [`Scheduler::start_background`](crate::scheduler::Scheduler::start_background) starts tasks, and they
//! are aborted when leadership ends.
//!
//! | module | content |
//! |---|---|
//! | `client` | the client of a background task |
//! | `request_queue` | requests of plugins and tasks to the scheduler |
//! | `channel` | an asynchronous queue |
//! | `watch` | cluster events for a task |
//!
//! Tasks and watches are trait objects, but no virtual call is made between a popped pod and its decision.

mod channel;
mod client;
mod request_queue;
mod watch;

pub use client::BackgroundClient;
pub use watch::Watch;

pub(crate) use channel::Channel;
pub(crate) use request_queue::RequestQueue;
pub(crate) use watch::Watcher;

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use serde_json::Value;

use crate::plugin_api::client::{ApiError, ObjectRef};
use crate::plugin_api::requests::WriteOperation;

/// Request of a plugin or its task to the scheduler. It is executed only while the scheduler is the leader.
pub(crate) enum TaskRequest {
    /// Starts a task.
    Spawn(Task),
    /// Calls the cluster.
    Call(ObjectRequest, Channel<Result<Value, ApiError>>),
    /// Sleeps.
    Sleep(Duration, Channel<()>),
    /// Watches cluster events.
    Watch(Watcher),
}

/// A background task.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Call of a task to the cluster.
pub(crate) enum ObjectRequest {
    /// Gets an object.
    Get(ObjectRef),
    /// Changes an object.
    Write(ObjectRef, WriteOperation),
}
