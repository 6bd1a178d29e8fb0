//! Resource claims: requests for devices, and the devices that are allocated for them.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{AllocationResult, ClaimSource, Pod, QualifiedName, Uid};
use crate::model::intern::{Interner, Resolve, Symbol};
use crate::model::quantity::Quantity;
use crate::model::symbols::Symbols;

/// `resource.k8s.io/v1` ResourceClaim.
#[derive(Clone, Debug, PartialEq, Eq, Symbols)]
pub struct ResourceClaim {
    /// `metadata.namespace`.
    pub namespace: Symbol,
    /// `metadata.name`.
    pub name: Symbol,
    /// `metadata.uid`.
    pub uid: Uid,
    /// Uid of its controller: the pod that it was generated for.
    pub controller: Option<Uid>,
    /// Whether an annotation marks it as created by a scheduler for a pod's extended resources.
    pub is_for_extended_resources: bool,
    /// `metadata.creationTimestamp` in nanoseconds since 1970.
    pub created: Option<i64>,
    /// Whether it has a deletion timestamp.
    pub deleting: bool,
    /// Whether it has the finalizer of allocated claims.
    pub has_finalizer: bool,
    /// `metadata.resourceVersion`, the precondition of writes. Empty if the object has none.
    pub resource_version: Arc<str>,
    /// `spec`.
    pub spec: Arc<ResourceClaimSpec>,
    /// `status`.
    pub status: ResourceClaimStatus,
}

/// Annotation of claims for extended resources, with the value `true`.
pub const EXTENDED_RESOURCE_CLAIM_ANNOTATION: &str = "resource.kubernetes.io/extended-resource-claim";

/// Finalizer of allocated claims.
pub const RESOURCE_CLAIM_FINALIZER: &str = "resource.kubernetes.io/delete-protection";

/// Requested devices: `spec.devices` of a claim. The specs of claims from one template are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Symbols)]
pub struct ResourceClaimSpec {
    /// `requests`.
    pub requests: Box<[DeviceRequest]>,
    /// `constraints`.
    pub constraints: Box<[DeviceConstraint]>,
    /// `config`.
    pub config: Box<[DeviceClaimConfiguration]>,
}

/// One request for devices.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct DeviceRequest {
    /// `name`.
    pub name: Symbol,
    /// Requested devices.
    pub devices: RequestedDevices,
}

/// Requested devices of a [`DeviceRequest`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Symbols)]
pub enum RequestedDevices {
    /// `exactly`.
    Exactly(ExactDeviceRequest),
    /// `firstAvailable`: alternatives, the best one first.
    FirstAvailable(Box<[DeviceSubRequest]>),
    /// Neither field is set: a type of request that this version of Kubernetes does not have.
    Unknown,
}

/// One alternative of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct DeviceSubRequest {
    /// `name`, unique in the request.
    pub name: Symbol,
    /// Requested devices, without admin access.
    pub devices: ExactDeviceRequest,
}

/// Devices of one class.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct ExactDeviceRequest {
    /// `deviceClassName`.
    pub class: Symbol,
    /// `selectors`, all of which a device must meet.
    pub selectors: Box<[DeviceSelector]>,
    /// `allocationMode`.
    pub mode: AllocationMode,
    /// `count`, for [`AllocationMode::ExactCount`].
    pub count: i64,
    /// `adminAccess`.
    pub admin_access: Option<bool>,
    /// `tolerations`.
    pub tolerations: Arc<[DeviceToleration]>,
    /// `capacity`.
    pub capacity: Option<CapacityRequirements>,
}

/// A condition on devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct DeviceSelector {
    /// `cel.expression`. `None`: a type of selector that this version of Kubernetes does not have.
    pub cel: Option<Symbol>,
}

/// Rule for the number of devices that a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Symbols)]
pub enum AllocationMode {
    /// `ExactCount`.
    ExactCount,
    /// `All` that match.
    All,
    /// Any other value; empty if it is not set.
    Other(Symbol),
}

/// Requested amounts of a device's capacities, for a device that several claims share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Symbols)]
pub struct CapacityRequirements {
    /// `requests`, in the order of the text.
    pub requests: Box<[(QualifiedName, Quantity)]>,
}

impl Hash for CapacityRequirements {
    /// Hashes only the names, because equal quantities may have different representations.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.requests.len().hash(state);
        self.requests.iter().for_each(|(name, _)| name.hash(state));
    }
}

/// A condition on several devices together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct DeviceConstraint {
    /// `requests` whose devices it concerns; empty: all.
    pub requests: Box<[RequestRef]>,
    /// The condition.
    pub attribute: ConstrainedAttribute,
}

/// Condition of a [`DeviceConstraint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Symbols)]
pub enum ConstrainedAttribute {
    /// `matchAttribute`: all devices have this attribute with the same value.
    Match(QualifiedName),
    /// `distinctAttribute`: all devices have this attribute with different values.
    Distinct(QualifiedName),
    /// Neither field is set: a type of constraint that this version of Kubernetes does not have.
    Unknown,
}

/// Name of a request, or of one of its alternatives: `request` or `request/alternative`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Symbols)]
pub struct RequestRef {
    /// The request.
    pub request: Symbol,
    /// The alternative.
    pub alternative: Option<Symbol>,
}

impl RequestRef {
    /// Parses a name.
    pub fn parse(text: &str, interner: &mut Interner) -> RequestRef {
        match text.split_once('/') {
            None => RequestRef { request: interner.intern(text), alternative: None },
            Some((request, alternative)) => {
                RequestRef { request: interner.intern(request), alternative: Some(interner.intern(alternative)) }
            }
        }
    }

