//! The objects that control pods, such as a ReplicaSet, and their numbers of replicas.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use schedc_objects::AnyObject;

use crate::server::{ApiServer, Key};

/// A pod's controller, as the pod refers to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Owner {
    group: String,
    kind: String,
    name: String,
    uid: String,
}

impl Owner {
    /// Returns the controller of a pod or of a ReplicaSet.
    pub(super) fn of(metadata: &ObjectMeta) -> Option<Owner> {
        let owners = metadata.owner_references.iter().flatten();
        let OwnerReference { api_version, kind, name, uid, .. } =
            owners.into_iter().find(|o| o.controller == Some(true))?;
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        Some(Owner { group: group.to_owned(), kind: kind.clone(), name: name.clone(), uid: uid.clone() })
    }

    /// Returns whether a change of an object may change the replicas of this controller.
    pub(super) fn depends_on(&self, kind: &str, name: &str) -> bool {
        let is_deployment_of_replica_set = kind == "Deployment" && self.kind == "ReplicaSet";
        is_deployment_of_replica_set || (self.kind == kind && self.name == name)
    }

    /// Returns the reason for an unknown scale.
    pub(super) fn reason(&self, pod: &str) -> String {
        match (&*self.group, &*self.kind) {
            ("batch", "Job") => "jobs.batch does not implement the scale subresource".to_owned(),
            ("apps", "DaemonSet") => "daemonsets.apps does not implement the scale subresource".to_owned(),
            _ => format!("found no controllers for pod \"{pod}\""),
        }
    }

    /// Finds the controller in the cluster.
    fn find<'s>(&self, server: &'s ApiServer, namespace: &str) -> Option<&'s AnyObject> {
        let kind = match (&*self.group, &*self.kind) {
            ("", "ReplicationController") => "ReplicationController",
            ("apps", "StatefulSet") => "StatefulSet",
            ("apps" | "extensions", "ReplicaSet") => "ReplicaSet",
            ("apps" | "extensions", "Deployment") => "Deployment",
            _ => return None,
        };
        let key = Key { kind, namespace: namespace.into(), name: self.name.as_str().into() };
        let object = &**server.get(&key)?;
        self.is_owner(object.metadata(), &key).then_some(object)
    }

    /// Returns whether an object of this name is the controller. Handwritten manifests may omit uids; the server
    /// derives a missing uid from the name.
    fn is_owner(&self, metadata: &ObjectMeta, key: &Key) -> bool {
        let uid = metadata.uid.as_deref().unwrap_or_default();
        self.uid.is_empty() || self.uid == uid || uid == format!("{}/{}/{}", key.kind, key.namespace, key.name)
    }
}

/// Returns the sum of the replicas of some controllers (`getExpectedScale`).
///
/// # Errors
/// Returns the first owner that does not exist or whose kind has no scale.
pub(super) fn total<'o>(
    owners: impl Iterator<Item = &'o Owner>,
    namespace: &str,
    server: &ApiServer,
) -> Result<i32, &'o Owner> {
    // Keyed by kind and name: the ReplicaSets of one Deployment count once.
    let mut scales = BTreeMap::new();
    for owner in owners {
        let (kind, name, scale) = scale(owner, namespace, server).ok_or(owner)?;
        scales.insert((kind, name), scale);
    }
    Ok(scales.values().fold(0_i32, |sum, scale| sum.saturating_add(*scale)))
}

/// Returns kind, name and replicas of the top-level controller: for a ReplicaSet, its Deployment, if that exists.
fn scale(owner: &Owner, namespace: &str, server: &ApiServer) -> Option<(&'static str, String, i32)> {
    let object = owner.find(server, namespace)?;
    let replicas = match object {
        AnyObject::ReplicaSet(set) => {
            let deployment = Owner::of(&set.metadata).filter(|owner| owner.kind == "Deployment");
            if let Some(of_deployment) = deployment.and_then(|owner| scale(&owner, namespace, server)) {
                return Some(of_deployment);
            }
            set.spec.as_ref().and_then(|spec| spec.replicas)
        }
        AnyObject::Deployment(deployment) => deployment.spec.as_ref().and_then(|spec| spec.replicas),
        AnyObject::StatefulSet(set) => set.spec.as_ref().and_then(|spec| spec.replicas),
        AnyObject::ReplicationController(controller) => controller.spec.as_ref().and_then(|spec| spec.replicas),
        _ => return None,
    };
    // An API server adds this default.
    Some((object.kind(), object.name().to_owned(), replicas.unwrap_or(1)))
}
