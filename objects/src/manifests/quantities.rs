//! Quantities that are none are refused on reading, as every Kubernetes client does.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Node, Pod, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Text;
use schedc_core::quantity::Quantity;

use super::error::object_name;
use super::{Problem, Sourced};

/// The first quantity that cannot be read: its field, and what is wrong.
type Found = Option<(String, String)>;

pub(super) fn check_pod(pod: &Sourced<Pod>) -> Result<(), Problem> {
    let found = in_pod(&pod.object);
    found.map_or(Ok(()), |found| Err(problem(pod, object_name("Pod", &pod.object.metadata), found)))
}

pub(super) fn check_node(node: &Sourced<Node>) -> Result<(), Problem> {
    let status = node.object.status.as_ref();
    let found = status.and_then(|status| {
        list("status.allocatable", status.allocatable.as_ref())
            .or_else(|| list("status.capacity", status.capacity.as_ref()))
    });
    found.map_or(Ok(()), |found| Err(problem(node, object_name("Node", &node.object.metadata), found)))
}

fn problem<T>(object: &Sourced<T>, name: String, (field, message): (String, String)) -> Problem {
    Problem { place: object.place.clone(), object: Some(name), field: Some(field), message }
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
    amounts?.iter().find_map(|(name, text)| {
        let error = Quantity::parse(&text.0).err()?;
        Some((format!("{path}[{name}]"), format!("`{}` is not a quantity: {error}", text.0)))
    })
}
