//! Validation of resource claims, resource slices and device classes.

use std::collections::HashSet;

use k8s_openapi::api::resource::v1::{
    CounterSet, Device, DeviceAttribute, DeviceClassSpec, DeviceConstraint, DeviceRequest, DeviceSelector,
    DeviceToleration, ResourceClaimSpec, ResourceSliceSpec,
};

use super::super::ProblemReporter;
use super::{key, one_of, selectors, value};

/// Maximum number of requests of a claim.
const MAX_REQUESTS: usize = 32;
/// Maximum number of alternatives of a request.
const MAX_ALTERNATIVES: usize = 8;
/// Maximum number of devices of a slice.
const MAX_DEVICES_OF_SLICE: usize = 128;
/// Maximum length of a CEL expression, in bytes.
const MAX_EXPRESSION_LENGTH: usize = 10 * 1024;

/// Checks the spec of a claim or a template.
pub(super) fn claim(path: &str, spec: &ResourceClaimSpec, reporter: &mut ProblemReporter<'_>) {
    let Some(devices) = &spec.devices else { return };
    let requests = devices.requests.as_deref().unwrap_or_default();
    let path = format!("{path}.devices");
    if requests.len() > MAX_REQUESTS {
        reporter.report(format!("{path}.requests"), format!("has more than {MAX_REQUESTS} entries"));
    }
    let mut names = HashSet::new();
    for (i, request) in requests.iter().enumerate() {
        let path = format!("{path}.requests[{i}]");
        unique_name(&path, &request.name, &mut names, reporter);
        device_request(&path, request, reporter);
    }
    for (i, constraint) in devices.constraints.iter().flatten().enumerate() {
        device_constraint(&format!("{path}.constraints[{i}]"), constraint, requests, reporter);
    }
    for (i, config) in devices.config.iter().flatten().enumerate() {
        known_requests(&format!("{path}.config[{i}]"), config.requests.as_ref(), requests, reporter);
    }
}

fn device_request(path: &str, request: &DeviceRequest, reporter: &mut ProblemReporter<'_>) {
    let alternatives = request.first_available.as_deref().unwrap_or_default();
    match (&request.exactly, alternatives) {
        (None, []) => reporter.report(path, "has neither `exactly` nor `firstAvailable`; give one of them"),
        (Some(_), [_, ..]) => reporter.report(path, "has both `exactly` and `firstAvailable`; remove one of them"),
        _ => {}
    }
    if let Some(exactly) = &request.exactly {
        let path = format!("{path}.exactly");
        class_name(&path, &exactly.device_class_name, reporter);
        amount(&path, exactly.allocation_mode.as_ref(), exactly.count, reporter);
        cel(&path, exactly.selectors.as_ref(), reporter);
        tolerations(&path, exactly.tolerations.as_ref(), reporter);
    }
    if alternatives.len() > MAX_ALTERNATIVES {
        reporter.report(format!("{path}.firstAvailable"), format!("has more than {MAX_ALTERNATIVES} entries"));
    }
    let mut names = HashSet::new();
    for (i, alternative) in alternatives.iter().enumerate() {
        let path = format!("{path}.firstAvailable[{i}]");
        unique_name(&path, &alternative.name, &mut names, reporter);
        class_name(&path, &alternative.device_class_name, reporter);
        amount(&path, alternative.allocation_mode.as_ref(), alternative.count, reporter);
        cel(&path, alternative.selectors.as_ref(), reporter);
        tolerations(&path, alternative.tolerations.as_ref(), reporter);
    }
}

fn unique_name<'a>(path: &str, name: &'a str, names: &mut HashSet<&'a str>, reporter: &mut ProblemReporter<'_>) {
    let path = format!("{path}.name");
    if name.is_empty() {
        reporter.report(path, "is missing");
    } else if !names.insert(name) {
        reporter.report(path, format!("`{name}` occurs twice"));
    }
}

fn class_name(path: &str, name: &str, reporter: &mut ProblemReporter<'_>) {
    if name.is_empty() {
        reporter.report(format!("{path}.deviceClassName"), "is missing");
    }
}

fn amount(path: &str, mode: Option<&String>, count: Option<i64>, reporter: &mut ProblemReporter<'_>) {
    let (mode, count) = (mode.map_or("", String::as_str), count.unwrap_or_default());
    if !one_of(&format!("{path}.allocationMode"), mode, &["ExactCount", "All"], reporter) {
        return;
    }
    if mode == "ExactCount" && count <= 0 {
        reporter.report(format!("{path}.count"), format!("is {count}, but must be more than 0"));
    } else if mode == "All" && count != 0 {
        reporter.report(format!("{path}.count"), "must not be given with allocation mode `All`");
    }
}

