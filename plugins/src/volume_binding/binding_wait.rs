//! PreBind's wait: it ends when updates of the pod's claims and volumes show that all claims are bound, or
//! that they cannot be bound.

use schedc_core::client::{ApiError, ApiReason, ObjectUpdates};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{LabelsExt, NodeSelector, RequirementText, TermText, label_integer};
use serde_json::Value;

use super::binding_plan::{BindingPlan, SELECTED_NODE, annotation, object, text};

const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";

/// State of the objects that a binding depends on.
pub(super) struct BindingWait<'a> {
    plan: &'a BindingPlan,
    pod: ObservedObject,
    node: ObservedObject,
    bindings: Vec<VolumeAndClaim>,
    provisions: Vec<VolumeAndClaim>,
    /// The role of each watched object.
    roles: Vec<ObjectRole>,
}

/// A volume and its claim.
#[derive(Default)]
struct VolumeAndClaim {
    volume: ObservedObject,
    claim: ObservedObject,
    /// Name of the volume, if it is watched.
    name: Option<Box<str>>,
}

/// Last observed state of an object.
#[derive(Default)]
enum ObservedObject {
    #[default]
    Unknown,
    Present(Value),
    /// The object does not exist. Contains the message of the API server.
    Deleted(String),
}

#[derive(Clone, Copy)]
enum ObjectRole {
    Pod,
    Node,
    /// The volume of a binding.
    Volume(usize),
    /// The claim of a binding.
    Claim(usize),
    /// The claim of a provisioning.
    Provision(usize),
    /// The volume of a provisioning, after the claim names it.
    Provisioned(usize),
}

impl<'a> BindingWait<'a> {
    /// Starts with the written objects, in the order of the watched objects.
    pub(super) fn new(plan: &'a BindingPlan, written: Vec<Value>) -> Self {
        let volumes = 0..plan.bindings.len();
        let claims = 0..plan.provisions.len();
        let mut written = written.into_iter().map(ObservedObject::Present);
        let mut next = || written.next().unwrap_or_default();
        let bindings =
            volumes.clone().map(|_| VolumeAndClaim { volume: next(), ..VolumeAndClaim::default() }).collect();
        let provisions =
            claims.clone().map(|_| VolumeAndClaim { claim: next(), ..VolumeAndClaim::default() }).collect();
        let roles = volumes.map(ObjectRole::Volume).chain(claims.map(ObjectRole::Provision));
        let roles = [ObjectRole::Pod, ObjectRole::Node].into_iter().chain(roles).collect();
        BindingWait { plan, pod: ObservedObject::Unknown, node: ObservedObject::Unknown, bindings, provisions, roles }
    }

    /// Waits until all claims are bound.
    ///
    /// # Errors
    /// The claims cannot be bound, or the timeout passes.
    pub(super) async fn wait_until_bound(mut self, updates: &mut impl ObjectUpdates) -> Result<(), String> {
        for (number, (_, claim)) in self.plan.bindings.iter().enumerate() {
            updates.add(claim.object.clone());
            self.roles.push(ObjectRole::Claim(number));
        }
        loop {
            self.follow_provisioned(updates);
            if self.is_done()? {
                return Ok(());
            }
            let Some((role, now)) = updates.next().await else { return Err("context deadline exceeded".to_owned()) };
            if let Some(role) = self.roles.get(role) {
                self.observe(*role, now)?;
            }
        }
    }

    fn observe(&mut self, role: ObjectRole, now: Result<Value, ApiError>) -> Result<(), String> {
        let known = match role {
            ObjectRole::Pod => &mut self.pod,
            ObjectRole::Node => &mut self.node,
            ObjectRole::Volume(number) => &mut self.bindings[number].volume,
            ObjectRole::Claim(number) => &mut self.bindings[number].claim,
            ObjectRole::Provision(number) => &mut self.provisions[number].claim,
            ObjectRole::Provisioned(number) => &mut self.provisions[number].volume,
        };
        match now {
            Ok(now) if known.is_newer_than(&now) => {}
            Ok(now) => *known = ObservedObject::Present(now),
            Err(error) if error.reason == ApiReason::NotFound => *known = ObservedObject::Deleted(error.message),
            Err(error) => match role {
                ObjectRole::Pod | ObjectRole::Node => {}
                ObjectRole::Volume(_) | ObjectRole::Claim(_) => {
                    return Err(format!("failed to check binding: {error}"));
                }
                ObjectRole::Provision(_) => return Err(format!("failed to check provisioning pvc: {error}")),
                ObjectRole::Provisioned(number) => {
                    let name = self.provisions[number].name.as_deref().unwrap_or_default();
                    return Err(format!("failed to get pv {name:?} from cache: {error}"));
                }
            },
        }
        Ok(())
    }

    /// Watches provisioned volumes as soon as their names are known.
    fn follow_provisioned(&mut self, updates: &mut impl ObjectUpdates) {
        for (number, made) in self.provisions.iter_mut().enumerate() {
            let ObservedObject::Present(claim) = &made.claim else { continue };
            let name = text(&claim["spec"]["volumeName"]);
            if !name.is_empty() && made.name.as_deref() != Some(name) {
                made.name = Some(name.into());
                made.volume = ObservedObject::Unknown;
                updates.add(object("PersistentVolume", "".into(), name.into()));
                self.roles.push(ObjectRole::Provisioned(number));
            }
        }
    }

