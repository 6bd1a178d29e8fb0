//! Requests of containers for extended resources that devices may back.

use k8s_openapi::api::core::v1 as api;
use schedc_core::intern::Interner;
use schedc_core::model::ContainerDeviceRequest;

use super::amounts::{is_extended, quantity};
use super::requests::is_restartable;
use super::resource_slice::DEVICE_CLASS_PREFIX;

/// Returns the requests for extended resources, sorted by resource, then by container.
pub(super) fn device_requests(spec: &api::PodSpec, interner: &mut Interner) -> Box<[ContainerDeviceRequest]> {
    let init = spec.init_containers.iter().flatten().map(|container| (container, !is_restartable(container)));
    let main = spec.containers.iter().map(|container| (container, false));
    let mut requests = Vec::new();
    for ((container, is_short_lived), index) in init.chain(main).zip(0..) {
        let amounts = container.resources.as_ref().and_then(|resources| resources.requests.as_ref());
        // The map is sorted by name.
        for (place, (resource, amount)) in amounts.into_iter().flatten().enumerate() {
            if !is_extended(resource) && !resource.starts_with(DEVICE_CLASS_PREFIX) {
                continue;
            }
            if let Some(count) = quantity(amount).as_i64().filter(|&count| count != 0) {
                let request = ContainerDeviceRequest {
                    resource: interner.intern(resource),
                    count,
                    container: index,
                    container_name: interner.intern(&container.name),
                    is_short_lived,
                    name: interner.intern(&format!("container-{index}-request-{place}")),
                };
                requests.push((resource, request));
            }
        }
    }
    requests.sort_by_key(|&(resource, _)| resource);
    requests.into_iter().map(|(_, request)| request).collect()
}
