//! What PreBind does: it tells the cluster what was assumed, and waits until it is so.

use std::sync::Arc;
use std::time::Duration;

use schedc_core::client::{ApiReason, Client, ObjectRef};
use schedc_core::extension_points::Placement;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{
    LabelsExt, NodeSelector, PersistentVolume, PersistentVolumeClaim, RequirementText, TermText, label_integer,
};
use serde_json::{Value, json};

use crate::columns::NodeLabels;

const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// How often the cluster is asked.
const POLL: Duration = Duration::from_secs(1);

/// What is to be done for a pod's unbound claims. It is in words, since it is done beside the scheduler, whose symbols are not
/// there.
#[derive(Debug)]
pub(super) struct Work {
    pod: ObjectRef,
    node: Arc<str>,
    labels: Box<[(Arc<str>, Arc<str>)]>,
    bindings: Vec<(ObjectRef, Claim)>,
    provisions: Vec<Claim>,
}

#[derive(Debug)]
struct Claim {
    object: ObjectRef,
    uid: Arc<str>,
}

/// Why it was not done.
enum Broken {
    /// This cluster has no volumes: all is as it should be.
    NoVolumes,
    Because(String),
}

impl Work {
    /// Nothing yet, for a pod that goes to a node.
    pub(super) fn new(placement: &Placement, node: &NodeLabels, interner: &Interner) -> Work {
        let label = |&(key, value): &(Symbol, Symbol)| (interner.share(key), interner.share(value));
        Work {
            pod: object("Pod", placement.pod.namespace.clone(), placement.pod.name.clone()),
            node: placement.node_name.clone(),
            labels: node.labels.iter().map(label).collect(),
            bindings: Vec::new(),
            provisions: Vec::new(),
        }
    }

    /// The claim gets this volume.
    pub(super) fn bind(&mut self, volume: &PersistentVolume, claim: &PersistentVolumeClaim, interner: &Interner) {
        let volume = object("PersistentVolume", "".into(), interner.share(volume.name));
        self.bindings.push((volume, Claim::new(claim, interner)));
    }

    /// The claim gets a volume that is made for the node.
    pub(super) fn provision(&mut self, claim: &PersistentVolumeClaim, interner: &Interner) {
        self.provisions.push(Claim::new(claim, interner));
    }

    /// Does it, and waits for so many seconds at most (`BindPodVolumes`).
    ///
    /// # Errors
    /// The cluster refused, or something else came of it, or it takes too long.
    pub(super) async fn run(&self, client: &impl Client, timeout: i64) -> Result<(), String> {
        match self.write(client).await {
            Ok(()) => {}
            Err(Broken::NoVolumes) => return Ok(()),
            Err(Broken::Because(reason)) => return Err(reason),
        }
        for _ in 0..timeout {
            client.sleep(POLL).await;
            match self.is_done(client).await {
                Ok(true) | Err(Broken::NoVolumes) => return Ok(()),
                Ok(false) => {}
                Err(Broken::Because(reason)) => return Err(format!("binding volumes: {reason}")),
            }
        }
        Err("binding volumes: context deadline exceeded".to_owned())
    }

    /// Tells the cluster (`bindAPIUpdate`). What is there must be what the decision was made of, or what was decided.
    async fn write(&self, client: &impl Client) -> Result<(), Broken> {
        for (volume, claim) in &self.bindings {
            let now = get(client, volume).await?;
            let taken = &now["spec"]["claimRef"];
            if claim.is_in(taken, &claim.uid) {
                continue;
            }
            let is_promised = claim.is_in(taken, "");
            if !taken.is_null() && !is_promised {
                return Err(modified(volume));
            }
            let claim_ref = json!({
                "apiVersion": "v1", "kind": "PersistentVolumeClaim", "uid": *claim.uid,
                "namespace": *claim.object.namespace, "name": *claim.object.name,
            });
            let mut patch = json!({ "metadata": version(&now), "spec": { "claimRef": claim_ref } });
            if !is_promised {
                patch["metadata"]["annotations"] = json!({ BOUND_BY_CONTROLLER: "yes" });
            }
            client.patch(volume, &patch).await.map_err(|error| Broken::Because(error.message))?;
        }
        for claim in &self.provisions {
            let now = get(client, &claim.object).await?;
            if annotation(&now, SELECTED_NODE) == Some(&*self.node) {
                continue;
            }
            let is_free = annotation(&now, SELECTED_NODE).is_none() && text(&now["spec"]["volumeName"]).is_empty();
            if !is_free || text(&now["metadata"]["uid"]) != &*claim.uid {
                return Err(modified(&claim.object));
            }
            let mut patch = json!({ "metadata": version(&now) });
            patch["metadata"]["annotations"] = json!({ SELECTED_NODE: *self.node });
            client.patch(&claim.object, &patch).await.map_err(|error| Broken::Because(error.message))?;
        }
        Ok(())
    }

