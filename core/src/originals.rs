//! Objects as their API server wrote them, for those who are sent whole ones.
//!
//! The model holds what scheduling looks at. Extenders may look at anything, so a scheduler with such extenders keeps the
//! objects that it must send, as JSON, beside the model. Which those are is known when it is compiled
//! ([`Bundle::ORIGINALS`](crate::profile::Bundle::ORIGINALS)); whoever drives a scheduler puts them in, before it tells the
//! scheduler of the change.

use std::sync::Arc;

use crate::intern::Symbol;
use crate::map::Map;
use crate::model::Uid;
use crate::scheduler::Change;

/// Of which objects the originals are kept.
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
    /// Nothing is kept.
    pub const NONE: RequiredOriginals = RequiredOriginals { nodes: false, waiting_pods: false, placed_pods: false };

    /// What either of two needs.
    pub const fn and(self, other: RequiredOriginals) -> RequiredOriginals {
        RequiredOriginals {
            nodes: self.nodes || other.nodes,
            waiting_pods: self.waiting_pods || other.waiting_pods,
            placed_pods: self.placed_pods || other.placed_pods,
        }
    }

    /// Whether those of some pods are kept.
    pub const fn pods(self) -> bool {
        self.waiting_pods || self.placed_pods
    }

    /// Whether something is kept.
    pub const fn any(self) -> bool {
        self.nodes || self.pods()
    }
}

/// The originals: JSON, without `apiVersion` and `kind`, as kube-scheduler sends objects.
#[derive(Clone, Debug, Default)]
pub struct Originals {
    nodes: Map<Symbol, Arc<str>>,
    pods: Map<Uid, Arc<str>>,
}

impl Originals {
    /// A node is like this now; `None`: it went.
    pub fn set_node(&mut self, name: Symbol, json: Option<Arc<str>>) {
        match json {
            Some(json) => self.nodes.insert(name, json),
            None => self.nodes.remove(&name),
        };
    }

    /// A pod is like this now; `None`: it went, or is not kept any more.
    pub fn set_pod(&mut self, uid: &Uid, json: Option<Arc<str>>) {
        match json {
            Some(json) => self.pods.insert(uid.clone(), json),
            None => self.pods.remove(uid),
        };
    }

    /// The scheduler is about to be told of a change: `original` is the object as it was written, if it is there.
    pub fn keep(&mut self, of: RequiredOriginals, change: &Change, original: impl FnOnce() -> Option<Arc<str>>) {
        match change {
            Change::Node(node) if of.nodes => self.set_node(node.name, original()),
            Change::NodeDeleted(name) if of.nodes => self.set_node(*name, None),
            Change::Pod(pod) if of.pods() => {
                let is_kept = if pod.spec.node_name.is_some() { of.placed_pods } else { of.waiting_pods };
                self.set_pod(&pod.uid, if is_kept { original() } else { None });
            }
            Change::PodDeleted(uid) if of.pods() => self.set_pod(uid, None),
            _ => {}
        }
    }

    /// A node as it was written.
    pub fn node(&self, name: Symbol) -> Option<&Arc<str>> {
        self.nodes.get(&name)
    }

    /// A pod as it was written.
    pub fn pod(&self, uid: &Uid) -> Option<&Arc<str>> {
        self.pods.get(uid)
    }
}
