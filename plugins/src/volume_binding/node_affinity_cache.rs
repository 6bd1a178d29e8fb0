//! The nodes that can access a volume, computed once for all volumes with the same node affinity.

use std::sync::Arc;

use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{LabelsExt, NodeIndex, NodeSelector, NodeSelectorTerm};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::View;

use super::VolumeBinding;
use super::label_indexed_list::required_label;
use crate::indexes::Epoch;

/// Maximum number of cached node affinities. Local volumes have a separate node affinity for each node.
pub(super) const LIMIT: usize = 256;

/// The nodes that match node affinities, valid until a node's labels change.
#[derive(Debug, Default)]
pub(super) struct NodeAffinityCache {
    epoch: Epoch,
    nodes: Map<NodeSelector, Arc<NodeMask>>,
    /// The nodes with a label, by key and value.
    labels: Map<Symbol, Map<Symbol, Vec<NodeIndex>>>,
}

impl NodeAffinityCache {
    /// Returns the nodes that match a node affinity.
    pub(super) fn nodes(&mut self, affinity: &NodeSelector, view: View<'_, VolumeBinding>) -> Arc<NodeMask> {
        let epoch = view.indexes.labels_epoch();
        if !epoch.equals(&self.epoch) {
            *self = NodeAffinityCache { epoch: epoch.clone(), ..NodeAffinityCache::default() };
        }
        if let Some(nodes) = self.nodes.get(affinity) {
            return nodes.clone();
        }
        let mut nodes = NodeMask::default();
        nodes.resize(view.base.infos().len());
        affinity.terms.iter().for_each(|term| self.add(term, view, &mut nodes));
        if self.nodes.len() == LIMIT {
            self.nodes.clear();
        }
        let nodes = Arc::new(nodes);
        self.nodes.insert(affinity.clone(), nodes.clone());
        nodes
    }

    /// Returns the number of cached node affinities.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Adds the nodes that match a term.
    fn add(&mut self, term: &NodeSelectorTerm, view: View<'_, VolumeBinding>, nodes: &mut NodeMask) {
        let mut look = |node: NodeIndex| {
            if view.row(node).0.matches_term(term) {
                nodes.insert(node);
            }
        };
        let Some(required_label) = required_label(&term.match_expressions) else {
            return view.base.alive().iter().for_each(look);
        };
        if self.labels.len() == LIMIT && !self.labels.contains_key(&required_label.key) {
            self.labels.clear();
        }
        let values = self.labels.entry(required_label.key).or_insert_with(|| {
            let mut values: Map<Symbol, Vec<NodeIndex>> = Map::default();
            for node in view.base.alive().iter() {
                if let Some(value) = view.row(node).0.labels.value(required_label.key) {
                    values.entry(value).or_default().push(node);
                }
            }
            values
        });
        required_label.values.iter().filter_map(|value| values.get(value)).flatten().for_each(|&node| look(node));
    }
}
