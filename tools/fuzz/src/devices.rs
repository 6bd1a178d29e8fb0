//! Devices of nodes: their manifests, and facts that follow from their names.
//!
//! A node has one pool, whose kind depends on the node's number. A generation of the pool consists of slices and
//! devices that have the number of the generation in their names.

use k8s_openapi::api::resource::v1::{DeviceRequestAllocationResult, ResourceClaim};
use schedc_objects::AnyObject;
use serde_json::{Value, json};

use crate::history::{DeviceRequest, ExtendedResource, PodDevices, SliceSpec};
use crate::object::{NAMESPACE, object};

/// Driver of all devices.
const DRIVER: &str = "devices.example.com";
/// Limit of the counter of each pool with partitions.
pub(crate) const MEMORY: i64 = 4;
/// Capacity of each device that several claims share.
pub(crate) const BANDWIDTH: i64 = 10;

/// Kind of the devices of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoolKind {
    /// A device is allocated to one claim at most.
    Exclusive,
    /// Partitions that share a counter.
    Partitions,
    /// A device can be allocated to several claims.
    Shared,
}

impl PoolKind {
    fn of(node: u8) -> PoolKind {
        [PoolKind::Exclusive, PoolKind::Partitions, PoolKind::Shared][usize::from(node) % 3]
    }
}

/// A device, as its name describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DeviceFacts {
    pub(crate) node: u8,
    pub(crate) generation: u8,
    /// Number in its pool.
    pub(crate) at: u8,
}

impl DeviceFacts {
    /// Parses the name of a device: `n1-g2-d0`.
    pub(crate) fn of(name: &str) -> Option<DeviceFacts> {
        let mut parts = name.split('-');
        let mut number = |prefix| parts.next()?.strip_prefix(prefix)?.parse().ok();
        Some(DeviceFacts { node: number("n")?, generation: number("g")?, at: number("d")? })
    }

    pub(crate) fn kind(self) -> PoolKind {
        PoolKind::of(self.node)
    }

    /// Returns the amount of its pool's counter that the device consumes.
    pub(crate) fn memory(self) -> i64 {
        match (self.kind(), self.at) {
            (PoolKind::Partitions, 0) => 4,
            (PoolKind::Partitions, _) => 2,
            _ => 0,
        }
    }
}

/// Parses the name of a slice to its node and generation. The slice `s1-2` has devices, the slice `c1-2` has counters.
pub(crate) fn slice_of(name: &str) -> Option<(u8, u8)> {
    let (node, generation) = name.strip_prefix(['s', 'c'])?.split_once('-')?;
    Some((node.parse().ok()?, generation.parse().ok()?))
}

/// Returns the names of the slices of a generation.
pub(crate) fn slice_names(node: u8, generation: u8) -> [String; 2] {
    [format!("s{node}-{generation}"), format!("c{node}-{generation}")]
}

/// Returns the slices of a generation of a node's pool.
pub(crate) fn slices(spec: &SliceSpec) -> Vec<AnyObject> {
    let SliceSpec { node, generation, tainted } = *spec;
    let kind = PoolKind::of(node);
    let taints = if tainted { json!([{"key": "example.com/broken", "effect": "NoSchedule"}]) } else { json!([]) };
    let device = |at: u8| {
        let facts = DeviceFacts { node, generation, at };
        let mut device = json!({"name": format!("n{node}-g{generation}-d{at}"), "taints": taints});
        match kind {
            PoolKind::Exclusive => {}
            PoolKind::Partitions => {
                let memory = json!({"memory": {"value": facts.memory().to_string()}});
                device["consumesCounters"] = json!([{"counterSet": "board", "counters": memory}]);
            }
            PoolKind::Shared => {
                device["allowMultipleAllocations"] = true.into();
                device["capacity"] = json!({"bandwidth": {"value": BANDWIDTH.to_string()}});
            }
        }
        device
    };
    let counters = json!([{"name": "board", "counters": {"memory": {"value": MEMORY.to_string()}}}]);
    let count = if kind == PoolKind::Partitions { 2 } else { 1 };
    let slice = |name: &str, field: &str, content: Value| {
        let pool = json!({"name": format!("n{node}"), "generation": generation, "resourceSliceCount": count});
        let spec = json!({"driver": DRIVER, "nodeName": format!("n{node}"), "pool": pool, field: content});
        object(json!({
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": name},
            "spec": spec,
        }))
    };
    let [with_devices, with_counters] = slice_names(node, generation);
    let mut slices = vec![slice(&with_devices, "devices", (0..3).map(device).collect())];
    if kind == PoolKind::Partitions {
        slices.push(slice(&with_counters, "sharedCounters", counters));
    }
    slices
}

