//! Access to nodes, pods and objects by position. A pass over all values of a cache can thus be split into several
//! calls.

use std::sync::Arc;

use super::{Cache, Nominator};
use crate::model::intern::{Interner, Symbol};
use crate::model::map::IndexedMap;
use crate::model::node_info::NodeInfo;
use crate::model::symbols::{SymbolVisitor, Symbols};
use crate::model::{Object, ObjectKey, Pod};

/// A kind of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// Nodes with their pods.
    Nodes,
    /// Names of unknown nodes with their pods.
    UnknownNodes,
    /// Other objects.
    Objects,
    /// Names of nodes with their nominated pods.
    Nominations,
}

/// All values of a cache.
pub(crate) struct CacheValues<'a> {
    infos: &'a [NodeInfo],
    pods_of_unknown_nodes: &'a IndexedMap<Symbol, Vec<Arc<Pod>>>,
    objects: &'a IndexedMap<ObjectKey, Object>,
    nominator: &'a Nominator,
}

impl<S> Cache<S> {
    /// Returns the interner, and the values that have its symbols.
    pub(crate) fn values(&mut self) -> (&mut Interner, CacheValues<'_>) {
        let Cache { base, pods_of_unknown_nodes, objects, nominator, .. } = self;
        (&mut base.interner, CacheValues { infos: &base.infos, pods_of_unknown_nodes, objects, nominator })
    }
}

impl CacheValues<'_> {
    /// Returns the number of positions of a kind.
    pub(crate) fn len(&self, kind: ValueKind) -> usize {
        match kind {
            ValueKind::Nodes => self.infos.len(),
            ValueKind::UnknownNodes => self.pods_of_unknown_nodes.len(),
            ValueKind::Objects => self.objects.len(),
            ValueKind::Nominations => self.nominator.n_nodes(),
        }
    }

    /// Visits the symbols of the value at a position.
    pub(crate) fn visit(&self, kind: ValueKind, position: usize, visitor: &mut impl SymbolVisitor) {
        match kind {
            ValueKind::Nodes => {
                let NodeInfo { node, pods } = &self.infos[position];
                (node, pods).visit(visitor);
            }
            ValueKind::UnknownNodes => self.pods_of_unknown_nodes.get_index(position).visit(visitor),
            ValueKind::Objects => self.objects.get_index(position).map(|(_, object)| object).visit(visitor),
            ValueKind::Nominations => self.nominator.node_at(position).visit(visitor),
        }
    }
}