    /// Whether all claims are bound (`checkBindings`). An error says that they will not be.
    async fn is_done(&self, client: &impl Client) -> Result<bool, Broken> {
        if let Err(error) = client.get(&self.pod).await
            && error.reason == ApiReason::NotFound
        {
            return Err(Broken::Because(format!("pod does not exist any more: {error}")));
        }
        for (volume, claim) in &self.bindings {
            let now = get(client, volume).await.map_err(|error| error.with("failed to check binding"))?;
            let claim = get(client, &claim.object).await.map_err(|error| error.with("failed to check binding"))?;
            self.check_affinity(&now)?;
            if text(&now["spec"]["claimRef"]["uid"]).is_empty() {
                return Err(Broken::Because(format!("ClaimRef got reset for pv {:?}", volume.name)));
            }
            if !is_bound(&claim) {
                return Ok(false);
            }
        }
        for claim in &self.provisions {
            let name = &claim.object.name;
            let now =
                get(client, &claim.object).await.map_err(|error| error.with("failed to check provisioning pvc"))?;
            if now["metadata"]["annotations"].is_null() {
                return Err(Broken::Because(format!("selectedNode annotation reset for PVC {name:?}")));
            }
            if annotation(&now, SELECTED_NODE) != Some(&*self.node) {
                // A provisioner that failed takes the annotation away.
                return Err(Broken::Because(format!("provisioning failed for PVC {name:?}")));
            }
            let volume = text(&now["spec"]["volumeName"]);
            if !volume.is_empty() {
                match client.get(&object("PersistentVolume", "".into(), volume.into())).await {
                    Ok(volume) => self.check_affinity(&volume)?,
                    // It comes, or the claim will lose it.
                    Err(error) if error.reason == ApiReason::NotFound => return Ok(false),
                    Err(error) => {
                        return Err(Broken::Because(format!("failed to get pv {volume:?} from cache: {error}")));
                    }
                }
            }
            if !is_bound(&now) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the node can reach a volume, which may not have been there when it was chosen (`CheckNodeAffinity`).
    fn check_affinity(&self, volume: &Value) -> Result<(), Broken> {
        let Some(terms) = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"].as_array() else {
            return Ok(());
        };
        let mut interner = Interner::default();
        let labels: Vec<_> =
            self.labels.iter().map(|(key, value)| (interner.intern(key), interner.intern(value))).collect();
        // Kubernetes does not look at the names of nodes here.
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
        Err(Broken::Because(format!("pv {volume:?} node affinity doesn't match node {:?}: {mismatch}", self.node)))
    }
}

impl Claim {
    fn new(claim: &PersistentVolumeClaim, interner: &Interner) -> Claim {
        let (namespace, name) = (interner.share(claim.namespace), interner.share(claim.name));
        Claim { object: object("PersistentVolumeClaim", namespace, name), uid: claim.uid.clone() }
    }

    /// Whether a volume's `claimRef` names it, with this uid.
    fn is_in(&self, claim_ref: &Value, uid: &str) -> bool {
        text(&claim_ref["name"]) == &*self.object.name
            && text(&claim_ref["namespace"]) == &*self.object.namespace
            && text(&claim_ref["uid"]) == uid
    }
}

impl Broken {
    fn with(self, what: &str) -> Broken {
        match self {
            Broken::NoVolumes => Broken::NoVolumes,
            Broken::Because(reason) => Broken::Because(format!("{what}: {reason}")),
        }
    }
}

fn object(kind: &str, namespace: Arc<str>, name: Arc<str>) -> ObjectRef {
    ObjectRef { api_version: "v1".into(), kind: kind.into(), namespace, name }
}

async fn get(client: &impl Client, object: &ObjectRef) -> Result<Value, Broken> {
    client.get(object).await.map_err(|error| match error.reason {
        ApiReason::Unsupported => Broken::NoVolumes,
        _ => Broken::Because(error.message),
    })
}

/// What an API server says of a change to another version than there is.
fn modified(object: &ObjectRef) -> Broken {
    let resource = object.kind.to_ascii_lowercase();
    Broken::Because(format!(
        "Operation cannot be fulfilled on {resource}s {:?}: the object has been modified; please apply your changes to the \
         latest version and try again",
        object.name
    ))
}

/// The condition that an object is still of this version.
fn version(object: &Value) -> Value {
    match &object["metadata"]["resourceVersion"] {
        Value::Null => json!({}),
        version => json!({ "resourceVersion": version }),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object["metadata"]["annotations"][key].as_str()
}

/// Whether a claim has its volume and binding is over (`isPVCFullyBound`).
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
