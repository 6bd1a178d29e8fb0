//! Conversion of resource slices and device classes.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::NodeSelector;
use k8s_openapi::api::resource::v1 as api;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Text;
use schedc_core::intern::Interner;
use schedc_core::model::{
    CapacityRequestPolicy, CapacityRequestRange, CounterSet, Device, DeviceAttribute, DeviceCapacity, DeviceClass,
    DeviceNodeSelector, DeviceNodes, DeviceTaint, QualifiedName, ResourceSlice,
};
use schedc_core::quantity::Quantity;

use super::amounts::quantity;
use super::device_fields::{configuration, selectors, symbols, taint_effect};
use super::selector::term_text;
use super::{nanoseconds, non_empty, symbol};

/// Prefix of an extended resource name that names a device class.
pub(super) const DEVICE_CLASS_PREFIX: &str = "deviceclass.resource.kubernetes.io/";

pub(super) fn device_class(class: &api::DeviceClass, interner: &mut Interner) -> DeviceClass {
    let name = class.metadata.name.as_deref().unwrap_or_default();
    DeviceClass {
        name: interner.intern(name),
        created: nanoseconds(class.metadata.creation_timestamp.as_ref()),
        implicit_resource: interner.intern(&format!("{DEVICE_CLASS_PREFIX}{name}")),
        extended_resource: non_empty(class.spec.extended_resource_name.as_ref(), interner),
        selectors: selectors(class.spec.selectors.as_ref(), interner),
        config: class.spec.config.iter().flatten().map(|it| configuration(it.opaque.as_ref(), interner)).collect(),
    }
}

pub(super) fn resource_slice(slice: &api::ResourceSlice, interner: &mut Interner) -> ResourceSlice {
    let spec = &slice.spec;
    let counters = spec.shared_counters.iter().flatten();
    ResourceSlice {
        name: symbol(slice.metadata.name.as_ref(), interner),
        driver: interner.intern(&spec.driver),
        pool: interner.intern(&spec.pool.name),
        generation: spec.pool.generation,
        slice_count: spec.pool.resource_slice_count,
        nodes: nodes(spec.node_name.as_ref(), spec.node_selector.as_ref(), spec.all_nodes, interner),
        per_device_nodes: spec.per_device_node_selection == Some(true),
        shared_counters: counters.map(|set| counter_set(&set.name, &set.counters, interner)).collect(),
        devices: spec.devices.iter().flatten().map(|it| device(it, interner)).collect(),
    }
}

fn nodes(
    node: Option<&String>,
    selector: Option<&NodeSelector>,
    all: Option<bool>,
    interner: &mut Interner,
) -> DeviceNodes {
    DeviceNodes {
        node: node.map(|node| interner.intern(node)),
        selector: selector.map(|selector| {
            let terms: Vec<_> = selector.node_selector_terms.iter().map(term_text).collect();
            DeviceNodeSelector::parse(&terms, interner).into()
        }),
        all: all == Some(true),
    }
}

fn counter_set(name: &str, counters: &BTreeMap<String, api::Counter>, interner: &mut Interner) -> CounterSet {
    CounterSet {
        name: interner.intern(name),
        counters: counters.iter().map(|(name, it)| (interner.intern(name), quantity(&it.value))).collect(),
    }
}

fn device(device: &api::Device, interner: &mut Interner) -> Device {
    let attributes = device.attributes.iter().flatten();
    let capacity = device.capacity.iter().flatten();
    let counters = device.consumes_counters.iter().flatten();
    Device {
        name: interner.intern(&device.name),
        attributes: attributes
            .map(|(name, it)| (QualifiedName::parse(name, interner), attribute(it, interner)))
            .collect(),
        capacity: capacity.map(|(name, it)| (QualifiedName::parse(name, interner), device_capacity(it))).collect(),
        consumes_counters: counters.map(|it| counter_set(&it.counter_set, &it.counters, interner)).collect(),
        nodes: nodes(device.node_name.as_ref(), device.node_selector.as_ref(), device.all_nodes, interner),
        taints: device.taints.iter().flatten().map(|it| taint(it, interner)).collect(),
        binds_to_node: device.binds_to_node == Some(true),
        binding_conditions: symbols(device.binding_conditions.as_ref(), interner),
        binding_failure_conditions: symbols(device.binding_failure_conditions.as_ref(), interner),
        allow_multiple_allocations: device.allow_multiple_allocations == Some(true),
    }
}

fn attribute(attribute: &api::DeviceAttribute, interner: &mut Interner) -> DeviceAttribute {
    match attribute {
        api::DeviceAttribute { int: Some(int), .. } => DeviceAttribute::Int(*int),
        api::DeviceAttribute { bool: Some(bool), .. } => DeviceAttribute::Bool(*bool),
        api::DeviceAttribute { string: Some(text), .. } => DeviceAttribute::String(interner.intern(text)),
        api::DeviceAttribute { version: Some(text), .. } => DeviceAttribute::Version(interner.intern(text)),
        _ => DeviceAttribute::Unknown,
    }
}

fn device_capacity(capacity: &api::DeviceCapacity) -> DeviceCapacity {
    let policy = |policy: &api::CapacityRequestPolicy| CapacityRequestPolicy {
        default: optional(policy.default.as_ref()),
        valid_values: policy.valid_values.iter().flatten().map(quantity).collect(),
        valid_range: policy.valid_range.as_ref().map(|range| CapacityRequestRange {
            min: optional(Some(&range.min)),
            max: optional(range.max.as_ref()),
            step: optional(range.step.as_ref()),
        }),
    };
    DeviceCapacity {
        value: quantity(&capacity.value),
        request_policy: capacity.request_policy.as_ref().map(|it| policy(it).into()),
    }
}

/// Converts a quantity; an empty text is a missing field.
fn optional(text: Option<&Text>) -> Option<Quantity> {
    text.filter(|text| !text.0.is_empty()).map(quantity)
}

fn taint(taint: &api::DeviceTaint, interner: &mut Interner) -> DeviceTaint {
    DeviceTaint {
        key: interner.intern(&taint.key),
        value: symbol(taint.value.as_ref(), interner),
        effect: taint_effect(&taint.effect, interner),
    }
}
