//! Objects other than nodes and pods.

use serde_json::{Value, json};

use super::{HistoryGenerator, NAMESPACES};

/// Number of claims in each namespace.
pub(super) const CLAIMS: usize = 3;
const VOLUMES: usize = 5;
const CLASSES: [&str; 6] = ["wait", "topology", "immediate", "local", "capacity", "ebs"];
/// The classes from which claims are drawn; frequent classes are repeated.
const CLASSES_OF_CLAIMS: [&str; 14] = [
    "wait",
    "wait",
    "wait",
    "topology",
    "topology",
    "local",
    "local",
    "local",
    "capacity",
    "capacity",
    "capacity",
    "ebs",
    "ebs",
    "immediate",
];
const DRIVERS: [&str; 2] = ["csi.example.com", "capacity.example.com"];
const IN_TREE: &str = "kubernetes.io/aws-ebs";
const ZONE: &str = "topology.kubernetes.io/zone";

impl HistoryGenerator {
    /// Adds the initial storage objects.
    pub(super) fn all_storage(&mut self) {
        for name in CLASSES {
            if self.often(75) {
                self.class(name);
            }
        }
        for number in 0..VOLUMES {
            if self.often(60) {
                self.volume(number);
            }
        }
        for number in 0..CLAIMS {
            for namespace in NAMESPACES {
                if self.often(92) {
                    self.claim(namespace, number);
                }
            }
        }
        let nodes: Vec<String> = self.nodes.keys().cloned().collect();
        for node in nodes {
            if self.often(80) {
                self.csi_node(&node);
            }
        }
        for driver in DRIVERS {
            if self.often(60) {
                self.driver(driver);
            }
        }
        self.capacity();
    }

    /// Adds, updates or deletes a storage object.
    pub(super) fn storage(&mut self) {
        match self.random.below(31) {
            0..7 => {
                let namespace = if self.shape.storage { "default" } else { self.pick(&NAMESPACES) };
                let number = self.random.below(CLAIMS);
                self.claim(namespace, number);
            }
            7..12 => {
                let number = self.random.below(VOLUMES);
                self.volume(number);
            }
            12..15 => {
                let name = self.pick(&CLASSES);
                self.class(name);
            }
            15..17 => {
                if let Some(node) = self.any_node() {
                    self.csi_node(&node);
                }
            }
            17 | 21 => {
                let driver = self.pick(&DRIVERS);
                self.driver(driver);
            }
            18..=20 => self.capacity(),
            _ => self.attachment(),
        }
    }

    fn class(&mut self, name: &str) {
        self.other("StorageClass", "", name, |draw, _| {
            let provisioner = match name {
                "local" => "kubernetes.io/no-provisioner",
                "capacity" => DRIVERS[1],
                "ebs" => IN_TREE,
                _ if draw.often(40) => DRIVERS[1],
                _ => DRIVERS[0],
            };
            let mode = if name == "immediate" || draw.often(15) { "Immediate" } else { "WaitForFirstConsumer" };
            let mut class = json!({
                "apiVersion": "storage.k8s.io/v1",
                "kind": "StorageClass",
                "metadata": {"name": name},
                "provisioner": provisioner,
                "volumeBindingMode": mode,
            });
            if name == "topology" {
                let zones = draw.some(&["z0", "z1", "z2"], 50);
                class["allowedTopologies"] = json!([{"matchLabelExpressions": [{"key": ZONE, "values": zones}]}]);
            }
            class
        });
    }

