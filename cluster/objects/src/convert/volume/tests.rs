use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{
    AccessMode, CsiVolume, MigratedVolume, NodeSelector, Object, PersistentVolume, Volume, VolumeMode,
};
use schedc_core::quantity::Quantity;

use crate::testing;

/// Converts an object of a kind to the model.
macro_rules! object {
    ($kind:ident, $yaml:expr, $interner:expr) => {
        match testing::object($yaml, $interner) {
            Object::$kind(object) => object,
            other => panic!("{other:?}"),
        }
    };
}

fn volume(spec: &str, interner: &mut Interner) -> PersistentVolume {
    let object = object!(PersistentVolume, &format!("kind: PersistentVolume\n{spec}"), interner);
    PersistentVolume::clone(&object)
}

/// Returns a selector as text: alternatives separated by `|`, each with its conditions on labels.
fn words(selector: Option<&NodeSelector>, interner: &Interner) -> String {
    let Some(selector) = selector else { return "any".into() };
    let terms = selector.terms.iter().map(|term| {
        assert_eq!(term.match_fields.len(), 0);
        let requirements = term.match_expressions.iter().map(|requirement| {
            let values: Vec<_> = requirement.values.iter().map(|&value| interner.resolve(value)).collect();
            format!("{} {:?} {}", interner.resolve(requirement.key), requirement.operator, values.join(","))
        });
        format!("[{}]", requirements.collect::<Vec<_>>().join("; "))
    });
    terms.collect::<Vec<_>>().join(" | ")
}

fn csi_words(volume: &CsiVolume, interner: &Interner) -> String {
    format!("{} {}", interner.resolve(volume.driver), interner.resolve(volume.handle))
}

#[test]
fn fields_of_a_volume_are_converted() {
    let interner = &mut Interner::default();
    let volume = volume(
        "
metadata:
  name: v1
  annotations: {volume.beta.kubernetes.io/storage-class: old}
  labels: {topology.kubernetes.io/zone: a__ b, failure-domain.beta.kubernetes.io/region: r, topology.kubernetes.io/region: r__}
spec:
  storageClassName: new
  capacity: {storage: 1500m}
  accessModes: [ReadWriteOnce, ReadWriteOncePod, Sometimes]
  volumeMode: Block
  claimRef: {namespace: ns, name: c, uid: ''}
  csi: {driver: d, volumeHandle: h}
status: {phase: Available}",
        interner,
    );
    assert_eq!(interner.resolve(volume.class), "old");
    assert!(volume.capacity > Quantity::from_units(1) && volume.capacity < Quantity::from_units(2));
    let sometimes = AccessMode::Other(interner.intern("Sometimes"));
    assert_eq!(volume.access_modes[..], [AccessMode::ReadWriteOnce, AccessMode::ReadWriteOncePod, sometimes]);
    assert_eq!((volume.mode, volume.available, volume.deleting), (VolumeMode::Block, true, false));
    assert_eq!(volume.claim.map(|claim| claim.uid), Some(None));
    assert_eq!(volume.csi.map(|csi| csi_words(&csi, interner)).as_deref(), Some("d h"));
    let zones: Vec<_> = volume
        .zones
        .iter()
        .map(|zone| {
            let values: Vec<_> = zone.values.iter().map(|&value| interner.resolve(value)).collect();
            format!("{} or {}: {}", interner.resolve(zone.key), interner.resolve(zone.successor), values.join(","))
        })
        .collect();
    // The label `topology.kubernetes.io/region` is ignored, because one of its two values is empty.
    assert_eq!(
        zones,
        [
            "failure-domain.beta.kubernetes.io/region or topology.kubernetes.io/region: r",
            "topology.kubernetes.io/zone or topology.kubernetes.io/zone: a,b",
        ]
    );
}

#[test]
fn node_affinity_of_volumes_has_labels_only() {
    let interner = &mut Interner::default();
    let mut check = |node_affinity: &str, expected: &str| {
        let volume = volume(&format!("metadata: {{name: v}}\nspec: {{{node_affinity}}}"), interner);
        assert_eq!(words(volume.node_affinity.as_ref(), interner), expected, "{node_affinity}");
    };
    check("", "any");
    check("nodeAffinity: {}", "any");
    let required = |terms: &str| format!("nodeAffinity: {{required: {{nodeSelectorTerms: [{terms}]}}}}");
    check(&required(""), "");
    check(&required("{}"), "");
    check(&required("{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}"), "[]");
    check(&required("{matchFields: [{key: metadata.name, operator: In, values: [n1, n2]}]}"), "");
    let terms = ["{matchExpressions: [{key: a, operator: Near}]}", "{matchExpressions: [{key: a, operator: Exists}]}"];
    check(&required(&terms.join(", ")), "[a Exists ]");
}

