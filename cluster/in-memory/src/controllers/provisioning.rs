//! Provisioning of volumes for claims.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as api;
use schedc_core::model::StorageClass;
use schedc_objects::AnyObject;

use super::claims::{UnboundClaim, bind, reference};
use super::{Controllers, PROVISIONED_BY, SELECTED_NODE, update};
use crate::server::{ApiServer, Key};

/// Topology key of volumes if the node does not list the driver, and the class does not restrict the topology.
const ZONE: &str = "topology.kubernetes.io/zone";

impl Controllers {
    /// Creates a volume for a claim and binds it. The volume is accessible from the selected node. If none is
    /// selected, the first topology that the class allows applies. If the selected node does not exist, only the
    /// selection is removed.
    pub(super) fn provision(&self, server: &mut ApiServer, claim: UnboundClaim<'_>, class: &StorageClass, now: i64) {
        let UnboundClaim { key, written, claim } = claim;
        let provisioner = self.interner.resolve(class.provisioner);
        let class_key = Key::cluster("StorageClass", self.interner.resolve(class.name));
        let Some(AnyObject::StorageClass(class)) = server.get(&class_key).map(|object| &**object) else { return };
        let topology = match claim.selected_node.map(|node| self.interner.resolve(node)) {
            None => allowed(class.allowed_topologies.iter().flatten().next()),
            Some(name) => match server.get(&Key::cluster("Node", name)).map(|object| &**object) {
                Some(AnyObject::Node(node)) => {
                    let keys = topology_keys(server, name, provisioner, class.allowed_topologies.as_deref());
                    of_node(node, &keys)
                }
                _ => return reschedule(server, written),
            },
        };
        let spec = written.spec.as_ref();
        let requests = spec.and_then(|spec| spec.resources.as_ref()).and_then(|resources| resources.requests.clone());
        let reclaim = class.reclaim_policy.clone().unwrap_or_else(|| "Delete".to_owned());
        let mut volume = api::PersistentVolume::default();
        let name = volume_name(written.metadata.uid.as_deref().unwrap_or_default());
        volume.metadata.name = Some(name.clone());
        let annotations = BTreeMap::from([(PROVISIONED_BY.to_owned(), provisioner.to_owned())]);
        volume.metadata.annotations = Some(annotations);
        volume.spec = Some(api::PersistentVolumeSpec {
            capacity: requests,
            access_modes: spec.and_then(|spec| spec.access_modes.clone()),
            volume_mode: spec.and_then(|spec| spec.volume_mode.clone()),
            volume_attributes_class_name: spec.and_then(|spec| spec.volume_attributes_class_name.clone()),
            storage_class_name: class.metadata.name.clone(),
            persistent_volume_reclaim_policy: Some(reclaim),
            claim_ref: Some(reference(key, written)),
            csi: Some(api::CSIPersistentVolumeSource {
                driver: provisioner.to_owned(),
                volume_handle: name,
                ..api::CSIPersistentVolumeSource::default()
            }),
            node_affinity: affinity(topology),
            ..api::PersistentVolumeSpec::default()
        });
        volume.status.get_or_insert_default().phase = Some("Available".to_owned());
        if let Ok(volume) = server.create(volume.into(), now) {
            bind(server, volume.name(), key, written);
        }
    }
}

/// Returns the name of a provisioned volume. It contains the claim's uid, in lower case, and with `-` for characters
/// that a name must not have.
fn volume_name(uid: &str) -> String {
    let uid = uid.strip_prefix("PersistentVolumeClaim/").unwrap_or(uid);
    format!("pvc-{}", uid.replace(['/', '#'], "-").to_ascii_lowercase())
}

/// Removes the selected node from a claim, because the node does not exist. The scheduler then selects another one.
fn reschedule(server: &mut ApiServer, claim: &api::PersistentVolumeClaim) {
    let mut claim = claim.clone();
    if let Some(annotations) = &mut claim.metadata.annotations {
        annotations.remove(SELECTED_NODE);
    }
    update(server, claim.into());
}

/// Returns the topology keys of a driver's volumes: those of the driver on the node, or else those that the class
/// restricts, or else the zone.
fn topology_keys(
    server: &ApiServer,
    node: &str,
    driver: &str,
    allowed: Option<&[api::TopologySelectorTerm]>,
) -> Vec<String> {
    if let Some(AnyObject::CsiNode(csi)) = server.get(&Key::cluster("CSINode", node)).map(|object| &**object)
        && let Some(driver) = csi.spec.drivers.iter().find(|known| known.name == driver)
    {
        return driver.topology_keys.clone().unwrap_or_default();
    }
    let terms = allowed.unwrap_or_default().iter().flat_map(|term| term.match_label_expressions.iter().flatten());
    let mut keys: Vec<_> = terms.map(|label| label.key.clone()).collect();
    keys.sort();
    keys.dedup();
    if keys.is_empty() {
        keys.push(ZONE.to_owned());
    }
    keys
}

/// Topology of a volume: for each label, the allowed values.
type Topology = Vec<(String, Vec<String>)>;

fn of_node(node: &api::Node, keys: &[String]) -> Topology {
    let labels = node.metadata.labels.as_ref();
    let value = |key: &String| Some((key.clone(), vec![labels?.get(key)?.clone()]));
    keys.iter().filter_map(value).collect()
}

fn allowed(term: Option<&api::TopologySelectorTerm>) -> Topology {
    let labels = term.into_iter().flat_map(|term| term.match_label_expressions.iter().flatten());
    labels.map(|label| (label.key.clone(), label.values.clone())).collect()
}

fn affinity(topology: Topology) -> Option<api::VolumeNodeAffinity> {
    if topology.is_empty() {
        return None;
    }
    let requirement =
        |(key, values)| api::NodeSelectorRequirement { key, operator: "In".to_owned(), values: Some(values) };
    let term = api::NodeSelectorTerm {
        match_expressions: Some(topology.into_iter().map(requirement).collect()),
        ..api::NodeSelectorTerm::default()
    };
    Some(api::VolumeNodeAffinity { required: Some(api::NodeSelector { node_selector_terms: vec![term] }) })
}
