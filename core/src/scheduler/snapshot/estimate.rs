//! Number of new, equal nodes that some pods would need: Cluster Autoscaler's `BinpackingNodeEstimator`.

use std::sync::Arc;

use super::Snapshot;
use crate::engine::verdict::Verdict;
use crate::model::intern::Symbol;
use crate::model::{Node, NodeIndex, Pod, Uid};
use crate::profile_api::profile::Profile;

/// A node that does not exist yet, such as the next one of a node group.
#[derive(Clone, Debug)]
pub struct NodeTemplate {
    /// The node. The name of a copy is the name of this node with a number. If the node has the label
    /// `kubernetes.io/hostname`, the label of the copy has the name of the copy.
    pub node: Node,
    /// The pods on each copy, such as those of DaemonSets.
    pub pods: Vec<Arc<Pod>>,
}

/// Result of a hypothetical scale-up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Number of new nodes with at least one of the pods.
    pub nodes: usize,
    /// Indices, in the list of pods, of the pods that fit on the new nodes.
    pub placed: Vec<usize>,
    /// The other pods, each with a rejection: the pod was rejected as a whole, or by a new node that had only the pods
    /// of the template. `None`: no further node was allowed, so there is no rejection.
    pub unplaced: Vec<(usize, Option<Verdict>)>,
}

impl<P: Profile> Snapshot<P> {
    /// Adds a copy of the template: the node and its pods. The name of the copy is the name of the template's node with
    /// `number`, or with the next free number.
    fn add_copy(&mut self, template: &NodeTemplate, number: usize) -> NodeIndex {
        let base = &mut self.cache.base;
        let mut name = Symbol::EMPTY;
        for number in number.. {
            let text = format!("{}-{number}", base.interner.resolve(template.node.name));
            name = base.interner.intern(&text);
            if base.node(name).is_none() {
                break;
            }
        }
        let names = &mut base.interner;
        let hostname = names.intern("kubernetes.io/hostname");
        let mut node = Node { name, ..template.node.clone() };
        node.labels =
            node.labels.iter().map(|&(key, value)| (key, if key == hostname { name } else { value })).collect();
        let index = self.set_node(node);
        for pod in &template.pods {
            let uid = Uid(format!("{}@{}", pod.uid.0, self.cache.base.interner.resolve(name)).into());
            self.add_pod(Arc::new(Pod { uid, ..Pod::clone(pod) }), name);
        }
        index
    }

    /// Evaluates a pod on a copy of the template's node.
    ///
    /// # Errors
    /// The rejection by the first plugin that rejects the pod or the node.
    pub fn check_on_copy(&mut self, template: &NodeTemplate, pod: &Arc<Pod>) -> Result<(), Verdict> {
        self.fork();
        let node = self.add_copy(template, 0);
        let verdict = self.check(pod, node);
        self.revert();
        verdict
    }

    /// Adds at most `max_nodes` copies of the template's node, and puts each pod on the first copy on which it fits.
    /// Existing nodes take no pods. All changes are reverted.
    pub fn estimate(&mut self, template: &NodeTemplate, pods: &[Arc<Pod>], max_nodes: usize) -> Estimate {
        self.fork();
        let mut estimate = Estimate::default();
        // The copies, each with the number of the pods that were put on it.
        let mut nodes: Vec<(NodeIndex, usize)> = Vec::new();
        for (at, pod) in pods.iter().enumerate() {
            let (mut chosen, mut rejection) = self.schedule_on_first_of(pod, &nodes);
            if chosen.is_none() && nodes.len() < max_nodes && nodes.last().is_none_or(|(_, pods)| *pods > 0) {
                let place = nodes.len();
                nodes.push((self.add_copy(template, place), 0));
                (chosen, rejection) = self.schedule_on_first_of(pod, &nodes[place..]);
                chosen = chosen.map(|_| place);
            }
            match chosen {
                Some(place) => {
                    nodes[place].1 += 1;
                    estimate.placed.push(at);
                }
                None => estimate.unplaced.push((at, rejection)),
            }
        }
        estimate.nodes = nodes.iter().filter(|(_, pods)| *pods > 0).count();
        self.revert();
        estimate
    }

    /// Puts a pod on the first of these nodes on which it fits. `nodes` has each node with the number of pods that were
    /// put on it. Returns the chosen node's index in `nodes`, and a rejection: the pod was rejected as a whole, or by a
    /// node on which no pod was put.
    fn schedule_on_first_of(
        &mut self,
        pod: &Arc<Pod>,
        nodes: &[(NodeIndex, usize)],
    ) -> (Option<usize>, Option<Verdict>) {
        let mut rejection = None;
        let result = self.schedule_on_first(pod, nodes.iter().map(|(node, _)| *node), |node, why| {
            if nodes.contains(&(node, 0)) {
                rejection = Some(why);
            }
        });
        match result {
            Ok(chosen) => (chosen.and_then(|chosen| nodes.iter().position(|(node, _)| *node == chosen)), rejection),
            Err(why) => (None, Some(why)),
        }
    }
}
