//! Conversion of volumes, claims, storage classes and the objects of CSI drivers.

mod in_tree;
mod pod;

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1 as api;
use k8s_openapi::api::storage::v1 as storage;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Text;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
pub(super) use pod::volumes;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{
    AccessMode, ClaimRef, CsiDriver, CsiNode, CsiStorageCapacity, CsiVolume, NodeSelector, NodeSelectorTerm,
    PersistentVolume, PersistentVolumeClaim, RequirementText, StorageClass, TermText, Uid, VolumeAttachment,
    VolumeMode, ZoneLabel,
};
use schedc_core::quantity::Quantity;
use schedc_kinds::namespace;

use super::label_selector::label_selector;
use super::selector::term_text;
use super::{labels, non_empty, symbol, uid};

/// Annotation for the storage class of volumes and claims, older than the field. It has precedence over the field.
pub(crate) const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";
/// Annotation that the PV controller sets on a bound claim.
pub(crate) const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
const MIGRATED_PLUGINS: &str = "storage.alpha.kubernetes.io/migrated-plugins";
/// Provisioner of classes whose volumes are created manually.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

const BETA_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
const BETA_REGION: &str = "failure-domain.beta.kubernetes.io/region";
const ZONE: &str = "topology.kubernetes.io/zone";
const REGION: &str = "topology.kubernetes.io/region";

/// Zone and region labels in VolumeZone's order, each with its current name.
const ZONE_LABELS: [(&str, &str); 4] = [(BETA_ZONE, ZONE), (BETA_REGION, REGION), (ZONE, ZONE), (REGION, REGION)];
/// Separator of the zones in a label value.
const ZONE_SEPARATOR: &str = "__";

/// Converts a PersistentVolume. Invalid input has the same effect as in kube-scheduler.
pub(super) fn persistent_volume(volume: &api::PersistentVolume, interner: &mut Interner) -> PersistentVolume {
    let meta = &volume.metadata;
    let absent = api::PersistentVolumeSpec::default();
    let spec = volume.spec.as_ref().unwrap_or(&absent);
    let terms = affinity_terms(spec);
    PersistentVolume {
        name: symbol(meta.name.as_ref(), interner),
        labels: labels(meta.labels.as_ref(), interner),
        zones: zone_labels(meta, interner),
        class: class(meta, spec.storage_class_name.as_ref(), interner),
        attributes_class: symbol(spec.volume_attributes_class_name.as_ref(), interner),
        capacity: storage_amount(spec.capacity.as_ref()).unwrap_or(Quantity::ZERO),
        access_modes: access_modes(spec.access_modes.as_deref(), interner),
        mode: volume_mode(spec.volume_mode.as_deref(), interner),
        node_affinity: terms.as_deref().map(|terms| node_affinity(terms, interner)),
        claim: spec.claim_ref.as_ref().map(|claim| ClaimRef {
            namespace: symbol(claim.namespace.as_ref(), interner),
            name: symbol(claim.name.as_ref(), interner),
            uid: claim.uid.as_deref().filter(|uid| !uid.is_empty()).map(Arc::from),
        }),
        available: volume.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Available"),
        deleting: meta.deletion_timestamp.is_some(),
        csi: spec
            .csi
            .as_ref()
            .map(|csi| CsiVolume { driver: interner.intern(&csi.driver), handle: interner.intern(&csi.volume_handle) }),
        migration: in_tree::migration(meta, spec, terms, interner),
    }
}

