//! Log messages about pods, in kube-scheduler's words.

use schedc_core::engine::NO_NODES;
use schedc_core::erased::{AnyScheduler, AttemptObserver};
use schedc_core::model::Pod;
use schedc_core::scheduler::{Failure, Outcome};
use tracing::{Level, debug, error};

use super::DriverHooks;

pub(super) struct PodLog;

/// Returns whether [`log_attempt`] may log messages.
pub(super) fn logs_attempts() -> bool {
    tracing::event_enabled!(Level::DEBUG)
}

/// Logs the start of an attempt. The driver calls it, since no code between a popped pod and its decision may log.
pub(super) fn log_attempt(pod: &Pod) {
    debug!(v = 3, pod = %pod.namespaced_name(), "Attempting to schedule pod");
}

impl AttemptObserver for PodLog {}

impl DriverHooks for PodLog {
    fn on_outcome(&mut self, outcome: &Outcome, _: &dyn AnyScheduler) {
        let name = outcome.pod.namespaced_name();
        match &outcome.result {
            Ok(placed) => debug!(v = 2, pod = %name, node = &*placed.node, "Successfully bound pod to node"),
            Err(Failure::Unschedulable(why)) if *why.message == *NO_NODES => {
                debug!(v = 2, pod = %name, "Unable to schedule pod; no nodes are registered to the cluster; waiting");
            }
            Err(Failure::Unschedulable(why)) => {
                debug!(v = 2, pod = %name, err = &*why.message, "Unable to schedule pod; no fit; waiting");
            }
            Err(Failure::Error(why)) => error!(pod = %name, err = &**why, "Error scheduling pod; retrying"),
        }
    }
}