    fn volume(&mut self, number: usize) {
        let name = format!("v{number}");
        self.other("PersistentVolume", "", &name, |draw, _| {
            let class = draw.pick(&["wait", "local", "immediate", "ebs"]);
            let modes = draw.pick(&[json!(["ReadWriteOnce"]), json!(["ReadWriteOnce", "ReadOnlyMany"])]);
            let mut volume = json!({
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": name, "labels": {"tier": draw.pick(&["gold", "iron"])}},
                "spec": {
                    "accessModes": modes,
                    "volumeMode": draw.pick(&["Filesystem", "Filesystem", "Filesystem", "Block"]),
                    "storageClassName": class,
                    "capacity": {"storage": draw.pick(&["1Gi", "2Gi", "5Gi"])},
                },
                "status": {"phase": draw.pick(&["Available", "Available", "Available", "Bound", "Released"])},
            });
            let spec = &mut volume["spec"];
            if class == "ebs" {
                spec["awsElasticBlockStore"] = json!({"volumeID": format!("aws://zone/{name}")});
            } else {
                spec["csi"] = json!({"driver": draw.pick(&DRIVERS), "volumeHandle": format!("handle-{name}")});
            }
            if draw.often(60) {
                let (key, values) = draw.pick(&[
                    (ZONE, vec!["z0"]),
                    (ZONE, vec!["z1", "z2"]),
                    ("kubernetes.io/hostname", vec!["n0", "n1", "n2", "n3"]),
                    ("topology.ebs.csi.aws.com/zone", vec!["z0"]),
                ]);
                let term = json!({"matchExpressions": [{"key": key, "operator": "In", "values": values}]});
                spec["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": [term]}});
            }
            if draw.often(20) {
                let claim = format!("c{}", draw.random.below(CLAIMS));
                spec["claimRef"] = json!({"namespace": draw.pick(&NAMESPACES), "name": claim});
            }
            let metadata = &mut volume["metadata"];
            if draw.often(30) {
                let key = draw.pick(&[ZONE, "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/region"]);
                metadata["labels"][key] = json!(draw.pick(&["z0", "z0__z1", "r0"]));
            }
            if draw.often(5) {
                metadata["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            }
            if draw.often(5) {
                volume["spec"]["volumeAttributesClassName"] = json!("fast");
            }
            volume
        });
    }

    fn claim(&mut self, namespace: &str, number: usize) {
        let name = format!("c{number}");
        self.other("PersistentVolumeClaim", namespace, &name, |draw, _| draw.claim_manifest(namespace, &name));
    }

