//! Resource claims of the pod: missing claims and classes, tainted devices, selectors, and numbers of devices.

use std::collections::BTreeSet;
use std::fmt;

use k8s_openapi::api::core::v1::PodResourceClaim;
use k8s_openapi::api::resource::v1::{
    DeviceClaim, DeviceRequest, DeviceToleration, ExactDeviceRequest, ResourceClaim, ResourceClaimSpec,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_codegen::suggest::closest;
use schedc_in_memory::server::Key;
use schedc_objects::AnyObject;
use serde::Serialize;

use super::tolerations::{Taint, write_taints};
use crate::remedies::change::Change;
use crate::remedies::fork::Fork;
use crate::remedies::situation::Situation;

/// Maximum number of device classes that are tried for a request.
const MAX_CLASSES: usize = 4;
/// Maximum number of sets of taints that are tried for a request.
const MAX_TAINT_SETS: usize = 8;

/// A request of a resource claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClaimRequest {
    /// Name of the claim.
    pub claim: String,
    /// Name of the template from which a controller generated the claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Name of the request.
    pub request: String,
}

/// Creates a missing ResourceClaim of the pod, for one device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateResourceClaim {
    /// Name of the claim.
    pub claim: String,
    /// The device class.
    pub device_class: String,
}

/// Replaces the device class of a request, because no class has this name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChangeDeviceClass {
    /// The request.
    #[serde(flatten)]
    pub of: ClaimRequest,
    /// The class that does not exist.
    pub from: String,
    /// The class.
    pub to: String,
}

/// Tolerates taints of devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TolerateDevices {
    /// The request.
    #[serde(flatten)]
    pub of: ClaimRequest,
    /// The tolerated taints.
    pub taints: Vec<Taint>,
}

/// Removes a selector of devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveDeviceSelector {
    /// The request.
    #[serde(flatten)]
    pub of: ClaimRequest,
    /// The CEL expression.
    pub expression: String,
}

/// Requests fewer devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LowerDeviceCount {
    /// The request.
    #[serde(flatten)]
    pub of: ClaimRequest,
    /// The number of devices.
    pub from: i64,
    /// The number afterwards.
    pub to: i64,
}

/// Returns the names of the claims that the pod names, and of the claims that a controller has generated for the pod,
/// each with the name of its template.
fn claim_names(fork: &Fork<'_>) -> Vec<(String, Option<String>)> {
    let pod = fork.subject();
    let generated = pod.status.and_then(|status| status.resource_claim_statuses).unwrap_or_default();
    let claims = pod.spec.and_then(|spec| spec.resource_claims).unwrap_or_default();
    let name = |claim: PodResourceClaim| {
        let of_template = generated.iter().find(|status| status.name == claim.name);
        match claim.resource_claim_name {
            Some(name) => Some((name, None)),
            None => Some((of_template?.resource_claim_name.clone()?, claim.resource_claim_template_name)),
        }
    };
    claims.into_iter().filter_map(name).collect()
}

fn claim(fork: &Fork<'_>, name: &str) -> Option<ResourceClaim> {
    let pod = fork.subject();
    match fork.get(&Key::new("ResourceClaim", schedc_objects::namespace(&pod.metadata), name)) {
        Some(AnyObject::ResourceClaim(claim)) => Some(ResourceClaim::clone(claim)),
        _ => None,
    }
}

/// Returns the requests with the field `exactly`, of those claims of the pod that are not allocated yet. Empty unless
/// DynamicResources rejects a node or a PreFilter plugin rejects the pod.
fn requests(fork: &Fork<'_>, situation: &Situation) -> Vec<(ClaimRequest, ExactDeviceRequest)> {
    let mut requests = Vec::new();
    if !situation.has("DynamicResources") && situation.pre_filter.is_none() {
        return requests;
    }
    for (name, template) in claim_names(fork) {
        let Some(claim) = claim(fork, &name) else { continue };
        if claim.status.is_some_and(|status| status.allocation.is_some()) {
            continue;
        }
        for request in claim.spec.devices.and_then(|devices| devices.requests).unwrap_or_default() {
            if let DeviceRequest { exactly: Some(exactly), name: request, .. } = request {
                requests.push((ClaimRequest { claim: name.clone(), template: template.clone(), request }, exactly));
            }
        }
    }
    requests
}

