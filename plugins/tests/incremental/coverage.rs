//! For each plugin, the kinds of changes that changed its results.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schedc_core::cache::State;
use schedc_core::intern::Symbol;
use schedc_core::model::Pod;
use schedc_reference::{Args, PluginEvaluation, evaluate_plugins};
use serde_json::Value;

use crate::incremental::history::Step;
use crate::incremental::test_cluster::{ObjectState, TestCluster};

/// The fields that each plugin reads. For each field, some change must change the plugin's results; a change of any
/// other field must not. `+`, `~` and `-`: the object is added, updated, deleted.
const READS: [(&str, &[&str]); 16] = [
    ("DynamicResources", &["scheduled"]),
    ("ImageLocality", &["Node +-", "Node images", "scheduled"]),
    (
        "InterPodAffinity",
        &["Node +-", "Node labels", "Pod +-", "Pod labels", "Nominated pod +-", "Namespace +~-", "scheduled"],
    ),
    ("NodeAffinity", &["Node +-", "Node labels", "scheduled"]),
    ("NodeDeclaredFeatures", &["Node +-", "Node declared features", "scheduled"]),
    ("NodeName", &["Node +-", "scheduled"]),
    ("NodePorts", &["Node +-", "Pod +-", "Nominated pod +-", "scheduled"]),
    ("NodeResourcesBalancedAllocation", &["Node +-", "Node allocatable", "Pod +-", "Pod status", "scheduled"]),
    (
        "NodeResourcesFit",
        &["Node +-", "Node allocatable", "Node allowed pods", "Pod +-", "Pod status", "Nominated pod +-", "scheduled"],
    ),
    ("NodeUnschedulable", &["Node +-", "Node unschedulable", "scheduled"]),
    (
        "NodeVolumeLimits",
        &[
            "Node +-",
            "Pod +-",
            "Nominated pod +-",
            "PersistentVolumeClaim +~-",
            "PersistentVolume +~-",
            "StorageClass +~-",
            "CSINode +~-",
            "VolumeAttachment +~-",
            "scheduled",
        ],
    ),
    (
        "PodTopologySpread",
        &[
            "Node +-",
            "Node labels",
            "Node taints",
            "Pod +-",
            "Pod labels",
            "Pod deletionTimestamp",
            "Nominated pod +-",
            "Service +~-",
            "ReplicationController +~-",
            "ReplicaSet +~-",
            "StatefulSet +~-",
            "scheduled",
        ],
    ),
    ("TaintToleration", &["Node +-", "Node taints", "scheduled"]),
    (
        "VolumeBinding",
        &[
            "Node +-",
            "Node labels",
            "PersistentVolumeClaim +~-",
            "PersistentVolume +~-",
            "StorageClass +~-",
            "CSINode +~-",
            "CSIDriver +~-",
            "CSIStorageCapacity +~-",
            "scheduled",
        ],
    ),
    ("VolumeRestrictions", &["Node +-", "Pod +-", "Nominated pod +-", "PersistentVolumeClaim +~-", "scheduled"]),
    (
        "VolumeZone",
        &[
            "Node +-",
            "Node labels",
            "PersistentVolumeClaim +~-",
            "PersistentVolume +~-",
            "StorageClass +~-",
            "scheduled",
        ],
    ),
];

/// Returns the kinds of changes of an entry of [`READS`].
fn kinds(entry: &str) -> Vec<String> {
    match entry.rsplit_once(' ') {
        Some((kind, signs)) if signs.starts_with('+') => signs.chars().map(|sign| format!("{kind} {sign}")).collect(),
        _ => vec![entry.to_owned()],
    }
}

/// Maximum number of remembered pods.
const PODS: usize = 80;
/// Number of pods that are evaluated before and after a change.
const EVALUATED: usize = 2;
/// Number of pods that are evaluated before and after a change that affects few pods.
const EVALUATED_IF_FEW: usize = 6;

/// Counts by plugin and kind of change.
#[derive(Default)]
pub(crate) struct Coverage {
    counts: BTreeMap<&'static str, BTreeMap<String, usize>>,
    /// The last scheduled pods, which are evaluated before and after a change.
    pods: Vec<Value>,
    next: usize,
    args: Args,
}

/// The results before a change.
pub(crate) struct Before {
    object_state: ObjectState,
    answers: Vec<(Arc<Pod>, Vec<PluginEvaluation>)>,
}

