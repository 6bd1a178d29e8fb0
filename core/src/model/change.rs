//! Changes of the cluster, one object each.

use super::intern::Symbol;
use super::{Node, Object, ObjectKey, Pod, Uid};

/// Addition, change or removal of an object. Symbols are those of the scheduler's interner.
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

/// Identity of the object of a change. For a pod, it is the uid, because a pod may be deleted and created again with
/// the same name unnoticed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectId {
    /// Name of a node.
    Node(Symbol),
    /// Uid of a pod.
    Pod(Uid),
    /// Key of another object.
    Object(ObjectKey),
}

impl Change {
    /// Returns the identity of the object.
    pub fn id(&self) -> ObjectId {
        match self {
            Change::Node(node) => ObjectId::Node(node.name),
            Change::NodeDeleted(name) => ObjectId::Node(*name),
            Change::Pod(pod) => ObjectId::Pod(pod.uid.clone()),
            Change::PodDeleted(uid) => ObjectId::Pod(uid.clone()),
            Change::Object(object) => ObjectId::Object(object.key()),
            Change::ObjectDeleted(key) => ObjectId::Object(*key),
        }
    }

    /// Returns whether the object was removed.
    pub fn is_removal(&self) -> bool {
        matches!(self, Change::NodeDeleted(_) | Change::PodDeleted(_) | Change::ObjectDeleted(_))
    }
}

impl ObjectId {
    /// Returns the removal of the object.
    pub fn into_removal(self) -> Change {
        match self {
            ObjectId::Node(name) => Change::NodeDeleted(name),
            ObjectId::Pod(uid) => Change::PodDeleted(uid),
            ObjectId::Object(key) => Change::ObjectDeleted(key),
        }
    }
}