fn device_classes(fork: &Fork<'_>) -> Vec<String> {
    fork.list("DeviceClass").map(|class| class.name().to_owned()).collect()
}

impl ClaimRequest {
    /// Changes the request. Returns false if the request does not exist or has no field `exactly`.
    fn change(&self, fork: &mut Fork<'_>, change: impl FnOnce(&mut ExactDeviceRequest)) -> bool {
        let Some(mut claim) = claim(fork, &self.claim) else { return false };
        let requests = claim.spec.devices.iter_mut().flat_map(|devices| devices.requests.iter_mut().flatten());
        let mut named = requests.filter(|request| request.name == self.request);
        let Some(exactly) = named.next().and_then(|request| request.exactly.as_mut()) else { return false };
        change(exactly);
        fork.set(claim);
        true
    }

    /// Returns how the change takes effect: the specs of claims and of their templates are immutable.
    fn how_to_apply(&self) -> &'static str {
        match self.template {
            None => " (create the claim again)",
            Some(_) => " (create the template and the pod again)",
        }
    }
}

impl fmt::Display for ClaimRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.template {
            None => write!(f, "request {} of ResourceClaim {}", self.request, self.claim),
            Some(template) => write!(f, "request {} of ResourceClaimTemplate {template}", self.request),
        }
    }
}

impl CreateResourceClaim {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, _: &Situation, add: &mut dyn FnMut(Self)) {
        let missing: Vec<_> = claim_names(fork).into_iter().filter(|(name, _)| claim(fork, name).is_none()).collect();
        for (claim, _) in missing {
            for device_class in device_classes(fork).into_iter().take(MAX_CLASSES) {
                add(CreateResourceClaim { claim: claim.clone(), device_class });
            }
        }
    }
}

impl ChangeDeviceClass {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        let known = device_classes(fork);
        for (of, ExactDeviceRequest { device_class_name: from, .. }) in requests(fork, situation) {
            if known.contains(&from) {
                continue;
            }
            // A misspelt name is more likely than a wrong class, so the most similar class comes first.
            let similar = closest(&from, known.iter().map(String::as_str)).map(str::to_owned);
            let others = known.iter().filter(|class| Some(*class) != similar.as_ref()).cloned();
            for to in similar.clone().into_iter().chain(others).take(MAX_CLASSES) {
                add(ChangeDeviceClass { of: of.clone(), from: from.clone(), to });
            }
        }
    }
}

impl TolerateDevices {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        let requests = requests(fork, situation);
        if requests.is_empty() {
            return;
        }
        let mut sets: BTreeSet<Vec<Taint>> = BTreeSet::new();
        for slice in fork.list("ResourceSlice") {
            let AnyObject::ResourceSlice(slice) = slice else { continue };
            for device in slice.spec.devices.iter().flatten() {
                let taints = device.taints.iter().flatten().filter(|taint| taint.effect != "None");
                let mut taints: Vec<Taint> =
                    taints.map(|taint| Taint::new(&taint.key, taint.value.as_deref(), &taint.effect)).collect();
                taints.sort_unstable();
                sets.insert(taints);
            }
        }
        for (of, _) in requests {
            for taints in sets.iter().filter(|taints| !taints.is_empty()).take(MAX_TAINT_SETS) {
                add(TolerateDevices { of: of.clone(), taints: taints.clone() });
            }
        }
    }
}

impl RemoveDeviceSelector {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        for (of, exactly) in requests(fork, situation) {
            let expressions = exactly.selectors.into_iter().flatten().filter_map(|selector| selector.cel);
            for cel in expressions {
                add(RemoveDeviceSelector { of: of.clone(), expression: cel.expression });
            }
        }
    }
}

