//! The hint of DefaultPreemption, which never requests an attempt.

use schedc_core::events::{Action, EventResource};
use schedc_core::extension_points::{EnqueueExtensions, HintContext, HintError, QueueingHint, Registration};

use super::{DefaultPreemption, DefaultPreemptionArgs};

/// No event ends the preemptor's wait for its victims. The scheduler itself retries the preemptor when the preemption
/// has ended, if an event arrived meanwhile or a victim could not be removed.
impl EnqueueExtensions for DefaultPreemption {
    const EVENTS: &'static [Registration] = &[Registration::hinted(EventResource::Pod, Action::DELETE)];

    fn queueing_hint(&self, _: &DefaultPreemptionArgs, _: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        Ok(QueueingHint::Skip)
    }
}