/// Converts a PersistentVolumeClaim.
///
/// A missing namespace is `default`. A missing uid is derived from namespace and name.
pub(super) fn persistent_volume_claim(
    claim: &api::PersistentVolumeClaim,
    interner: &mut Interner,
) -> PersistentVolumeClaim {
    let meta = &claim.metadata;
    let absent = api::PersistentVolumeClaimSpec::default();
    let spec = claim.spec.as_ref().unwrap_or(&absent);
    let controller = meta.owner_references.iter().flatten().find(|owner| owner.controller == Some(true));
    PersistentVolumeClaim {
        namespace: interner.intern(namespace(meta)),
        name: symbol(meta.name.as_ref(), interner),
        uid: uid("PersistentVolumeClaim", meta),
        volume: non_empty(spec.volume_name.as_ref(), interner),
        bind_completed: annotation(meta, BIND_COMPLETED).is_some(),
        class: class(meta, spec.storage_class_name.as_ref(), interner),
        attributes_class: symbol(spec.volume_attributes_class_name.as_ref(), interner),
        request: storage_amount(spec.resources.as_ref().and_then(|resources| resources.requests.as_ref())),
        access_modes: access_modes(spec.access_modes.as_deref(), interner),
        mode: volume_mode(spec.volume_mode.as_deref(), interner),
        selector: label_selector(spec.selector.as_ref(), interner).map_err(Arc::from),
        selected_node: annotation(meta, SELECTED_NODE).map(|node| interner.intern(node)),
        controller: controller.map(|owner| Uid(owner.uid.as_str().into())),
        deleting: meta.deletion_timestamp.is_some(),
        lost: claim.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Lost"),
    }
}

pub(super) fn storage_class(class: &storage::StorageClass, interner: &mut Interner) -> StorageClass {
    let (driver, migrated) = in_tree::driver_of(&class.provisioner);
    StorageClass {
        name: symbol(class.metadata.name.as_ref(), interner),
        provisioner: interner.intern(&class.provisioner),
        provisions: !matches!(class.provisioner.as_str(), "" | NO_PROVISIONER),
        driver: driver.map(|driver| interner.intern(driver)),
        migrated,
        wait_for_first_consumer: class.volume_binding_mode.as_ref().map(|mode| mode == "WaitForFirstConsumer"),
        allowed_topologies: allowed_topologies(class.allowed_topologies.as_deref().unwrap_or_default(), interner),
    }
}

pub(super) fn csi_node(node: &storage::CSINode, interner: &mut Interner) -> CsiNode {
    let migrated = annotation(&node.metadata, MIGRATED_PLUGINS).filter(|plugins| !plugins.is_empty());
    CsiNode {
        name: symbol(node.metadata.name.as_ref(), interner),
        migrated_plugins: migrated
            .into_iter()
            .flat_map(|plugins| plugins.split(','))
            .map(|plugin| interner.intern(plugin))
            .collect(),
        drivers: node
            .spec
            .drivers
            .iter()
            .map(|driver| {
                let limit = driver.allocatable.as_ref().and_then(|allocatable| allocatable.count);
                (interner.intern(&driver.name), limit)
            })
            .collect(),
    }
}

pub(super) fn csi_driver(driver: &storage::CSIDriver, interner: &mut Interner) -> CsiDriver {
    CsiDriver {
        name: symbol(driver.metadata.name.as_ref(), interner),
        storage_capacity: driver.spec.storage_capacity.unwrap_or(false),
    }
}

/// Converts a CSIStorageCapacity. A topology that cannot be parsed contains no node.
pub(super) fn csi_storage_capacity(
    capacity: &storage::CSIStorageCapacity,
    interner: &mut Interner,
) -> CsiStorageCapacity {
    let largest = capacity.maximum_volume_size.as_ref().or(capacity.capacity.as_ref());
    CsiStorageCapacity {
        namespace: interner.intern(namespace(&capacity.metadata)),
        name: symbol(capacity.metadata.name.as_ref(), interner),
        class: interner.intern(&capacity.storage_class_name),
        node_topology: label_selector(capacity.node_topology.as_ref(), interner).unwrap_or_default(),
        largest_volume: largest.map(|largest| amount(largest).value()),
    }
}

pub(super) fn volume_attachment(attachment: &storage::VolumeAttachment, interner: &mut Interner) -> VolumeAttachment {
    let spec = &attachment.spec;
    VolumeAttachment {
        name: symbol(attachment.metadata.name.as_ref(), interner),
        driver: interner.intern(&spec.attacher),
        node: interner.intern(&spec.node_name),
        volume: spec.source.persistent_volume_name.as_ref().map(|volume| interner.intern(volume)),
    }
}

