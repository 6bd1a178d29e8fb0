//! The bindings and provisionings that PreBind writes for a pod.

use std::sync::Arc;

use schedc_core::client::ObjectRef;
use schedc_core::extension_points::Placement;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{PersistentVolume, PersistentVolumeClaim};
use serde_json::Value;

use crate::columns::NodeLabels;

/// Annotation that requests the provisioning of a claim's volume for a node.
pub(super) const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// The bindings and provisionings of a pod's unbound claims. It contains strings, because PreBind runs concurrently
/// with the scheduling of other pods, without access to the interner.
#[derive(Debug)]
pub(super) struct BindingPlan {
    pub(super) pod: ObjectRef,
    pub(super) node: Arc<str>,
    pub(super) labels: Box<[(Arc<str>, Arc<str>)]>,
    pub(super) bindings: Vec<(ObjectRef, PlannedClaim)>,
    pub(super) provisions: Vec<PlannedClaim>,
}

#[derive(Debug)]
pub(super) struct PlannedClaim {
    pub(super) object: ObjectRef,
    pub(super) uid: Arc<str>,
}

impl BindingPlan {
    /// Creates an empty plan for a pod and its node.
    pub(super) fn new(placement: &Placement, node: &NodeLabels, interner: &Interner) -> BindingPlan {
        let label = |&(key, value): &(Symbol, Symbol)| (interner.share(key), interner.share(value));
        BindingPlan {
            pod: object("Pod", placement.pod.namespace.clone(), placement.pod.name.clone()),
            node: placement.node_name.clone(),
            labels: node.labels.iter().map(label).collect(),
            bindings: Vec::new(),
            provisions: Vec::new(),
        }
    }

    /// Adds the binding of a claim to a volume.
    pub(super) fn bind(&mut self, volume: &PersistentVolume, claim: &PersistentVolumeClaim, interner: &Interner) {
        let volume = object("PersistentVolume", "".into(), interner.share(volume.name));
        self.bindings.push((volume, PlannedClaim::new(claim, interner)));
    }

    /// Adds the provisioning of a claim's volume for the node.
    pub(super) fn provision(&mut self, claim: &PersistentVolumeClaim, interner: &Interner) {
        self.provisions.push(PlannedClaim::new(claim, interner));
    }
}

impl PlannedClaim {
    fn new(claim: &PersistentVolumeClaim, interner: &Interner) -> PlannedClaim {
        let (namespace, name) = (interner.share(claim.namespace), interner.share(claim.name));
        PlannedClaim { object: object("PersistentVolumeClaim", namespace, name), uid: claim.uid.clone() }
    }
}

pub(super) fn object(kind: &str, namespace: Arc<str>, name: Arc<str>) -> ObjectRef {
    ObjectRef { api_version: "v1".into(), kind: kind.into(), namespace, name }
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object["metadata"]["annotations"][key].as_str()
}
