//! Resource slices: the devices that drivers report.

use std::fmt;
use std::sync::Arc;

use super::{DeviceNodeSelector, DeviceTaintEffect};
use crate::model::intern::{Interner, Resolve, Symbol};
use crate::model::quantity::Quantity;
use crate::model::symbols::Symbols;

/// `resource.k8s.io/v1` ResourceSlice.
#[derive(Clone, Debug, PartialEq, Eq, Symbols)]
pub struct ResourceSlice {
    /// `metadata.name`.
    pub name: Symbol,
    /// `spec.driver`.
    pub driver: Symbol,
    /// `spec.pool.name`. A pool is identified by its driver and name.
    pub pool: Symbol,
    /// `spec.pool.generation`. Slices of older generations are obsolete.
    pub generation: i64,
    /// `spec.pool.resourceSliceCount`: number of slices of a complete pool.
    pub slice_count: i64,
    /// Nodes where the devices can be used.
    pub nodes: DeviceNodes,
    /// `spec.perDeviceNodeSelection`: each device has its own nodes.
    pub per_device_nodes: bool,
    /// `spec.sharedCounters`.
    pub shared_counters: Arc<[CounterSet]>,
    /// `spec.devices`.
    pub devices: Arc<[Device]>,
}

/// Nodes where a device can be used, as written; at most one field is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Symbols)]
pub struct DeviceNodes {
    /// `nodeName`.
    pub node: Option<Symbol>,
    /// `nodeSelector`.
    pub selector: Option<Arc<DeviceNodeSelector>>,
    /// `allNodes`.
    pub all: bool,
}

/// A set of counters by name: their limits in a slice, or their consumption by a device.
#[derive(Clone, Debug, PartialEq, Eq, Symbols)]
pub struct CounterSet {
    /// `name` in a slice, `counterSet` in a device.
    pub name: Symbol,
    /// `counters`, sorted by name.
    pub counters: Box<[(Symbol, Quantity)]>,
}

/// One device.
#[derive(Clone, Debug, PartialEq, Eq, Symbols)]
pub struct Device {
    /// `name`, unique in its pool.
    pub name: Symbol,
    /// `attributes`, sorted by name.
    pub attributes: Box<[(QualifiedName, DeviceAttribute)]>,
    /// `capacity`, sorted by name.
    pub capacity: Box<[(QualifiedName, DeviceCapacity)]>,
    /// `consumesCounters`.
    pub consumes_counters: Box<[CounterSet]>,
    /// Nodes where it can be used, if the slice has `per_device_nodes`.
    pub nodes: DeviceNodes,
    /// `taints`.
    pub taints: Box<[DeviceTaint]>,
    /// `bindsToNode`: once allocated, it can be used only on the chosen node.
    pub binds_to_node: bool,
    /// `bindingConditions`: conditions that must be true before pods are bound.
    pub binding_conditions: Arc<[Symbol]>,
    /// `bindingFailureConditions`: conditions that make the allocation fail.
    pub binding_failure_conditions: Arc<[Symbol]>,
    /// `allowMultipleAllocations`: several claims may share it.
    pub allow_multiple_allocations: bool,
}

/// Name of an attribute or capacity, with or without the domain that defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Symbols)]
pub struct QualifiedName {
    /// Text before the slash. `None`: the driver's name is the domain.
    pub domain: Option<Symbol>,
    /// The name in the domain.
    pub name: Symbol,
}

impl QualifiedName {
    /// Parses `domain/name` or `name`.
    pub fn parse(text: &str, interner: &mut Interner) -> QualifiedName {
        match text.split_once('/') {
            None => QualifiedName { domain: None, name: interner.intern(text) },
            Some((domain, name)) => {
                QualifiedName { domain: Some(interner.intern(domain)), name: interner.intern(name) }
            }
        }
    }

    /// Returns its text.
    pub fn display(self, texts: &impl Resolve) -> impl fmt::Display {
        fmt::from_fn(move |f| {
            if let Some(domain) = self.domain {
                write!(f, "{}/", texts.resolve(domain))?;
            }
            f.write_str(texts.resolve(self.name))
        })
    }
}

/// Value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Symbols)]
pub enum DeviceAttribute {
    /// `int`.
    Int(i64),
    /// `bool`.
    Bool(bool),
    /// `string`.
    String(Symbol),
    /// `version`: a semantic version.
    Version(Symbol),
    /// None of these: a type of value that this version of Kubernetes does not have, or a list, which needs a disabled
    /// feature.
    Unknown,
}

/// Amount of a capacity of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceCapacity {
    /// `value`.
    pub value: Quantity,
    /// `requestPolicy`, for a device that several claims share.
    pub request_policy: Option<Box<CapacityRequestPolicy>>,
}

/// How much of a capacity a claim consumes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapacityRequestPolicy {
    /// `default`, if the request names no amount.
    pub default: Option<Quantity>,
    /// `validValues`, to which requests are rounded up.
    pub valid_values: Box<[Quantity]>,
    /// `validRange`.
    pub valid_range: Option<CapacityRequestRange>,
}

/// Valid amounts, to which requests are rounded up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapacityRequestRange {
    /// `min`.
    pub min: Option<Quantity>,
    /// `max`.
    pub max: Option<Quantity>,
    /// `step` from the minimum.
    pub step: Option<Quantity>,
}

/// A taint of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct DeviceTaint {
    /// `key`.
    pub key: Symbol,
    /// `value`, often empty.
    pub value: Symbol,
    /// `effect`.
    pub effect: DeviceTaintEffect,
}
