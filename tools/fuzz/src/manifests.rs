//! Conversion of specs to manifests, and of manifests to the facts that invariants need.

use k8s_openapi::api::core::v1 as api;
use schedc_objects::AnyObject;
use serde_json::{Value, json};

use crate::devices::{claims_of_pod, extended_resource, own_devices};
use crate::fault_injector::LABEL;
use crate::history::{ExtendedResource, NodeSpec, PodChange, PodSpec, Storage};
use crate::object::{NAMESPACE, object};
use crate::plugin_fault::Point;

/// Driver of provisioned volumes.
const DRIVER: &str = "csi.example.com";

/// Returns the manifest of a node.
pub(crate) fn node(spec: &NodeSpec) -> AnyObject {
    let name = format!("n{}", spec.id);
    let taints =
        if spec.tainted { json!([{"key": "dedicated", "value": "some", "effect": "NoSchedule"}]) } else { json!([]) };
    let mut manifest = json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {
            "kubernetes.io/hostname": name,
            "topology.kubernetes.io/zone": format!("z{}", spec.zone),
            "disk": if spec.ssd { "ssd" } else { "hdd" },
        }},
        "spec": {"taints": taints, "unschedulable": spec.cordoned},
        "status": {"allocatable": {
            "cpu": format!("{}m", spec.milli_cpu),
            "memory": "64Gi",
            "pods": spec.pods.to_string(),
        }},
    });
    if let Some(count) = own_devices(spec.id) {
        manifest["status"]["allocatable"][ExtendedResource::Explicit.name()] = count.to_string().into();
    }
    object(manifest)
}

/// Returns the manifest of a pod.
pub(crate) fn pod(spec: &PodSpec) -> AnyObject {
    let name = format!("p{}", spec.id);
    let mut labels = json!({"group": format!("g{}", spec.group)});
    let spec_only_points = [Point::PreFilter, Point::Filter, Point::PreScore, Point::Score];
    if spec.planned_faults.iter().any(|planned| spec_only_points.contains(&planned.point)) {
        labels[LABEL] = json!(name);
    }
    let group_selector = json!({"matchLabels": {"group": format!("g{}", spec.group)}});
    let term = |key: &str| json!({"labelSelector": group_selector, "topologyKey": key});
    let mut affinity = json!({});
    if spec.anti_affinity {
        affinity["podAntiAffinity"] =
            json!({"requiredDuringSchedulingIgnoredDuringExecution": [term("kubernetes.io/hostname")]});
    }
    if spec.affinity {
        affinity["podAffinity"] =
            json!({"requiredDuringSchedulingIgnoredDuringExecution": [term("topology.kubernetes.io/zone")]});
    }
    let spread = json!([{
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": group_selector,
    }]);
    let volumes: Vec<_> = spec
        .claim
        .iter()
        .map(|claim| json!({"name": "data", "persistentVolumeClaim": {"claimName": format!("c{claim}")}}))
        .collect();
    let mut manifest = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "schedulerName": if spec.foreign { "another-scheduler" } else { "default-scheduler" },
            "priority": spec.priority,
            "preemptionPolicy": if spec.never_preempts { "Never" } else { "PreemptLowerPriority" },
            "terminationGracePeriodSeconds": spec.grace,
            "containers": containers(spec.milli_cpu, spec.port, extended_resource(spec.devices).as_ref()),
            "tolerations": if spec.tolerant { toleration() } else { json!([]) },
            "affinity": affinity,
            "volumes": volumes,
        },
        "status": {"phase": "Pending"},
    });
    let pod_spec = &mut manifest["spec"];
    if spec.ssd {
        pod_spec["nodeSelector"] = json!({"disk": "ssd"});
    }
    if spec.spread {
        pod_spec["topologySpreadConstraints"] = spread;
    }
    if let Some(devices) = spec.devices {
        pod_spec["resourceClaims"] = claims_of_pod(devices);
    }
    if spec.gated {
        pod_spec["schedulingGates"] = json!([{"name": "example.com/gate"}]);
    }
    object(manifest)
}

