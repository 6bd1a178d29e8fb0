//! Conversion of resource claims and device classes.

use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::resource::v1 as api;
use schedc_core::intern::Interner;
use schedc_core::model::{
    ClaimSource, ClaimStatuses, DeviceClass, PodResourceClaim, ResourceClaim, ResourceSlice, Uid,
};

use super::{digest, non_empty, symbol, uid};
use crate::kinds::namespace;

/// Prefix of an extended resource name that names a device class.
const DEVICE_CLASS_PREFIX: &str = "deviceclass.resource.kubernetes.io/";

/// Converts a resource claim of a pod.
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
    let status = claim.status.as_ref();
    ResourceClaim {
        namespace: interner.intern(namespace(meta)),
        name: symbol(meta.name.as_ref(), interner),
        uid: uid("ResourceClaim", meta),
        controller: controller.map(|owner| Uid(owner.uid.as_str().into())),
        deleting: meta.deletion_timestamp.is_some(),
        is_allocated: status.is_some_and(|status| status.allocation.is_some()),
        status: digest(format!("{:?}", status.cloned().unwrap_or_default())),
    }
}

pub(super) fn device_class(class: &api::DeviceClass, interner: &mut Interner) -> DeviceClass {
    let name = class.metadata.name.as_deref().unwrap_or_default();
    DeviceClass {
        name: interner.intern(name),
        implicit_resource: interner.intern(&format!("{DEVICE_CLASS_PREFIX}{name}")),
        extended_resource: non_empty(class.spec.extended_resource_name.as_ref(), interner),
    }
}

pub(super) fn resource_slice(slice: &api::ResourceSlice, interner: &mut Interner) -> ResourceSlice {
    ResourceSlice { name: symbol(slice.metadata.name.as_ref(), interner) }
}
