//! Extended resources that devices serve, and the claim for them.

use std::sync::Arc;

use schedc_core::intern::{Interner, SharedTexts, Symbol};
use schedc_core::model::{
    AllocationMode, ContainerDeviceRequest, DeviceRequest, ExactDeviceRequest, PodSpec, RequestedDevices,
    ResourceClaimSpec,
};
use smallvec::SmallVec;

use crate::indexes::DeviceClasses;
use crate::resource_name::is_device_resource;

/// Extended resources that a pod requests; empty if devices back none of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ExtendedResources {
    pub(super) requests: Box<[ExtendedResource]>,
}

/// An extended resource that a pod requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ExtendedResource {
    pub(super) name: Symbol,
    /// The device class that backs the resource, if there is one.
    pub(super) class: Option<Symbol>,
}

impl ExtendedResources {
    pub(super) fn is_any_backed(&self) -> bool {
        !self.requests.is_empty()
    }

    pub(super) fn of(pod: &PodSpec, classes: &DeviceClasses, interner: &Interner) -> Self {
        let requested = pod.requests.scalars.iter().filter(|(_, amount)| *amount != 0);
        if !requested.clone().any(|&(name, _)| classes.is_backed(name)) {
            return ExtendedResources::default();
        }
        let named = requested.filter(|(name, _)| is_device_resource(interner.resolve(*name)));
        let resource = |&(name, _): &(Symbol, i64)| {
            let class = classes.backing(name, interner).map(|class| class.name);
            ExtendedResource { name, class }
        };
        ExtendedResources { requests: named.map(resource).collect() }
    }
}

/// Extended resources that a node does not have, and their classes.
pub(super) type NeededResources = SmallVec<[(Symbol, Symbol); 2]>;

/// The claim for a pod's extended resources on a node.
#[derive(Clone, Debug)]
pub(super) struct ExtendedClaim {
    pub(super) needed: NeededResources,
    pub(super) spec: Arc<ResourceClaimSpec>,
    pub(super) mappings: Vec<RequestMapping>,
}

impl ExtendedClaim {
    pub(super) fn new(pod: &PodSpec, needed: NeededResources, interner: &Interner) -> Self {
        let class = |resource: Symbol| needed.iter().find(|(name, _)| *name == resource).map(|(_, class)| *class);
        let (requests, mappings) = requests(pod, class, interner);
        let request = |request: ExtendedRequest| DeviceRequest {
            name: request.name,
            devices: RequestedDevices::Exactly(ExactDeviceRequest {
                class: request.class,
                selectors: Box::default(),
                mode: AllocationMode::ExactCount,
                count: request.count,
                admin_access: None,
                tolerations: Arc::default(),
                capacity: None,
            }),
        };
        let requests = requests.into_iter().map(request).collect();
        let spec = Arc::new(ResourceClaimSpec { requests, ..ResourceClaimSpec::default() });
        ExtendedClaim { needed, spec, mappings }
    }

    /// Returns the strings of the spec and the mappings.
    pub(super) fn texts(&self, interner: &Interner) -> SharedTexts {
        let names = self.spec.requests.iter().map(|request| request.name);
        let classes = self.needed.iter().map(|(_, class)| *class);
        let mapped = self.mappings.iter().flat_map(|mapping| [mapping.container, mapping.resource, mapping.request]);
        SharedTexts::new(names.chain(classes).chain(mapped), interner)
    }
}

/// Request in the claim for extended resources: a number of devices of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ExtendedRequest {
    /// `container-I-request-J`, with the numbers of the container and of its request.
    name: Symbol,
    class: Symbol,
    count: i64,
}

/// The request that serves an extended resource of a container, for the pod's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestMapping {
    pub(super) container: Symbol,
    pub(super) resource: Symbol,
    pub(super) request: Symbol,
}

/// Returns the requests for the resources that have a device class, and the mappings of the containers' resources to
/// these requests (`createRequestsAndMappings`).
fn requests(
    pod: &PodSpec,
    class: impl Fn(Symbol) -> Option<Symbol>,
    interner: &Interner,
) -> (Vec<ExtendedRequest>, Vec<RequestMapping>) {
    let (mut all, mut mappings) = (Vec::new(), Vec::new());
    for of_resource in pod.device_requests.chunk_by(|a, b| a.resource == b.resource) {
        let Some(class) = of_resource.first().and_then(|request| class(request.resource)) else { continue };
        let mut of_short_lived = Vec::new();
        let mut long_lived: Vec<(u32, ExtendedRequest)> = Vec::new();
        for wanted in of_resource.iter().filter(|request| !request.is_short_lived) {
            long_lived.extend(request(wanted, class, &[], &mut mappings).map(|request| (wanted.container, request)));
        }
        let mut short_lived = Vec::new();
        for wanted in of_resource.iter().filter(|request| request.is_short_lived) {
            let later = long_lived.iter().position(|(container, _)| *container >= wanted.container);
            let reusable = &long_lived[later.unwrap_or(long_lived.len())..];
            short_lived.extend(request(wanted, class, reusable, &mut of_short_lived));
        }
        // Short-lived containers, which are init containers but not sidecars, run one after the other. They share the
        // largest of their requests; of equal ones, the first.
        if let Some(&largest) = short_lived.iter().rev().max_by_key(|request| request.count) {
            for mapping in &mut of_short_lived {
                if short_lived.iter().any(|other| other.name == mapping.request) {
                    mapping.request = largest.name;
                }
            }
            all.push(largest);
        }
        all.extend(long_lived.into_iter().map(|(_, request)| request));
        mappings.append(&mut of_short_lived);
    }
    all.sort_by(|a, b| interner.resolve(a.name).cmp(interner.resolve(b.name)));
    (all, mappings)
}