fn containers(milli_cpu: u16, port: Option<u16>, extended: Option<&(String, u8)>) -> Value {
    let ports: Vec<_> =
        port.iter().map(|port| json!({"hostPort": port, "containerPort": port, "protocol": "TCP"})).collect();
    let mut resources = json!({"requests": {"cpu": format!("{milli_cpu}m")}});
    if let Some((name, count)) = extended {
        resources["requests"][name] = count.to_string().into();
        resources["limits"][name] = count.to_string().into();
    }
    json!([{
        "name": "main",
        "image": "example.com/image:1",
        "resources": resources,
        "ports": ports,
    }])
}

fn toleration() -> Value {
    json!([{"key": "dedicated", "operator": "Exists"}])
}

/// Returns the merge patch that changes a pod.
pub(crate) fn pod_change(pod: &api::Pod, change: PodChange) -> Value {
    match change {
        PodChange::Ungate => json!({"spec": {"schedulingGates": null}}),
        PodChange::Group(group) => json!({"metadata": {"labels": {"group": format!("g{group}")}}}),
        PodChange::Tolerate => json!({"spec": {"tolerations": toleration()}}),
        PodChange::Resize(milli_cpu) => {
            let PodFacts { port, extended, .. } = PodFacts::of(pod);
            json!({"spec": {"containers": containers(milli_cpu, port, extended.as_ref())}})
        }
        PodChange::Annotate => {
            let version = pod.metadata.resource_version.clone();
            json!({"metadata": {"annotations": {"example.com/note": version}}})
        }
    }
}

/// Returns a disruption budget for a group.
pub(crate) fn budget(group: u8, available: u8) -> AnyObject {
    object(json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": format!("b{group}"), "namespace": NAMESPACE},
        "spec": {"selector": {"matchLabels": {"group": format!("g{group}")}}, "minAvailable": 0},
        "status": {
            "disruptionsAllowed": available,
            "currentHealthy": available,
            "desiredHealthy": 0,
            "expectedPods": available,
        },
    }))
}

/// Returns the storage classes of claims.
pub(crate) fn classes() -> [AnyObject; 2] {
    [("static", "kubernetes.io/no-provisioner"), ("provisioned", DRIVER)].map(|(name, provisioner)| {
        object(json!({
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": name},
            "provisioner": provisioner,
            "reclaimPolicy": "Delete",
            "volumeBindingMode": "WaitForFirstConsumer",
        }))
    })
}

/// Returns a claim.
pub(crate) fn claim(id: u8, storage: Storage) -> AnyObject {
    let class = match storage {
        Storage::Static => "static",
        Storage::Provisioned => "provisioned",
    };
    object(json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": format!("c{id}"), "namespace": NAMESPACE},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "volumeMode": "Filesystem",
            "storageClassName": class,
            "resources": {"requests": {"storage": "1Gi"}},
        },
        "status": {"phase": "Pending"},
    }))
}

/// Returns a volume in a zone.
pub(crate) fn volume(id: u8, zone: u8) -> AnyObject {
    let zone = json!({"key": "topology.kubernetes.io/zone", "operator": "In", "values": [format!("z{zone}")]});
    object(json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": format!("v{id}")},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "volumeMode": "Filesystem",
            "storageClassName": "static",
            "capacity": {"storage": "1Gi"},
            "persistentVolumeReclaimPolicy": "Retain",
            "csi": {"driver": DRIVER, "volumeHandle": format!("v{id}")},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}},
        },
        "status": {"phase": "Available"},
    }))
}

/// Facts about a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeFacts {
    /// CPU in millicores.
    pub(crate) milli_cpu: i64,
    /// Maximum number of pods.
    pub(crate) pods: usize,
    /// Whether it has the label `disk: ssd`.
    pub(crate) ssd: bool,
    /// Whether it is tainted.
    pub(crate) tainted: bool,
    /// Whether it is cordoned.
    pub(crate) cordoned: bool,
}

impl NodeFacts {
    /// Extracts the facts from a manifest.
    pub(crate) fn of(node: &api::Node) -> NodeFacts {
        let spec = node.spec.as_ref();
        let allocatable = node.status.as_ref().and_then(|status| status.allocatable.as_ref());
        let amount = |name: &str| allocatable.and_then(|amounts| amounts.get(name)).map_or("", |amount| &amount.0);
        let disk = node.metadata.labels.as_ref().and_then(|labels| labels.get("disk"));
        NodeFacts {
            milli_cpu: milli(amount("cpu")),
            pods: amount("pods").parse().unwrap_or_default(),
            ssd: disk.is_some_and(|disk| disk == "ssd"),
            tainted: spec.and_then(|spec| spec.taints.as_ref()).is_some_and(|taints| !taints.is_empty()),
            cordoned: spec.and_then(|spec| spec.unschedulable).unwrap_or_default(),
        }
    }
}