fn annotation<'a>(meta: &'a ObjectMeta, key: &str) -> Option<&'a str> {
    meta.annotations.as_ref()?.get(key).map(String::as_str)
}

fn class(meta: &ObjectMeta, field: Option<&String>, interner: &mut Interner) -> Symbol {
    match annotation(meta, CLASS_ANNOTATION) {
        Some(class) => interner.intern(class),
        None => symbol(field, interner),
    }
}

fn amount(text: &Text) -> Quantity {
    Quantity::parse(&text.0).unwrap_or_default()
}

fn storage_amount(amounts: Option<&BTreeMap<String, Text>>) -> Option<Quantity> {
    amounts?.get("storage").map(amount)
}

fn access_modes(modes: Option<&[String]>, interner: &mut Interner) -> Box<[AccessMode]> {
    let mode = |mode: &String| match mode.as_str() {
        "ReadWriteOnce" => AccessMode::ReadWriteOnce,
        "ReadOnlyMany" => AccessMode::ReadOnlyMany,
        "ReadWriteMany" => AccessMode::ReadWriteMany,
        "ReadWriteOncePod" => AccessMode::ReadWriteOncePod,
        other => AccessMode::Other(interner.intern(other)),
    };
    modes.unwrap_or_default().iter().map(mode).collect()
}

fn volume_mode(mode: Option<&str>, interner: &mut Interner) -> VolumeMode {
    match mode {
        None | Some("Filesystem") => VolumeMode::Filesystem,
        Some("Block") => VolumeMode::Block,
        Some(other) => VolumeMode::Other(interner.intern(other)),
    }
}

/// Returns the values of the zone labels. A label with an empty zone among its values is ignored.
fn zone_labels(meta: &ObjectMeta, interner: &mut Interner) -> Box<[ZoneLabel]> {
    let mut zones = Vec::new();
    for (key, successor) in ZONE_LABELS {
        let Some(value) = meta.labels.as_ref().and_then(|labels| labels.get(key)) else { continue };
        let values: Vec<_> = value.split(ZONE_SEPARATOR).map(str::trim).collect();
        if values.contains(&"") {
            continue;
        }
        zones.push(ZoneLabel {
            key: interner.intern(key),
            successor: interner.intern(successor),
            values: values.into_iter().map(|value| interner.intern(value)).collect(),
        });
    }
    zones.into()
}

fn affinity_terms(spec: &api::PersistentVolumeSpec) -> Option<Vec<TermText<'_>>> {
    let required = spec.node_affinity.as_ref()?.required.as_ref()?;
    Some(required.node_selector_terms.iter().map(term_text).collect())
}

/// Converts the node affinity of a volume. Kubernetes validates conditions on fields, but compares them with a node
/// without fields; therefore they always match.
fn node_affinity(terms: &[TermText<'_>], interner: &mut Interner) -> NodeSelector {
    let terms = terms.iter().filter(|term| !term.match_expressions.is_empty() || !term.match_fields.is_empty());
    let parsed = terms.filter_map(|term| NodeSelectorTerm::parse(term, "", interner).ok());
    NodeSelector { terms: parsed.map(|term| NodeSelectorTerm { match_fields: Box::default(), ..term }).collect() }
}

/// Returns the nodes on which volumes of a class can be provisioned. Empty and invalid terms select no node.
fn allowed_topologies<'a>(terms: &'a [api::TopologySelectorTerm], interner: &mut Interner) -> Option<NodeSelector> {
    if terms.is_empty() {
        return None;
    }
    let requirement = |label: &'a api::TopologySelectorLabelRequirement| RequirementText {
        key: &label.key,
        operator: "In",
        values: Some(label.values.iter().map(String::as_str).collect()),
    };
    let mut parsed = Vec::new();
    for term in terms {
        let labels: Vec<_> = term.match_label_expressions.iter().flatten().map(requirement).collect();
        if !labels.is_empty() {
            let term = TermText { match_expressions: labels, match_fields: Vec::new() };
            parsed.extend(NodeSelectorTerm::parse(&term, "", interner));
        }
    }
    Some(NodeSelector { terms: parsed.into() })
}

#[cfg(test)]
mod tests;