/// Returns the request for the devices that a container needs in addition to those of the `reusable` requests; `None`
/// if it needs no others. Adds the container's mappings.
fn request(
    wanted: &ContainerDeviceRequest,
    class: Symbol,
    reusable: &[(u32, ExtendedRequest)],
    mappings: &mut Vec<RequestMapping>,
) -> Option<ExtendedRequest> {
    let mut map = |request| {
        mappings.push(RequestMapping { container: wanted.container_name, resource: wanted.resource, request });
    };
    let mut found = 0;
    for (_, other) in reusable {
        found += other.count;
        map(other.name);
        if found >= wanted.count {
            return None;
        }
    }
    map(wanted.name);
    Some(ExtendedRequest { name: wanted.name, class, count: wanted.count - found })
}

#[cfg(test)]
mod tests {
    use schedc_objects::testing::pod;

    use super::*;

    /// Checks the requests and mappings of a pod, as text. Containers are `(kind, requests)`.
    fn check(containers: &[(&str, &str)], expected_requests: &[&str], expected_mappings: &[&str]) {
        let mut interner = Interner::default();
        let (mut init, mut main) = (String::new(), String::new());
        for (at, (kind, requests)) in containers.iter().enumerate() {
            let (list, more) = match *kind {
                "init" => (&mut init, ""),
                "sidecar" => (&mut init, ", restartPolicy: Always"),
                _ => (&mut main, ""),
            };
            *list += &format!("{{name: c{at}, resources: {{requests: {{{requests}}}}}{more}}},");
        }
        let pod = pod(&format!("spec: {{initContainers: [{init}], containers: [{main}]}}"), &mut interner);
        let backed = ["example.com/nic", "example.com/gpu"]
            .map(|resource| (interner.intern(resource), interner.intern(&resource.replace("example.com/", ""))));
        let class = |resource| backed.iter().find(|(name, _)| *name == resource).map(|(_, class)| *class);
        let (requests, mappings) = requests(&pod.spec, class, &interner);
        let text = |symbol| interner.resolve(symbol);
        let requests: Vec<String> = requests
            .iter()
            .map(|request| format!("{} {}: {}", text(request.name), text(request.class), request.count))
            .collect();
        let mappings: Vec<String> = mappings
            .iter()
            .map(|mapping| format!("{} {}: {}", text(mapping.container), text(mapping.resource), text(mapping.request)))
            .collect();
        assert_eq!(requests, expected_requests, "{containers:?}");
        assert_eq!(mappings, expected_mappings, "{containers:?}");
    }

    #[test]
    fn each_container_has_a_request_for_each_resource() {
        check(
            &[("main", "cpu: 1, example.com/gpu: 2, memory: 1"), ("main", "example.com/gpu: 1, example.com/nic: 1")],
            &["container-0-request-1 gpu: 2", "container-1-request-0 gpu: 1", "container-1-request-1 nic: 1"],
            &[
                "c0 example.com/gpu: container-0-request-1",
                "c1 example.com/gpu: container-1-request-0",
                "c1 example.com/nic: container-1-request-1",
            ],
        );
    }

    #[test]
    fn init_containers_use_the_devices_of_later_containers() {
        check(
            &[("init", "example.com/gpu: 1"), ("sidecar", "example.com/gpu: 2"), ("main", "example.com/gpu: 1")],
            &["container-1-request-0 gpu: 2", "container-2-request-0 gpu: 1"],
            &[
                "c1 example.com/gpu: container-1-request-0",
                "c2 example.com/gpu: container-2-request-0",
                "c0 example.com/gpu: container-1-request-0",
            ],
        );
    }

    #[test]
    fn init_containers_share_the_largest_additional_request() {
        check(
            &[("init", "example.com/gpu: 4"), ("init", "example.com/gpu: 6"), ("main", "example.com/gpu: 1")],
            &["container-1-request-0 gpu: 5", "container-2-request-0 gpu: 1"],
            &[
                "c2 example.com/gpu: container-2-request-0",
                "c0 example.com/gpu: container-2-request-0",
                "c0 example.com/gpu: container-1-request-0",
                "c1 example.com/gpu: container-2-request-0",
                "c1 example.com/gpu: container-1-request-0",
            ],
        );
    }
}