/// Checks that selectors have an expression of permitted length. The module `expressions` compiles them.
fn cel(path: &str, selectors: Option<&Vec<DeviceSelector>>, reporter: &mut ProblemReporter<'_>) {
    for (i, selector) in selectors.into_iter().flatten().enumerate() {
        let path = format!("{path}.selectors[{i}].cel");
        match selector.cel.as_ref().map(|cel| cel.expression.len()) {
            None => reporter.report(path, "is missing"),
            Some(0) => reporter.report(format!("{path}.expression"), "is missing"),
            Some(length) if length > MAX_EXPRESSION_LENGTH => {
                let message = format!("is longer than {MAX_EXPRESSION_LENGTH} bytes");
                reporter.report(format!("{path}.expression"), message);
            }
            Some(_) => {}
        }
    }
}

fn tolerations(path: &str, tolerations: Option<&Vec<DeviceToleration>>, reporter: &mut ProblemReporter<'_>) {
    for (i, toleration) in tolerations.into_iter().flatten().enumerate() {
        let path = format!("{path}.tolerations[{i}]");
        if let Some(operator) = toleration.operator.as_deref().filter(|operator| !operator.is_empty()) {
            one_of(&format!("{path}.operator"), operator, &["Equal", "Exists"], reporter);
        }
        if let Some(effect) = toleration.effect.as_deref().filter(|effect| !effect.is_empty()) {
            taint_effect(&path, effect, reporter);
        }
        let text = |text: &'_ Option<String>| text.clone().unwrap_or_default();
        let (toleration_key, toleration_value) = (text(&toleration.key), text(&toleration.value));
        if !toleration_key.is_empty() {
            key(&format!("{path}.key"), &toleration_key, reporter);
        }
        if toleration.operator.as_deref() != Some("Exists") {
            value(&format!("{path}.value"), &toleration_value, reporter);
        } else if !toleration_value.is_empty() {
            reporter.report(format!("{path}.value"), "must be left out where the operator is `Exists`");
        }
    }
}

fn taint_effect(path: &str, effect: &str, reporter: &mut ProblemReporter<'_>) {
    one_of(&format!("{path}.effect"), effect, &["NoSchedule", "NoExecute", "None"], reporter);
}

fn device_constraint(
    path: &str,
    constraint: &DeviceConstraint,
    requests: &[DeviceRequest],
    reporter: &mut ProblemReporter<'_>,
) {
    match (&constraint.match_attribute, &constraint.distinct_attribute) {
        (None, None) => reporter.report(path, "has neither `matchAttribute` nor `distinctAttribute`; give one of them"),
        // If both are set, API servers and kube-scheduler ignore `distinctAttribute`.
        (Some(name), _) => attribute_name(&format!("{path}.matchAttribute"), name, reporter),
        (None, Some(name)) => attribute_name(&format!("{path}.distinctAttribute"), name, reporter),
    }
    known_requests(path, constraint.requests.as_ref(), requests, reporter);
}

/// Checks that the name of an attribute has a domain. A driver may leave out its own domain in slices; a claim may not.
fn attribute_name(path: &str, name: &str, reporter: &mut ProblemReporter<'_>) {
    if name.split_once('/').is_none_or(|(domain, name)| domain.is_empty() || name.is_empty()) {
        reporter.report(path, format!("is `{name}`, but must have a domain, such as `gpu.example.com/model`"));
    }
}

/// Checks that each name is that of a request, or of an alternative in the form `request/alternative`.
fn known_requests(
    path: &str,
    names: Option<&Vec<String>>,
    requests: &[DeviceRequest],
    reporter: &mut ProblemReporter<'_>,
) {
    let exists = |name: &str| {
        let (request, alternative) = name.split_once('/').map_or((name, None), |(name, rest)| (name, Some(rest)));
        requests.iter().filter(|known| known.name == request).any(|known| {
            let alternatives = known.first_available.as_deref().unwrap_or_default();
            alternative.is_none_or(|name| alternatives.iter().any(|known| known.name == name))
        })
    };
    for (i, name) in names.into_iter().flatten().enumerate().filter(|(_, name)| !exists(name)) {
        reporter.report(format!("{path}.requests[{i}]"), format!("is `{name}`, but there is no such request"));
    }
}

