//! What is asked of a scheduler's client by who drives it.

use schedc_core::client::Client;
use schedc_core::scheduler::Change;

use crate::transport::Transport;
use crate::write::{EventSink, KubeClient};

/// A client of a scheduler that is driven here. The defaults are those of a client that does what it says.
pub trait DriverClient: Client {
    /// How many bindings are under way.
    fn bindings(&self) -> usize {
        0
    }

    /// What the scheduler is to be told of a change, by a client that knows better. `None`: nothing.
    fn adjust_change(&self, change: Change) -> Option<Change> {
        Some(change)
    }

    /// What tasks of this client changed since this was asked last, and no watch will tell of.
    fn take_changes(&self) -> Vec<Change> {
        Vec::new()
    }
}

impl<T: Transport, E: EventSink> DriverClient for KubeClient<T, E> {
    fn bindings(&self) -> usize {
        self.bindings()
    }
}
