//! Events that make devices, or a pod's claims on them, available.

use schedc_core::events::{Action, EventObject, EventResource};
use schedc_core::extension_points::{EnqueueExtensions, HintContext, HintError, QueueingHint, Registration};
use schedc_core::model::{Object, Pod, ResourceClaim};
use schedc_core::plugin::IndexView;

use super::devices::is_at_least;
use super::{DynamicResources, DynamicResourcesArgs, claims};

impl EnqueueExtensions for DynamicResources {
    const EVENTS: &'static [Registration] = &[
        Registration::always(
            EventResource::Node,
            Action::ADD.or(Action::UPDATE_NODE_LABEL).or(Action::UPDATE_NODE_ALLOCATABLE),
        ),
        Registration::hinted(EventResource::ResourceClaim, Action::ADD.or(Action::UPDATE)),
        Registration::hinted(EventResource::Pod, Action::UPDATE_POD_GENERATED_RESOURCE_CLAIM),
        Registration::always(EventResource::DeviceClass, Action::ADD.or(Action::UPDATE)),
        Registration::always(EventResource::ResourceSlice, Action::ADD.or(Action::UPDATE)),
    ];

    fn queueing_hint(&self, _: &DynamicResourcesArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let HintContext { rejected, object, view } = cx;
        Ok(QueueingHint::queue_if(match object {
            EventObject::Object(old, Some(Object::ResourceClaim(claim))) => {
                let old = match old {
                    Some(Object::ResourceClaim(old)) => Some(&**old),
                    _ => None,
                };
                self.may_help(rejected, old, claim, view)
            }
            EventObject::Pod(_, Some(pod)) => pod.uid == rejected.uid && claims::of_pod(&pod, view.indexes.0).is_ok(),
            _ => true,
        }))
    }
}

impl DynamicResources {
    /// Returns whether a change of a claim may make a rejected pod schedulable.
    fn may_help(
        &self,
        rejected: &Pod,
        old: Option<&ResourceClaim>,
        new: &ResourceClaim,
        view: IndexView<'_, DynamicResources>,
    ) -> bool {
        // While a claim of the pod is missing or unusable, the pod is unschedulable in any case.
        let Ok(claims) = claims::of_pod(rejected, view.indexes.0) else { return false };
        // Released devices may help every pod.
        let is_freed =
            !new.is_allocated() && (old.is_some_and(ResourceClaim::is_allocated) || self.has_lost_allocation(new));
        let is_used = claims.iter().any(|(_, claim)| claim.uid == new.uid);
        is_freed || (is_used && old.is_none_or(|old| old.status != new.status))
    }

    /// Returns whether an allocation was written to a claim that is no longer allocated. The watch may never deliver
    /// the allocated state.
    fn has_lost_allocation(&self, claim: &ResourceClaim) -> bool {
        let pending = self.handle.pending_allocations();
        let mut written = pending.iter().filter_map(|(_, pending)| pending.written.as_ref());
        written.any(|written| written.uid == claim.uid && is_at_least(&claim.resource_version, &written.version))
    }
}
