//! What is logged of pods, in kube-scheduler's words.

use schedc_core::engine::NO_NODES;
use schedc_core::scheduler::{Failure, Outcome};
use tracing::{debug, error};

/// An attempt came to an end.
pub(super) fn came_to_end(outcome: &Outcome) {
    let name = format_args!("{}/{}", outcome.pod.namespace, outcome.pod.name);
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
