//! Additional nodes.

use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::api::core::v1::Node as ApiNode;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_in_memory::server::Key;
use schedc_objects::AnyObject;
use serde::Serialize;

use crate::remedies::change::Change;
use crate::remedies::fork::Fork;
use crate::remedies::situation::{CONDITION_TAINTS, Situation};

/// Maximum number of shapes that are tried, the most frequent first.
const MAX_SHAPES: usize = 12;

/// The label with the name of a node.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// Adds an empty node with the shape of an existing one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AddNode {
    /// A node of this shape.
    pub like: String,
}

impl AddNode {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, _: &Situation, add: &mut dyn FnMut(Self)) {
        fork.shapes(shapes).into_iter().for_each(|like| add(AddNode { like }));
    }

    fn name(&self) -> String {
        format!("{}-copy", self.like)
    }
}

/// Returns one node of each of the most frequent shapes. Nodes of one shape have equal devices, allocatable resources,
/// declared features, labels and taints. Labels with the node's name and taints of conditions do not count.
fn shapes(fork: &Fork<'_>) -> Vec<String> {
    let mut devices: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for object in fork.list("ResourceSlice") {
        let AnyObject::ResourceSlice(slice) = object else { continue };
        let count = slice.spec.devices.as_ref().map_or(0, Vec::len);
        let node = slice.spec.node_name.as_deref().unwrap_or_default();
        devices.entry(node).or_default().push((&slice.spec.driver, count));
    }
    let mut shapes: BTreeMap<String, (usize, &str)> = BTreeMap::new();
    for node in fork.nodes() {
        let name = node.metadata.name.as_deref().unwrap_or_default();
        // The key of `shapes` is a text that is equal for nodes of one shape.
        let labels = node.metadata.labels.iter().flatten().filter(|(key, value)| *key != HOSTNAME && *value != name);
        let labels: Vec<_> = labels.collect();
        let taints = node.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
        let taints = taints.filter(|taint| !taint.key.starts_with(CONDITION_TAINTS));
        let taints: Vec<_> = taints.map(|taint| (&taint.key, &taint.value, &taint.effect)).collect();
        let status = node.status.as_ref().map(|status| (&status.allocatable, &status.declared_features));
        let devices = devices.get(name);
        shapes.entry(format!("{labels:?} {taints:?} {status:?} {devices:?}")).or_insert((0, name)).0 += 1;
    }
    let mut shapes: Vec<(usize, &str)> = shapes.into_values().collect();
    shapes.sort_by(|(a, a_name), (b, b_name)| b.cmp(a).then(a_name.cmp(b_name)));
    shapes.into_iter().take(MAX_SHAPES).map(|(_, like)| like.to_owned()).collect()
}

/// Returns a node of the same shape with another name. It is not cordoned, and has no condition taints and no data that
/// only the original node has, such as the provider ID.
pub(crate) fn copied(node: &ApiNode, name: &str) -> ApiNode {
    let old = node.metadata.name.as_deref().unwrap_or_default();
    let mut labels = node.metadata.labels.clone().unwrap_or_default();
    labels.values_mut().filter(|value| *value == old).for_each(|value| name.clone_into(value));
    labels.entry(HOSTNAME.to_owned()).and_modify(|hostname| name.clone_into(hostname));
    let mut copy = node.clone();
    copy.metadata = ObjectMeta { name: Some(name.to_owned()), labels: Some(labels), ..ObjectMeta::default() };
    if let Some(spec) = &mut copy.spec {
        spec.unschedulable = None;
        spec.provider_id = None;
        if let Some(taints) = &mut spec.taints {
            taints.retain(|taint| !taint.key.starts_with(CONDITION_TAINTS));
        }
    }
    copy
}

impl Change for AddNode {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        let name = self.name();
        let Some(node) = fork.node(&self.like) else { return false };
        let copy = copied(node, &name);
        fork.set(copy);
        if let Some(AnyObject::CsiNode(drivers)) = fork.get(&Key::cluster("CSINode", self.like.as_str())) {
            let mut drivers = drivers.clone();
            drivers.metadata = ObjectMeta { name: Some(name.clone()), ..ObjectMeta::default() };
            fork.set(*drivers);
        }
        let slices: Vec<AnyObject> = fork.list("ResourceSlice").cloned().collect();
        for slice in slices {
            let AnyObject::ResourceSlice(mut slice) = slice else { continue };
            if slice.spec.node_name.as_ref() == Some(&self.like) {
                let slice_name = format!("{}-copy", slice.metadata.name.unwrap_or_default());
                slice.metadata = ObjectMeta { name: Some(slice_name), ..ObjectMeta::default() };
                slice.spec.pool.name = format!("{}-copy", slice.spec.pool.name);
                slice.spec.node_name = Some(name.clone());
                fork.set(*slice);
            }
        }
        true
    }

    fn disturbance(&self) -> u32 {
        50
    }
}

impl fmt::Display for AddNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "add a node like {}", self.like)
    }
}
