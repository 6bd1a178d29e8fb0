//! What the scheduler knows, when somebody asks, and how that differs from what the API server says: kube-scheduler's cache
//! debugger.
//!
//! | module | idea |
//! |---|---|
//! | `scheduler_snapshot` | what the scheduler knows, and how it is written |
//! | `api_server_snapshot` | what the API server says |

mod api_server_snapshot;
mod scheduler_snapshot;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schedc_core::erased::{AnyScheduler, AttemptObserver};
use tokio::sync::{Notify, oneshot};

use crate::driver::DriverHooks;
use crate::transport::Transport;
use api_server_snapshot::ApiServerSnapshot;
use scheduler_snapshot::SchedulerSnapshot;

/// How much later what differs is looked at again: what happens just now is on its way to the scheduler.
const RECHECK_DELAY: Duration = Duration::from_secs(5);
/// How many names of a kind are written.
const MAX_NAMES: usize = 20;

/// Asks a scheduler what it knows. To be given to its driver, as [`DriverHooks`]; clones ask the same one.
#[derive(Clone, Debug, Default)]
pub struct Inspector(Arc<SnapshotRequest>);

#[derive(Debug, Default)]
struct SnapshotRequest {
    is_open: AtomicBool,
    snapshot_requested: Notify,
    answer: Mutex<Option<oneshot::Sender<SchedulerSnapshot>>>,
}

/// What only one side knows: nodes by name, pods by uid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mismatch {
    /// Nodes that the scheduler does not know.
    pub missed_nodes: BTreeSet<String>,
    /// Nodes that it knows alone.
    pub redundant_nodes: BTreeSet<String>,
    /// Pods that the scheduler does not know.
    pub missed_pods: BTreeSet<String>,
    /// Pods that it knows alone.
    pub redundant_pods: BTreeSet<String>,
}

impl Inspector {
    /// What the scheduler knows: a line for each node, followed by its pods, and for each pod that waits. It takes as long as
    /// the scheduler takes to come to it; if the driver is gone, for ever.
    pub async fn dump(&self) -> Vec<String> {
        self.take_snapshot().await.lines()
    }

    /// How what the scheduler knows differs from what the API server says. What differs is looked at again a while later, and
    /// counts if it still does. `schedulers` are those whose waiting pods are the scheduler's.
    ///
    /// # Errors
    /// What could not be listed, and why.
    pub async fn compare(&self, transport: &impl Transport, schedulers: &[&str]) -> Result<Mismatch, String> {
        let first = self.compare_once(transport, schedulers).await?;
        if first.is_empty() {
            return Ok(first);
        }
        transport.sleep(RECHECK_DELAY).await;
        Ok(first.intersection(&self.compare_once(transport, schedulers).await?))
    }

    async fn compare_once(&self, transport: &impl Transport, schedulers: &[&str]) -> Result<Mismatch, String> {
        let actual = ApiServerSnapshot::list(transport, schedulers).await?;
        Ok(Mismatch::new(&actual, &self.take_snapshot().await))
    }

    async fn take_snapshot(&self) -> SchedulerSnapshot {
        let (answer, known) = oneshot::channel();
        *self.0.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        self.0.is_open.store(true, Ordering::Relaxed);
        self.0.snapshot_requested.notify_one();
        // Somebody else asked at the same time, and has the answer.
        known.await.unwrap_or_default()
    }
}

impl AttemptObserver for Inspector {}

impl DriverHooks for Inspector {
    fn on_turn(&mut self, scheduler: &dyn AnyScheduler) {
        if !self.0.is_open.swap(false, Ordering::Relaxed) {
            return;
        }
        if let Some(answer) = self.0.answer.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // Who asked and went away misses nothing.
            let _ = answer.send(SchedulerSnapshot::take(scheduler));
        }
    }

    fn snapshot_requested(&self) -> impl Future<Output = ()> + Send {
        self.0.snapshot_requested.notified()
    }
}

impl Mismatch {
    /// Whether both know the same.
    pub fn is_empty(&self) -> bool {
        *self == Mismatch::default()
    }

    fn new(actual: &ApiServerSnapshot, known: &SchedulerSnapshot) -> Self {
        let (nodes, pods) = (known.node_names(), known.pod_uids());
        let missing = |from: &BTreeSet<String>, of: &BTreeSet<String>| of.difference(from).cloned().collect();
        Mismatch {
            missed_nodes: missing(&nodes, &actual.nodes),
            redundant_nodes: missing(&actual.nodes, &nodes),
            missed_pods: missing(&pods, &actual.pods),
            redundant_pods: missing(&actual.pods, &pods),
        }
    }

    /// What was found both times.
    fn intersection(&self, other: &Mismatch) -> Mismatch {
        let intersection = |a: &BTreeSet<String>, b: &BTreeSet<String>| a.intersection(b).cloned().collect();
        Mismatch {
            missed_nodes: intersection(&self.missed_nodes, &other.missed_nodes),
            redundant_nodes: intersection(&self.redundant_nodes, &other.redundant_nodes),
            missed_pods: intersection(&self.missed_pods, &other.missed_pods),
            redundant_pods: intersection(&self.redundant_pods, &other.redundant_pods),
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            ("missedNodes", &self.missed_nodes),
            ("redundantNodes", &self.redundant_nodes),
            ("missedPods", &self.missed_pods),
            ("redundantPods", &self.redundant_pods),
        ];
        let mut separator = "";
        for (kind, names) in kinds.into_iter().filter(|(_, names)| !names.is_empty()) {
            let first: Vec<_> = names.iter().take(MAX_NAMES).map(String::as_str).collect();
            write!(f, "{separator}{kind}=[{}", first.join(" "))?;
            match names.len().saturating_sub(MAX_NAMES) {
                0 => f.write_str("]")?,
                more => write!(f, " and {more} more]")?,
            }
            separator = " ";
        }
        Ok(())
    }
}
