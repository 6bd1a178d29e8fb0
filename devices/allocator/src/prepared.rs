//! Claims, compiled for the search.

use std::sync::Arc;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{
    AllocationMode, ConstrainedAttribute, DeviceClass, DeviceToleration, ExactDeviceRequest, QualifiedName, RequestRef,
    RequestedDevices, ResourceClaimSpec,
};

use crate::error::Failure;

/// Compiled specs of claims that are allocated together. Lists of claims with equal specs share one value.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) specs: Box<[Arc<ResourceClaimSpec>]>,
    pub(crate) claims: Vec<PreparedClaim>,
    /// Epoch of the inventory's classes and shapes for which the specs were compiled.
    pub(crate) epoch: u64,
    /// Shapes of all requests without an error, each once.
    pub(crate) shapes: Vec<usize>,
    /// Number of all alternatives.
    pub(crate) alternatives: usize,
}

impl Prepared {
    /// Returns the specs of the claims.
    pub fn specs(&self) -> &[Arc<ResourceClaimSpec>] {
        &self.specs
    }
}

#[derive(Debug)]
pub(crate) struct PreparedClaim {
    pub(crate) requests: Vec<PreparedRequest>,
    pub(crate) constraints: Vec<PreparedConstraint>,
}

#[derive(Debug)]
pub(crate) struct PreparedRequest {
    pub(crate) name: Symbol,
    /// Position of the claim's first request with this name.
    pub(crate) first_with_name: usize,
    /// Whether it is a list of alternatives.
    pub(crate) is_list: bool,
    /// Its alternatives, or the request itself; empty if the type of the request is unknown.
    pub(crate) alternatives: Vec<Alternative>,
}

#[derive(Debug)]
pub(crate) struct Alternative {
    /// Name for messages: that of the alternative, or of the request.
    pub(crate) name: Symbol,
    /// Name in results.
    pub(crate) reference: RequestRef,
    /// Position among all alternatives.
    pub(crate) at: usize,
    /// Reason why no node can be searched, as text after the name of the claim.
    pub(crate) error: Option<String>,
    pub(crate) class: Option<Arc<DeviceClass>>,
    /// Index of its shape; 0 and without meaning if there is an error.
    pub(crate) shape: usize,
    /// Number of devices; `None`: all.
    pub(crate) count: Option<i64>,
    pub(crate) admin_access: bool,
    pub(crate) tolerations: Arc<[DeviceToleration]>,
}

#[derive(Debug)]
pub(crate) struct PreparedConstraint {
    pub(crate) requests: Box<[RequestRef]>,
    /// `None`: the type of constraint is unknown.
    pub(crate) attribute: Option<QualifiedName>,
    pub(crate) is_distinct: bool,
}

impl PreparedConstraint {
    /// Returns whether the constraint concerns devices of a request.
    pub(crate) fn concerns(&self, request: RequestRef) -> bool {
        let whole = RequestRef { request: request.request, alternative: None };
        self.requests.is_empty() || self.requests.iter().any(|known| *known == request || *known == whole)
    }
}

/// Compiles claims. `class` returns the class with a name, `shape` returns the index of the shape of a request.
pub(crate) fn prepare(
    specs: &[Arc<ResourceClaimSpec>],
    epoch: u64,
    class: impl Fn(Symbol) -> Option<Arc<DeviceClass>>,
    mut shape: impl FnMut(&DeviceClass, &ExactDeviceRequest) -> usize,
    interner: &Interner,
) -> Prepared {
    let mut prepared = Prepared { specs: specs.into(), claims: Vec::new(), epoch, shapes: Vec::new(), alternatives: 0 };
    for spec in specs {
        let mut requests: Vec<PreparedRequest> = Vec::new();
        for request in &spec.requests {
            let mut alternative = |sub: Option<Symbol>, devices: &ExactDeviceRequest| {
                let name = sub.unwrap_or(request.name);
                let class = class(devices.class);
                let error = request_error(name, devices, class.is_some(), interner);
                let shape = match (&error, &class) {
                    (None, Some(class)) => shape(class, devices),
                    _ => 0,
                };
                if error.is_none() && !prepared.shapes.contains(&shape) {
                    prepared.shapes.push(shape);
                }
                let at = prepared.alternatives;
                prepared.alternatives += 1;
                Alternative {
                    name,
                    reference: RequestRef { request: request.name, alternative: sub },
                    at,
                    error,
                    class,
                    shape,
                    count: (devices.mode != AllocationMode::All).then_some(devices.count),
                    admin_access: sub.is_none() && devices.admin_access == Some(true),
                    tolerations: devices.tolerations.clone(),
                }
            };
            let (is_list, alternatives) = match &request.devices {
                RequestedDevices::Exactly(devices) => (false, vec![alternative(None, devices)]),
                RequestedDevices::FirstAvailable(list) => {
                    (true, list.iter().map(|sub| alternative(Some(sub.name), &sub.devices)).collect())
                }
                RequestedDevices::Unknown => (false, Vec::new()),
            };
            let first_with_name =
                requests.iter().position(|known| known.name == request.name).unwrap_or(requests.len());
            requests.push(PreparedRequest { name: request.name, first_with_name, is_list, alternatives });
        }
        let constraints = spec.constraints.iter().map(|constraint| {
            let (attribute, is_distinct) = match constraint.attribute {
                ConstrainedAttribute::Match(name) => (Some(name), false),
                ConstrainedAttribute::Distinct(name) => (Some(name), true),
                ConstrainedAttribute::Unknown => (None, false),
            };
            PreparedConstraint { requests: constraint.requests.clone(), attribute, is_distinct }
        });
        prepared.claims.push(PreparedClaim { requests, constraints: constraints.collect() });
    }
    prepared
}

/// Returns the reason why no node is searched for a request. The text follows the claim's name.
fn request_error(name: Symbol, devices: &ExactDeviceRequest, has_class: bool, interner: &Interner) -> Option<String> {
    let name = interner.resolve(name);
    if let Some(at) = devices.selectors.iter().position(|selector| selector.cel.is_none()) {
        return Some(format!(", request {name}, selector #{at}: CEL expression empty (unsupported selector type?)"));
    }
    if devices.class == Symbol::EMPTY {
        return Some(format!(", request {name}: missing device class name (unsupported request type?)"));
    }
    if !has_class {
        let class = interner.resolve(devices.class);
        return Some(format!(
            ", request {name}: could not retrieve device class {class}: deviceclass.resource.k8s.io \"{class}\" not found"
        ));
    }
    match devices.mode {
        AllocationMode::ExactCount | AllocationMode::All => None,
        AllocationMode::Other(mode) => {
            Some(format!(", request {name}: unsupported count mode {}", interner.resolve(mode)))
        }
    }
}

impl Alternative {
    pub(crate) fn check(&self, claim: usize) -> Result<(), Failure> {
        self.error.as_ref().map_or(Ok(()), |error| Err(Failure::of_claim(claim, error.clone())))
    }
}
