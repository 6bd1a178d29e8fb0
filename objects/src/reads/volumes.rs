//! Volumes of pods, PersistentVolumes and claims.

use k8s_openapi::api::core::v1 as api;

use super::metadata::Annotated;
use super::object::look_at;

look_at! {
    api::Volume {
        name, ephemeral, csi, image, iscsi, rbd, cinder,
        persistent_volume_claim: "persistentVolumeClaim",
        gce_persistent_disk: "gcePersistentDisk",
        aws_elastic_block_store: "awsElasticBlockStore",
        azure_disk: "azureDisk",
        azure_file: "azureFile",
        portworx_volume: "portworxVolume",
        vsphere_volume: "vsphereVolume",
    }
    api::PersistentVolumeClaimVolumeSource { claim_name: "claimName" }
    api::CSIVolumeSource { driver }
    api::ImageVolumeSource { reference }
    api::ISCSIVolumeSource { iqn, read_only: "readOnly" }
    api::RBDVolumeSource { monitors, pool, image, read_only: "readOnly" }
    api::CinderVolumeSource { volume_id: "volumeID" }
    // Of these it matters that they are there.
    api::EphemeralVolumeSource {}
    api::AzureFileVolumeSource {}
    api::VsphereVirtualDiskVolumeSource {}

    api::PersistentVolume { metadata as Annotated, spec, status }
    api::PersistentVolumeSpec {
        capacity, csi, cinder,
        access_modes: "accessModes",
        claim_ref: "claimRef",
        storage_class_name: "storageClassName",
        volume_attributes_class_name: "volumeAttributesClassName",
        volume_mode: "volumeMode",
        node_affinity: "nodeAffinity",
        gce_persistent_disk: "gcePersistentDisk",
        aws_elastic_block_store: "awsElasticBlockStore",
        azure_disk: "azureDisk",
        portworx_volume: "portworxVolume",
    }
    api::PersistentVolumeStatus { phase }
    api::ObjectReference { namespace, name, uid }
    api::VolumeNodeAffinity { required }
    api::CSIPersistentVolumeSource { driver, volume_handle: "volumeHandle" }
    api::CinderPersistentVolumeSource { volume_id: "volumeID" }

    // Of pods and PersistentVolumes alike.
    api::GCEPersistentDiskVolumeSource { pd_name: "pdName", read_only: "readOnly" }
    api::AWSElasticBlockStoreVolumeSource { volume_id: "volumeID" }
    api::AzureDiskVolumeSource { kind, disk_uri: "diskURI" }
    api::PortworxVolumeSource { volume_id: "volumeID" }

    api::PersistentVolumeClaim { metadata as Annotated, spec, status }
    api::PersistentVolumeClaimSpec {
        resources, selector,
        access_modes: "accessModes",
        storage_class_name: "storageClassName",
        volume_attributes_class_name: "volumeAttributesClassName",
        volume_mode: "volumeMode",
        volume_name: "volumeName",
    }
    api::PersistentVolumeClaimStatus { phase }
    api::VolumeResourceRequirements { requests }
}
