//! Claims, allocations and mappings as JSON: for writes, and for reports.

use schedc_core::intern::Interner;
use schedc_core::model::{
    AllocationMode, AllocationNodes, AllocationResult, ConfigurationSource, DeviceAllocationConfiguration,
    DeviceNodeRequirement, DeviceRequestAllocationResult, DeviceTaintEffect, DeviceToleration,
    DeviceTolerationOperator, RequestedDevices, ResourceClaimSpec,
};
use serde_json::{Map, Value, json};

use super::extended::RequestMapping;

/// Returns `status.allocation` without the timestamp.
pub(super) fn allocation(allocation: &AllocationResult, interner: &Interner) -> Value {
    let mut devices = Map::new();
    if !allocation.results.is_empty() {
        devices.insert("results".to_owned(), results(allocation, interner));
    }
    if !allocation.config.is_empty() {
        devices.insert("config".to_owned(), config(allocation, interner));
    }
    let mut written = Map::new();
    written.insert("devices".to_owned(), devices.into());
    if let Some(nodes) = &allocation.nodes {
        written.insert("nodeSelector".to_owned(), node_selector(nodes, interner));
    }
    written.into()
}

/// Returns `devices.results` of an allocation.
pub(super) fn results(allocation: &AllocationResult, interner: &Interner) -> Value {
    allocation.results.iter().map(|device| result(device, interner)).collect()
}

/// Returns `devices.config` of an allocation.
pub(super) fn config(allocation: &AllocationResult, interner: &Interner) -> Value {
    allocation.config.iter().map(|config| configuration(config, interner)).collect()
}

fn result(device: &DeviceRequestAllocationResult, interner: &Interner) -> Value {
    let text = |symbol| interner.resolve(symbol);
    let mut written = json!({
        "request": device.request.display(interner).to_string(),
        "driver": text(device.driver),
        "pool": text(device.pool),
        "device": text(device.device),
    });
    if let Some(admin_access) = device.admin_access {
        written["adminAccess"] = admin_access.into();
    }
    if !device.tolerations.is_empty() {
        written["tolerations"] = device.tolerations.iter().map(|known| toleration(known, interner)).collect();
    }
    for (field, conditions) in [
        ("bindingConditions", &device.binding_conditions),
        ("bindingFailureConditions", &device.binding_failure_conditions),
    ] {
        if !conditions.is_empty() {
            written[field] = conditions.iter().map(|&condition| Value::from(text(condition))).collect();
        }
    }
    if let Some(share) = &device.share_id {
        written["shareID"] = (**share).into();
    }
    if !device.consumed_capacity.is_empty() {
        let amounts = device.consumed_capacity.iter();
        written["consumedCapacity"] = amounts
            .map(|(name, amount)| (name.display(interner).to_string(), Value::from(amount.to_string())))
            .collect::<Map<_, _>>()
            .into();
    }
    written
}

fn toleration(toleration: &DeviceToleration, interner: &Interner) -> Value {
    let mut written = Map::new();
    let mut set = |field: &str, value: Value| drop(written.insert(field.to_owned(), value));
    let texts = [("key", toleration.key), ("value", toleration.value)];
    for (field, text) in texts.map(|(field, symbol)| (field, interner.resolve(symbol))) {
        if !text.is_empty() {
            set(field, text.into());
        }
    }
    match toleration.operator {
        DeviceTolerationOperator::Unset => {}
        DeviceTolerationOperator::Equal => set("operator", "Equal".into()),
        DeviceTolerationOperator::Exists => set("operator", "Exists".into()),
        DeviceTolerationOperator::Other(other) => set("operator", interner.resolve(other).into()),
    }
    match toleration.effect {
        None => {}
        Some(DeviceTaintEffect::None) => set("effect", "None".into()),
        Some(DeviceTaintEffect::NoSchedule) => set("effect", "NoSchedule".into()),
        Some(DeviceTaintEffect::NoExecute) => set("effect", "NoExecute".into()),
        Some(DeviceTaintEffect::Other(other)) => set("effect", interner.resolve(other).into()),
    }
    if let Some(seconds) = toleration.seconds {
        set("tolerationSeconds", seconds.into());
    }
    written.into()
}

fn configuration(config: &DeviceAllocationConfiguration, interner: &Interner) -> Value {
    let source = match config.source {
        ConfigurationSource::Class => "FromClass",
        ConfigurationSource::Claim => "FromClaim",
        ConfigurationSource::Other(other) => interner.resolve(other),
    };
    let mut written = json!({ "source": source });
    if !config.requests.is_empty() {
        let requests = config.requests.iter();
        written["requests"] = requests.map(|request| Value::from(request.display(interner).to_string())).collect();
    }
    if let Some(opaque) = &config.configuration.opaque {
        let parameters: Value = serde_json::from_str(&opaque.parameters).unwrap_or_default();
        written["opaque"] = json!({ "driver": interner.resolve(opaque.driver), "parameters": parameters });
    }
    written
}

/// Returns `nodeSelector` of an allocation.
pub(super) fn node_selector(nodes: &AllocationNodes, interner: &Interner) -> Value {
    let selector = match nodes {
        AllocationNodes::Node(name) => {
            let name = interner.resolve(*name);
            let field = json!({ "key": "metadata.name", "operator": "In", "values": [name] });
            return json!({ "nodeSelectorTerms": [{ "matchFields": [field] }] });
        }
        AllocationNodes::Selector(selector) => selector,
    };
    let term = |term: &schedc_core::model::DeviceNodeSelectorTerm| {
        let mut written = Map::new();
        for (field, requirements) in [("matchExpressions", &term.match_expressions), ("matchFields", &term.match_fields)]
        {
            if !requirements.is_empty() {
                let requirements = requirements.iter().map(|known| requirement(known, interner));
                written.insert(field.to_owned(), requirements.collect());
            }
        }
        Value::from(written)
    };
    json!({ "nodeSelectorTerms": selector.terms.iter().map(term).collect::<Value>() })
}

fn requirement(requirement: &DeviceNodeRequirement, interner: &Interner) -> Value {
    let text = |symbol| interner.resolve(symbol);
    let mut written = json!({ "key": text(requirement.key), "operator": text(requirement.operator) });
    if !requirement.values.is_empty() {
        written["values"] = requirement.values.iter().map(|&value| Value::from(text(value))).collect();
    }
    written
}

/// Returns `spec.devices.requests` of a claim for extended resources.
pub(super) fn requests(spec: &ResourceClaimSpec, interner: &Interner) -> Value {
    let text = |symbol| interner.resolve(symbol);
    let requests = spec.requests.iter().filter_map(|request| {
        let RequestedDevices::Exactly(devices) = &request.devices else { return None };
        let mode = match devices.mode {
            AllocationMode::ExactCount => "ExactCount",
            AllocationMode::All => "All",
            AllocationMode::Other(other) => text(other),
        };
        let exactly = json!({ "deviceClassName": text(devices.class), "allocationMode": mode, "count": devices.count });
        Some(json!({ "name": text(request.name), "exactly": exactly }))
    });
    requests.collect()
}

/// Returns `requestMappings` of a pod's status.
pub(super) fn mappings(mappings: &[RequestMapping], interner: &Interner) -> Value {
    let text = |symbol| interner.resolve(symbol);
    let mapping = |mapping: &RequestMapping| {
        json!({
            "containerName": text(mapping.container),
            "resourceName": text(mapping.resource),
            "requestName": text(mapping.request),
        })
    };
    mappings.iter().map(mapping).collect()
}
