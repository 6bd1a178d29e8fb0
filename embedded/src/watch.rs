//! From changes of a server to what a scheduler is told.

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Kind, ObjectKey, Uid};
use schedc_core::scheduler;
use schedc_objects::{AnyObject, convert_node, convert_object, convert_pod, is_finished};

use crate::server::{Change, ChangeKind, uid_of};

/// What a scheduler is told of a change. `None`: it is not told of such. A pod that has run to its end is gone for it.
pub fn told(change: &Change, interner: &mut Interner) -> Option<scheduler::Change> {
    let is_gone = change.kind == ChangeKind::Deleted;
    match &*change.object {
        AnyObject::Node(_) if is_gone => Some(scheduler::Change::NodeDeleted(interner.intern(change.object.name()))),
        AnyObject::Node(node) => Some(scheduler::Change::Node(convert_node(node, interner))),
        AnyObject::Pod(pod) if is_gone || is_finished(pod) => {
            let Uid(uid) = uid_of(&change.object);
            Some(scheduler::Change::PodDeleted(Uid(uid)))
        }
        AnyObject::Pod(pod) => Some(scheduler::Change::Pod(convert_pod(pod, interner))),
        object if is_gone => object_key(object, interner).map(scheduler::Change::ObjectDeleted),
        object => convert_object(object, interner).map(scheduler::Change::Object),
    }
}

/// An object as a scheduler names it. `None`: a node, a pod, or a kind that schedulers do not look at.
pub fn object_key(object: &AnyObject, interner: &mut Interner) -> Option<ObjectKey> {
    let kind = match object {
        AnyObject::Node(_) | AnyObject::Pod(_) | AnyObject::PriorityClass(_) => return None,
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
    };
    let namespace = match object.namespace() {
        "" => Symbol::EMPTY,
        namespace => interner.intern(namespace),
    };
    Some(ObjectKey { kind, namespace, name: interner.intern(object.name()) })
}

#[cfg(test)]
mod tests {
    use schedc_objects::testing::api_object;

    use super::*;

    #[test]
    fn an_object_that_goes_is_named_as_it_was_when_it_came() {
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
            let came = convert_object(&object, interner).map(|object| object.key());
            assert_eq!(object_key(&object, interner), came, "{yaml}");
        }
    }

    #[test]
    fn a_pod_that_has_run_to_its_end_is_gone() {
        let object = api_object("{kind: Pod, metadata: {name: a, uid: u}, status: {phase: Succeeded}}");
        let change = Change { version: 1, kind: ChangeKind::Modified, object: object.into() };
        let told = told(&change, &mut Interner::default());
        assert!(matches!(told, Some(scheduler::Change::PodDeleted(Uid(uid))) if &*uid == "u"));
    }
}