impl Coverage {
    fn evaluate<S: State>(&self, cluster: &TestCluster<S>, pod: &Pod) -> Vec<PluginEvaluation> {
        evaluate_plugins(&self.args, &cluster.cluster, &cluster.cache.base.interner, pod)
    }

    pub(crate) fn before<S: State>(&mut self, cluster: &mut TestCluster<S>, step: &Step) -> Before {
        let mut before = Before { object_state: ObjectState::Absent, answers: Vec::new() };
        let (kind, metadata) = match step {
            Step::Set { manifest, .. } => (&manifest["kind"], &manifest["metadata"]),
            Step::Delete { reference, .. } => (&reference["kind"], reference),
            Step::Schedule { pod, .. } => {
                self.remember(pod);
                self.decided(cluster, pod);
                return before;
            }
        };
        before.object_state = cluster.object_state(kind, metadata);
        let (number, pods): (usize, Vec<&Value>) = match possibly_affected_pods(kind, metadata) {
            None => (EVALUATED, self.pods.iter().collect()),
            Some(may_be_affected) => (EVALUATED_IF_FEW, self.pods.iter().filter(|pod| may_be_affected(pod)).collect()),
        };
        let seldom_matters = before.object_state == ObjectState::Nominated
            || ["VolumeAttachment", "CSIStorageCapacity", "CSIDriver", "StorageClass"]
                .iter()
                .any(|seldom| kind == seldom);
        let number = if seldom_matters { pods.len() } else { number };
        self.next += 1;
        let evaluated = pods.iter().cycle().skip(self.next).take(number.min(pods.len())).copied();
        let evaluated = evaluated.chain(self.pods.iter().filter(|pod| is_affected(step, pod)));
        before.answers = evaluated
            .map(|pod| {
                let pod = cluster.pending(pod);
                let evaluations = self.evaluate(cluster, &pod);
                (pod, evaluations)
            })
            .collect();
        before
    }

    fn remember(&mut self, pod: &Value) {
        self.next += 1;
        match self.pods.len() {
            PODS => self.pods[self.next % PODS] = pod.clone(),
            _ => self.pods.push(pod.clone()),
        }
    }

    /// Counts the plugins that affected the decision for a pod.
    fn decided<S: State>(&mut self, cluster: &mut TestCluster<S>, pod: &Value) {
        let pod = cluster.pending(pod);
        for evaluation in self.evaluate(cluster, &pod) {
            let prefers = evaluation.scores.values().min() != evaluation.scores.values().max();
            self.count(
                evaluation.plugin,
                "scheduled",
                evaluation.pre_filter.is_some() || !evaluation.rejections.is_empty() || prefers,
            );
        }
    }

    fn count(&mut self, plugin: &'static str, change: &str, altered: bool) {
        if altered {
            *self.counts.entry(plugin).or_default().entry(change.to_owned()).or_default() += 1;
        }
    }

    pub(crate) fn after<S: State>(&mut self, cluster: &mut TestCluster<S>, step: &Step, before: Before) {
        let (kind, metadata) = match step {
            Step::Set { manifest, .. } => (&manifest["kind"], &manifest["metadata"]),
            Step::Delete { reference, .. } => (&reference["kind"], reference),
            Step::Schedule { .. } => return,
        };
        let change = change(step.change(), kind, before.object_state, cluster.object_state(kind, metadata));
        let name = metadata["name"].as_str().unwrap_or_default();
        let node = (kind == "Node").then(|| cluster.cache.base.interner.intern(name));
        for (pod, before) in before.answers {
            let after = self.evaluate(cluster, &pod);
            for (before, after) in before.iter().zip(&after) {
                let altered = match node.filter(|_| change.ends_with(['+', '-'])) {
                    Some(node) => has_changed(before, after, node),
                    None => before != after,
                };
                self.count(before.plugin, &change, altered);
            }
        }
    }

    /// Adds the counts of other histories.
    pub(crate) fn add(&mut self, other: &Coverage) {
        for (plugin, counts) in &other.counts {
            for (change, count) in counts {
                *self.counts.entry(plugin).or_default().entry(change.clone()).or_default() += count;
            }
        }
    }

