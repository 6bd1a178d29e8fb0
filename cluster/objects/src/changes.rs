//! Changes of a scheduler's view, made from created, updated and deleted objects.

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Kind, ObjectKey, Uid};
use schedc_core::scheduler::Change;
use schedc_kinds::AnyObject;

use crate::convert::{convert_node, convert_object, convert_pod, is_finished, uid};

/// Returns the change for a created or updated object; for a finished pod, that of its removal. `None`: schedulers
/// ignore the kind.
pub fn upsert_change(object: &AnyObject, interner: &mut Interner) -> Option<Change> {
    match object {
        AnyObject::Node(node) => Some(Change::Node(convert_node(node, interner))),
        AnyObject::Pod(pod) if is_finished(pod) => removal_change(object, interner),
        AnyObject::Pod(pod) => Some(Change::Pod(convert_pod(pod, interner))),
        object => convert_object(object, interner).map(Change::Object),
    }
}

/// Returns the change for a deleted object. `None`: schedulers ignore the kind.
pub fn removal_change(object: &AnyObject, interner: &mut Interner) -> Option<Change> {
    match object {
        AnyObject::Node(_) => Some(Change::NodeDeleted(interner.intern(object.name()))),
        AnyObject::Pod(pod) => Some(Change::PodDeleted(Uid(uid("Pod", &pod.metadata)))),
        object => object_key(object, interner).map(Change::ObjectDeleted),
    }
}

/// Returns the key of the object in a scheduler, or `None` for a node, a pod, or a kind that schedulers ignore.
fn object_key(object: &AnyObject, interner: &mut Interner) -> Option<ObjectKey> {
    let kind = match object {
        AnyObject::Node(_)
        | AnyObject::Pod(_)
        | AnyObject::PriorityClass(_)
        | AnyObject::Deployment(_)
        | AnyObject::ResourceClaimTemplate(_) => return None,
        AnyObject::Namespace(_) => Kind::Namespace,
        AnyObject::Service(_) => Kind::Service,
        AnyObject::ReplicationController(_) => Kind::ReplicationController,
        AnyObject::ReplicaSet(_) => Kind::ReplicaSet,
        AnyObject::StatefulSet(_) => Kind::StatefulSet,
        AnyObject::PersistentVolume(_) => Kind::PersistentVolume,
        AnyObject::PersistentVolumeClaim(_) => Kind::PersistentVolumeClaim,
        AnyObject::StorageClass(_) => Kind::StorageClass,
        AnyObject::CsiNode(_) => Kind::CsiNode,
        AnyObject::CsiDriver(_) => Kind::CsiDriver,
        AnyObject::CsiStorageCapacity(_) => Kind::CsiStorageCapacity,
        AnyObject::VolumeAttachment(_) => Kind::VolumeAttachment,
        AnyObject::PodDisruptionBudget(_) => Kind::PodDisruptionBudget,
        AnyObject::ResourceClaim(_) => Kind::ResourceClaim,
        AnyObject::ResourceSlice(_) => Kind::ResourceSlice,
        AnyObject::DeviceClass(_) => Kind::DeviceClass,
        AnyObject::Custom(object) => Kind::Custom(object.kind),
    };
    let namespace = match object.namespace() {
        "" => Symbol::EMPTY,
        namespace => interner.intern(namespace),
    };
    Some(ObjectKey { kind, namespace, name: interner.intern(object.name()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::api_object;

    #[test]
    fn removals_have_the_keys_of_upserts() {
        let interner = &mut Interner::default();
        for yaml in [
            "{kind: Namespace, metadata: {name: a}}",
            "{kind: Service, metadata: {name: a}}",
            "{kind: ReplicationController, metadata: {name: a}}",
            "{kind: ReplicaSet, metadata: {name: a}}",
            "{kind: StatefulSet, metadata: {name: a}}",
            "{kind: PersistentVolume, metadata: {name: a}}",
            "{kind: PersistentVolumeClaim, metadata: {name: a, namespace: b}}",
            "{kind: StorageClass, metadata: {name: a}, provisioner: p}",
            "{kind: CSINode, metadata: {name: a}, spec: {drivers: []}}",
            "{kind: CSIDriver, metadata: {name: a}, spec: {}}",
            "{kind: CSIStorageCapacity, metadata: {name: a}, storageClassName: c}",
            "{kind: VolumeAttachment, metadata: {name: a}, spec: {attacher: x, nodeName: n1, source: {}}}",
            "{kind: PodDisruptionBudget, metadata: {name: a}}",
        ] {
            let object = api_object(yaml);
            let expected = convert_object(&object, interner).map(|object| object.key());
            assert_eq!(object_key(&object, interner), expected, "{yaml}");
        }
    }

    #[test]
    fn finished_pods_are_removed() {
        let object = api_object("{kind: Pod, metadata: {name: a, uid: u}, status: {phase: Succeeded}}");
        let change = upsert_change(&object, &mut Interner::default());
        assert!(matches!(change, Some(Change::PodDeleted(Uid(uid))) if &*uid == "u"));
    }
}
