//! The pods of manifests that are not in the cluster yet.

use std::path::PathBuf;

use schedc_objects::{AnyObject, Objects};

use super::failure::Failure;
use super::objects::SchedulerSetup;
use super::validate;
use crate::cluster::scheduler_name;
use crate::workloads::{NewPod, Submission};

/// Returns the other objects of the manifests, and their pods.
///
/// # Errors
/// Returns an error if the manifests are wrong, have no pod, or have one that no profile schedules.
pub(crate) fn read(
    manifests: &[PathBuf],
    objects: &Objects,
    setup: &SchedulerSetup,
) -> Result<(Vec<AnyObject>, Vec<NewPod>), Failure> {
    let mut submission = Submission::read(manifests, objects)?;
    validate::warn(&submission.ignored);
    let (mut others, mut new) = (std::mem::take(&mut submission.objects), Vec::new());
    for at in 0..submission.workloads.len() {
        let workload = &submission.workloads[at];
        if setup.routes.profile_of(workload.template()).is_none() {
            return Err(Failure::new(format_args!(
                "{}: {}: schedulerName is `{}`, which is none of the profiles; choose one with --profile",
                workload.place,
                workload.title(),
                scheduler_name(workload.template())
            )));
        }
        others.extend(workload.controllers());
        let nodes = objects.nodes.iter().map(|node| &node.object);
        new.extend(submission.pods(at, nodes).map_err(|problem| schedc_objects::Error { problems: vec![problem] })?);
    }
    match new.is_empty() {
        true => Err(Failure::new("the manifests have no pod")),
        false => Ok((others, new)),
    }
}
