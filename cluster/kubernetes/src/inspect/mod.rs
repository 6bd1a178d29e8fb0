//! Dump of the scheduler's cache, and its comparison with the API server, as by kube-scheduler's cache debugger.
//!
//! | module | content |
//! |---|---|
//! | `scheduler_snapshot` | nodes and pods of the scheduler, and their text form |
//! | `api_server_snapshot` | nodes and pods at the API server |

mod api_server_snapshot;
mod scheduler_snapshot;

use std::collections::BTreeSet;
use std::fmt;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use schedc_core::erased::{AnyScheduler, AttemptObserver};
use tokio::sync::{Notify, oneshot};

use crate::driver::DriverHooks;
use crate::transport::Transport;
use api_server_snapshot::ApiServerSnapshot;
use scheduler_snapshot::SchedulerSnapshot;

/// Delay before differences are checked again, since recent changes may not have arrived yet.
const RECHECK_DELAY: Duration = Duration::from_secs(5);
/// Maximum number of names per kind in the text.
const MAX_NAMES: usize = 20;

/// Takes snapshots of a scheduler. Pass it to the driver as [`DriverHooks`]; clones address the same scheduler.
#[derive(Clone, Debug, Default)]
pub struct Inspector(Arc<SnapshotRequest>);

#[derive(Debug, Default)]
struct SnapshotRequest {
    is_open: AtomicBool,
    snapshot_requested: Notify,
    /// Waiting callers. All of them receive the next snapshot.
    callers: Mutex<Vec<oneshot::Sender<Arc<SchedulerSnapshot>>>>,
}

/// Objects that only one side has: nodes by name, pods by uid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheDifference {
    /// Nodes that the scheduler lacks.
    pub missed_nodes: BTreeSet<String>,
    /// Nodes that only the scheduler has.
    pub redundant_nodes: BTreeSet<String>,
    /// Pods that the scheduler lacks.
    pub missed_pods: BTreeSet<String>,
    /// Pods that only the scheduler has.
    pub redundant_pods: BTreeSet<String>,
}

impl Inspector {
    /// Returns the scheduler's cache: a line for each node, followed by its pods, and a line for each pending pod.
    /// Waits until the scheduler responds, forever if the driver has ended.
    pub async fn dump(&self) -> Vec<String> {
        self.take_snapshot().await.lines()
    }

    /// Compares the scheduler's cache with the API server. Differences are checked again after a delay and count if
    /// they persist. Pending pods are compared only if their scheduler name is in `schedulers`.
    ///
    /// # Errors
    /// A list failed.
    pub async fn compare(&self, transport: &impl Transport, schedulers: &[&str]) -> Result<CacheDifference, String> {
        let first = self.compare_once(transport, schedulers).await?;
        if first.is_empty() {
            return Ok(first);
        }
        transport.sleep(RECHECK_DELAY).await;
        Ok(first.intersection(&self.compare_once(transport, schedulers).await?))
    }

    async fn compare_once(&self, transport: &impl Transport, schedulers: &[&str]) -> Result<CacheDifference, String> {
        let actual = ApiServerSnapshot::list(transport, schedulers).await?;
        let known = self.take_snapshot().await;
        Ok(CacheDifference::new(&actual, &known))
    }

    async fn take_snapshot(&self) -> Arc<SchedulerSnapshot> {
        let (caller, snapshot) = oneshot::channel();
        self.0.callers.lock().unwrap_or_else(PoisonError::into_inner).push(caller);
        self.0.is_open.store(true, Ordering::Relaxed);
        self.0.snapshot_requested.notify_one();
        match snapshot.await {
            Ok(snapshot) => snapshot,
            // The driver panicked.
            Err(_) => pending().await,
        }
    }
}

impl AttemptObserver for Inspector {}

impl DriverHooks for Inspector {
    fn on_turn(&mut self, scheduler: &mut dyn AnyScheduler) {
        if !self.0.is_open.swap(false, Ordering::Relaxed) {
            return;
        }
        let callers = std::mem::take(&mut *self.0.callers.lock().unwrap_or_else(PoisonError::into_inner));
        let snapshot = Arc::new(SchedulerSnapshot::take(scheduler));
        for caller in callers {
            // The caller may have gone.
            let _ = caller.send(snapshot.clone());
        }
    }

    fn snapshot_requested(&self) -> impl Future<Output = ()> + Send {
        self.0.snapshot_requested.notified()
    }
}

impl CacheDifference {
    /// Returns whether both sides are equal.
    pub fn is_empty(&self) -> bool {
        *self == CacheDifference::default()
    }

    fn new(actual: &ApiServerSnapshot, known: &SchedulerSnapshot) -> Self {
        let (nodes, pods) = (known.node_names(), known.pod_uids());
        let missing = |from: &BTreeSet<String>, of: &BTreeSet<String>| of.difference(from).cloned().collect();
        CacheDifference {
            missed_nodes: missing(&nodes, &actual.nodes),
            redundant_nodes: missing(&actual.nodes, &nodes),
            missed_pods: missing(&pods, &actual.pods),
            redundant_pods: missing(&actual.pods, &pods),
        }
    }

    /// Returns the differences that both contain.
    fn intersection(&self, other: &CacheDifference) -> CacheDifference {
        let intersection = |a: &BTreeSet<String>, b: &BTreeSet<String>| a.intersection(b).cloned().collect();
        CacheDifference {
            missed_nodes: intersection(&self.missed_nodes, &other.missed_nodes),
            redundant_nodes: intersection(&self.redundant_nodes, &other.redundant_nodes),
            missed_pods: intersection(&self.missed_pods, &other.missed_pods),
            redundant_pods: intersection(&self.redundant_pods, &other.redundant_pods),
        }
    }
}

impl fmt::Display for CacheDifference {
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
