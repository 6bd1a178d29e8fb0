//! A filter with event registrations.

use schedc_core::prelude::*;

/// Keeps pods off nodes that have a label.
#[derive(Clone, Copy, Args)]
pub struct Maintenance {
    /// Label of nodes under maintenance.
    #[args(default = "example.com/maintenance", format = "qualified-name")]
    label: &'static str,
}

#[plugin]
impl SimpleFilter for Maintenance {
    type Pod = Symbol;

    fn read(&self, _: &PodSpec, interner: &mut Interner) -> Symbol {
        interner.intern(self.label)
    }

    fn filter(&self, label: &Symbol, node: &NodeInfo) -> Result<(), &'static str> {
        match node.label(*label) {
            None => Ok(()),
            Some(_) => Err("node(s) were under maintenance"),
        }
    }
}

impl EnqueueExtensions for Maintenance {
    const EVENTS: &'static [Registration] = &[
        // Every new node is worth an attempt.
        Registration::always(EventResource::Node, Action::ADD),
        // A change of labels is worth an attempt if the hint returns Queue.
        Registration::hinted(EventResource::Node, Action::UPDATE_NODE_LABEL),
    ];

    fn queueing_hint(&self, _: &Self, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let HintContext { object, view, .. } = cx;
        let EventObject::Node(Some(old), Some(new)) = object else { return Ok(QueueingHint::Queue) };
        let key = view.interner().get(self.label);
        let in_maintenance = |node: &Node| key.is_some_and(|key| node.labels.value(key).is_some());
        Ok(QueueingHint::queue_if(in_maintenance(old) && !in_maintenance(new)))
    }
}