#[test]
fn in_tree_volumes_are_migrated_to_csi() {
    let interner = &mut Interner::default();
    for (labels, spec, expected) in [
        (
            "",
            "gcePersistentDisk: {pdName: d}",
            "pd.csi.storage.gke.io projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d on any",
        ),
        (
            "topology.kubernetes.io/zone: us-a-1",
            "gcePersistentDisk: {pdName: d}",
            "pd.csi.storage.gke.io projects/UNSPECIFIED/zones/us-a-1/disks/d on [topology.gke.io/zone In us-a-1]",
        ),
        (
            "failure-domain.beta.kubernetes.io/zone: us-a-2__us-a-1",
            "gcePersistentDisk: {pdName: d}",
            "pd.csi.storage.gke.io projects/UNSPECIFIED/regions/us-a/disks/d on [topology.gke.io/zone In us-a-1,us-a-2]",
        ),
        (
            "topology.kubernetes.io/zone: us-a-2__us-b-1",
            "gcePersistentDisk: {pdName: d}",
            "failed to get region from zones: multiple or no regions gotten from zones, got: map[us-a:{} us-b:{}]",
        ),
        ("", "awsElasticBlockStore: {volumeID: vol-1}", "ebs.csi.aws.com vol-1 on any"),
        (
            "",
            "awsElasticBlockStore: {volumeID: 'aws://us-1a/vol-1'},
             nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [
                {key: failure-domain.beta.kubernetes.io/zone, operator: In, values: [z]},
                {key: failure-domain.beta.kubernetes.io/region, operator: In, values: [r]}]}]}}",
            "ebs.csi.aws.com vol-1 on [topology.ebs.csi.aws.com/zone In z; topology.kubernetes.io/region In r]",
        ),
        (
            "",
            "awsElasticBlockStore: {volumeID: 'aws://us-1a/disk'}",
            "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://us-1a/disk)",
        ),
        ("", "azureDisk: {diskName: d, diskURI: u, kind: managed}", "disk.csi.azure.com u on any"),
        ("", "azureDisk: {diskName: d, diskURI: u, kind: Shared}", "kind(Shared) is not supported in csi migration"),
        (
            "topology.kubernetes.io/zone: z",
            "cinder: {volumeID: c},
             nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}",
            "cinder.csi.openstack.org c on [a Exists ; topology.cinder.csi.openstack.org/zone In z]",
        ),
        ("topology.kubernetes.io/zone: z", "portworxVolume: {volumeID: p}", "pxd.portworx.com p on any"),
    ] {
        let volume = volume(&format!("metadata: {{name: v, labels: {{{labels}}}}}\nspec: {{{spec}}}"), interner);
        let migrated = match volume.migration.unwrap_or_else(|| panic!("{spec}")).volume {
            Ok(MigratedVolume { csi, node_affinity }) => {
                format!("{} on {}", csi_words(&csi, interner), words(node_affinity.as_ref(), interner))
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(migrated, expected, "{spec}");
    }
    assert_eq!(volume("metadata: {name: v}\nspec: {vsphereVolume: {volumePath: p}}", interner).migration, None);
}

#[test]
fn fields_of_a_claim_are_converted() {
    let interner = &mut Interner::default();
    let claim = object!(
        PersistentVolumeClaim,
        "
kind: PersistentVolumeClaim
metadata:
  name: c
  annotations: {pv.kubernetes.io/bind-completed: 'yes', volume.kubernetes.io/selected-node: ''}
  ownerReferences:
  - {apiVersion: v1, kind: Pod, name: q, uid: other}
  - {apiVersion: v1, kind: Pod, name: p, uid: owner, controller: true}
spec:
  volumeName: v
  accessModes: [ReadWriteOncePod]
  resources: {requests: {storage: 1Gi}}
  selector: {matchExpressions: [{key: a, operator: Gt, values: ['1']}]}
status: {phase: Lost}",
        interner
    );
    assert_eq!((interner.resolve(claim.namespace), &*claim.uid), ("default", "PersistentVolumeClaim/default/c"));
    assert!(claim.is_bound() && claim.is_exclusive() && claim.lost);
    assert_eq!((claim.class, claim.selected_node), (Symbol::EMPTY, Some(Symbol::EMPTY)));
    assert_eq!(claim.controller.as_ref().map(|owner| &*owner.0), Some("owner"));
    assert_eq!(claim.request, Some(Quantity::from_units(1 << 30)));
    assert_eq!(claim.selector.as_ref().map_err(|error| &**error), Err("\"Gt\" is not a valid label selector operator"));
}

#[test]
fn classes_have_the_drivers_of_their_provisioners() {
    let interner = &mut Interner::default();
    for (provisioner, provisions, driver, migrated) in [
        ("csi.example.com", true, Some("csi.example.com"), false),
        ("kubernetes.io/gce-pd", true, Some("pd.csi.storage.gke.io"), true),
        ("kubernetes.io/vsphere-volume", true, None, false),
        ("kubernetes.io/no-provisioner", false, Some("kubernetes.io/no-provisioner"), false),
        ("", false, None, false),
    ] {
        let yaml = format!("kind: StorageClass\nmetadata: {{name: s}}\nprovisioner: '{provisioner}'");
        let class = object!(StorageClass, &yaml, interner);
        let actual = (class.provisions, class.driver.map(|driver| interner.resolve(driver)), class.migrated);
        assert_eq!(actual, (provisions, driver, migrated), "{provisioner}");
    }
}

#[test]
fn empty_and_invalid_topologies_allow_no_node() {
    let interner = &mut Interner::default();
    for (topologies, expected) in [
        ("[]", "any"),
        ("[{}]", ""),
        (
            "[{matchLabelExpressions: [{key: z, values: [a, b]}, {key: r, values: [c]}]}, {matchLabelExpressions: [{key: z, values: []}]}]",
            "[z In a,b; r In c]",
        ),
    ] {
        let yaml =
            format!("kind: StorageClass\nmetadata: {{name: s}}\nprovisioner: p\nallowedTopologies: {topologies}");
        let class = object!(StorageClass, &yaml, interner);
        assert_eq!(words(class.allowed_topologies.as_ref(), interner), expected, "{topologies}");
    }
}

#[test]
fn fields_of_csi_objects_are_converted() {
    let interner = &mut Interner::default();
    let node = object!(
        CsiNode,
        "
kind: CSINode
metadata: {name: n1, annotations: {storage.alpha.kubernetes.io/migrated-plugins: 'kubernetes.io/aws-ebs,kubernetes.io/gce-pd'}}
spec: {drivers: [{name: d, nodeID: n1, allocatable: {count: 3}}, {name: e, nodeID: n1}]}",
        interner
    );
    assert!(node.has_migrated(interner.intern("kubernetes.io/gce-pd")));
    assert_eq!(node.drivers[..], [(interner.intern("d"), Some(3)), (interner.intern("e"), None)]);
    let capacity = object!(
        CsiStorageCapacity,
        "{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: s, capacity: 10Gi, maximumVolumeSize: 1.5}",
        interner
    );
    assert_eq!((capacity.largest_volume, &capacity.node_topology), (Some(2), &None));
}

#[test]
fn volumes_that_matter_for_scheduling_are_converted() {
    let interner = &mut Interner::default();
    let pod = testing::pod(
        "
metadata: {name: p}
spec:
  containers: []
  volumes:
  - {name: a, configMap: {name: m}}
  - {name: b, persistentVolumeClaim: {claimName: c}}
  - {name: d, ephemeral: {volumeClaimTemplate: {spec: {}}}}
  - {name: e, gcePersistentDisk: {pdName: g, readOnly: true}}
  - {name: f, azureFile: {secretName: s, shareName: t}}
  - {name: h, awsElasticBlockStore: {volumeID: 'aws://x'}}",
        interner,
    );
    let csi = |driver, handle, interner: &mut Interner| CsiVolume {
        driver: interner.intern(driver),
        handle: interner.intern(handle),
    };
    let handle = "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/g";
    let wrong = "converting volume(h) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID \
                 Invalid format for AWS volume (aws://x)";
    assert_eq!(
        pod.spec.volumes[..],
        [
            Volume::Claim { claim: interner.intern("c") },
            Volume::Ephemeral { claim: interner.intern("p-d"), pod: pod.uid.clone(), pod_name: interner.intern("p") },
            Volume::GcePersistentDisk { name: interner.intern("g"), read_only: true },
            Volume::InTree { csi: Ok(Some(csi("pd.csi.storage.gke.io", handle, interner))) },
            Volume::InTree { csi: Ok(None) },
            Volume::AwsElasticBlockStore { id: interner.intern("aws://x") },
            Volume::InTree { csi: Err(wrong.into()) },
        ]
    );
}
