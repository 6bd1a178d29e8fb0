//! A filter with event registrations.

use schedc_core::SimpleFilter;
use schedc_core::args::NoArgs;
use schedc_core::column::NodeInfo;
use schedc_core::events::{Action, EventObject, EventResource};
use schedc_core::extension_points::{EnqueueExtensions, HintContext, HintError, QueueingHint, Registration};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{LabelsExt, Node, PodSpec};

#[derive(Default)]
pub struct Maintenance;

impl SimpleFilter for Maintenance {
    const NAME: &'static str = "Maintenance";
    type Pod = Symbol;

    fn read(_: &PodSpec, interner: &mut Interner) -> Symbol {
        interner.intern("example.com/maintenance")
    }

    fn filter(label: &Symbol, node: &NodeInfo) -> Result<(), &'static str> {
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

    fn queueing_hint(&self, _: &NoArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let HintContext { object, view, .. } = cx;
        let EventObject::Node(Some(old), Some(new)) = object else { return Ok(QueueingHint::Queue) };
        let key = view.interner().get("example.com/maintenance");
        let in_maintenance = |node: &Node| key.is_some_and(|key| node.labels.value(key).is_some());
        Ok(QueueingHint::queue_if(in_maintenance(old) && !in_maintenance(new)))
    }
}
