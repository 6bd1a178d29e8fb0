//! The interface of columns and indexes, which the cache notifies of changes.

use std::sync::Arc;

use super::Base;
use crate::model::cache_size::CacheSize;
use crate::model::intern::Interner;
use crate::model::{Node, NodeIndex, Object, Pod};

/// The columns and indexes of all profiles of a program, each once. Generated.
pub trait State: Default + Send + Sync + 'static {
    /// One node's columns, for hypothetical changes.
    type Hypothetical<'a>: Clone;

    /// Lets columns and indexes intern the strings that they compare. Called once, before all other methods.
    fn begin(&mut self, _interner: &mut Interner) {}

    /// Adds (`old` is `None`), changes, or removes (its slot is empty now) a node. Derives the node's columns again
    /// from the node and its pods. Returns whether a kernel may read a different value.
    fn set_node(&mut self, base: &Base, index: NodeIndex, old: Option<&Node>) -> bool;
    /// Adds a pod to a node.
    fn add_pod(&mut self, index: NodeIndex, pod: &Pod);
    /// Removes a pod from a node.
    fn remove_pod(&mut self, index: NodeIndex, pod: &Pod);

    /// Adds (`old` is `None`), changes, or removes (`new` is `None`) a pending pod.
    fn set_pending(&mut self, _old: Option<&Pod>, _new: Option<&Pod>) {}

    /// Adds (`old` is `None`), changes, or removes (`new` is `None`) an object of another kind.
    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>);

    /// Returns the sizes of the caches of all indexes.
    fn cache_sizes(&self) -> Vec<CacheSize> {
        Vec::new()
    }

    /// Returns a node for hypothetical changes.
    fn hypothetical<'a>(&'a self, base: &'a Base, index: NodeIndex) -> Self::Hypothetical<'a>;
    /// Adds a pod to a hypothetical node.
    fn hypothetical_add(node: &mut Self::Hypothetical<'_>, pod: &Arc<Pod>);
    /// Removes a pod from a hypothetical node.
    fn hypothetical_remove(node: &mut Self::Hypothetical<'_>, pod: &Arc<Pod>);
}
