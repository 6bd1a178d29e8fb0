//! Steps that add, update and delete nodes.

use serde_json::{Value, json};

use super::HistoryGenerator;

pub(super) const IMAGES: [&str; 5] = ["web:1", "db:2", "r.example:5000/tool", "base", "large:9"];
pub(super) const FEATURES: [&str; 2] = ["RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"];
pub(super) const NODES: usize = 10;

/// Mutable aspects of a node.
const ASPECTS: [&str; 9] = [
    "labels",
    "taints",
    "unschedulable",
    "allocatable",
    "allowed pods",
    "images",
    "declared features",
    "conditions",
    "annotations",
];

impl HistoryGenerator {
    pub(super) fn add_node(&mut self) {
        let name = format!("n{}", self.random.below(NODES));
        if self.nodes.contains_key(&name) {
            return;
        }
        let mut node = json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name},
            "spec": {},
            "status": {"allocatable": {"pods": "110"}},
        });
        for aspect in ASPECTS {
            // A cordon and a low pod limit are rare at first.
            if !["unschedulable", "allowed pods"].contains(&aspect) || self.often(15) {
                self.redraw(&mut node, aspect);
            }
        }
        self.nodes.insert(name, node.clone());
        self.set("Node is created", node);
    }

    pub(super) fn update_node(&mut self) {
        let Some(name) = self.any_node() else { return };
        let aspect = self.pick(&ASPECTS);
        let mut node = self.nodes[&name].clone();
        self.redraw(&mut node, aspect);
        self.nodes.insert(name, node.clone());
        self.set(format!("Node {aspect}"), node);
    }

    pub(super) fn delete_node(&mut self) {
        let Some(name) = self.any_node() else { return };
        self.nodes.remove(&name);
        self.delete("Node is deleted", "Node", "", &name);
    }

    fn redraw(&mut self, node: &mut Value, aspect: &str) {
        let name = node["metadata"]["name"].clone();
        match aspect {
            "labels" => {
                let mut labels = json!({});
                let zone = self.pick(&["z0", "z1", "z2", ""]);
                let region = self.pick(&["r0", "r1"]);
                let disk = self.pick(&["ssd", "hdd"]);
                let size = self.pick(&["1", "3", "5", "9", "big"]);
                let rack = self.pick(&["a", "b", "c"]);
                for (key, value, often) in [
                    ("kubernetes.io/hostname", name.as_str().unwrap_or_default(), 95),
                    ("topology.kubernetes.io/zone", zone, 85),
                    ("topology.kubernetes.io/region", region, 50),
                    ("failure-domain.beta.kubernetes.io/zone", zone, 10),
                    ("disk", disk, 60),
                    ("size", size, 60),
                    ("rack", rack, 60),
                ] {
                    if self.often(often) {
                        labels[key] = json!(value);
                    }
                }
                node["metadata"]["labels"] = labels;
            }
            "taints" => {
                let taints = [
                    json!({"key": "dedicated", "value": "db", "effect": "NoSchedule"}),
                    json!({"key": "down", "effect": "NoExecute"}),
                    json!({"key": "slow", "value": "yes", "effect": "PreferNoSchedule"}),
                    json!({"key": "far", "effect": "PreferNoSchedule"}),
                    json!({"key": "odd", "effect": "Sometimes"}),
                ];
                node["spec"]["taints"] = json!(self.some(&taints, 22));
            }
            "unschedulable" => node["spec"]["unschedulable"] = json!(self.often(60)),
            "allocatable" => {
                let allocatable = &mut node["status"]["allocatable"];
                allocatable["cpu"] = json!(self.pick(&["500m", "1", "2", "4", "8"]));
                allocatable["memory"] = json!(self.pick(&["512Mi", "1Gi", "2Gi", "8Gi"]));
                allocatable["ephemeral-storage"] = json!(self.pick(&["1Gi", "10Gi"]));
                allocatable["example.com/gpu"] = json!(self.pick(&["0", "1", "4"]));
                allocatable["hugepages-2Mi"] = json!(self.pick(&["0", "64Mi"]));
                if self.often(10) {
                    allocatable["cpu"] = Value::Null;
                }
                if let Some(amounts) = allocatable.as_object_mut() {
                    amounts.retain(|_, amount| !amount.is_null());
                }
            }
            "allowed pods" => node["status"]["allocatable"]["pods"] = json!(self.pick(&["0", "1", "2", "3", "110"])),
            "images" => {
                let mut images = Vec::new();
                for image in self.some(&IMAGES, 40) {
                    let tagged =
                        if image.rfind(':') > image.rfind('/') { image.to_owned() } else { format!("{image}:latest") };
                    let size = self.pick(&[30_000_000_u64, 300_000_000, 900_000_000]);
                    images.push(json!({"names": [tagged], "sizeBytes": size}));
                }
                node["status"]["images"] = json!(images);
            }
            "declared features" => {
                node["status"]["declaredFeatures"] = json!(self.some(&FEATURES, 50));
            }
            "conditions" => {
                let ready = self.pick(&["True", "False", "Unknown"]);
                node["status"]["conditions"] = json!([{"type": "Ready", "status": ready}]);
            }
            _ => node["metadata"]["annotations"] = json!({"note": self.pick(&["a", "b", "c"])}),
        }
    }
}