/// Returns the class of all devices, and a template for each request.
pub(crate) fn class_and_templates() -> Vec<AnyObject> {
    let class = json!({
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "devices"},
        "spec": {
            "selectors": [{"cel": {"expression": format!("device.driver == '{DRIVER}'")}}],
            "extendedResourceName": ExtendedResource::Explicit.name(),
        },
    });
    let template = |request: DeviceRequest| {
        json!({
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": template_name(request), "namespace": NAMESPACE},
            "spec": {"spec": claim_spec(request)},
        })
    };
    let templates = DeviceRequest::ALL.map(template);
    [class].into_iter().chain(templates).map(object).collect()
}

fn template_name(request: DeviceRequest) -> String {
    format!("{request:?}").to_lowercase()
}

fn claim_spec(request: DeviceRequest) -> Value {
    let mut fields = json!({"deviceClassName": "devices", "allocationMode": "ExactCount", "count": 1});
    match request {
        DeviceRequest::One => {}
        DeviceRequest::Two => fields["count"] = 2.into(),
        DeviceRequest::Share => fields["capacity"] = json!({"requests": {"bandwidth": "4"}}),
    }
    json!({"devices": {"requests": [{"name": "devices", "exactly": fields}]}})
}

/// Returns a claim that pods refer to by its name.
pub(crate) fn claim(id: u8, request: DeviceRequest) -> AnyObject {
    object(json!({
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": format!("r{id}"), "namespace": NAMESPACE},
        "spec": claim_spec(request),
    }))
}

/// Returns `spec.resourceClaims` of a pod.
pub(crate) fn claims_of_pod(devices: PodDevices) -> Value {
    match devices {
        PodDevices::Own(request) => json!([{"name": "devices", "resourceClaimTemplateName": template_name(request)}]),
        PodDevices::Named(claim) => json!([{"name": "devices", "resourceClaimName": format!("r{claim}")}]),
        PodDevices::Extended(..) => json!([]),
    }
}

/// Returns the extended resource that a pod requests, and the amount.
pub(crate) fn extended_resource(devices: Option<PodDevices>) -> Option<(String, u8)> {
    match devices {
        Some(PodDevices::Extended(resource, count)) => Some((resource.name().to_owned(), count)),
        Some(PodDevices::Own(_) | PodDevices::Named(_)) | None => None,
    }
}

/// Returns the amount of [`ExtendedResource::Explicit`] in the allocatable resources of a node; `None` if the node does
/// not have the resource itself.
pub(crate) fn own_devices(node: u8) -> Option<u8> {
    (node % 4 == 3).then_some(2)
}

/// Returns the allocated devices of a claim.
pub(crate) fn allocated(claim: &ResourceClaim) -> impl Iterator<Item = &DeviceRequestAllocationResult> {
    let allocation = claim.status.as_ref().and_then(|status| status.allocation.as_ref());
    allocation.and_then(|allocation| allocation.devices.as_ref()?.results.as_ref()).into_iter().flatten()
}

/// Returns whether a claim is reserved for a pod.
pub(crate) fn is_reserved_for(claim: &ResourceClaim, uid: &str) -> bool {
    let reserved = claim.status.as_ref().and_then(|status| status.reserved_for.as_ref());
    reserved.into_iter().flatten().any(|consumer| consumer.uid == uid)
}
