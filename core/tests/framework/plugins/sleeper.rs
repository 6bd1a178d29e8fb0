//! A plugin that rejects every pod, and requires another attempt only after certain events.

use schedc_core::args::NoArgs;
use schedc_core::events::{Action, EventObject, EventResource};
use schedc_core::extension_points::{
    EnqueueExtensions, FilterPlugin, HintContext, HintError, QueueingHint, Registration,
};
use schedc_core::status::{Code, Reasons};
use schedc_core::{Plugin, plugin};

use super::stage::note;

/// Rejects every node. Registered for new nodes (their names determine its hint), for changed annotations of nodes, and
/// for removed pods.
#[derive(Default)]
pub struct Sleeper;

#[plugin]
impl Plugin for Sleeper {}

impl FilterPlugin for Sleeper {
    type Cycle = ();
    type Rejection = ();

    fn filter(_: &NoArgs, _: &(), _: &(), _: ()) -> Result<(), ()> {
        Err(())
    }

    fn code(_: &()) -> Code {
        Code::Unschedulable
    }

    fn explain(_: &NoArgs, _: &(), _: &(), _: (), _: (), out: &mut Reasons<'_>) {
        out.push("pod sleeps");
    }
}

impl EnqueueExtensions for Sleeper {
    const EVENTS: &'static [Registration] = &[
        Registration::hinted(EventResource::Node, Action::ADD),
        Registration::always(EventResource::Pod, Action::DELETE),
        Registration::always(EventResource::Node, Action::UPDATE_NODE_ANNOTATION),
    ];

    fn queueing_hint(&self, _: &NoArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let HintContext { object, view, .. } = cx;
        let EventObject::Node(None, Some(node)) = object else { return Err(HintError("what node?".to_owned())) };
        let name = view.interner().resolve(node.name);
        let exists = if view.base.node(node.name).is_some() { "exists" } else { "does not exist" };
        note(format!("Sleeper receives {name}, which {exists}"));
        match name {
            "alarm" => Ok(QueueingHint::Queue),
            "broken-alarm" => Err(HintError("it does not ring".to_owned())),
            _ => Ok(QueueingHint::Skip),
        }
    }
}
