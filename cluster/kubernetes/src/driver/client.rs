//! Requirements of a driver on the scheduler's client.

use schedc_core::client::Client;
use schedc_core::scheduler::Change;

use crate::transport::Transport;
use crate::write::{EventSink, KubeClient};

/// Client of a scheduler that a driver runs. The defaults fit a client that performs its writes.
pub trait DriverClient: Client {
    /// Returns the number of bindings in flight.
    fn bindings(&self) -> usize {
        0
    }

    /// Adjusts a change before the scheduler receives it. `None` drops the change.
    fn adjust_change(&self, change: Change) -> Option<Change> {
        Some(change)
    }

    /// Takes the changes that this client made since the last call and that no watch will report.
    fn take_changes(&self) -> Vec<Change> {
        Vec::new()
    }
}

impl<T: Transport, E: EventSink> DriverClient for KubeClient<T, E> {
    fn bindings(&self) -> usize {
        self.bindings()
    }
}
