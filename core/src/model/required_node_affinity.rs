//! The required node affinity of a pod, which may pin the pod to one node.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::symbols::{SymbolVisitor, Symbols};
use super::{NodeSelector, PodSpec};
use crate::model::intern::Symbol;

/// `requiredDuringSchedulingIgnoredDuringExecution` of a pod's node affinity, if it is given.
///
/// The pods of a DaemonSet differ only in the node that they name here. The engine compiles such pods once, from a spec
/// whose terms are withheld: they have no value, and a read is recorded. Without a read, the compiled form holds for
/// every node. With a read, the engine discards it and compiles every pod.
#[derive(Default)]
pub struct RequiredNodeAffinity {
    selector: Option<NodeSelector>,
    pin: Pin,
}

/// The use of terms that name one node.
#[derive(Default)]
enum Pin {
    /// The terms are used as they are.
    #[default]
    Unused,
    /// The only node that the terms allow, and the spec without the terms, which pods of one template share.
    Node { name: Symbol, template: Arc<PodSpec> },
    /// The terms are withheld.
    Withheld { was_read: AtomicBool },
}

impl RequiredNodeAffinity {
    /// Returns the terms; `None` if the pod has none.
    #[inline]
    pub fn get(&self) -> Option<&NodeSelector> {
        if let Pin::Withheld { was_read } = &self.pin {
            was_read.store(true, Ordering::Relaxed);
        }
        self.selector.as_ref()
    }

    /// Returns whether the terms are withheld: they name one node and have no other condition. This is not a read of the
    /// terms. A plugin may call it if it enforces the terms in PreFilter, with
    /// [`only_pinned`](crate::extension_points::PreFilterResult::only_pinned), and if its Filter would accept the named
    /// node by these terms.
    pub fn are_withheld(&self) -> bool {
        matches!(self.pin, Pin::Withheld { .. })
    }

    /// Returns the only node that the terms allow, if they consist of its name.
    pub(crate) fn named_node(&self) -> Option<Symbol> {
        let [term] = &*self.get()?.terms else { return None };
        match &*term.match_fields {
            [field] if !field.negated && term.match_expressions.is_empty() => Some(field.name),
            _ => None,
        }
    }

    /// Returns withheld terms.
    pub(crate) fn withheld() -> Self {
        RequiredNodeAffinity { selector: None, pin: Pin::Withheld { was_read: AtomicBool::new(false) } }
    }

    /// Returns whether withheld terms were read.
    pub(crate) fn was_read(&self) -> bool {
        matches!(&self.pin, Pin::Withheld { was_read } if was_read.load(Ordering::Relaxed))
    }

    /// Stores the only node that the terms allow, and the spec without the terms.
    pub(crate) fn set_pin(&mut self, name: Symbol, template: Arc<PodSpec>) {
        self.pin = Pin::Node { name, template };
    }

    /// Returns the values of [`RequiredNodeAffinity::set_pin`].
    #[inline]
    pub(crate) fn pin(&self) -> Option<(Symbol, &Arc<PodSpec>)> {
        match &self.pin {
            Pin::Node { name, template } => Some((*name, template)),
            _ => None,
        }
    }
}

impl From<Option<NodeSelector>> for RequiredNodeAffinity {
    fn from(selector: Option<NodeSelector>) -> Self {
        RequiredNodeAffinity { selector, pin: Pin::Unused }
    }
}

/// Clones the terms only: the template may not fit a changed copy of the spec.
impl Clone for RequiredNodeAffinity {
    fn clone(&self) -> Self {
        self.get().cloned().into()
    }
}

impl PartialEq for RequiredNodeAffinity {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for RequiredNodeAffinity {}

impl Hash for RequiredNodeAffinity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.get().hash(state);
    }
}

impl fmt::Debug for RequiredNodeAffinity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl Symbols for RequiredNodeAffinity {
    fn visit(&self, visitor: &mut impl SymbolVisitor) {
        // The symbols of the template are also in the spec itself.
        self.selector.visit(visitor);
    }
}
