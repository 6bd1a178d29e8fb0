//! The pods of manifests that are not in the cluster yet.

use std::path::PathBuf;

use k8s_openapi::api::core::v1::{Node, Pod};
use schedc_objects::{AnyObject, Objects};

use super::failure::Failure;
use super::objects::SchedulerSetup;
use super::validate;
use crate::workloads::{NewPod, Replicas, Submission};

/// The objects of manifests, with the pods that controllers would create.
pub(crate) struct NewPods {
    /// Objects other than pods, including the controllers of workloads.
    pub(crate) others: Vec<AnyObject>,
    /// The pods.
    pub(crate) pods: Vec<NewPod>,
    /// The pods of DaemonSets on a new node, for each of the given shapes.
    pub(crate) daemons: Vec<Vec<Pod>>,
}

/// Reads manifests. `shapes` has one node of each kind of node that may be added to the cluster.
///
/// # Errors
/// Returns an error if the manifests are wrong, have no pod, or have a pod that no profile schedules.
pub(crate) fn read(
    manifests: &[PathBuf],
    objects: &Objects,
    setup: &SchedulerSetup,
    shapes: &[Node],
) -> Result<NewPods, Failure> {
    let mut submission = Submission::read(manifests, objects)?;
    validate::warn(&submission.ignored);
    submission.check_profiles(&setup.routes).map_err(choose_profile)?;
    let (mut others, mut pods) = (std::mem::take(&mut submission.objects), Vec::new());
    let mut daemons = vec![Vec::new(); shapes.len()];
    let error = |problem| schedc_objects::Error { problems: vec![problem] };
    for at in 0..submission.workloads.len() {
        let workload = &submission.workloads[at];
        others.extend(workload.controllers());
        if workload.replicas == Replicas::EachNode {
            for (shape_daemons, shape) in daemons.iter_mut().zip(shapes) {
                for NewPod { pod, before } in submission.pods(at, std::iter::once(shape)).map_err(error)? {
                    others.extend(before);
                    shape_daemons.push(pod);
                }
            }
        }
        let nodes = objects.nodes.iter().map(|node| &node.object);
        pods.extend(submission.pods(at, nodes).map_err(error)?);
    }
    match pods.is_empty() {
        true => Err(Failure::new("the manifests have no pod")),
        false => Ok(NewPods { others, pods, daemons }),
    }
}

/// Returns the failure for a workload that no profile serves.
pub(crate) fn choose_profile(unserved: String) -> Failure {
    Failure::new(unserved + "; choose one with --profile")
}
