//! Conversion of resource claims, and of the claims of a pod.

use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::resource::v1 as api;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schedc_core::intern::Interner;
use schedc_core::model::{
    AllocatedDeviceStatus, AllocationMode, CapacityRequirements, ClaimSource, ClaimStatuses, ConstrainedAttribute,
    ConsumerReference, DeviceClaimConfiguration, DeviceCondition, DeviceConstraint, DeviceRequest, DeviceSubRequest,
    EXTENDED_RESOURCE_CLAIM_ANNOTATION, ExactDeviceRequest, PodResourceClaim, QualifiedName, RESOURCE_CLAIM_FINALIZER,
    RequestedDevices, ResourceClaim, ResourceClaimSpec, ResourceClaimStatus, Uid,
};
use schedc_kinds::namespace;

use super::allocation_result::allocation;
use super::device_fields::{configuration, qualified_amounts, request_refs, selectors, tolerations};
use super::{digest, nanoseconds, symbol, uid};

pub(super) fn pod_claim(claim: &core::PodResourceClaim, interner: &mut Interner) -> PodResourceClaim {
    PodResourceClaim {
        name: interner.intern(&claim.name),
        source: match (&claim.resource_claim_name, &claim.resource_claim_template_name) {
            (Some(name), _) => ClaimSource::Named(interner.intern(name)),
            (None, Some(_)) => ClaimSource::Generated,
            (None, None) => ClaimSource::Missing,
        },
    }
}

/// Converts the generated claims in a pod's status.
pub(super) fn claim_statuses(status: &core::PodStatus, interner: &mut Interner) -> Option<Arc<ClaimStatuses>> {
    let generated = status.resource_claim_statuses.iter().flatten().map(|claim| {
        let name = claim.resource_claim_name.as_ref().map(|name| interner.intern(name));
        (interner.intern(&claim.name), name)
    });
    let statuses = ClaimStatuses {
        generated: generated.collect(),
        extended: status.extended_resource_claim_status.as_ref().map(|status| format!("{status:?}").into()),
    };
    (statuses != ClaimStatuses::default()).then(|| statuses.into())
}

pub(super) fn resource_claim(claim: &api::ResourceClaim, interner: &mut Interner) -> ResourceClaim {
    let meta = &claim.metadata;
    let controller = meta.owner_references.iter().flatten().find(|owner| owner.controller == Some(true));
    let annotations = meta.annotations.as_ref();
    let annotation = annotations.and_then(|annotations| annotations.get(EXTENDED_RESOURCE_CLAIM_ANNOTATION));
    ResourceClaim {
        namespace: interner.intern(namespace(meta)),
        name: symbol(meta.name.as_ref(), interner),
        uid: Uid(uid("ResourceClaim", meta)),
        controller: controller.map(|owner| Uid(owner.uid.as_str().into())),
        is_for_extended_resources: annotation.is_some_and(|value| value == "true"),
        created: nanoseconds(meta.creation_timestamp.as_ref()),
        deleting: meta.deletion_timestamp.is_some(),
        has_finalizer: meta.finalizers.iter().flatten().any(|finalizer| finalizer == RESOURCE_CLAIM_FINALIZER),
        resource_version: meta.resource_version.as_deref().unwrap_or_default().into(),
        spec: claim.spec.devices.as_ref().map(|devices| spec(devices, interner)).unwrap_or_default().into(),
        status: claim.status.as_ref().map(|claim| status(claim, interner)).unwrap_or_default(),
    }
}

fn spec(devices: &api::DeviceClaim, interner: &mut Interner) -> ResourceClaimSpec {
    ResourceClaimSpec {
        requests: devices.requests.iter().flatten().map(|request| device_request(request, interner)).collect(),
        constraints: devices.constraints.iter().flatten().map(|it| constraint(it, interner)).collect(),
        config: devices
            .config
            .iter()
            .flatten()
            .map(|config| DeviceClaimConfiguration {
                requests: request_refs(config.requests.as_ref(), interner),
                configuration: configuration(config.opaque.as_ref(), interner),
            })
            .collect(),
    }
}