    fn claim_manifest(&mut self, namespace: &str, name: &str) -> Value {
        let modes = self.pick(&[json!(["ReadWriteOnce"]), json!(["ReadWriteOnce"]), json!(["ReadWriteOncePod"])]);
        let mut claim = json!({
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": namespace, "uid": format!("uid-{namespace}-{name}"), "annotations": {}},
            "spec": {
                "accessModes": modes,
                "volumeMode": "Filesystem",
                "storageClassName": self.pick(&CLASSES_OF_CLAIMS),
                "resources": {"requests": {"storage": self.pick(&["1Gi", "1Gi", "2Gi", "4Gi"])}},
            },
            "status": {"phase": "Pending"},
        });
        if self.often(40) {
            claim["spec"]["volumeName"] = json!(format!("v{}", self.random.below(VOLUMES)));
            if self.often(90) {
                claim["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] = json!("yes");
                claim["status"]["phase"] = json!("Bound");
            }
        } else if self.often(15) {
            let node = self.any_node().unwrap_or_default();
            claim["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] = json!(node);
        }
        if self.often(15) {
            claim["spec"]["selector"] = json!({"matchLabels": {"tier": "gold"}});
        }
        match self.random.below(30) {
            0 => claim["status"]["phase"] = json!("Lost"),
            1 => claim["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"),
            2 => claim["spec"]["storageClassName"] = json!(""),
            _ => {}
        }
        claim
    }

    /// Adds the claim of a pod's generic ephemeral volume. Usually, the pod owns the claim, as if the controller of
    /// ephemeral volumes had created it.
    pub(super) fn claim_for(&mut self, pod: &Value, name: &str) {
        let namespace = pod["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        let mut claim = self.claim_manifest(&namespace, name);
        if self.often(90) {
            let (name, uid) = (&pod["metadata"]["name"], &pod["metadata"]["uid"]);
            let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid, "controller": true});
            claim["metadata"]["ownerReferences"] = json!([owner]);
        }
        self.set("PersistentVolumeClaim is created", claim);
    }

    fn csi_node(&mut self, name: &str) {
        self.other("CSINode", "", name, |draw, _| {
            let mut drivers = Vec::new();
            for driver in [DRIVERS[0], DRIVERS[1], "ebs.csi.aws.com"] {
                if draw.often(75) {
                    let mut entry = json!({"name": driver, "nodeID": name, "topologyKeys": []});
                    if draw.often(80) {
                        entry["allocatable"] = json!({"count": draw.pick(&[0, 1, 1, 1, 2])});
                    }
                    drivers.push(entry);
                }
            }
            let mut annotations = json!({});
            if draw.often(60) {
                annotations["storage.alpha.kubernetes.io/migrated-plugins"] = json!(IN_TREE);
            }
            json!({
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSINode",
                "metadata": {"name": name, "annotations": annotations},
                "spec": {"drivers": drivers},
            })
        });
    }

    fn driver(&mut self, name: &str) {
        self.other("CSIDriver", "", name, |draw, _| {
            json!({
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSIDriver",
                "metadata": {"name": name},
                "spec": {"storageCapacity": draw.often(60)},
            })
        });
    }

    fn capacity(&mut self) {
        let name = format!("room{}", self.random.below(2));
        self.other("CSIStorageCapacity", "default", &name, |draw, _| {
            let mut capacity = json!({
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSIStorageCapacity",
                "metadata": {"name": name, "namespace": "default"},
                "storageClassName": draw.pick(&["capacity", "capacity", "wait"]),
                "capacity": draw.pick(&["1Gi", "3Gi", "10Gi"]),
            });
            if draw.often(90) {
                let zones = draw.some(&["z0", "z1", "z2"], 60);
                capacity["nodeTopology"] = match zones.is_empty() {
                    true => json!({}),
                    false => json!({"matchExpressions": [{"key": ZONE, "operator": "In", "values": zones}]}),
                };
            }
            if draw.often(30) {
                capacity["maximumVolumeSize"] = json!("1Gi");
            }
            capacity
        });
    }

    fn attachment(&mut self) {
        let Some(node) = self.any_node() else { return };
        let name = format!("a{}", self.random.below(2));
        self.other("VolumeAttachment", "", &name, |draw, _| {
            let volume = format!("v{}", draw.random.below(VOLUMES));
            json!({
                "apiVersion": "storage.k8s.io/v1",
                "kind": "VolumeAttachment",
                "metadata": {"name": name},
                "spec": {"attacher": draw.pick(&DRIVERS), "nodeName": node, "source": {"persistentVolumeName": volume}},
            })
        });
    }

    /// Creates, changes or deletes a Service or a controller of pods.
    pub(super) fn workload(&mut self) {
        let namespace = self.pick(&["default", "default", "other", "third"]);
        let (api, kind, name) = self.pick(&[
            ("v1", "Service", "s0"),
            ("v1", "Service", "s1"),
            ("v1", "ReplicationController", "rc"),
            ("apps/v1", "ReplicaSet", "rs"),
            ("apps/v1", "StatefulSet", "ss"),
        ]);
        self.other(kind, namespace, name, |draw, _| {
            let labels = json!({"app": draw.pick(&["web", "db", "job"])});
            let selector = match (kind, draw.random.below(8)) {
                ("Service" | "ReplicationController", 0) => json!({}),
                ("Service" | "ReplicationController", _) => labels,
                (_, 0) => json!({"matchExpressions": [{"key": "tier", "operator": "Exists"}]}),
                _ => json!({"matchLabels": labels}),
            };
            let mut spec = json!({"selector": selector, "serviceName": "s"});
            if kind == "ReplicaSet" || kind == "StatefulSet" {
                spec["template"] = json!({"metadata": {}, "spec": {"containers": []}});
            }
            json!({"apiVersion": api, "kind": kind, "metadata": {"namespace": namespace, "name": name}, "spec": spec})
        });
    }

    pub(super) fn namespace(&mut self) {
        let name = self.pick(&NAMESPACES);
        self.other("Namespace", "", name, |draw, _| {
            let mut labels = json!({"kubernetes.io/metadata.name": name});
            if draw.often(70) {
                labels["team"] = json!(draw.pick(&["a", "b"]));
            }
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
        });
    }

    pub(super) fn budget(&mut self) {
        let (namespace, name) = (self.pick(&["default", "other"]), self.pick(&["b0", "b1"]));
        self.other("PodDisruptionBudget", namespace, name, |draw, _| {
            let allowed = draw.random.below(2);
            json!({
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"namespace": namespace, "name": name},
                "spec": {"selector": draw.selector()},
                "status": {
                    "disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1,
                },
            })
        });
    }
}
