//! Emulation of the volume controllers that a scheduler depends on: kube-controller-manager's PV controller, and a
//! provisioner.

use serde_json::{Value, json};

use crate::kinds::Kind;
use crate::store::{Key, Store};
use crate::write::text;

/// Annotation with which a scheduler requests a volume.
const SELECTED_NODE: &str = "/metadata/annotations/volume.kubernetes.io~1selected-node";
/// Annotation of completely bound claims.
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";

/// Processes all claims: provisions volumes for those with a selected node, and binds claims to volumes that reference
/// them.
pub(crate) fn sync(store: &mut Store) {
    let (Some(claims), Some(volumes)) =
        (Kind::of_object("v1", "PersistentVolumeClaim"), Kind::of_object("v1", "PersistentVolume"))
    else {
        return;
    };
    let unbound: Vec<_> = store.list(claims, "").filter(|claim| claim["status"]["phase"] != "Bound").cloned().collect();
    for claim in unbound {
        let key = Key::new(claims, text(&claim, "/metadata/namespace"), text(&claim, "/metadata/name"));
        let bound = store.list(volumes, "").find(|volume| is_for(volume, &claim)).map(|volume| (**volume).clone());
        let volume = match bound {
            Some(volume) => volume,
            None if !text(&claim, SELECTED_NODE).is_empty() && is_provisioned(store, &claim) => provisioned(&claim),
            None => continue,
        };
        bind(store, &key, (*claim).clone(), volumes, volume);
    }
}

/// Returns whether a volume belongs to a claim: its `claimRef` names the claim, or the claim names the volume.
fn is_for(volume: &Value, claim: &Value) -> bool {
    let reference = &volume["spec"]["claimRef"];
    let metadata = &claim["metadata"];
    let is_named = reference["name"] == metadata["name"] && reference["namespace"] == metadata["namespace"];
    match reference.get("uid") {
        Some(uid) => is_named && *uid == metadata["uid"],
        None => is_named || claim["spec"]["volumeName"] == volume["metadata"]["name"],
    }
}

/// Returns whether the storage class of a claim has a provisioner.
fn is_provisioned(store: &Store, claim: &Value) -> bool {
    let class = Kind::of_object("storage.k8s.io/v1", "StorageClass")
        .and_then(|kind| store.get(&Key::new(kind, "", text(claim, "/spec/storageClassName"))));
    class.is_some_and(|class| !["", "kubernetes.io/no-provisioner"].contains(&text(class, "/provisioner")))
}

/// Returns the volume that is provisioned for a claim, on its selected node.
fn provisioned(claim: &Value) -> Value {
    let terms = json!([{"matchExpressions": [
        {"key": "kubernetes.io/hostname", "operator": "In", "values": [text(claim, SELECTED_NODE)]}
    ]}]);
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": format!("pvc-{}", text(claim, "/metadata/uid")),
            "uid": format!("volume-of-{}", text(claim, "/metadata/uid")),
        },
        "spec": {
            "accessModes": claim["spec"]["accessModes"],
            "capacity": claim["spec"]["resources"]["requests"],
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": claim["spec"]["storageClassName"],
        },
    })
}

fn bind(store: &mut Store, key: &Key, mut claim: Value, volumes: &'static Kind, mut volume: Value) {
    let name = text(&volume, "/metadata/name").to_owned();
    volume["spec"]["claimRef"] = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": *key.name, "namespace": *key.namespace,
        "uid": claim["metadata"]["uid"]
    });
    volume["status"] = json!({"phase": "Bound"});
    claim["spec"]["volumeName"] = name.as_str().into();
    claim["metadata"]["annotations"][BIND_COMPLETED] = "yes".into();
    claim["status"] =
        json!({"phase": "Bound", "accessModes": volume["spec"]["accessModes"], "capacity": volume["spec"]["capacity"]});
    store.put(&Key::new(volumes, "", &*name), volume);
    store.put(key, claim);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(store: &mut Store, kind: &str, namespace: &str, object: Value) {
        let kind = Kind::of_object(if kind == "StorageClass" { "storage.k8s.io/v1" } else { "v1" }, kind).unwrap();
        let key = Key::new(kind, namespace, text(&object, "/metadata/name"));
        store.put(&key, object);
    }

    fn claims(store: &Store) -> Vec<Value> {
        let kind = Kind::of_object("v1", "PersistentVolumeClaim").unwrap();
        store.list(kind, "").map(|claim| (**claim).clone()).collect()
    }

    fn claim(name: &str, annotations: Value) -> Value {
        json!({
            "metadata": {"name": name, "namespace": "a", "uid": name, "annotations": annotations},
            "spec": {"storageClassName": "csi", "resources": {"requests": {"storage": "1Gi"}}},
            "status": {"phase": "Pending"}
        })
    }

    #[test]
    fn a_claim_gets_the_volume_that_references_it() {
        let mut store = Store::default();
        put(&mut store, "PersistentVolumeClaim", "a", claim("c", json!({})));
        let reference = |uid: &str| json!({"name": "c", "namespace": "a", "uid": uid});
        let volume = |name: &str, uid: &str| json!({"metadata": {"name": name}, "spec": {"claimRef": reference(uid)}});
        put(&mut store, "PersistentVolume", "", volume("other", "before"));
        sync(&mut store);
        assert_eq!(claims(&store)[0]["status"]["phase"], "Pending");
        put(&mut store, "PersistentVolume", "", volume("v", "c"));
        sync(&mut store);
        let bound = &claims(&store)[0];
        assert_eq!((&bound["spec"]["volumeName"], &bound["status"]["phase"]), (&json!("v"), &json!("Bound")));
        let version = store.version();
        sync(&mut store);
        assert_eq!(store.version(), version);
    }

    #[test]
    fn a_volume_is_provisioned_for_the_selected_node() {
        let mut store = Store::default();
        put(&mut store, "StorageClass", "", json!({"metadata": {"name": "csi"}, "provisioner": "example.com/csi"}));
        put(&mut store, "PersistentVolumeClaim", "a", claim("waits", json!({})));
        let selected = json!({"volume.kubernetes.io/selected-node": "n"});
        put(&mut store, "PersistentVolumeClaim", "a", claim("c", selected));
        sync(&mut store);
        let phases: Vec<_> = claims(&store).iter().map(|claim| claim["status"]["phase"].clone()).collect();
        assert_eq!(phases, ["Bound", "Pending"]);
        let kind = Kind::of_object("v1", "PersistentVolume").unwrap();
        let volume = store.list(kind, "").next().unwrap().clone();
        assert_eq!(volume["metadata"]["name"], "pvc-c");
        assert_eq!(volume["spec"]["capacity"], json!({"storage": "1Gi"}));
        assert_eq!(volume["status"]["phase"], "Bound");
    }
}
