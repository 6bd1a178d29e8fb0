//! Nodes.

use super::{Labels, Resources, Taint};
use crate::model::intern::Symbol;
use crate::model::symbols::Symbols;

/// A node's dense index in the cluster's columns and node masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeIndex(pub u32);

impl NodeIndex {
    /// Returns the index into a column.
    #[inline(always)]
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

/// An image that a node has.
#[derive(Clone, Debug, PartialEq, Eq, Symbols)]
pub struct ContainerImage {
    /// All its names, as the node reports them: usually with tag or digest.
    pub names: Box<[Symbol]>,
    /// Size in bytes.
    pub size: i64,
}

/// A node as scheduling reads it. The default has no resources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Symbols)]
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
    /// `status.conditions`: types and statuses, each type once, sorted by symbol.
    pub conditions: Box<[(Symbol, Symbol)]>,
    /// Hash of `metadata.annotations`, to find changes for events. Columns and indexes are not notified of a node that
    /// changed only in annotations.
    pub annotations: u64,
    /// `status.declaredFeatures`.
    pub declared_features: Box<[Symbol]>,
}

/// Extent of a node's change, ordered from small to large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NodeChange {
    /// No change.
    Nothing,
    /// Annotations.
    Annotations,
    /// Conditions, and possibly annotations.
    Conditions,
    /// Any other field.
    More,
}

impl Node {
    /// Returns the extent of the change to `new`.
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
