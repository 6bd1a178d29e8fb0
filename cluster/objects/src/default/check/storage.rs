//! Validation of volumes, claims and the objects of CSI drivers.

use std::collections::{BTreeMap, HashSet};

use k8s_openapi::api::core::v1::{
    PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimSpec, TopologySelectorTerm,
};
use k8s_openapi::api::storage::v1::{CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Text;
use schedc_core::model::dns_subdomain_problems;
use schedc_core::quantity::Quantity;

use super::super::{ProblemReporter, ResourceList};
use super::{key, one_of, selectors, sources, syntax};

pub(super) fn volume(volume: &PersistentVolume, reporter: &mut ProblemReporter<'_>) {
    let Some(spec) = &volume.spec else { return reporter.report("spec", "is missing") };
    sources::persistent_volume(spec, reporter);
    access_modes("spec", spec.access_modes.as_ref(), reporter);
    storage("spec.capacity", spec.capacity.as_ref(), reporter);
    class_name("spec", spec.storage_class_name.as_ref(), reporter);
    volume_mode("spec", spec.volume_mode.as_ref(), reporter);
    match &spec.node_affinity {
        Some(affinity) => match &affinity.required {
            Some(required) => selectors::node_selector("spec.nodeAffinity.required", required, reporter),
            None => reporter.report("spec.nodeAffinity.required", "is missing; give it, or leave the affinity out"),
        },
        None if spec.local.is_some() => reporter.report("spec.nodeAffinity", "is missing; a local volume needs it"),
        None => {}
    }
}

pub(super) fn claim(claim: &PersistentVolumeClaim, reporter: &mut ProblemReporter<'_>) {
    match &claim.spec {
        Some(spec) => claim_spec("spec", spec, reporter),
        None => reporter.report("spec", "is missing"),
    }
}

/// Checks the spec of a claim, or of the claim that a generic ephemeral volume creates.
pub(super) fn claim_spec(path: &str, spec: &PersistentVolumeClaimSpec, reporter: &mut ProblemReporter<'_>) {
    access_modes(path, spec.access_modes.as_ref(), reporter);
    let requests = spec.resources.as_ref().and_then(|resources| resources.requests.as_ref());
    storage(&format!("{path}.resources.requests"), requests, reporter);
    class_name(path, spec.storage_class_name.as_ref(), reporter);
    volume_mode(path, spec.volume_mode.as_ref(), reporter);
    selectors::label_selector(&format!("{path}.selector"), spec.selector.as_ref(), reporter);
}

fn access_modes(path: &str, modes: Option<&Vec<String>>, reporter: &mut ProblemReporter<'_>) {
    const KNOWN: [&str; 4] = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"];
    let modes = modes.map(Vec::as_slice).unwrap_or_default();
    if modes.is_empty() {
        reporter.report(format!("{path}.accessModes"), "is empty; there must be one at least");
    }
    for (i, mode) in modes.iter().enumerate() {
        one_of(&format!("{path}.accessModes[{i}]"), mode, &KNOWN, reporter);
    }
    let is_exclusive = |mode: &String| mode == "ReadWriteOncePod";
    if modes.iter().any(is_exclusive) && !modes.iter().all(is_exclusive) {
        reporter.report(format!("{path}.accessModes"), "must not have other modes next to `ReadWriteOncePod`");
    }
}

/// Checks a required amount of storage.
fn storage(path: &str, amounts: Option<&ResourceList>, reporter: &mut ProblemReporter<'_>) {
    match amounts.and_then(|amounts| amounts.get("storage")) {
        None => reporter.report(format!("{path}[storage]"), "is missing; give the number of bytes"),
        Some(text) => {
            let quantity = Quantity::parse(&text.0).unwrap_or(Quantity::ZERO);
            if quantity <= Quantity::ZERO {
                reporter.report(format!("{path}[storage]"), format!("is {}, but must be more than 0", text.0));
            }
        }
    }
}

fn class_name(path: &str, text: Option<&String>, reporter: &mut ProblemReporter<'_>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        name(&format!("{path}.storageClassName"), text, reporter);
    }
}

fn volume_mode(path: &str, mode: Option<&String>, reporter: &mut ProblemReporter<'_>) {
    if let Some(mode) = mode {
        one_of(&format!("{path}.volumeMode"), mode, &["Filesystem", "Block"], reporter);
    }
}

