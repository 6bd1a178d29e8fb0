//! The fields that are looked at, by kind.

/// Fields by name, each with what is looked at of it. Elements of lists count as their list.
pub(super) type Fields = &'static [(&'static str, Look)];

/// What is looked at of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Look {
    /// All of it.
    All,
    /// These fields; none: whether it is there.
    At(Fields),
}

use Look::{All, At};

/// What tells objects and their versions apart.
const METADATA: Fields = &[("name", All), ("namespace", All), ("uid", All), ("resourceVersion", All)];
const LABELLED: Fields = &[("name", All), ("uid", All), ("resourceVersion", All), ("labels", All)];
const ANNOTATED: Fields = &[("name", All), ("uid", All), ("resourceVersion", All), ("annotations", All)];
const SELECTOR: Fields = &[("selector", All)];
const REQUESTS: Fields = &[("requests", All)];
const PHASE: Fields = &[("phase", All)];
const DISK: Fields = &[("pdName", All), ("readOnly", All)];
const VOLUME_ID: Fields = &[("volumeID", All)];
const AZURE_DISK: Fields = &[("diskURI", All), ("kind", All)];
const CONDITION: Fields = &[
    ("type", All),
    ("status", All),
    ("reason", All),
    ("message", All),
    ("lastProbeTime", All),
    ("observedGeneration", All),
];

/// What is looked at of objects of a kind. `None`: nothing is.
pub(super) fn fields(kind: &str) -> Option<Fields> {
    Some(match kind {
        "Pod" => POD,
        "Node" => NODE,
        "Namespace" => &[("metadata", At(LABELLED))],
        "Service" | "ReplicationController" | "ReplicaSet" | "StatefulSet" => {
            &[("metadata", At(METADATA)), ("spec", At(SELECTOR))]
        }
        "PersistentVolume" => PERSISTENT_VOLUME,
        "PersistentVolumeClaim" => PERSISTENT_VOLUME_CLAIM,
        "StorageClass" => {
            &[("metadata", At(METADATA)), ("provisioner", All), ("volumeBindingMode", All), ("allowedTopologies", All)]
        }
        "CSINode" => {
            &[("metadata", At(ANNOTATED)), ("spec", At(&[("drivers", At(&[("name", All), ("allocatable", All)]))]))]
        }
        "CSIDriver" => &[("metadata", At(METADATA)), ("spec", At(&[("storageCapacity", All)]))],
        "CSIStorageCapacity" => &[
            ("metadata", At(METADATA)),
            ("storageClassName", All),
            ("nodeTopology", All),
            ("capacity", All),
            ("maximumVolumeSize", All),
        ],
        "VolumeAttachment" => &[
            ("metadata", At(METADATA)),
            ("spec", At(&[("attacher", All), ("nodeName", All), ("source", At(&[("persistentVolumeName", All)]))])),
        ],
        "PodDisruptionBudget" => &[
            ("metadata", At(METADATA)),
            ("spec", At(SELECTOR)),
            ("status", At(&[("disruptionsAllowed", All), ("disruptedPods", All)])),
        ],
        "ResourceClaim" => &[
            (
                "metadata",
                At(&[
                    ("name", All),
                    ("namespace", All),
                    ("uid", All),
                    ("resourceVersion", All),
                    ("ownerReferences", All),
                    ("deletionTimestamp", All),
                ]),
            ),
            ("status", All),
        ],
        "ResourceSlice" => &[("metadata", At(METADATA))],
        "DeviceClass" => &[("metadata", At(METADATA)), ("spec", At(&[("extendedResourceName", All)]))],
        _ => return None,
    })
}

const NODE: Fields = &[
    ("metadata", At(&[("name", All), ("uid", All), ("resourceVersion", All), ("labels", All), ("annotations", All)])),
    ("spec", At(&[("unschedulable", All), ("taints", At(&[("key", All), ("value", All), ("effect", All)]))])),
    (
        "status",
        At(&[
            ("allocatable", All),
            ("conditions", At(&[("type", All), ("status", All)])),
            ("images", All),
            ("declaredFeatures", All),
        ]),
    ),
];