    /// Checks that each plugin was affected by every kind of change that it reads, and by no others.
    pub(crate) fn check(&self) {
        let mut wrong = Vec::new();
        for (plugin, reads) in READS {
            let reads: Vec<String> = reads.iter().flat_map(|entry| kinds(entry)).collect();
            let counts = self.counts.get(plugin).cloned().unwrap_or_default();
            let never = reads.iter().filter(|kind| !counts.contains_key(*kind));
            wrong.extend(never.map(|kind| format!("{plugin} was never affected by: {kind}")));
            let others = counts.keys().filter(|kind| !reads.contains(kind));
            wrong.extend(others.map(|kind| format!("{plugin} does not declare that it reads: {kind}")));
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// A predicate for pods.
type PodPredicate<'a> = Box<dyn Fn(&Value) -> bool + 'a>;

/// Returns a predicate for the pods that a change may affect, or `None` if it may affect any pod.
fn possibly_affected_pods<'a>(kind: &'a Value, metadata: &'a Value) -> Option<PodPredicate<'a>> {
    let mentions = |value: &Value, text: &str| value.to_string().contains(text);
    let name = metadata["name"].to_string();
    let is_in_namespace = |pod: &Value| pod["metadata"]["namespace"] == metadata["namespace"];
    match kind.as_str().unwrap_or_default() {
        "PersistentVolumeClaim" => {
            Some(Box::new(move |pod| is_in_namespace(pod) && mentions(&pod["spec"]["volumes"], &name)))
        }
        "PersistentVolume" | "StorageClass" | "CSINode" | "CSIDriver" | "CSIStorageCapacity" | "VolumeAttachment" => {
            // `laim` is a part of `persistentVolumeClaim`, and of the `volumeClaimTemplate` of an ephemeral volume.
            Some(Box::new(move |pod| mentions(&pod["spec"]["volumes"], "laim")))
        }
        "Service" => {
            Some(Box::new(move |pod| is_in_namespace(pod) && pod["spec"]["topologySpreadConstraints"].is_null()))
        }
        "ReplicationController" | "ReplicaSet" | "StatefulSet" => Some(Box::new(move |pod| {
            let owners = &pod["metadata"]["ownerReferences"];
            is_in_namespace(pod) && owners[0]["kind"] == *kind && pod["spec"]["topologySpreadConstraints"].is_null()
        })),
        "Namespace" => Some(Box::new(move |pod| mentions(&pod["spec"]["affinity"], "namespaceSelector"))),
        _ => None,
    }
}

/// Returns whether a pod is always evaluated for a step, because the step affects few pods.
fn is_affected(step: &Step, pod: &Value) -> bool {
    match step {
        Step::Set { change, .. } if change == "Node taints" => {
            pod["spec"]["topologySpreadConstraints"].to_string().contains(r#""nodeTaintsPolicy":"Honor""#)
        }
        Step::Set { change, .. } if change == "Node is created" => pod["spec"].to_string().contains("hostPort"),
        Step::Set { change, manifest } if change == "Pod is nominated" => {
            let volumes = |pod: &Value| pod["spec"]["volumes"].as_array().is_some_and(|volumes| !volumes.is_empty());
            volumes(manifest) && volumes(pod)
        }
        _ => false,
    }
}

/// Returns the actual kind of change of a step, from the object's states before and after the step.
fn change(drawn: &str, kind: &Value, before: ObjectState, after: ObjectState) -> String {
    use ObjectState::{Absent, Nominated, Placed};
    let kind = kind.as_str().unwrap_or_default();
    match (before, after) {
        (Placed, Placed) if ["Node", "Pod"].contains(&kind) => drawn.to_owned(),
        (Placed, Placed) => format!("{kind} ~"),
        (Nominated | Absent, Placed) => format!("{kind} +"),
        (Placed, Nominated | Absent) => format!("{kind} -"),
        (Absent | Nominated, Nominated) => "Nominated pod +".to_owned(),
        (Nominated, Absent) => "Nominated pod -".to_owned(),
        (Absent, Absent) => "nothing".to_owned(),
    }
}

/// Returns whether an added or deleted node changed the results of a plugin: the plugin rejects or scores the node, or
/// its results for other nodes changed.
fn has_changed(before: &PluginEvaluation, after: &PluginEvaluation, node: Symbol) -> bool {
    before.concerns(node) || after.concerns(node) || !before.equals_except_on(after, node)
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "changes that changed the results of a plugin (+ added, - deleted, ~ updated; scheduled: decisions that it affected)"
        )?;
        for (plugin, counts) in &self.counts {
            let counts: Vec<_> = counts.iter().map(|(change, count)| format!("{change}: {count}")).collect();
            writeln!(f, "{plugin}: {}", counts.join(", "))?;
        }
        Ok(())
    }
}
