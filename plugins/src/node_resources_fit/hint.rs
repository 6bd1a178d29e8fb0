//! Events after which a node may have enough resources for a pod.

use schedc_core::column::Column;
use schedc_core::events::{Action, EventObject, EventResource};
use schedc_core::extension_points::{EnqueueExtensions, HintContext, HintError, QueueingHint, Registration};
use schedc_core::model::{DeviceClass, Node, Object, Pod, Resources};
use schedc_core::plugin::IndexView;

use super::{NodeResourcesFit, NodeResourcesFitArgs, Requests};
use crate::columns::NodeResources;
use crate::indexes::DeviceClasses;

impl EnqueueExtensions for NodeResourcesFit {
    const EVENTS: &'static [Registration] = &[
        Registration::hinted(EventResource::Pod, Action::DELETE.or(Action::UPDATE_POD_SCALE_DOWN)),
        Registration::hinted(EventResource::Node, Action::ADD.or(Action::UPDATE_NODE_ALLOCATABLE)),
        Registration::hinted(EventResource::DeviceClass, Action::ADD.or(Action::UPDATE)),
    ];

    fn queueing_hint(&self, _: &NodeResourcesFitArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let HintContext { rejected, object, view } = cx;
        Ok(QueueingHint::queue_if(match object {
            EventObject::Node(old, Some(new)) => {
                fits_empty(rejected, new, view)
                    && old.is_none_or(|old| {
                        new.allowed_pods > old.allowed_pods
                            || any_increased(&rejected.spec.requests, &old.allocatable, &new.allocatable)
                            || lacks_backed_resource(&rejected.spec.requests, new, view.indexes)
                    })
            }
            EventObject::Pod(Some(deleted), None) => deleted.occupies_node(),
            EventObject::Pod(Some(old), Some(new)) => {
                let frees = || any_increased(&rejected.usage.requests, &new.usage.requests, &old.usage.requests);
                new.uid == rejected.uid || (new.node.is_some() && frees())
            }
            EventObject::Object(old, Some(Object::DeviceClass(new))) => {
                let old = match old {
                    Some(Object::DeviceClass(old)) => Some(&**old),
                    _ => None,
                };
                requests_devices(&rejected.spec.requests, old, new)
            }
            _ => true,
        }))
    }
}

/// Returns whether a pod requests devices of a class as an extended resource, by a name that the event added
/// to the class.
fn requests_devices(requests: &Resources, old: Option<&DeviceClass>, new: &DeviceClass) -> bool {
    let is_requested = |name| requests.scalar(name).is_some();
    let by_name = new.extended_resource.is_some_and(is_requested);
    match old {
        None => is_requested(new.implicit_resource) || by_name,
        Some(old) => old.extended_resource != new.extended_resource && by_name,
    }
}

/// Returns whether the pod fits on the node without the node's pods. Resources that the arguments ignore are compared
/// too.
fn fits_empty(pod: &Pod, node: &Node, view: IndexView<'_, NodeResourcesFit>) -> bool {
    let requests = Requests::new(&pod.spec.requests, view.indexes, |_| false);
    requests.fit(&NodeResources::build(node, view.interner())).is_ok()
}

/// Returns whether the node lacks a requested resource that a device class backs.
fn lacks_backed_resource(requested: &Resources, node: &Node, classes: &DeviceClasses) -> bool {
    let is_absent = |name| node.allocatable.scalar(name).unwrap_or(0) <= 0;
    requested.scalars.iter().any(|&(name, amount)| amount != 0 && is_absent(name) && classes.is_backed(name))
}

/// Returns whether the amount of a requested resource increased.
fn any_increased(requested: &Resources, before: &Resources, after: &Resources) -> bool {
    let increased = |requested: i64, before: i64, after: i64| requested > 0 && after > before;
    increased(requested.milli_cpu, before.milli_cpu, after.milli_cpu)
        || increased(requested.memory, before.memory, after.memory)
        || increased(requested.ephemeral_storage, before.ephemeral_storage, after.ephemeral_storage)
        || requested
            .scalars
            .iter()
            .any(|&(name, amount)| increased(amount, before.scalar(name).unwrap_or(0), after.scalar(name).unwrap_or(0)))
}