fn device_request(request: &api::DeviceRequest, interner: &mut Interner) -> DeviceRequest {
    let alternatives = request.first_available.as_deref().unwrap_or_default();
    DeviceRequest {
        name: interner.intern(&request.name),
        devices: match &request.exactly {
            Some(exactly) => RequestedDevices::Exactly(exact_request(exactly, interner)),
            None if alternatives.is_empty() => RequestedDevices::Unknown,
            None => RequestedDevices::FirstAvailable(alternatives.iter().map(|it| sub_request(it, interner)).collect()),
        },
    }
}

fn exact_request(request: &api::ExactDeviceRequest, interner: &mut Interner) -> ExactDeviceRequest {
    ExactDeviceRequest {
        class: interner.intern(&request.device_class_name),
        selectors: selectors(request.selectors.as_ref(), interner),
        mode: mode(request.allocation_mode.as_ref(), interner),
        count: request.count.unwrap_or_default(),
        admin_access: request.admin_access,
        tolerations: tolerations(request.tolerations.as_ref(), interner),
        capacity: request.capacity.as_ref().map(|capacity| capacity_requirements(capacity, interner)),
    }
}

fn sub_request(request: &api::DeviceSubRequest, interner: &mut Interner) -> DeviceSubRequest {
    DeviceSubRequest {
        name: interner.intern(&request.name),
        devices: ExactDeviceRequest {
            class: interner.intern(&request.device_class_name),
            selectors: selectors(request.selectors.as_ref(), interner),
            mode: mode(request.allocation_mode.as_ref(), interner),
            count: request.count.unwrap_or_default(),
            admin_access: None,
            tolerations: tolerations(request.tolerations.as_ref(), interner),
            capacity: request.capacity.as_ref().map(|capacity| capacity_requirements(capacity, interner)),
        },
    }
}

fn mode(mode: Option<&String>, interner: &mut Interner) -> AllocationMode {
    match mode.map_or("", String::as_str) {
        "ExactCount" => AllocationMode::ExactCount,
        "All" => AllocationMode::All,
        other => AllocationMode::Other(interner.intern(other)),
    }
}

fn capacity_requirements(capacity: &api::CapacityRequirements, interner: &mut Interner) -> CapacityRequirements {
    CapacityRequirements { requests: qualified_amounts(capacity.requests.as_ref(), interner).collect() }
}

fn constraint(constraint: &api::DeviceConstraint, interner: &mut Interner) -> DeviceConstraint {
    DeviceConstraint {
        requests: request_refs(constraint.requests.as_ref(), interner),
        attribute: match (&constraint.match_attribute, &constraint.distinct_attribute) {
            (Some(name), _) => ConstrainedAttribute::Match(QualifiedName::parse(name, interner)),
            (None, Some(name)) => ConstrainedAttribute::Distinct(QualifiedName::parse(name, interner)),
            (None, None) => ConstrainedAttribute::Unknown,
        },
    }
}

fn status(status: &api::ResourceClaimStatus, interner: &mut Interner) -> ResourceClaimStatus {
    let consumer = |consumer: &api::ResourceClaimConsumerReference, interner: &mut Interner| ConsumerReference {
        api_group: symbol(consumer.api_group.as_ref(), interner),
        resource: interner.intern(&consumer.resource),
        name: consumer.name.as_str().into(),
        uid: Uid(consumer.uid.as_str().into()),
    };
    ResourceClaimStatus {
        allocation: status.allocation.as_ref().map(|result| allocation(result, interner).into()),
        reserved_for: status.reserved_for.iter().flatten().map(|it| consumer(it, interner)).collect(),
        devices: status.devices.iter().flatten().map(|it| device_status(it, interner)).collect(),
    }
}

fn device_status(device: &api::AllocatedDeviceStatus, interner: &mut Interner) -> AllocatedDeviceStatus {
    let condition = |condition: &Condition| DeviceCondition {
        kind: interner.intern(&condition.type_),
        is_true: condition.status == "True",
        reason: condition.reason.as_str().into(),
        message: condition.message.as_str().into(),
        other_fields: digest((
            &condition.status,
            condition.observed_generation,
            condition.last_transition_time.0.as_nanosecond(),
        )),
    };
    AllocatedDeviceStatus {
        conditions: device.conditions.iter().flatten().map(condition).collect(),
        driver: interner.intern(&device.driver),
        pool: interner.intern(&device.pool),
        device: interner.intern(&device.device),
        share_id: device.share_id.as_deref().map(Arc::from),
        other_fields: digest(format!("{:?}{:?}", device.data, device.network_data)),
    }
}

#[cfg(test)]
mod tests;