impl LowerDeviceCount {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        for (of, exactly) in requests(fork, situation) {
            let from = exactly.count.unwrap_or(1);
            if exactly.allocation_mode.as_deref() != Some("All") && from > 1 {
                add(LowerDeviceCount { of, from, to: 1 });
            }
        }
    }
}

impl Change for CreateResourceClaim {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        if claim(fork, &self.claim).is_some() {
            return false;
        }
        let namespace = schedc_objects::namespace(&fork.subject().metadata).to_owned();
        let exactly = ExactDeviceRequest {
            device_class_name: self.device_class.clone(),
            allocation_mode: Some("ExactCount".to_owned()),
            count: Some(1),
            ..ExactDeviceRequest::default()
        };
        let request = DeviceRequest { name: "device".to_owned(), exactly: Some(exactly), first_available: None };
        let devices = DeviceClaim { requests: Some(vec![request]), ..DeviceClaim::default() };
        fork.set(ResourceClaim {
            metadata: ObjectMeta {
                name: Some(self.claim.clone()),
                uid: Some(format!("ResourceClaim/{namespace}/{}", self.claim)),
                namespace: Some(namespace),
                ..ObjectMeta::default()
            },
            spec: ResourceClaimSpec { devices: Some(devices) },
            status: None,
        });
        true
    }

    fn disturbance(&self) -> u32 {
        13
    }
}

impl Change for ChangeDeviceClass {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        self.of.change(fork, |exactly| exactly.device_class_name.clone_from(&self.to))
    }

    fn disturbance(&self) -> u32 {
        // The value is constant, so candidates of one request keep their order: the most similar class comes first.
        18
    }
}

impl Change for TolerateDevices {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        self.of.change(fork, |exactly| {
            let tolerations = exactly.tolerations.get_or_insert_default();
            tolerations.extend(self.taints.iter().map(|Taint { key, value, effect }| DeviceToleration {
                key: Some(key.clone()),
                operator: Some(if value.is_empty() { "Exists" } else { "Equal" }.to_owned()),
                value: Some(value.clone()).filter(|value| !value.is_empty()),
                effect: Some(effect.clone()),
                toleration_seconds: None,
            }));
        })
    }

    fn disturbance(&self) -> u32 {
        21 + self.taints.len() as u32
    }

    fn parts(&self) -> Vec<Self> {
        let without = |at: usize| {
            let mut fewer = self.clone();
            fewer.taints.remove(at);
            fewer
        };
        if self.taints.len() < 2 { Vec::new() } else { (0..self.taints.len()).map(without).collect() }
    }
}

impl Change for RemoveDeviceSelector {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        self.of.change(fork, |exactly| {
            let selectors = exactly.selectors.get_or_insert_default();
            selectors.retain(|selector| selector.cel.as_ref().is_none_or(|cel| cel.expression != self.expression));
        })
    }

    fn disturbance(&self) -> u32 {
        34
    }
}

impl Change for LowerDeviceCount {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        self.of.change(fork, |exactly| exactly.count = Some(self.to))
    }

    fn disturbance(&self) -> u32 {
        let reduction = (self.from - self.to).saturating_mul(28) / self.from.max(1);
        20 + u32::try_from(reduction).unwrap_or(28)
    }

    fn strengths(&self) -> i64 {
        self.from - 1
    }

    fn set_strength(&mut self, strength: i64) {
        self.to = self.from - strength;
    }
}

impl fmt::Display for CreateResourceClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "create the ResourceClaim {} for a device of class {}", self.claim, self.device_class)
    }
}

impl fmt::Display for ChangeDeviceClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "change the device class in {} from {} to {}{}", self.of, self.from, self.to, self.of.how_to_apply())
    }
}

impl fmt::Display for TolerateDevices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tolerate the device ")?;
        write_taints(f, &self.taints)?;
        write!(f, " in {}{}", self.of, self.of.how_to_apply())
    }
}

impl fmt::Display for RemoveDeviceSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "remove the selector `{}` from {}{}", self.expression, self.of, self.of.how_to_apply())
    }
}

impl fmt::Display for LowerDeviceCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lower the count in {} from {} to {}{}", self.of, self.from, self.to, self.of.how_to_apply())
    }
}