pub(super) fn class(spec: &DeviceClassSpec, reporter: &mut ProblemReporter<'_>) {
    cel("spec", spec.selectors.as_ref(), reporter);
}

pub(super) fn slice(spec: &ResourceSliceSpec, reporter: &mut ProblemReporter<'_>) {
    if spec.driver.is_empty() {
        reporter.report("spec.driver", "is missing");
    }
    if spec.pool.name.is_empty() {
        reporter.report("spec.pool.name", "is missing");
    }
    if spec.pool.resource_slice_count <= 0 {
        let message = format!("is {}, but must be more than 0", spec.pool.resource_slice_count);
        reporter.report("spec.pool.resourceSliceCount", message);
    }
    let choices = [
        spec.node_name.is_some(),
        spec.node_selector.is_some(),
        spec.all_nodes == Some(true),
        spec.per_device_node_selection == Some(true),
    ];
    if choices.iter().filter(|&&is_chosen| is_chosen).count() != 1 {
        let message = "must have exactly one of `nodeName`, `nodeSelector`, `allNodes` and `perDeviceNodeSelection`";
        reporter.report("spec", message);
    }
    if let Some(selector) = &spec.node_selector {
        selectors::node_selector("spec.nodeSelector", selector, reporter);
    }
    let devices = spec.devices.as_deref().unwrap_or_default();
    let counters = spec.shared_counters.as_deref().unwrap_or_default();
    if !devices.is_empty() && !counters.is_empty() {
        reporter.report("spec", "must not have both `devices` and `sharedCounters`; give them in separate slices");
    }
    if devices.len() > MAX_DEVICES_OF_SLICE {
        reporter.report("spec.devices", format!("has more than {MAX_DEVICES_OF_SLICE} entries"));
    }
    let mut names = HashSet::new();
    for (i, counter_set) in counters.iter().enumerate() {
        let CounterSet { name, .. } = counter_set;
        unique_name(&format!("spec.sharedCounters[{i}]"), name, &mut names, reporter);
    }
    let mut names = HashSet::new();
    for (i, it) in devices.iter().enumerate() {
        let path = format!("spec.devices[{i}]");
        unique_name(&path, &it.name, &mut names, reporter);
        device(&path, it, spec.per_device_node_selection == Some(true), reporter);
    }
}

/// Checks a device. `selects_nodes`: each device of the slice selects its nodes.
fn device(path: &str, device: &Device, selects_nodes: bool, reporter: &mut ProblemReporter<'_>) {
    let choices = [device.node_name.is_some(), device.node_selector.is_some(), device.all_nodes == Some(true)];
    match (selects_nodes, choices.iter().filter(|&&is_chosen| is_chosen).count()) {
        (true, 1) | (false, 0) => {}
        (true, _) => reporter.report(path, "must have exactly one of `nodeName`, `nodeSelector` and `allNodes`"),
        (false, _) => reporter.report(path, "selects nodes, but `spec.perDeviceNodeSelection` is not true"),
    }
    if let Some(selector) = &device.node_selector {
        selectors::node_selector(&format!("{path}.nodeSelector"), selector, reporter);
    }
    for (name, it) in device.attributes.iter().flatten() {
        attribute(&format!("{path}.attributes[{name}]"), it, reporter);
    }
    for (i, taint) in device.taints.iter().flatten().enumerate() {
        taint_effect(&format!("{path}.taints[{i}]"), &taint.effect, reporter);
    }
    if device.node_allocatable_resource_mappings.as_ref().is_some_and(|mappings| !mappings.is_empty()) {
        let path = format!("{path}.nodeAllocatableResourceMappings");
        reporter.report(path, disabled("DRANodeAllocatableResources"));
    }
}

fn attribute(path: &str, attribute: &DeviceAttribute, reporter: &mut ProblemReporter<'_>) {
    let DeviceAttribute { bool, bools, int, ints, string, strings, version, versions } = attribute;
    if bools.is_some() || ints.is_some() || strings.is_some() || versions.is_some() {
        return reporter.report(path, disabled("DRAListTypeAttributes"));
    }
    if [bool.is_some(), int.is_some(), string.is_some(), version.is_some()].into_iter().filter(|&it| it).count() != 1 {
        reporter.report(path, "must have exactly one of `int`, `bool`, `string` and `version`");
    }
}

fn disabled(gate: &str) -> String {
    format!("needs the feature gate {gate}, which is off by default in Kubernetes 1.36; schedc does not support it")
}