const POD: Fields = &[
    (
        "metadata",
        At(&[
            ("name", All),
            ("namespace", All),
            ("uid", All),
            ("resourceVersion", All),
            ("generation", All),
            ("creationTimestamp", All),
            ("deletionTimestamp", All),
            ("labels", All),
            ("ownerReferences", All),
        ]),
    ),
    ("spec", At(POD_SPEC)),
    ("status", At(POD_STATUS)),
];

const POD_SPEC: Fields = &[
    ("containers", At(CONTAINER)),
    ("nodeName", All),
    ("schedulerName", All),
    ("tolerations", All),
    ("priority", All),
    ("preemptionPolicy", All),
    ("volumes", At(VOLUME)),
    ("nodeSelector", All),
    ("affinity", All),
    ("initContainers", At(CONTAINER)),
    ("topologySpreadConstraints", All),
    ("schedulingGates", All),
    ("overhead", All),
    ("resources", At(REQUESTS)),
    ("resourceClaims", All),
    ("hostNetwork", All),
    ("hostUsers", All),
];

const CONTAINER: Fields = &[
    ("name", All),
    ("image", All),
    ("resources", At(REQUESTS)),
    ("ports", At(&[("hostPort", All), ("hostIP", All), ("protocol", All)])),
    ("restartPolicy", All),
    ("restartPolicyRules", At(&[("action", All)])),
];

const VOLUME: Fields = &[
    ("name", All),
    ("persistentVolumeClaim", At(&[("claimName", All)])),
    ("ephemeral", At(&[])),
    ("csi", At(&[("driver", All)])),
    ("image", At(&[("reference", All)])),
    ("iscsi", At(&[("iqn", All), ("readOnly", All)])),
    ("rbd", At(&[("monitors", All), ("pool", All), ("image", All), ("readOnly", All)])),
    ("gcePersistentDisk", At(DISK)),
    ("awsElasticBlockStore", At(VOLUME_ID)),
    ("azureDisk", At(AZURE_DISK)),
    ("azureFile", At(&[])),
    ("cinder", At(VOLUME_ID)),
    ("portworxVolume", At(VOLUME_ID)),
    ("vsphereVolume", At(&[])),
];

const CONTAINER_STATUS: Fields = &[("name", All), ("resources", At(REQUESTS)), ("allocatedResources", All)];

const POD_STATUS: Fields = &[
    ("phase", All),
    ("conditions", At(CONDITION)),
    ("nominatedNodeName", All),
    ("startTime", All),
    ("containerStatuses", At(CONTAINER_STATUS)),
    ("initContainerStatuses", At(CONTAINER_STATUS)),
    ("resources", At(REQUESTS)),
    ("allocatedResources", All),
    ("resourceClaimStatuses", All),
    ("extendedResourceClaimStatus", All),
];

const PERSISTENT_VOLUME: Fields = &[
    (
        "metadata",
        At(&[
            ("name", All),
            ("uid", All),
            ("resourceVersion", All),
            ("deletionTimestamp", All),
            ("labels", All),
            ("annotations", All),
        ]),
    ),
    (
        "spec",
        At(&[
            ("capacity", All),
            ("accessModes", All),
            ("claimRef", At(&[("namespace", All), ("name", All), ("uid", All)])),
            ("storageClassName", All),
            ("volumeAttributesClassName", All),
            ("volumeMode", All),
            ("nodeAffinity", All),
            ("csi", At(&[("driver", All), ("volumeHandle", All)])),
            ("gcePersistentDisk", At(DISK)),
            ("awsElasticBlockStore", At(VOLUME_ID)),
            ("azureDisk", At(AZURE_DISK)),
            ("cinder", At(VOLUME_ID)),
            ("portworxVolume", At(VOLUME_ID)),
        ]),
    ),
    ("status", At(PHASE)),
];

const PERSISTENT_VOLUME_CLAIM: Fields = &[
    (
        "metadata",
        At(&[
            ("name", All),
            ("namespace", All),
            ("uid", All),
            ("resourceVersion", All),
            ("deletionTimestamp", All),
            ("annotations", All),
            ("ownerReferences", All),
        ]),
    ),
    (
        "spec",
        At(&[
            ("accessModes", All),
            ("resources", At(REQUESTS)),
            ("selector", All),
            ("storageClassName", All),
            ("volumeAttributesClassName", All),
            ("volumeMode", All),
            ("volumeName", All),
        ]),
    ),
    ("status", At(PHASE)),
];
