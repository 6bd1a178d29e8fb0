//! The cheapest nodes to add to a cluster for a list of pods.
//!
//! A set of new nodes is sufficient if all pods run in a [cluster in memory](crate::trial) with these nodes: the profile
//! takes every placement decision. `search` looks for the cheapest sufficient set by branch and bound, with the lower
//! bounds of `bound`.

mod bound;
mod search;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};

use k8s_openapi::api::core::v1::{Node, Pod};
use schedc_core::erased::AnyBundle;
use schedc_core::profile::StartErrors;
use schedc_in_memory::server::Key;
use schedc_objects::{AnyObject, is_finished};
use serde::Serialize;

use crate::remedies::copied_node;
use crate::trial::{self, Trial, TrialState, WaitReason};
use crate::workloads::NewPod;
use search::Search;

/// A kind of node that can be added.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// The template; its name is that of the shape.
    pub node: Node,
    /// Price in millionths of the currency.
    pub price: u64,
    /// Maximum number of nodes.
    pub max: usize,
    /// Pods of DaemonSets on each node of this shape. Their node affinity has the name of the template.
    pub daemons: Vec<Pod>,
}

/// The cheapest nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Provision {
    /// Whether all pods run with these nodes.
    pub sufficient: bool,
    /// Number of new nodes of each shape.
    pub nodes: BTreeMap<String, usize>,
    /// Price of the new nodes.
    pub price: f64,
    /// No sufficient set of nodes is cheaper than this.
    pub lower_bound: f64,
    /// Whether no sufficient set is cheaper.
    pub optimal: bool,
    /// Number of sets that were tried.
    pub trials: usize,
    /// Whether the search ended at a limit; a better set may then exist.
    pub cut: bool,
    /// Whether this limit is the maximum number of trials.
    #[serde(skip)]
    pub at_max_trials: bool,
    /// The pods that run, also those of DaemonSets on new nodes, with their nodes.
    pub placements: Vec<Placement>,
    /// Pods that wait with these nodes; empty if `sufficient`.
    pub waiting: Vec<Waiting>,
}

/// A pod with its node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Placement {
    /// `namespace/name`.
    pub pod: String,
    /// Its node.
    pub node: String,
}

/// A pod that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Waiting {
    /// `namespace/name`.
    pub pod: String,
    /// The reasons.
    #[serde(flatten)]
    pub rejection: WaitReason,
}

/// The cluster, the pods and the shapes.
pub(crate) struct Question<'a> {
    bundle: &'a AnyBundle,
    options: &'a trial::Options,
    /// The cluster without its pending pods.
    objects: Vec<AnyObject>,
    /// Names of the nodes of the cluster.
    nodes: HashSet<String>,
    pods: Vec<NewPod>,
    shapes: Vec<Shape>,
}

/// The result of a set of nodes.
#[derive(Clone)]
struct Outcome {
    placements: Vec<Placement>,
    waiting: Vec<Waiting>,
}

/// Number of millionths in a unit of the currency.
pub(crate) const UNIT: u64 = 1_000_000;

fn amount(price: u64) -> f64 {
    price as f64 / UNIT as f64
}

impl<'a> Question<'a> {
    /// Creates the question for these pods in a cluster with these objects.
    pub(crate) fn new(
        bundle: &'a AnyBundle,
        options: &'a trial::Options,
        objects: &[AnyObject],
        mut pods: Vec<NewPod>,
        mut shapes: Vec<Shape>,
    ) -> Self {
        let daemons = shapes.iter_mut().flat_map(|shape| &mut shape.daemons);
        for pod in pods.iter_mut().map(|new| &mut new.pod).chain(daemons) {
            // A pod that does not fit needs a new node; it does not preempt other pods.
            pod.spec.get_or_insert_default().preemption_policy = Some("Never".to_owned());
        }
        // Pending pods would take the new nodes first, and the question is about other pods.
        let objects: Vec<AnyObject> = objects.iter().filter(|object| !is_pending(object)).cloned().collect();
        let nodes = objects.iter().filter(|object| object.kind() == "Node").map(|node| node.name().to_owned());
        Question { bundle, options, nodes: nodes.collect(), objects, pods, shapes }
    }
}

/// Finds the cheapest new nodes with which all pods run. `max_trials` limits the number of sets that are tried.
///
/// # Errors
/// Returns an error if a plugin cannot start.
pub(crate) fn provision(question: &Question<'_>, max_trials: usize) -> Result<Provision, StartErrors> {
    Search::new(question, max_trials)?.run()
}

fn is_pending(object: &AnyObject) -> bool {
    let AnyObject::Pod(pod) = object else { return false };
    let has_node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).is_some_and(|node| !node.is_empty());
    !has_node && !is_finished(pod)
}

impl Question<'_> {
    /// Runs the pods in the cluster with `counts` new nodes, a number for each shape.
    fn outcome(&self, counts: &[usize]) -> Result<Outcome, StartErrors> {
        let mut objects = self.objects.clone();
        let mut daemons: Vec<Pod> = Vec::new();
        for (shape, count) in self.shapes.iter().zip(counts) {
            let name = shape.node.metadata.name.as_deref().unwrap_or_default();
            let names = (1..).map(|n| format!("{name}-new-{n}")).filter(|name| !self.nodes.contains(name));
            for name in names.take(*count) {
                objects.push(copied_node(&shape.node, &name).into());
                daemons.extend(shape.daemons.iter().map(|pod| on_node(pod, &name)));
            }
        }
        let mut trial = Trial::new(self.bundle, objects, self.options)?;
        // Nodes get the pods of DaemonSets first.
        let mut keys: Vec<Key> = trial.add(daemons.into_iter().map(AnyObject::from));
        for NewPod { pod, before } in self.pods.clone() {
            trial.add(before);
            keys.extend(trial.add([pod.into()]));
        }
        trial.run();
        let mut outcome = Outcome { placements: Vec::new(), waiting: Vec::new() };
        for key in keys {
            let pod = format!("{}/{}", key.namespace, key.name);
            match trial.state(&key) {
                TrialState::Running(node) => outcome.placements.push(Placement { pod, node }),
                TrialState::Waiting(rejection) => outcome.waiting.push(Waiting { pod, rejection }),
                TrialState::Gone => outcome.waiting.push(Waiting { pod, rejection: WaitReason::default() }),
            }
        }
        Ok(outcome)
    }
}

/// Returns a pod of a DaemonSet for another node, with a separate name.
fn on_node(pod: &Pod, node: &str) -> Pod {
    let mut pod = pod.clone();
    let prefix = pod.metadata.generate_name.as_deref().unwrap_or_default();
    pod.metadata.name = Some(format!("{prefix}{node}"));
    pod.metadata.uid = None;
    let affinity = pod.spec.as_mut().and_then(|spec| spec.affinity.as_mut()?.node_affinity.as_mut());
    let selector = affinity.and_then(|affinity| affinity.required_during_scheduling_ignored_during_execution.as_mut());
    let terms = selector.into_iter().flat_map(|selector| &mut selector.node_selector_terms);
    for field in terms.flat_map(|term| term.match_fields.iter_mut().flatten()) {
        field.values = Some(vec![node.to_owned()]);
    }
    pod
}