    /// Returns its text.
    pub fn display(self, texts: &impl Resolve) -> impl fmt::Display {
        fmt::from_fn(move |f| {
            f.write_str(texts.resolve(self.request))?;
            match self.alternative {
                None => Ok(()),
                Some(alternative) => write!(f, "/{}", texts.resolve(alternative)),
            }
        })
    }
}

/// Configuration that a claim passes to a driver.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct DeviceClaimConfiguration {
    /// `requests` that it applies to; empty: all.
    pub requests: Box<[RequestRef]>,
    /// The configuration.
    pub configuration: DeviceConfiguration,
}

/// Configuration for a driver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Symbols)]
pub struct DeviceConfiguration {
    /// `opaque`. `None`: a type of configuration that this version of Kubernetes does not have.
    pub opaque: Option<OpaqueDeviceConfiguration>,
}

/// Parameters that only their driver reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct OpaqueDeviceConfiguration {
    /// `driver`.
    pub driver: Symbol,
    /// `parameters` as JSON.
    pub parameters: Arc<str>,
}

/// A tolerated taint of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct DeviceToleration {
    /// `key`; empty: any.
    pub key: Symbol,
    /// `operator`.
    pub operator: DeviceTolerationOperator,
    /// `value`, for `Equal`.
    pub value: Symbol,
    /// `effect`; `None`: any.
    pub effect: Option<DeviceTaintEffect>,
    /// `tolerationSeconds`, which the scheduler only copies.
    pub seconds: Option<i64>,
}

/// Comparison of a [`DeviceToleration`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Symbols)]
pub enum DeviceTolerationOperator {
    /// Not set: as `Equal`.
    Unset,
    /// `Equal`: the values are equal.
    Equal,
    /// `Exists`: any value.
    Exists,
    /// Any other value: matches nothing.
    Other(Symbol),
}

/// Effect of a taint of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Symbols)]
pub enum DeviceTaintEffect {
    /// `None`: for information only.
    None,
    /// `NoSchedule`: the device is not allocated.
    NoSchedule,
    /// `NoExecute`: the device is not allocated, and pods that use it are evicted.
    NoExecute,
    /// Any other value: for information only.
    Other(Symbol),
}

/// `status` of a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Symbols)]
pub struct ResourceClaimStatus {
    /// `allocation`.
    pub allocation: Option<Arc<AllocationResult>>,
    /// `reservedFor`: the users of the allocated devices.
    pub reserved_for: Arc<[ConsumerReference]>,
    /// `devices`, as their drivers report.
    pub devices: Arc<[AllocatedDeviceStatus]>,
}

/// A user of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Symbols)]
pub struct ConsumerReference {
    /// `apiGroup`, empty for pods.
    pub api_group: Symbol,
    /// `resource`, usually `pods`.
    pub resource: Symbol,
    /// `name`.
    pub name: Arc<str>,
    /// `uid`.
    pub uid: Uid,
}

/// Status of an allocated device.
#[derive(Clone, Debug, PartialEq, Eq, Symbols)]
pub struct AllocatedDeviceStatus {
    /// `driver`.
    pub driver: Symbol,
    /// `pool`.
    pub pool: Symbol,
    /// `device`.
    pub device: Symbol,
    /// `shareID`.
    pub share_id: Option<Arc<str>>,
    /// `conditions`.
    pub conditions: Box<[DeviceCondition]>,
    /// Hash of all other fields, to find changes.
    pub other_fields: u64,
}

/// A condition of a device.
#[derive(Clone, Debug, PartialEq, Eq, Symbols)]
pub struct DeviceCondition {
    /// `type`.
    pub kind: Symbol,
    /// Whether `status` is `True`.
    pub is_true: bool,
    /// `reason`.
    pub reason: Arc<str>,
    /// `message`.
    pub message: Arc<str>,
    /// Hash of all other fields, to find changes.
    pub other_fields: u64,
}

impl ResourceClaim {
    /// Returns whether it is allocated.
    pub fn is_allocated(&self) -> bool {
        self.status.allocation.is_some()
    }

    /// Returns whether it is reserved for a pod.
    pub fn is_reserved_for(&self, pod: &Uid) -> bool {
        self.status.reserved_for.iter().any(|consumer| consumer.uid == *pod)
    }
}

impl ResourceClaimStatus {
    /// Returns the status of an allocated device.
    pub fn device(&self, driver: Symbol, pool: Symbol, device: Symbol) -> Option<&AllocatedDeviceStatus> {
        self.devices.iter().find(|status| (status.driver, status.pool, status.device) == (driver, pool, device))
    }
}

impl Pod {
    /// Returns the name of the resource claim behind one of `spec.resource_claims`, and whether the pod must own it.
    /// `None`: the pod does not need the claim. (`resourceclaim.Name`)
    ///
    /// # Errors
    /// The claim has no name yet.
    pub fn resource_claim_name(&self, claim: &super::PodResourceClaim) -> Result<Option<(Symbol, bool)>, NoClaimYet> {
        match claim.source {
            ClaimSource::Named(name) => Ok(Some((name, false))),
            ClaimSource::Generated => {
                let mut statuses = self.claim_statuses.iter().flat_map(|statuses| &statuses.generated);
                let status = statuses.find(|(name, _)| *name == claim.name).ok_or(NoClaimYet::NotGenerated)?;
                Ok(status.1.map(|name| (name, true)))
            }
            ClaimSource::Missing => Err(NoClaimYet::NoSource),
        }
    }
}

/// Reason why a pod's resource claim has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoClaimYet {
    /// The claim is not generated yet.
    NotGenerated,
    /// The pod's entry for the claim names neither a claim nor a template.
    NoSource,
}
