//! Conversion of objects other than nodes and pods.

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Custom, Object, Uid};
use schedc_kinds::{AnyObject, CustomObject};
use serde_json::Value;

use super::budget::convert_budget;
use super::namespace::convert_namespace;
use super::workload::{convert_replica_set, convert_replication_controller, convert_service, convert_stateful_set};
use super::{resource_claim, resource_slice, volume};

/// Converts an object for the plugins' indexes. Invalid input has the same effect as in kube-scheduler.
///
/// `None`: a node, a pod, or a kind that only an API server reads.
pub fn convert_object(object: &AnyObject, interner: &mut Interner) -> Option<Object> {
    Some(match object {
        AnyObject::Namespace(namespace) => Object::Namespace(convert_namespace(namespace, interner).into()),
        AnyObject::Service(service) => Object::Workload(convert_service(service, interner).into()),
        AnyObject::ReplicationController(controller) => {
            Object::Workload(convert_replication_controller(controller, interner).into())
        }
        AnyObject::ReplicaSet(set) => Object::Workload(convert_replica_set(set, interner).into()),
        AnyObject::StatefulSet(set) => Object::Workload(convert_stateful_set(set, interner).into()),
        AnyObject::PersistentVolume(o) => Object::PersistentVolume(volume::persistent_volume(o, interner).into()),
        AnyObject::PersistentVolumeClaim(o) => {
            Object::PersistentVolumeClaim(volume::persistent_volume_claim(o, interner).into())
        }
        AnyObject::StorageClass(o) => Object::StorageClass(volume::storage_class(o, interner).into()),
        AnyObject::CsiNode(o) => Object::CsiNode(volume::csi_node(o, interner).into()),
        AnyObject::CsiDriver(o) => Object::CsiDriver(volume::csi_driver(o, interner).into()),
        AnyObject::CsiStorageCapacity(o) => {
            Object::CsiStorageCapacity(volume::csi_storage_capacity(o, interner).into())
        }
        AnyObject::VolumeAttachment(o) => Object::VolumeAttachment(volume::volume_attachment(o, interner).into()),
        AnyObject::PodDisruptionBudget(budget) => Object::PodDisruptionBudget(convert_budget(budget, interner).into()),
        AnyObject::ResourceClaim(o) => Object::ResourceClaim(resource_claim::resource_claim(o, interner).into()),
        AnyObject::ResourceSlice(o) => Object::ResourceSlice(resource_slice::resource_slice(o, interner).into()),
        AnyObject::DeviceClass(o) => Object::DeviceClass(resource_slice::device_class(o, interner).into()),
        AnyObject::Custom(of_kind) => Object::Custom(custom(object, of_kind, interner).into()),
        AnyObject::Node(_)
        | AnyObject::Pod(_)
        | AnyObject::PriorityClass(_)
        | AnyObject::Deployment(_)
        | AnyObject::ResourceClaimTemplate(_) => return None,
    })
}

fn custom(object: &AnyObject, custom: &CustomObject, interner: &mut Interner) -> Custom {
    let namespace = match object.namespace() {
        "" => Symbol::EMPTY,
        namespace => interner.intern(namespace),
    };
    Custom {
        kind: custom.kind,
        namespace,
        name: interner.intern(object.name()),
        uid: Uid(custom.metadata.uid.as_deref().unwrap_or_default().into()),
        // Serialization cannot fail here.
        manifest: custom.to_json().unwrap_or(Value::Null),
    }
}
