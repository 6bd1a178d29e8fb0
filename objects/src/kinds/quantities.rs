//! Quantities that are none are refused on reading, as every Kubernetes client does.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Pod, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Text;
use schedc_core::quantity::Quantity;

use super::{AnyObject, ObjectError, object_name};

/// The first quantity that cannot be read: its field, and what is wrong.
type Found = Option<(String, String)>;

/// Passes on an object whose quantities are all quantities.
pub(super) fn check(object: AnyObject) -> Result<AnyObject, ObjectError> {
    let found = match &object {
        AnyObject::Pod(pod) => in_pod(pod),
        AnyObject::Node(node) => node.status.as_ref().and_then(|status| {
            list("status.allocatable", status.allocatable.as_ref())
                .or_else(|| list("status.capacity", status.capacity.as_ref()))
        }),
        AnyObject::PersistentVolume(volume) => {
            volume.spec.as_ref().and_then(|spec| list("spec.capacity", spec.capacity.as_ref()))
        }
        AnyObject::PersistentVolumeClaim(claim) => {
            let resources = claim.spec.as_ref().and_then(|spec| spec.resources.as_ref());
            resources.and_then(|resources| {
                list("spec.resources.requests", resources.requests.as_ref())
                    .or_else(|| list("spec.resources.limits", resources.limits.as_ref()))
            })
        }
        AnyObject::CsiStorageCapacity(capacity) => single("capacity", capacity.capacity.as_ref())
            .or_else(|| single("maximumVolumeSize", capacity.maximum_volume_size.as_ref())),
        _ => None,
    };
    match found {
        None => Ok(object),
        Some((field, message)) => {
            Err(ObjectError { object: object_name(object.kind(), object.metadata()), field: Some(field), message })
        }
    }
}

fn in_pod(pod: &Pod) -> Found {
    let spec = pod.spec.as_ref().and_then(|spec| {
        let containers = spec.containers.iter().enumerate().map(|(i, c)| (format!("spec.containers[{i}]"), c));
        let init = spec.init_containers.iter().flatten().enumerate();
        containers
            .chain(init.map(|(i, c)| (format!("spec.initContainers[{i}]"), c)))
            .find_map(|(path, container)| requirements(&format!("{path}.resources"), container.resources.as_ref()))
            .or_else(|| requirements("spec.resources", spec.resources.as_ref()))
            .or_else(|| list("spec.overhead", spec.overhead.as_ref()))
    });
    spec.or_else(|| {
        let status = pod.status.as_ref()?;
        let containers = status.container_statuses.iter().flatten().enumerate();
        let init = status.init_container_statuses.iter().flatten().enumerate();
        containers
            .map(|(i, s)| (format!("status.containerStatuses[{i}]"), s))
            .chain(init.map(|(i, s)| (format!("status.initContainerStatuses[{i}]"), s)))
            .find_map(|(path, status)| {
                requirements(&format!("{path}.resources"), status.resources.as_ref())
                    .or_else(|| list(&format!("{path}.allocatedResources"), status.allocated_resources.as_ref()))
            })
            .or_else(|| requirements("status.resources", status.resources.as_ref()))
            .or_else(|| list("status.allocatedResources", status.allocated_resources.as_ref()))
    })
}

fn requirements(path: &str, resources: Option<&ResourceRequirements>) -> Found {
    let resources = resources?;
    list(&format!("{path}.requests"), resources.requests.as_ref())
        .or_else(|| list(&format!("{path}.limits"), resources.limits.as_ref()))
}

fn list(path: &str, amounts: Option<&BTreeMap<String, Text>>) -> Found {
    amounts?.iter().find_map(|(name, text)| single(&format!("{path}[{name}]"), Some(text)))
}

fn single(path: &str, text: Option<&Text>) -> Found {
    let text = &text?.0;
    let error = Quantity::parse(text).err()?;
    Some((path.to_owned(), format!("`{text}` is not a quantity: {error}")))
}
