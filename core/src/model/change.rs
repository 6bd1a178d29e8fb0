//! Changes of the cluster, one object each.

use super::intern::Symbol;
use super::{Node, Object, ObjectKey, Pod, Uid};

/// An object was added, changed or removed. Symbols are those of the scheduler's interner.
#[derive(Clone, Debug)]
pub enum Change {
    /// The current state of a node.
    Node(Node),
    /// The node with this name was removed.
    NodeDeleted(Symbol),
    /// The current state of a pod. A pod that has succeeded or failed is reported as deleted.
    Pod(Pod),
    /// The pod was removed.
    PodDeleted(Uid),
    /// The current state of another object.
    Object(Object),
    /// Another object was removed.
    ObjectDeleted(ObjectKey),
}
