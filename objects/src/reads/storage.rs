//! Where volumes come from, and where they go.

use k8s_openapi::api::{core::v1 as core, storage::v1 as api};

use super::metadata::Annotated;
use super::object::look_at;

look_at! {
    api::StorageClass {
        metadata, provisioner,
        volume_binding_mode: "volumeBindingMode",
        allowed_topologies: "allowedTopologies",
    }
    core::TopologySelectorTerm { match_label_expressions: "matchLabelExpressions" }
    core::TopologySelectorLabelRequirement { key, values }

    api::CSINode { metadata as Annotated, spec }
    api::CSINodeSpec { drivers }
    api::CSINodeDriver { name, allocatable }
    api::VolumeNodeResources { count }

    api::CSIDriver { metadata, spec }
    api::CSIDriverSpec { storage_capacity: "storageCapacity" }

    api::CSIStorageCapacity {
        metadata, capacity,
        storage_class_name: "storageClassName",
        node_topology: "nodeTopology",
        maximum_volume_size: "maximumVolumeSize",
    }

    api::VolumeAttachment { metadata, spec }
    api::VolumeAttachmentSpec { attacher, source, node_name: "nodeName" }
    api::VolumeAttachmentSource { persistent_volume_name: "persistentVolumeName" }
}
