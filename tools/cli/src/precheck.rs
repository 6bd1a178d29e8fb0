//! The effect of manifests on a cluster before their submission: for each pod of the manifests, its node or the reasons
//! why it waits; and the pods that are preempted.

use std::collections::{BTreeMap, HashMap};

use schedc_core::erased::AnyBundle;
use schedc_core::profile::StartErrors;
use schedc_in_memory::server::Key;
use schedc_objects::manifests::SourceLocation;
use schedc_objects::{Error, Objects};
use serde::Serialize;

use crate::cluster;
use crate::trial::{self, Trial, TrialState, Victim, WaitReason};
use crate::workloads::Submission;

/// The effect of manifests on a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Precheck {
    /// Counts.
    pub summary: Summary,
    /// Counts by workload, in the order of the manifests.
    pub workloads: Vec<WorkloadResult>,
    /// Pods of the manifests that run.
    pub running: Vec<RunningPod>,
    /// Pods of the manifests that have no node at the end: they wait, or were preempted.
    pub waiting: Vec<PendingPod>,
    /// Pods of the cluster and of the manifests that lose their node.
    pub preempted: Vec<Victim>,
}

/// Counts of pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    /// Pods of the manifests.
    pub pods: usize,
    /// Pods of the manifests that run.
    pub running: usize,
    /// Pods of the manifests that have no node at the end.
    pub waiting: usize,
    /// Pods that lose their node.
    pub preempted: usize,
    /// Pods of the cluster's files that wait.
    pub still_pending: usize,
}

/// Counts of a workload's pods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct WorkloadResult {
    /// Kind and name, such as `Deployment shop/web`.
    pub workload: String,
    /// Its manifest.
    pub file: String,
    /// The first line of its document.
    pub line: u32,
    /// Number of its pods.
    pub pods: usize,
    /// Number of its pods that run.
    pub running: usize,
    /// Number of its pods that have no node at the end.
    pub waiting: usize,
    /// Number of its pods on each node, by name.
    pub nodes: BTreeMap<String, usize>,
}

/// A pod that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RunningPod {
    /// `namespace/name`.
    pub pod: String,
    /// Kind and name of its workload.
    pub workload: String,
    /// Its node.
    pub node: String,
}

/// A pod that has no node at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PendingPod {
    /// `namespace/name`.
    pub pod: String,
    /// Kind and name of its workload.
    pub workload: String,
    /// The reasons.
    #[serde(flatten)]
    pub rejection: WaitReason,
}

/// The reason why manifests cannot be checked.
#[derive(Debug)]
pub(crate) enum PrecheckError {
    /// Plugins cannot start.
    Start(StartErrors),
    /// Pods that an API server or a controller would not create.
    Manifests(Error),
}

/// Adds all pods of a submission to a cluster at once, and lets time pass until nothing more happens.
///
/// The pending pods of the cluster are attempted first.
///
/// # Errors
/// Returns an error if a plugin cannot start, or if the cluster has one of the pods already.
pub(crate) fn precheck(
    bundle: &AnyBundle,
    objects: Objects,
    mut submission: Submission,
    options: &trial::Options,
) -> Result<Precheck, PrecheckError> {
    let mut problems = Vec::new();
    let mut new = Vec::new();
    for workload in 0..submission.workloads.len() {
        match submission.pods(workload, objects.nodes.iter().map(|node| &node.object)) {
            Ok(pods) => new.extend(pods.into_iter().map(|pod| (workload, pod))),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(PrecheckError::Manifests(Error { problems }));
    }
    let mut trial = Trial::new(bundle, cluster::objects(objects), options).map_err(PrecheckError::Start)?;
    trial.add(std::mem::take(&mut submission.objects));
    for workload in &submission.workloads {
        trial.add(workload.controllers());
    }
    let mut keys = Vec::new();
    for (workload, new) in new {
        trial.add(new.before);
        keys.extend(trial.add([new.pod.into()]).into_iter().map(|key| (workload, key)));
    }
    trial.run();
    Ok(result(&mut trial, &submission, &keys))
}

fn result(trial: &mut Trial, submission: &Submission, keys: &[(usize, Key)]) -> Precheck {
    let mut workloads: Vec<WorkloadResult> = submission
        .workloads
        .iter()
        .map(|workload| {
            let SourceLocation { file, line, .. } = &workload.place;
            WorkloadResult {
                workload: workload.title(),
                file: file.to_string(),
                line: *line,
                pods: 0,
                running: 0,
                waiting: 0,
                nodes: BTreeMap::new(),
            }
        })
        .collect();
    let preempted = trial.preempted().to_vec();
    let preemptors: HashMap<&str, &str> =
        preempted.iter().map(|victim| (victim.pod.as_str(), victim.by.as_str())).collect();
    let (mut running, mut waiting) = (Vec::new(), Vec::new());
    for (index, key) in keys {
        let pod = format!("{}/{}", key.namespace, key.name);
        let result = &mut workloads[*index];
        result.pods += 1;
        let workload = result.workload.clone();
        let rejection = match trial.state(key) {
            TrialState::Running(node) => {
                result.running += 1;
                *result.nodes.entry(node.clone()).or_default() += 1;
                running.push(RunningPod { pod, workload, node });
                continue;
            }
            TrialState::Waiting(rejection) => rejection,
            TrialState::Gone => {
                let by = preemptors.get(pod.as_str()).copied().unwrap_or("another pod");
                WaitReason { message: format!("was preempted by {by}"), reasons: Vec::new() }
            }
        };
        result.waiting += 1;
        waiting.push(PendingPod { pod, workload, rejection });
    }
    let summary = Summary {
        pods: keys.len(),
        running: running.len(),
        waiting: waiting.len(),
        preempted: preempted.len(),
        still_pending: trial.still_pending(),
    };
    Precheck { summary, workloads, running, waiting, preempted }
}
