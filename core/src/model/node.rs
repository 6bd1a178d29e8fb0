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
    /// A digest of `metadata.annotations`, which differs if they do.
    pub annotations: u64,
    /// `status.declaredFeatures`.
    pub declared_features: Box<[Symbol]>,
}
