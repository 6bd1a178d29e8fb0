//! The number of pods for which a cluster has room.

mod ratio;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod};
use schedc_core::erased::AnyBundle;
use schedc_core::profile::StartErrors;
use schedc_in_memory::server::Key;
use schedc_objects::AnyObject;
use serde::Serialize;

use crate::trial::{self, Trial, TrialState, Victim, WaitReason};
use crate::workloads::Submission;
#[cfg(feature = "run")]
pub(crate) use ratio::InvalidQuestion;
pub(crate) use ratio::prepare;

/// Message about a pod that cannot be added.
const NAMELESS: &str = "the pod has no name";

/// The parameters of a count, apart from the cluster and the pods.
#[derive(Clone, Debug)]
pub(crate) struct Question<'a> {
    /// Number of pods of each workload in a round, in the order of the manifests.
    pub ratio: &'a [usize],
    /// Maximum number of pods.
    pub max: usize,
    /// The key of a label that divides the nodes into pools.
    pub pool_label: Option<&'a str>,
}

/// The result of a count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Capacity {
    /// Number of pods that fit, by workload.
    pub workloads: Vec<WorkloadCapacity>,
    /// The pods that fit in the whole cluster.
    #[serde(flatten)]
    pub fit: Fit,
    /// Number of pending pods of the cluster that remain without a node; not part of `fit`.
    pub still_pending: usize,
    /// Capacity of each pool, by value of the label. Empty without a label.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<PoolCapacity>,
}

/// Number of pods of a workload that fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct WorkloadCapacity {
    /// Kind and name, such as `Deployment shop/web`.
    pub workload: String,
    /// Pods in a round.
    pub ratio: usize,
    /// Pods that fit.
    pub pods: usize,
}

/// Pods that fit, and the first pod that does not fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Fit {
    /// Number of pods that fit.
    pub pods: usize,
    /// Number of complete rounds of the ratio.
    pub rounds: usize,
    /// Number of pods on each node, by name.
    pub nodes: BTreeMap<String, usize>,
    /// The next pod; `None` if the maximum was reached.
    pub next: Option<NextPod>,
}

/// The first pod that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct NextPod {
    /// Kind and name of its workload.
    pub workload: String,
    /// The reasons why it does not fit.
    #[serde(flatten)]
    pub rejection: WaitReason,
    /// Pods that it would preempt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preempts: Vec<Victim>,
}

/// Capacity of the nodes with the same value of a label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PoolCapacity {
    /// Value of the label; `None` for nodes without the label.
    pub pool: Option<String>,
    /// Number of nodes in the pool.
    pub nodes: usize,
    /// Number of the added pods on the nodes of the pool, if pods may run on all nodes of the cluster.
    pub pods: usize,
    /// Capacity if pods may run only on the nodes of the pool.
    pub alone: Fit,
}

/// Returns how many pods of a submission fit in a cluster, in addition to the pods that it has.
///
/// Pods are added one by one in the order of the ratio. Each must run before the next one is added, unless it waits for
/// other pods in Permit. The first pod that is rejected ends the search, even if it could preempt others.
///
/// # Errors
/// Returns an error if a plugin cannot start.
pub(crate) fn capacity(
    bundle: &AnyBundle,
    objects: &[AnyObject],
    submission: &Submission,
    question: &Question<'_>,
    options: &trial::Options,
) -> Result<Capacity, StartErrors> {
    let cluster_capacity = fit(bundle, objects, submission.clone(), question, options)?;
    let mut pools = Vec::new();
    if let Some(key) = question.pool_label {
        for (value, nodes) in node_pools(objects, key) {
            let mut submission = submission.clone();
            for workload in &mut submission.workloads {
                confine(workload.template_mut(), key, value.as_deref());
            }
            let alone = fit(bundle, objects, submission, question, options)?.fit;
            let pods = nodes.iter().filter_map(|node| cluster_capacity.fit.nodes.get(*node)).sum();
            pools.push(PoolCapacity { pool: value, nodes: nodes.len(), pods, alone });
        }
    }
    Ok(Capacity { pools, ..cluster_capacity })
}

/// Returns the names of nodes by the value of a label.
pub(crate) fn node_pools<'o>(objects: &'o [AnyObject], key: &str) -> BTreeMap<Option<String>, Vec<&'o str>> {
    let mut pools: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for object in objects {
        if let AnyObject::Node(node) = object {
            let Node { metadata, .. } = &**node;
            let value = metadata.labels.as_ref().and_then(|labels| labels.get(key)).cloned();
            pools.entry(value).or_default().push(object.name());
        }
    }
    pools
}

