//! Conversion of Services, ReplicationControllers, ReplicaSets and StatefulSets, and of a pod's reference to its
//! controller.

use std::collections::BTreeMap;

use k8s_openapi::api::{apps::v1 as apps, core::v1 as api};
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use schedc_core::intern::Interner;
use schedc_core::model::{ControllerRef, LabelSelector, Workload, WorkloadKind};

use super::label_selector::label_selector;
use super::{labels, namespace, symbol};

/// Converts a Service. A missing namespace is `default`.
pub(super) fn convert_service(service: &api::Service, interner: &mut Interner) -> Workload {
    let selector = service.spec.as_ref().and_then(|spec| spec.selector.as_ref());
    let selector = plain_selector(selector, interner);
    workload(WorkloadKind::Service, &service.metadata, selector, interner)
}

/// Converts a ReplicationController. A missing namespace is `default`.
pub(super) fn convert_replication_controller(
    controller: &api::ReplicationController,
    interner: &mut Interner,
) -> Workload {
    let selector = controller.spec.as_ref().and_then(|spec| spec.selector.as_ref());
    let selector = plain_selector(selector, interner);
    workload(WorkloadKind::ReplicationController, &controller.metadata, selector, interner)
}

/// Converts a ReplicaSet. A missing namespace is `default`.
pub(super) fn convert_replica_set(set: &apps::ReplicaSet, interner: &mut Interner) -> Workload {
    let selector = label_selector(set.spec.as_ref().map(|spec| &spec.selector), interner);
    workload(WorkloadKind::ReplicaSet, &set.metadata, selector.ok().flatten(), interner)
}

/// Converts a StatefulSet. A missing namespace is `default`.
pub(super) fn convert_stateful_set(set: &apps::StatefulSet, interner: &mut Interner) -> Workload {
    let selector = label_selector(set.spec.as_ref().map(|spec| &spec.selector), interner);
    workload(WorkloadKind::StatefulSet, &set.metadata, selector.ok().flatten(), interner)
}

fn workload(
    kind: WorkloadKind,
    metadata: &meta::ObjectMeta,
    selector: Option<LabelSelector>,
    interner: &mut Interner,
) -> Workload {
    Workload {
        kind,
        namespace: interner.intern(namespace(metadata)),
        name: symbol(metadata.name.as_ref(), interner),
        selector,
    }
}

fn plain_selector(map: Option<&BTreeMap<String, String>>, interner: &mut Interner) -> Option<LabelSelector> {
    map.map(|map| LabelSelector::from_labels(&labels(Some(map), interner)))
}

/// Returns the controller of a pod (`GetControllerOf`). `None`: the pod has no controller, or `DefaultSelector` does
/// not support its group, version and kind.
pub(super) fn controller(metadata: &meta::ObjectMeta, interner: &mut Interner) -> Option<ControllerRef> {
    let owner = metadata.owner_references.iter().flatten().find(|owner| owner.controller == Some(true))?;
    let kind = match (owner.api_version.as_str(), owner.kind.as_str()) {
        ("v1" | "/v1", "ReplicationController") => WorkloadKind::ReplicationController,
        ("apps/v1", "ReplicaSet") => WorkloadKind::ReplicaSet,
        ("apps/v1", "StatefulSet") => WorkloadKind::StatefulSet,
        _ => return None,
    };
    Some(ControllerRef { kind, name: interner.intern(&owner.name) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::pod;

    #[test]
    fn workloads_have_the_selectors_of_their_objects() {
        let mut interner = Interner::default();
        let metadata = meta::ObjectMeta { name: Some("web".into()), ..meta::ObjectMeta::default() };
        let map = BTreeMap::from([("app".to_owned(), "not a value".to_owned())]);
        let spec = api::ServiceSpec { selector: Some(map.clone()), ..api::ServiceSpec::default() };
        let service = api::Service { metadata: metadata.clone(), spec: Some(spec), status: None };
        let service = convert_service(&service, &mut interner);
        assert_eq!((service.kind, service.namespace), (WorkloadKind::Service, interner.intern("default")));
        let app = (interner.intern("app"), interner.intern("not a value"));
        assert_eq!(service.selector, Some(LabelSelector::from_labels(&[app])), "as written");

        let controller = api::ReplicationController { metadata: metadata.clone(), ..Default::default() };
        assert_eq!(convert_replication_controller(&controller, &mut interner).selector, None);

        let selector = meta::LabelSelector { match_labels: Some(map), ..meta::LabelSelector::default() };
        let spec = apps::ReplicaSetSpec { selector, ..apps::ReplicaSetSpec::default() };
        let set = apps::ReplicaSet { metadata: metadata.clone(), spec: Some(spec), status: None };
        assert_eq!(convert_replica_set(&set, &mut interner).selector, None, "Kubernetes cannot parse it");

        let set = apps::StatefulSet { metadata, spec: Some(apps::StatefulSetSpec::default()), status: None };
        assert_eq!(convert_stateful_set(&set, &mut interner).selector, Some(LabelSelector::default()));
    }

    #[test]
    fn only_controllers_of_known_kinds_are_converted() {
        let mut interner = Interner::default();
        let mut check = |owners: &str, expected: Option<WorkloadKind>| {
            let pod = pod(&format!("metadata: {{ownerReferences: [{owners}]}}"), &mut interner);
            assert_eq!(pod.spec.controller.map(|controller| controller.kind), expected, "{owners}");
        };
        let owner = |version: &str, kind: &str, controller: &str| {
            format!("{{apiVersion: {version}, kind: {kind}, name: a, uid: u{controller}}}")
        };
        let set = owner("apps/v1", "ReplicaSet", ", controller: true");
        check("", None);
        check(&set, Some(WorkloadKind::ReplicaSet));
        check(&owner("apps/v1", "ReplicaSet", ""), None);
        check(&owner("apps/v1beta1", "ReplicaSet", ", controller: true"), None);
        check(&owner("v1", "ReplicationController", ", controller: true"), Some(WorkloadKind::ReplicationController));
        check(&format!("{}, {set}", owner("batch/v1", "Job", ", controller: true")), None);
        check(&format!("{}, {set}", owner("batch/v1", "Job", ", controller: false")), Some(WorkloadKind::ReplicaSet));
        check(&owner("apps/v1", "StatefulSet", ", controller: true"), Some(WorkloadKind::StatefulSet));
    }
}
