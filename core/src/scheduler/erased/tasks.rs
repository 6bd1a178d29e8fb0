//! A set of tasks with an erased type.

use std::future::Future;
use std::pin::Pin;

use crate::scheduler::{Completed, Tasks};

/// [`Tasks`] of any type.
pub trait AnyTasks {
    /// Starts a task.
    fn spawn_boxed(&mut self, task: Pin<Box<dyn Future<Output = Completed> + Send>>);
}

impl<T: Tasks> AnyTasks for T {
    fn spawn_boxed(&mut self, task: Pin<Box<dyn Future<Output = Completed> + Send>>) {
        self.spawn(task);
    }
}

/// Boxes each task.
pub(super) struct BoxedTasks<'a>(pub(super) &'a mut dyn AnyTasks);

impl Tasks for BoxedTasks<'_> {
    fn spawn(&mut self, task: impl Future<Output = Completed> + Send + 'static) {
        self.0.spawn_boxed(Box::pin(task));
    }
}
