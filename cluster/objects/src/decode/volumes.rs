//! Fields of pod volumes, PersistentVolumes and claims.

use k8s_openapi::api::core::v1 as api;

use super::metadata::MetadataWithAnnotations;
use super::object::selected_fields;

selected_fields! {
    api::Volume {
        name = 1,
        ephemeral = 29 within 2,
        csi = 28 within 2,
        image = 30 within 2,
        iscsi = 8 within 2,
        rbd = 11 within 2,
        cinder = 13 within 2,
        persistent_volume_claim: "persistentVolumeClaim" = 10 within 2,
        gce_persistent_disk: "gcePersistentDisk" = 3 within 2,
        aws_elastic_block_store: "awsElasticBlockStore" = 4 within 2,
        azure_disk: "azureDisk" = 22 within 2,
        azure_file: "azureFile" = 18 within 2,
        portworx_volume: "portworxVolume" = 24 within 2,
        vsphere_volume: "vsphereVolume" = 20 within 2,
    }
    api::PersistentVolumeClaimVolumeSource { claim_name: "claimName" = 1 }
    api::CSIVolumeSource { driver = 1 }
    api::ImageVolumeSource { reference = 1 }
    api::ISCSIVolumeSource { iqn = 2, read_only: "readOnly" = 6 }
    api::RBDVolumeSource { monitors = 1, pool = 4, image = 2, read_only: "readOnly" = 8 }
    api::CinderVolumeSource { volume_id: "volumeID" = 1 }
    // Only the presence of these fields matters.
    api::EphemeralVolumeSource {}
    api::AzureFileVolumeSource {}
    api::VsphereVirtualDiskVolumeSource {}

    api::PersistentVolume { metadata as MetadataWithAnnotations = 1, spec = 2, status = 3 }
    api::PersistentVolumeSpec {
        capacity = 1,
        csi = 22 within 2,
        cinder = 8 within 2,
        access_modes: "accessModes" = 3,
        claim_ref: "claimRef" = 4,
        storage_class_name: "storageClassName" = 6,
        volume_attributes_class_name: "volumeAttributesClassName" as Pointer = 10,
        volume_mode: "volumeMode" as Pointer = 8,
        node_affinity: "nodeAffinity" = 9,
        gce_persistent_disk: "gcePersistentDisk" = 1 within 2,
        aws_elastic_block_store: "awsElasticBlockStore" = 2 within 2,
        azure_disk: "azureDisk" = 16 within 2,
        portworx_volume: "portworxVolume" = 18 within 2,
    }
    api::PersistentVolumeStatus { phase = 1 }
    api::ObjectReference { namespace = 2, name = 3, uid = 4 }
    api::VolumeNodeAffinity { required = 1 }
    api::CSIPersistentVolumeSource { driver = 1, volume_handle: "volumeHandle" = 2 }
    api::CinderPersistentVolumeSource { volume_id: "volumeID" = 1 }

    // Both pods and PersistentVolumes have these.
    api::GCEPersistentDiskVolumeSource { pd_name: "pdName" = 1, read_only: "readOnly" = 4 }
    api::AWSElasticBlockStoreVolumeSource { volume_id: "volumeID" = 1 }
    api::AzureDiskVolumeSource { kind as Pointer = 6, disk_uri: "diskURI" = 2 }
    api::PortworxVolumeSource { volume_id: "volumeID" = 1 }

    api::PersistentVolumeClaim { metadata as MetadataWithAnnotations = 1, spec = 2, status = 3 }
    api::PersistentVolumeClaimSpec {
        resources = 2,
        selector = 4,
        access_modes: "accessModes" = 1,
        storage_class_name: "storageClassName" as Pointer = 5,
        volume_attributes_class_name: "volumeAttributesClassName" as Pointer = 9,
        volume_mode: "volumeMode" as Pointer = 6,
        volume_name: "volumeName" = 3,
    }
    api::PersistentVolumeClaimStatus { phase = 1 }
    api::VolumeResourceRequirements { requests = 2 }
}
