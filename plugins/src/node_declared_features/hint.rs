//! Events that add a node, or change the declared features of a node or the required features of the pod.

use schedc_core::args::NoArgs;
use schedc_core::events::{Action, EventObject, EventResource};
use schedc_core::extension_points::{EnqueueExtensions, HintContext, HintError, QueueingHint, Registration};

use super::NodeDeclaredFeatures;

impl EnqueueExtensions for NodeDeclaredFeatures {
    const EVENTS: &'static [Registration] = &[
        Registration::always(EventResource::Node, Action::ADD),
        Registration::hinted(EventResource::Node, Action::UPDATE_NODE_DECLARED_FEATURE),
        Registration::hinted(EventResource::Pod, Action::UPDATE),
    ];

    fn queueing_hint(&self, _: &NoArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let HintContext { rejected, object, .. } = cx;
        Ok(QueueingHint::queue_if(match object {
            EventObject::Node(Some(old), Some(new)) => old.declared_features != new.declared_features,
            EventObject::Pod(Some(old), Some(new)) => {
                new.uid == rejected.uid && old.spec.required_features != new.spec.required_features
            }
            _ => true,
        }))
    }
}