    /// Returns whether all claims are bound (`checkBindings`). An error means that they will not be bound.
    fn is_done(&self) -> Result<bool, String> {
        if let ObservedObject::Deleted(message) = &self.node {
            return Err(format!("failed to get node {:?}: {message}", self.plan.node));
        }
        match &self.pod {
            ObservedObject::Deleted(message) => return Err(format!("pod does not exist any more: {message}")),
            ObservedObject::Present(pod) if ["Succeeded", "Failed"].contains(&text(&pod["status"]["phase"])) => {
                return Err("pod does not exist any more: it has ended".to_owned());
            }
            ObservedObject::Present(_) | ObservedObject::Unknown => {}
        }
        for (VolumeAndClaim { volume, claim, .. }, (object, _)) in self.bindings.iter().zip(&self.plan.bindings) {
            let (volume, claim) = match (volume, claim) {
                (ObservedObject::Deleted(message), _) | (_, ObservedObject::Deleted(message)) => {
                    return Err(format!("failed to check binding: {message}"));
                }
                (volume, claim) => (volume.value(), claim.value()),
            };
            self.check_affinity(volume)?;
            if text(&volume["spec"]["claimRef"]["uid"]).is_empty() {
                return Err(format!("ClaimRef got reset for pv {:?}", object.name));
            }
            if !is_bound(claim) {
                return Ok(false);
            }
        }
        for (VolumeAndClaim { volume, claim, name: made }, provision) in
            self.provisions.iter().zip(&self.plan.provisions)
        {
            if let ObservedObject::Deleted(message) = claim {
                return Err(format!("failed to check provisioning pvc: {message}"));
            }
            let (name, claim) = (&provision.object.name, claim.value());
            if claim["metadata"]["annotations"].is_null() {
                return Err(format!("selectedNode annotation reset for PVC {name:?}"));
            }
            if annotation(claim, SELECTED_NODE) != Some(&*self.plan.node) {
                // A provisioner that fails removes the annotation.
                return Err(format!("provisioning failed for PVC {name:?}"));
            }
            if made.is_some() {
                // A volume that was not observed yet will appear, or the claim will no longer name it.
                let ObservedObject::Present(volume) = volume else { return Ok(false) };
                self.check_affinity(volume)?;
            }
            if !is_bound(claim) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Checks whether the node can access a volume, which may not have existed when the node was selected
    /// (`CheckNodeAffinity`).
    fn check_affinity(&self, volume: &Value) -> Result<(), String> {
        let Some(terms) = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"].as_array() else {
            return Ok(());
        };
        let mut interner = Interner::default();
        let labels: Vec<_> = match &self.node {
            ObservedObject::Present(node) => {
                let labels = node["metadata"]["labels"].as_object().into_iter().flatten();
                labels.map(|(key, value)| (interner.intern(key), interner.intern(text(value)))).collect()
            }
            ObservedObject::Unknown | ObservedObject::Deleted(_) => {
                let labels = self.plan.labels.iter();
                labels.map(|(key, value)| (interner.intern(key), interner.intern(value))).collect()
            }
        };
        // As in Kubernetes, the terms are compared only with labels here, not with the node's name.
        let terms: Vec<_> = terms.iter().map(term).collect();
        let mismatch = match NodeSelector::parse(&terms, &mut interner) {
            Err(error) => error,
            Ok(selector) => {
                let integer = |key| label_integer(&interner, labels.value(key)?);
                if selector.matches(Symbol::EMPTY, &labels, integer) {
                    return Ok(());
                }
                "no matching NodeSelectorTerms".to_owned()
            }
        };
        let volume = text(&volume["metadata"]["name"]);
        Err(format!("pv {volume:?} node affinity doesn't match node {:?}: {mismatch}", self.plan.node))
    }
}

impl ObservedObject {
    /// Returns the object; `null` if it is unknown or deleted.
    fn value(&self) -> &Value {
        match self {
            ObservedObject::Present(value) => value,
            ObservedObject::Unknown | ObservedObject::Deleted(_) => &Value::Null,
        }
    }

    /// Returns whether this state is newer than `other`: updates also contain the versions before a write.
    fn is_newer_than(&self, other: &Value) -> bool {
        let version = |object: &Value| text(&object["metadata"]["resourceVersion"]).parse::<u64>().ok();
        version(self.value()).zip(version(other)).is_some_and(|(known, other)| known > other)
    }
}

/// Returns whether a claim names its volume and its binding is complete (`isPVCFullyBound`).
fn is_bound(claim: &Value) -> bool {
    !text(&claim["spec"]["volumeName"]).is_empty() && annotation(claim, BIND_COMPLETED).is_some()
}

fn term(term: &Value) -> TermText<'_> {
    let expressions = term["matchExpressions"].as_array().map(Vec::as_slice).unwrap_or_default();
    TermText { match_expressions: expressions.iter().map(requirement).collect(), match_fields: Vec::new() }
}

fn requirement(requirement: &Value) -> RequirementText<'_> {
    RequirementText {
        key: text(&requirement["key"]),
        operator: text(&requirement["operator"]),
        values: requirement["values"].as_array().map(|values| values.iter().map(text).collect()),
    }
}
