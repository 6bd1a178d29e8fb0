//! SchedulingGates
//!
//! **What it does.** Holds a pod until all of its scheduling gates are removed.
//!
//! **Extension points.** PreEnqueue.
//!
//! **Arguments.** None.
//!
//! **Upstream.** `plugins/schedulinggates` (kube-scheduler 1.36.2).
//!
//! **Differences.** None.

use schedc_core::args::NoArgs;
use schedc_core::events::{Action, EventObject, EventResource};
use schedc_core::extension_points::{
    EnqueueExtensions, HintContext, HintError, PreEnqueuePlugin, QueueingHint, Registration,
};
use schedc_core::model::Pod;
use schedc_core::plugin::IndexView;
use schedc_core::status::Status;
use schedc_core::{Plugin, plugin};

/// Reads `spec.schedulingGates`.
#[derive(Debug, Default)]
pub struct SchedulingGates;

#[plugin]
impl Plugin for SchedulingGates {}

impl PreEnqueuePlugin for SchedulingGates {
    fn pre_enqueue(&self, _: &NoArgs, pod: &Pod, view: IndexView<'_, Self>) -> Result<(), Status> {
        let interner = view.interner();
        if pod.spec.scheduling_gates.is_empty() {
            return Ok(());
        }
        let gates: Vec<_> = pod.spec.scheduling_gates.iter().map(|&gate| interner.resolve(gate)).collect();
        Err(Status::unresolvable(format!("waiting for scheduling gates: [{}]", gates.join(" "))))
    }
}

impl EnqueueExtensions for SchedulingGates {
    const EVENTS: &'static [Registration] =
        &[Registration::hinted(EventResource::Pod, Action::UPDATE_POD_SCHEDULING_GATES_ELIMINATED)];

    fn queueing_hint(&self, _: &NoArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let HintContext { rejected, object, .. } = cx;
        let EventObject::Pod(_, Some(pod)) = object else { return Ok(QueueingHint::Queue) };
        Ok(QueueingHint::queue_if(pod.uid == rejected.uid))
    }
}

#[cfg(test)]
mod tests {
    use schedc_core::cache::Base;
    use schedc_core::intern::Interner;
    use schedc_objects::testing::pod;

    use super::*;
    use crate::testing::hint;

    #[test]
    fn gates_hold_a_pod() {
        for (gates, expected) in [
            ("[]", None),
            ("[{name: example.com/quota}]", Some("waiting for scheduling gates: [example.com/quota]")),
            ("[{name: b}, {name: a}]", Some("waiting for scheduling gates: [b a]")),
        ] {
            let mut interner = Interner::default();
            let pod = pod(&format!("spec: {{schedulingGates: {gates}}}"), &mut interner);
            let mut base = Base::default();
            base.interner = interner;
            let view = IndexView { indexes: (), base: &base };
            let status = SchedulingGates.pre_enqueue(&NoArgs, &pod, view).err();
            assert_eq!(status, expected.map(Status::unresolvable), "{gates}");
        }
    }

    #[test]
    fn only_updates_of_the_pod_wake_it() {
        let mut interner = Interner::default();
        let [one, two] = ["one", "two"].map(|name| pod(&format!("metadata: {{name: {name}}}"), &mut interner));
        for (changed, expected) in [(&one, QueueingHint::Queue), (&two, QueueingHint::Skip)] {
            let object = EventObject::pods(Some(changed), Some(changed));
            assert_eq!(hint::<SchedulingGates>(&NoArgs, &one, object, &interner), expected);
        }
    }
}
