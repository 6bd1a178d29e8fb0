//! Nodes.

use super::{Labels, Resources, Taint};
use crate::intern::Symbol;

/// A node's dense index in the cluster's columns and masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeIndex(pub u32);

impl NodeIndex {
    /// As an index into a column.
    #[inline(always)]
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

/// An image that a node has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerImage {
    /// All names of it, as the node reports them: usually with tag or digest.
    pub names: Box<[Symbol]>,
    /// Size in bytes.
    pub size: i64,
}

/// A node as scheduling sees it. The default has room for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// `metadata.name`.
    pub name: Symbol,
    /// `metadata.labels`.
    pub labels: Labels,
    /// `spec.taints`.
    pub taints: Box<[Taint]>,
    /// `spec.unschedulable`.
    pub unschedulable: bool,
    /// `status.allocatable` without `pods`.
    pub allocatable: Resources,
    /// `status.allocatable.pods`.
    pub allowed_pods: i64,
    /// `status.images`.
    pub images: Box<[ContainerImage]>,
    /// `status.conditions`: types, each once and sorted by symbol, and statuses.
    pub conditions: Box<[(Symbol, Symbol)]>,
    /// A digest of `metadata.annotations`, which differs if they do. It is there for events: a node that changed in nothing
    /// else is nothing new to columns and indexes.
    pub annotations: u64,
    /// `status.declaredFeatures`.
    pub declared_features: Box<[Symbol]>,
}

/// How much of a node changed, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NodeChange {
    /// Nothing.
    Nothing,
    /// Annotations.
    Annotations,
    /// Conditions, and maybe annotations.
    Conditions,
    /// Anything else.
    More,
}

impl Node {
    /// How much of it changed.
    pub(crate) fn change(&self, new: &Node) -> NodeChange {
        let Node {
            name,
            labels,
            taints,
            unschedulable,
            allocatable,
            allowed_pods,
            images,
            conditions,
            annotations,
            declared_features,
        } = new;
        let is_same = self.name == *name
            && self.labels == *labels
            && self.taints == *taints
            && self.unschedulable == *unschedulable
            && self.allocatable == *allocatable
            && self.allowed_pods == *allowed_pods
            && self.images == *images
            && self.declared_features == *declared_features;
        match (is_same, self.conditions == *conditions, self.annotations == *annotations) {
            (false, ..) => NodeChange::More,
            (true, false, _) => NodeChange::Conditions,
            (true, true, false) => NodeChange::Annotations,
            (true, true, true) => NodeChange::Nothing,
        }
    }
}