/// Restricts a pod to nodes with this value of a label, or without the label.
fn confine(pod: &mut Pod, key: &str, value: Option<&str>) {
    let requirement = NodeSelectorRequirement {
        key: key.to_owned(),
        operator: if value.is_some() { "In" } else { "DoesNotExist" }.to_owned(),
        values: value.map(|value| vec![value.to_owned()]),
    };
    let affinity = pod.spec.get_or_insert_default().affinity.get_or_insert_default();
    let required =
        &mut affinity.node_affinity.get_or_insert_default().required_during_scheduling_ignored_during_execution;
    let selector =
        required.get_or_insert_with(|| NodeSelector { node_selector_terms: vec![NodeSelectorTerm::default()] });
    for term in &mut selector.node_selector_terms {
        term.match_expressions.get_or_insert_default().push(requirement.clone());
    }
}

/// Adds pods of a submission to a cluster until one does not fit or the maximum is reached. The result has no pools.
fn fit(
    bundle: &AnyBundle,
    objects: &[AnyObject],
    mut submission: Submission,
    question: &Question<'_>,
    options: &trial::Options,
) -> Result<Capacity, StartErrors> {
    let mut trial = Trial::new(bundle, objects.to_vec(), options)?;
    trial.add(std::mem::take(&mut submission.objects));
    for workload in &submission.workloads {
        trial.add(workload.controllers());
    }
    let still_pending = trial.still_pending();
    let order = question.ratio.iter().enumerate().flat_map(|(workload, n)| std::iter::repeat_n(workload, *n));
    let order: Vec<usize> = order.take(question.max).collect();
    let mut ordinals = vec![0; submission.workloads.len()];
    let mut added: Vec<(usize, Key, Option<String>)> = Vec::new();
    let mut next = None;
    for &workload in order.iter().cycle().take(question.max) {
        let (new, ordinal) = submission.next_pod(workload, ordinals[workload]);
        ordinals[workload] = ordinal + 1;
        trial.add(new.before);
        let Some(key) = trial.add([new.pod.into()]).pop() else {
            let rejection = WaitReason { message: NAMELESS.to_owned(), ..WaitReason::default() };
            let workload = submission.workloads[workload].title();
            next = Some(NextPod { workload, rejection, preempts: Vec::new() });
            break;
        };
        trial.settle();
        // A pod that waits in Permit may need further pods. Time does not advance for it, because a timeout would end
        // the wait.
        if trial.node_of(&key).is_none() && !trial.is_in_progress(&key) && victims(&trial, &key).is_empty() {
            trial.run();
        }
        let preempts = victims(&trial, &key);
        let rejection = match trial.state(&key) {
            _ if !preempts.is_empty() => trial.preempting().cloned().unwrap_or_default(),
            TrialState::Waiting(rejection) if !trial.is_in_progress(&key) => rejection,
            _ => {
                let node = trial.node_of(&key).map(str::to_owned);
                added.push((workload, key, node));
                continue;
            }
        };
        next = Some(NextPod { workload: submission.workloads[workload].title(), rejection, preempts });
        break;
    }
    let mut fit = Fit { next, ..Fit::default() };
    let mut by_workload = vec![0; submission.workloads.len()];
    for (workload, key, node) in added {
        if let Some(node) = node.or_else(|| trial.node_of(&key).map(str::to_owned)) {
            fit.pods += 1;
            by_workload[workload] += 1;
            *fit.nodes.entry(node).or_default() += 1;
        }
    }
    let rounds = by_workload.iter().zip(question.ratio).filter(|(_, ratio)| **ratio > 0).map(|(n, ratio)| n / ratio);
    fit.rounds = rounds.min().unwrap_or(0);
    let workloads = submission.workloads.iter().zip(question.ratio).zip(by_workload);
    let workloads = workloads
        .map(|((workload, ratio), pods)| WorkloadCapacity { workload: workload.title(), ratio: *ratio, pods })
        .collect();
    Ok(Capacity { workloads, fit, still_pending, pools: Vec::new() })
}

/// Returns the pods that this pod preempted.
fn victims(trial: &Trial, pod: &Key) -> Vec<Victim> {
    let name = format!("{}/{}", pod.namespace, pod.name);
    trial.preempted().iter().filter(|victim| victim.by == name).cloned().collect()
}
