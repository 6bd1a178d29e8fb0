//! Nodes with an extended resource.

use crate::model::intern::Symbol;
use crate::model::map::Map;
use crate::model::{Node, NodeIndex, Pod};

/// For each resource other than cpu, memory and storage: the nodes that have an amount of it, usually few.
#[derive(Clone, Debug, Default)]
pub(super) struct ResourceNodes {
    /// The nodes with each resource, sorted; no list is empty.
    nodes: Map<Symbol, Vec<NodeIndex>>,
    /// Whether a pod with a negative amount was seen. With such a pod, a node may offer a resource that it does not
    /// have.
    is_unknown: bool,
}

impl ResourceNodes {
    /// Adds (`old` is `None`), changes, or removes (`new` is `None`) a node.
    pub(super) fn set_node(&mut self, index: NodeIndex, old: Option<&Node>, new: Option<&Node>) {
        if old.map(resources) == new.map(resources) {
            return;
        }
        for name in old.into_iter().flat_map(held) {
            if let Some(nodes) = self.nodes.get_mut(&name) {
                if let Ok(at) = nodes.binary_search(&index) {
                    nodes.remove(at);
                }
                if nodes.is_empty() {
                    self.nodes.remove(&name);
                }
            }
        }
        for name in new.into_iter().flat_map(held) {
            let nodes = self.nodes.entry(name).or_default();
            if let Err(at) = nodes.binary_search(&index) {
                nodes.insert(at, index);
            }
        }
    }

    /// Adds a pod to a node.
    #[inline]
    pub(super) fn add_pod(&mut self, pod: &Pod) {
        self.is_unknown |= pod.usage.requests.scalars.iter().any(|&(_, amount)| amount < 0);
    }

    /// Returns the nodes with an amount of a resource. `None`: unknown.
    pub(super) fn of(&self, resource: Symbol) -> Option<&[NodeIndex]> {
        (!self.is_unknown).then(|| self.nodes.get(&resource).map_or(&[][..], |nodes| nodes))
    }
}

fn resources(node: &Node) -> &[(Symbol, i64)] {
    &node.allocatable.scalars
}

fn held(node: &Node) -> impl Iterator<Item = Symbol> {
    resources(node).iter().filter(|&&(_, amount)| amount > 0).map(|&(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{PodUsage, Resources};

    const GPU: Symbol = Symbol::EMPTY;

    fn node(gpus: i64) -> Node {
        Node {
            allocatable: Resources { scalars: [(GPU, gpus)].into_iter().collect(), ..Resources::default() },
            ..Node::default()
        }
    }

    fn nodes(resource_nodes: &ResourceNodes) -> Option<Vec<u32>> {
        Some(resource_nodes.of(GPU)?.iter().map(|node| node.0).collect())
    }

    #[test]
    fn nodes_of_a_resource_are_added_changed_and_removed() {
        let mut resource_nodes = ResourceNodes::default();
        let (none, some, more) = (node(0), node(1), node(2));
        for (index, old, new, expected) in [
            (3, None, Some(&some), vec![3]),
            (1, None, Some(&none), vec![3]),
            (0, None, Some(&some), vec![0, 3]),
            (1, Some(&none), Some(&some), vec![0, 1, 3]),
            (0, Some(&some), Some(&more), vec![0, 1, 3]),
            (3, Some(&some), Some(&none), vec![0, 1]),
            (1, Some(&some), None, vec![0]),
            (0, Some(&more), None, vec![]),
        ] {
            resource_nodes.set_node(NodeIndex(index), old, new);
            assert_eq!(nodes(&resource_nodes), Some(expected));
        }
    }

    #[test]
    fn a_negative_request_makes_the_nodes_of_the_resource_unknown() {
        let mut resource_nodes = ResourceNodes::default();
        let pod_with = |gpus| {
            let usage = PodUsage { requests: node(gpus).allocatable, ..PodUsage::default() };
            Pod { usage: usage.into(), ..Pod::default() }
        };
        resource_nodes.add_pod(&pod_with(1));
        assert_eq!(nodes(&resource_nodes), Some(vec![]));
        resource_nodes.add_pod(&pod_with(-1));
        assert_eq!(nodes(&resource_nodes), None);
    }
}
