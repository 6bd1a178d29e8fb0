//! Work of plugins that goes on beside the scheduler: tasks that follow the cluster, wait, and change objects.
//!
//! A plugin starts one by [`Handle::spawn`](crate::handle::Handle::spawn). It runs while its scheduler is the one that acts:
//! [`Scheduler::start_background`](crate::scheduler::Scheduler::start_background) says from when on, and it ends where it stands
//! when that is over.
//!
//! | module | idea |
//! |---|---|
//! | `client` | what a task is given |
//! | `request_queue` | how plugins and tasks reach the scheduler |
//! | `channel` | what one side tells the other, sooner or later |
//! | `watch` | what happens in the cluster, as a task wants to know it |
//!
//! A task has a type that nobody else knows, and so has what it makes of an event: they are behind pointers. Nothing of that is
//! on the way from a popped pod to its decision.

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

use crate::client::{ApiError, ObjectRef};
use crate::handle::WriteOperation;

/// What plugins and their tasks ask of the scheduler, to be done while it acts.
pub(crate) enum TaskRequest {
    /// A task begins.
    Spawn(Task),
    /// A task asks the cluster for something.
    Call(ApiRequest, Channel<Result<Value, ApiError>>),
    /// A task waits.
    Sleep(Duration, Channel<()>),
    /// A task wants to be told of what happens.
    Watch(Watcher),
}

/// A task.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What a task asks the cluster for.
pub(crate) enum ApiRequest {
    /// An object.
    Get(ObjectRef),
    /// A change of one.
    Write(ObjectRef, WriteOperation),
}
