//! Which events end the wait for victims.

use schedc_core::events::{Action, ClusterEvent, EventObject, EventResource};
use schedc_core::extension_points::{EnqueueExtensions, HintError, QueueingHint, Registration};
use schedc_core::model::Pod;
use schedc_core::plugin::IndexView;

use super::{DefaultPreemption, DefaultPreemptionArgs};

/// No event ends it: the preemption that removes the victims wakes the pod when it is done.
impl EnqueueExtensions for DefaultPreemption {
    const EVENTS: &'static [Registration] = &[Registration::hinted(EventResource::Pod, Action::DELETE)];

    fn queueing_hint(
        &self,
        _: &DefaultPreemptionArgs,
        _: &Pod,
        _: ClusterEvent,
        _: EventObject<'_>,
        _: IndexView<'_, Self>,
    ) -> Result<QueueingHint, HintError> {
        Ok(QueueingHint::Skip)
    }
}
