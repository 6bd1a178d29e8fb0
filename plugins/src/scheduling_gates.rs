//! SchedulingGates
//!
//! **What it does.** Holds a pod back until all of its scheduling gates are gone.
//!
//! **Extension points.** PreEnqueue.
//!
//! **Arguments.** None.
//!
//! **Upstream.** `plugins/schedulinggates` (kube-scheduler 1.36.2).
//!
//! **Differences.** None.

use schedc_core::args::NoArgs;
use schedc_core::extension_points::{
    Action, ClusterEvent, EnqueueExtensions, EventObject, EventResource, PreEnqueuePlugin, QueueingHint,
};
use schedc_core::handle::Handle;
use schedc_core::intern::Interner;
use schedc_core::model::{Pod, PodSpec};
use schedc_core::plugin::{Compile, Plugin};
use schedc_core::status::Status;

/// Looks at `spec.schedulingGates`.
#[derive(Debug)]
pub struct SchedulingGates;

impl Plugin for SchedulingGates {
    const NAME: &'static str = "SchedulingGates";
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = ();
    type Pod = ();

    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(SchedulingGates)
    }

    fn compile(_: &NoArgs, _: &PodSpec, _: Compile<'_, Self>) {}
}

impl PreEnqueuePlugin for SchedulingGates {
    fn pre_enqueue(&self, _: &NoArgs, pod: &Pod, interner: &Interner) -> Result<(), Status> {
        if pod.spec.scheduling_gates.is_empty() {
            return Ok(());
        }
        let gates: Vec<_> = pod.spec.scheduling_gates.iter().map(|&gate| interner.resolve(gate)).collect();
        Err(Status::unresolvable(format!("waiting for scheduling gates: [{}]", gates.join(" "))))
    }
}

impl EnqueueExtensions for SchedulingGates {
    const EVENTS: &'static [ClusterEvent] =
        &[ClusterEvent { resource: EventResource::Pod, actions: Action::UPDATE_POD_SCHEDULING_GATES_ELIMINATED }];

    fn queueing_hint(
        _: &NoArgs,
        rejected: &Pod,
        _: ClusterEvent,
        object: EventObject<'_>,
        _: &Interner,
    ) -> QueueingHint {
        match object {
            EventObject::Pod(_, Some(pod)) if pod.uid != rejected.uid => QueueingHint::Skip,
            _ => QueueingHint::Queue,
        }
    }
}

#[cfg(test)]
mod tests {
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
            let status = SchedulingGates.pre_enqueue(&NoArgs, &pod, &interner).err();
            assert_eq!(status, expected.map(Status::unresolvable), "{gates}");
        }
    }

    #[test]
    fn only_the_pod_itself_wakes() {
        let mut interner = Interner::default();
        let [one, two] = ["one", "two"].map(|name| pod(&format!("metadata: {{name: {name}}}"), &mut interner));
        for (changed, expected) in [(&one, QueueingHint::Queue), (&two, QueueingHint::Skip)] {
            let object = EventObject::Pod(Some(changed), Some(changed));
            assert_eq!(hint::<SchedulingGates>(&NoArgs, &one, object, &interner), expected);
        }
    }
}
