//! Events that release volumes, or add the claims of a pod.

use schedc_core::args::NoArgs;
use schedc_core::events::{Action, EventObject, EventResource};
use schedc_core::extension_points::{EnqueueExtensions, HintContext, HintError, QueueingHint, Registration};
use schedc_core::intern::Symbol;
use schedc_core::model::{Object, Pod, Volume};

use super::VolumeRestrictions;
use crate::columns::exclude_each_other;

impl EnqueueExtensions for VolumeRestrictions {
    const EVENTS: &'static [Registration] = &[
        Registration::hinted(EventResource::Pod, Action::DELETE),
        Registration::always(EventResource::Node, Action::ADD),
        Registration::hinted(EventResource::PersistentVolumeClaim, Action::ADD),
    ];

    fn queueing_hint(&self, _: &NoArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let HintContext { rejected, object, .. } = cx;
        Ok(QueueingHint::queue_if(match object {
            EventObject::Pod(Some(deleted), _) => {
                deleted.spec.namespace == rejected.spec.namespace
                    && (conflict(rejected, &deleted) || share_a_claim(rejected, &deleted))
            }
            EventObject::Object(_, Some(Object::PersistentVolumeClaim(claim))) => {
                claim.namespace == rejected.spec.namespace && names(rejected, claim.name)
            }
            _ => true,
        }))
    }
}

/// Returns whether the pods have conflicting disks.
fn conflict(a: &Pod, b: &Pod) -> bool {
    a.spec.volumes.iter().any(|disk| b.spec.volumes.iter().any(|other| exclude_each_other(disk, other)))
}

/// Returns whether the pods refer to the same claim. PreFilter determines whether only one pod may use it.
fn share_a_claim(a: &Pod, b: &Pod) -> bool {
    a.spec.volumes.iter().filter_map(Volume::named_claim).any(|claim| names(b, claim))
}

fn names(pod: &Pod, claim: Symbol) -> bool {
    pod.spec.volumes.contains(&Volume::Claim { claim })
}