pub(super) fn class(class: &StorageClass, reporter: &mut ProblemReporter<'_>) {
    let provisioner = &class.provisioner;
    if provisioner.is_empty() {
        let message = "is missing; use `kubernetes.io/no-provisioner` for volumes that are created manually";
        reporter.report("provisioner", message);
    } else {
        key("provisioner", &provisioner.to_lowercase(), reporter);
    }
    let mode = class.volume_binding_mode.as_deref().unwrap_or_default();
    one_of("volumeBindingMode", mode, &["Immediate", "WaitForFirstConsumer"], reporter);
    let topologies = class.allowed_topologies.as_deref().unwrap_or_default();
    for (i, term) in topologies.iter().enumerate() {
        let path = format!("allowedTopologies[{i}]");
        topology(&path, term, reporter);
        if topologies.iter().take(i).any(|other| as_sets(other) == as_sets(term)) {
            reporter.report(path, "is equal to another one; remove one of them");
        }
    }
}

fn topology(path: &str, term: &TopologySelectorTerm, reporter: &mut ProblemReporter<'_>) {
    let mut keys = HashSet::new();
    for (i, requirement) in term.match_label_expressions.iter().flatten().enumerate() {
        let path = format!("{path}.matchLabelExpressions[{i}]");
        key(&format!("{path}.key"), &requirement.key, reporter);
        if !keys.insert(&requirement.key) {
            reporter.report(format!("{path}.key"), format!("`{}` is a duplicate; remove one of them", requirement.key));
        }
        if requirement.values.is_empty() {
            reporter.report(format!("{path}.values"), "is empty; there must be one at least");
        }
        for (j, value) in requirement.values.iter().enumerate() {
            if requirement.values.iter().take(j).any(|other| other == value) {
                reporter.report(format!("{path}.values[{j}]"), format!("`{value}` is a duplicate; remove one of them"));
            }
        }
    }
}

fn as_sets(term: &TopologySelectorTerm) -> BTreeMap<&str, HashSet<&str>> {
    let requirements = term.match_label_expressions.iter().flatten();
    requirements.map(|r| (r.key.as_str(), r.values.iter().map(String::as_str).collect())).collect()
}

pub(super) fn csi_node(node: &CSINode, reporter: &mut ProblemReporter<'_>) {
    for (i, driver) in node.spec.drivers.iter().enumerate() {
        let path = format!("spec.drivers[{i}]");
        driver_name(&format!("{path}.name"), &driver.name, reporter);
        if node.spec.drivers.iter().take(i).any(|other| other.name == driver.name) {
            reporter.report(format!("{path}.name"), format!("`{}` is a duplicate; remove one of them", driver.name));
        }
        let count = driver.allocatable.as_ref().and_then(|allocatable| allocatable.count);
        if let Some(count) = count.filter(|&count| count < 0) {
            reporter.report(format!("{path}.allocatable.count"), format!("is {count}, but must not be negative"));
        }
    }
}

pub(super) fn capacity(capacity: &CSIStorageCapacity, reporter: &mut ProblemReporter<'_>) {
    name("storageClassName", &capacity.storage_class_name, reporter);
    selectors::label_selector("nodeTopology", capacity.node_topology.as_ref(), reporter);
    let amounts = [("capacity", &capacity.capacity), ("maximumVolumeSize", &capacity.maximum_volume_size)];
    for (field, amount) in amounts {
        if let Some(Text(text)) = amount
            && Quantity::parse(text).is_ok_and(|quantity| quantity.is_negative())
        {
            reporter.report(field, format!("is {text}, but must not be negative"));
        }
    }
}

pub(super) fn attachment(attachment: &VolumeAttachment, reporter: &mut ProblemReporter<'_>) {
    let spec = &attachment.spec;
    driver_name("spec.attacher", &spec.attacher, reporter);
    name("spec.nodeName", &spec.node_name, reporter);
    let source = &spec.source;
    let volume = source.persistent_volume_name.as_ref();
    match (volume, &source.inline_volume_spec) {
        (Some(name), None) if name.is_empty() => reporter.report("spec.source.persistentVolumeName", "is empty"),
        (Some(_), None) | (None, Some(_)) => {}
        _ => reporter.report("spec.source", "must have either persistentVolumeName or inlineVolumeSpec"),
    }
}

/// Checks the name of a CSI driver. It may have capital letters.
fn driver_name(path: &str, text: &str, reporter: &mut ProblemReporter<'_>) {
    required(path, text, dns_subdomain_problems(&text.to_lowercase()), reporter);
}

fn name(path: &str, text: &str, reporter: &mut ProblemReporter<'_>) {
    required(path, text, dns_subdomain_problems(text), reporter);
}

/// Reports a missing text, or the first of its problems.
fn required(path: &str, text: &str, problems: Vec<String>, reporter: &mut ProblemReporter<'_>) {
    match text {
        "" => reporter.report(path, "is missing"),
        text => syntax(path, text, problems, reporter),
    }
}