/// Facts about a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PodFacts {
    /// Name.
    pub(crate) name: String,
    /// Node.
    pub(crate) node: Option<String>,
    /// Whether it has finished.
    pub(crate) finished: bool,
    /// Whether it is being deleted.
    pub(crate) deleting: bool,
    /// Whether it belongs to another scheduler.
    pub(crate) has_other_scheduler: bool,
    /// Whether it has a gate.
    pub(crate) gated: bool,
    /// Requested CPU in millicores.
    pub(crate) milli_cpu: i64,
    /// Host port.
    pub(crate) port: Option<u16>,
    /// Group.
    pub(crate) group: String,
    /// Group that its anti-affinity selects.
    pub(crate) anti_affinity: Option<String>,
    /// Whether it selects nodes with `disk: ssd`.
    pub(crate) ssd: bool,
    /// Whether it tolerates the taint.
    pub(crate) tolerant: bool,
    /// Claim that it mounts.
    pub(crate) claim: Option<String>,
    /// Extended resource that it requests, and the amount.
    pub(crate) extended: Option<(String, u8)>,
}

impl PodFacts {
    /// Extracts the facts from a manifest.
    pub(crate) fn of(pod: &api::Pod) -> PodFacts {
        let spec = pod.spec.as_ref();
        let container = spec.and_then(|spec| spec.containers.first());
        let requests = container.and_then(|c| c.resources.as_ref()).and_then(|r| r.requests.as_ref());
        let extended = requests.and_then(|r| r.iter().find(|(name, _)| name.contains('/')));
        let port = container.and_then(|c| c.ports.as_ref()).and_then(|ports| ports.first()?.host_port);
        let group = pod.metadata.labels.as_ref().and_then(|labels| labels.get("group"));
        let anti = spec
            .and_then(|spec| spec.affinity.as_ref()?.pod_anti_affinity.as_ref())
            .and_then(|anti| anti.required_during_scheduling_ignored_during_execution.as_ref()?.first())
            .and_then(|term| term.label_selector.as_ref()?.match_labels.as_ref()?.get("group"));
        let claim = spec
            .and_then(|spec| spec.volumes.as_ref()?.first())
            .and_then(|volume| volume.persistent_volume_claim.as_ref());
        PodFacts {
            name: pod.metadata.name.clone().unwrap_or_default(),
            node: spec.and_then(|spec| spec.node_name.clone()).filter(|node| !node.is_empty()),
            finished: schedc_objects::is_finished(pod),
            deleting: pod.metadata.deletion_timestamp.is_some(),
            has_other_scheduler: spec.and_then(|spec| spec.scheduler_name.as_deref()) != Some("default-scheduler"),
            gated: spec.and_then(|spec| spec.scheduling_gates.as_ref()).is_some_and(|gates| !gates.is_empty()),
            milli_cpu: requests.and_then(|r| r.get("cpu")).map_or(0, |cpu| milli(&cpu.0)),
            port: port.and_then(|port| port.try_into().ok()),
            group: group.cloned().unwrap_or_default(),
            anti_affinity: anti.cloned(),
            ssd: spec.and_then(|spec| spec.node_selector.as_ref()).is_some_and(|selector| !selector.is_empty()),
            tolerant: spec.and_then(|spec| spec.tolerations.as_ref()).is_some_and(|t| !t.is_empty()),
            claim: claim.map(|claim| claim.claim_name.clone()),
            extended: extended.and_then(|(name, count)| Some((name.clone(), count.0.parse().ok()?))),
        }
    }
}

/// Parses an amount such as `100m` or `2` into thousandths; this crate and the server write no other forms.
fn milli(amount: &str) -> i64 {
    match amount.strip_suffix('m') {
        Some(milli) => milli.parse().unwrap_or_default(),
        None => amount.parse::<i64>().map_or(0, |whole| whole * 1000),
    }
}
