//! Whole objects as their API server wrote them, for extenders.
//!
//! The model has only the fields that scheduling reads, but extenders may read any field. A scheduler with extenders
//! therefore keeps the objects that it sends to them as JSON, next to the model. The kinds of these objects are known
//! at compile time ([`Bundle::ORIGINALS`](crate::profile::Bundle::ORIGINALS)). The driver of the scheduler inserts an
//! original before it passes the change of the object to the scheduler.

use std::sync::Arc;

use crate::model::Uid;
use crate::model::change::Change;
use crate::model::intern::Symbol;
use crate::model::map::Map;

/// Objects whose originals are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequiredOriginals {
    /// All nodes.
    pub nodes: bool,
    /// Pods without a node.
    pub waiting_pods: bool,
    /// Pods with a node.
    pub placed_pods: bool,
}

impl RequiredOriginals {
    /// No originals.
    pub const NONE: RequiredOriginals = RequiredOriginals { nodes: false, waiting_pods: false, placed_pods: false };

    /// Returns the union of two values.
    pub const fn or(self, other: RequiredOriginals) -> RequiredOriginals {
        RequiredOriginals {
            nodes: self.nodes || other.nodes,
            waiting_pods: self.waiting_pods || other.waiting_pods,
            placed_pods: self.placed_pods || other.placed_pods,
        }
    }

    /// Returns whether the originals of some pods are kept.
    pub const fn pods(self) -> bool {
        self.waiting_pods || self.placed_pods
    }

    /// Returns whether any originals are kept.
    pub const fn any(self) -> bool {
        self.nodes || self.pods()
    }
}

/// The originals: JSON without `apiVersion` and `kind`, as kube-scheduler sends objects.
#[derive(Clone, Debug, Default)]
pub struct Originals {
    nodes: Map<Symbol, Arc<str>>,
    pods: Map<Uid, Arc<str>>,
}

impl Originals {
    /// Sets a node's original; `None` removes it.
    pub fn set_node(&mut self, name: Symbol, json: Option<Arc<str>>) {
        match json {
            Some(json) => self.nodes.insert(name, json),
            None => self.nodes.remove(&name),
        };
    }

    /// Sets a pod's original; `None` removes it.
    pub fn set_pod(&mut self, uid: &Uid, json: Option<Arc<str>>) {
        match json {
            Some(json) => self.pods.insert(uid.clone(), json),
            None => self.pods.remove(uid),
        };
    }

    /// Updates the originals before a change is passed to the scheduler. `original` returns the object as written, if
    /// it is known.
    pub fn update(
        &mut self,
        required: RequiredOriginals,
        change: &Change,
        original: impl FnOnce() -> Option<Arc<str>>,
    ) {
        match change {
            Change::Node(node) if required.nodes => self.set_node(node.name, original()),
            Change::NodeDeleted(name) if required.nodes => self.set_node(*name, None),
            Change::Pod(pod) if required.pods() => {
                let is_kept = if pod.spec.node_name.is_some() { required.placed_pods } else { required.waiting_pods };
                self.set_pod(&pod.uid, if is_kept { original() } else { None });
            }
            Change::PodDeleted(uid) if required.pods() => self.set_pod(uid, None),
            _ => {}
        }
    }

    /// Returns a node's original.
    pub fn node(&self, name: Symbol) -> Option<&Arc<str>> {
        self.nodes.get(&name)
    }

    /// Returns a pod's original.
    pub fn pod(&self, uid: &Uid) -> Option<&Arc<str>> {
        self.pods.get(uid)
    }
}
