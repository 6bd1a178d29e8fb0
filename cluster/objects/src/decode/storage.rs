//! Fields of storage classes and the objects of CSI drivers.

use k8s_openapi::api::{core::v1 as core, storage::v1 as api};

use super::metadata::MetadataWithAnnotations;
use super::object::selected_fields;

selected_fields! {
    api::StorageClass {
        metadata = 1,
        provisioner = 2,
        volume_binding_mode: "volumeBindingMode" as Pointer = 7,
        allowed_topologies: "allowedTopologies" = 8,
    }
    core::TopologySelectorTerm { match_label_expressions: "matchLabelExpressions" = 1 }
    core::TopologySelectorLabelRequirement { key = 1, values = 2 }

    api::CSINode { metadata as MetadataWithAnnotations = 1, spec = 2 }
    api::CSINodeSpec { drivers = 1 }
    api::CSINodeDriver { name = 1, allocatable = 4 }
    api::VolumeNodeResources { count as Pointer = 1 }

    api::CSIDriver { metadata = 1, spec = 2 }
    api::CSIDriverSpec { storage_capacity: "storageCapacity" as Pointer = 4 }

    api::CSIStorageCapacity {
        metadata = 1,
        capacity = 4,
        storage_class_name: "storageClassName" = 3,
        node_topology: "nodeTopology" = 2,
        maximum_volume_size: "maximumVolumeSize" = 5,
    }

    api::VolumeAttachment { metadata = 1, spec = 2 }
    api::VolumeAttachmentSpec { attacher = 1, source = 2, node_name: "nodeName" = 3 }
    api::VolumeAttachmentSource { persistent_volume_name: "persistentVolumeName" as Pointer = 1 }
}
