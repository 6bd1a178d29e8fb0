//! Events that end the wait for victims.

use schedc_core::events::{Action, EventResource};
use schedc_core::extension_points::{EnqueueExtensions, HintContext, HintError, QueueingHint, Registration};

use super::{DefaultPreemption, DefaultPreemptionArgs};

/// No event ends the wait. Events that arrive meanwhile take effect after the preemption has removed the
/// victims.
impl EnqueueExtensions for DefaultPreemption {
    const EVENTS: &'static [Registration] = &[Registration::hinted(EventResource::Pod, Action::DELETE)];

    fn queueing_hint(&self, _: &DefaultPreemptionArgs, _: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        Ok(QueueingHint::Skip)
    }
}
