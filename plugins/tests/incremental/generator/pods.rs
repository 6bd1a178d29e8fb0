//! Steps that add, update, delete, nominate and schedule pods. The pods are made from templates.

use serde_json::{Value, json};

use super::nodes::{IMAGES, NODES};
use super::{HistoryGenerator, NAMESPACES};
use crate::incremental::history::Step;

/// A part of a pod spec that plugins read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PodFeature {
    Resources,
    InitAndOverhead,
    Ports,
    Tolerations,
    NodeAffinity,
    PreferredNodes,
    PodAffinity,
    PodAntiAffinity,
    PreferredPods,
    HardSpread,
    SoftSpread,
    Owner,
    Claims,
    Disks,
    Images,
    Features,
    NodeName,
    ResourceClaims,
}

pub(super) const POD_FEATURES: [PodFeature; 18] = [
    PodFeature::Resources,
    PodFeature::InitAndOverhead,
    PodFeature::Ports,
    PodFeature::Tolerations,
    PodFeature::NodeAffinity,
    PodFeature::PreferredNodes,
    PodFeature::PodAffinity,
    PodFeature::PodAntiAffinity,
    PodFeature::PreferredPods,
    PodFeature::HardSpread,
    PodFeature::SoftSpread,
    PodFeature::Owner,
    PodFeature::Claims,
    PodFeature::Disks,
    PodFeature::Images,
    PodFeature::Features,
    PodFeature::NodeName,
    PodFeature::ResourceClaims,
];

const APPS: [&str; 3] = ["web", "db", "job"];
const KEYS: [&str; 4] =
    ["topology.kubernetes.io/zone", "kubernetes.io/hostname", "rack", "topology.kubernetes.io/region"];

impl HistoryGenerator {
    fn includes(&mut self, feature: PodFeature) -> bool {
        // Only few pods have a node name or a resource claim.
        let often = match feature {
            PodFeature::NodeName | PodFeature::ResourceClaims => self.shape.features[&feature] / 5,
            _ => self.shape.features[&feature],
        };
        self.often(often)
    }

    /// Returns a pod without a name.
    pub(super) fn template(&mut self) -> Value {
        let namespace =
            if self.shape.storage { "default" } else { self.pick(&["default", "default", "other", "third"]) };
        let mut labels = json!({"app": self.pick(&APPS)});
        if self.often(30) {
            labels["tier"] = json!(self.pick(&["front", "back", ""]));
        }
        let mut spec = json!({"priority": self.pick(&[0, 0, 10, 100]), "containers": [self.container()]});
        if self.often(30) {
            let more = self.container();
            spec["containers"].as_array_mut().into_iter().for_each(|list| list.push(more.clone()));
        }
        if self.often(10) {
            spec["preemptionPolicy"] = json!("Never");
        }
        let mut owners = Vec::new();
        if self.includes(PodFeature::InitAndOverhead) {
            let mut init = self.container();
            if self.often(50) {
                init["restartPolicy"] = json!("Always");
            }
            spec["initContainers"] = json!([init]);
            if self.often(50) {
                spec["overhead"] = json!({"cpu": "100m", "memory": "16Mi"});
            }
            if self.often(30) {
                spec["resources"] = json!({"requests": {"cpu": "700m", "memory": "300Mi"}});
            }
        }
        if self.includes(PodFeature::Tolerations) {
            let tolerations = [
                json!({"key": "dedicated", "operator": "Equal", "value": "db", "effect": "NoSchedule"}),
                json!({"key": "down", "operator": "Exists"}),
                json!({"key": "slow", "operator": "Exists", "effect": "PreferNoSchedule"}),
                json!({"operator": "Exists", "effect": "NoExecute"}),
                json!({"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}),
                json!({"key": "far", "operator": "Gt", "value": "1"}),
                json!({"operator": "Exists"}),
            ];
            spec["tolerations"] = json!(self.some(&tolerations, 35));
        }
        let mut affinity = json!({});
        if self.includes(PodFeature::NodeAffinity) {
            match self.random.below(3) {
                0 => spec["nodeSelector"] = json!({"disk": self.pick(&["ssd", "hdd"])}),
                more => {
                    let count = 1 + more % 2;
                    let terms: Vec<_> = (0..count).map(|_| self.node_term()).collect();
                    affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
                        json!({"nodeSelectorTerms": terms});
                }
            }
        }
        if self.includes(PodFeature::PreferredNodes) {
            let count = 1 + self.random.below(3);
            let terms: Vec<_> = (0..count)
                .map(|_| json!({"weight": 1 + self.random.below(100), "preference": self.node_term()}))
                .collect();
            affinity["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] = json!(terms);
        }
        for (feature, kind) in
            [(PodFeature::PodAffinity, "podAffinity"), (PodFeature::PodAntiAffinity, "podAntiAffinity")]
        {
            if self.includes(feature) {
                let count = 1 + self.random.below(2);
                let terms: Vec<_> = (0..count).map(|_| self.pod_term()).collect();
                affinity[kind]["requiredDuringSchedulingIgnoredDuringExecution"] = json!(terms);
            }
        }
        if self.includes(PodFeature::PreferredPods) {
            for kind in ["podAffinity", "podAntiAffinity"] {
                let count = self.random.below(3);
                let terms: Vec<_> = (0..count)
                    .map(|_| json!({"weight": 1 + self.random.below(100), "podAffinityTerm": self.pod_term()}))
                    .collect();
                affinity[kind]["preferredDuringSchedulingIgnoredDuringExecution"] = json!(terms);
            }
        }
        spec["affinity"] = affinity;
        let mut spread = Vec::new();
        for (feature, action) in [(PodFeature::HardSpread, "DoNotSchedule"), (PodFeature::SoftSpread, "ScheduleAnyway")]
        {
            if self.includes(feature) {
                for _ in 0..1 + self.random.below(2) {
                    spread.push(self.spread(action));
                }
            }
        }
        if !spread.is_empty() {
            spec["topologySpreadConstraints"] = json!(spread);
        }
        if self.includes(PodFeature::Owner) {
            let (api, kind, name) = self.pick(&[
                ("apps/v1", "ReplicaSet", "rs"),
                ("apps/v1", "StatefulSet", "ss"),
                ("v1", "ReplicationController", "rc"),
            ]);
            owners.push(json!({"apiVersion": api, "kind": kind, "name": name, "uid": name, "controller": true}));
        }
        if self.includes(PodFeature::Features) {
            spec["hostNetwork"] = json!(true);
            spec["hostUsers"] = json!(false);
            if self.often(40) {
                spec["containers"][0]["restartPolicyRules"] = json!([{"action": "RestartAllContainers"}]);
            }
        }
        if self.includes(PodFeature::NodeName) {
            spec["nodeName"] = json!(format!("n{}", self.random.below(NODES)));
        }
        if self.includes(PodFeature::ResourceClaims) {
            spec["resourceClaims"] = json!([{"name": "gpu", "resourceClaimName": "gpu"}]);
        }
        spec["volumes"] = json!(self.volumes());
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"namespace": namespace, "labels": labels, "ownerReferences": owners},
            "spec": spec,
            "status": {},
        })
    }

    fn container(&mut self) -> Value {
        let mut requests = json!({});
        if self.often(80) {
            requests["cpu"] = json!(self.pick(&["0", "50m", "200m", "500m", "1", "0.5m"]));
        }
        if self.often(70) {
            requests["memory"] = json!(self.pick(&["0", "16Mi", "128Mi", "600Mi"]));
        }
        if self.includes(PodFeature::Resources) {
            for (name, amounts) in [
                ("ephemeral-storage", ["100Mi", "2Gi"]),
                ("example.com/gpu", ["1", "2"]),
                ("hugepages-2Mi", ["2Mi", "32Mi"]),
            ] {
                if self.often(40) {
                    requests[name] = json!(self.pick(&amounts));
                }
            }
        }
        let mut ports = Vec::new();
        if self.includes(PodFeature::Ports) {
            let ip = self.pick(&["", "0.0.0.0", "10.0.0.1", "::"]);
            let (port, protocol) = (80 + self.random.below(2), self.pick(&["TCP", "UDP"]));
            ports.push(json!({"containerPort": 80, "hostPort": port, "hostIP": ip, "protocol": protocol}));
        }
        let image = if self.includes(PodFeature::Images) { self.pick(&IMAGES) } else { "none:0" };
        json!({"name": "c", "image": image, "resources": {"requests": requests}, "ports": ports})
    }

    fn node_term(&mut self) -> Value {
        let name = format!("n{}", self.random.below(NODES));
        let expressions = [
            json!({"key": "disk", "operator": "In", "values": ["ssd"]}),
            json!({"key": "disk", "operator": "NotIn", "values": ["ssd"]}),
            json!({"key": "size", "operator": "Gt", "values": ["3"]}),
            json!({"key": "size", "operator": "Lt", "values": ["5"]}),
            json!({"key": "rack", "operator": "Exists"}),
            json!({"key": "topology.kubernetes.io/zone", "operator": "DoesNotExist"}),
            json!({"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["z0", "z1"]}),
        ];
        let operator = self.pick(&["In", "In", "NotIn"]);
        let field = json!({"key": "metadata.name", "operator": operator, "values": [name]});
        match self.random.below(6) {
            0 => json!({"matchFields": [field]}),
            1 => json!({"matchFields": [field], "matchExpressions": [self.pick(&expressions)]}),
            2 => json!({"matchExpressions": [self.pick(&expressions), self.pick(&expressions)]}),
            _ => json!({"matchExpressions": [self.pick(&expressions)]}),
        }
    }

    /// Returns a selector of pods.
    pub(super) fn selector(&mut self) -> Value {
        let app = self.pick(&APPS);
        self.pick(&[
            json!({"matchLabels": {"app": app}}),
            json!({"matchLabels": {"app": app}}),
            json!({"matchExpressions": [{"key": "app", "operator": "In", "values": [app, "web"]}]}),
            json!({"matchExpressions": [{"key": "tier", "operator": "Exists"}]}),
            json!({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["back"]}]}),
            json!({}),
            Value::Null,
        ])
    }

    fn pod_term(&mut self) -> Value {
        let mut term = json!({"topologyKey": self.pick(&KEYS), "labelSelector": self.selector()});
        if self.often(30) {
            term["namespaces"] = json!(self.some(&NAMESPACES, 50));
        }
        if self.often(30) {
            term["namespaceSelector"] = self.pick(&[
                json!({}),
                json!({"matchLabels": {"team": "a"}}),
                json!({"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["b"]}]}),
            ]);
        }
        term
    }

    fn spread(&mut self, action: &str) -> Value {
        let mut spread = json!({
            "maxSkew": 1 + self.random.below(3),
            "topologyKey": self.pick(&KEYS),
            "whenUnsatisfiable": action,
            "labelSelector": self.selector(),
        });
        if action == "DoNotSchedule" && self.often(25) {
            spread["minDomains"] = json!(1 + self.random.below(4));
        }
        if self.often(30) {
            spread["nodeAffinityPolicy"] = json!(self.pick(&["Honor", "Ignore"]));
        }
        if self.often(40) {
            spread["nodeTaintsPolicy"] = json!(self.pick(&["Honor", "Honor", "Ignore"]));
        }
        if self.often(15) && spread["labelSelector"] != Value::Null {
            spread["matchLabelKeys"] = json!(["tier"]);
        }
        spread
    }

    fn volumes(&mut self) -> Vec<Value> {
        let mut volumes = Vec::new();
        if self.includes(PodFeature::Claims) {
            for number in 0..1 + self.random.below(2) {
                let claim = json!({"claimName": format!("c{}", self.random.below(super::objects::CLAIMS))});
                volumes.push(match self.often(15) {
                    true => json!({"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}),
                    false => json!({"name": format!("v{number}"), "persistentVolumeClaim": claim}),
                });
            }
        }
        if self.includes(PodFeature::Disks) {
            let (name, read_only) = (self.pick(&["d0", "d1"]), self.often(40));
            volumes.push(self.pick(&[
                json!({"name": "d", "gcePersistentDisk": {"pdName": name, "readOnly": read_only}}),
                json!({"name": "d", "awsElasticBlockStore": {"volumeID": name}}),
                json!({"name": "d", "iscsi": {"targetPortal": "p", "iqn": name, "lun": 0, "readOnly": read_only}}),
                json!({"name": "d", "rbd": {"monitors": ["m0", name], "image": "i", "pool": "p", "readOnly": read_only}}),
            ]));
        }
        if self.includes(PodFeature::Images) && self.often(20) {
            volumes.push(json!({"name": "i", "image": {"reference": self.pick(&IMAGES)}}));
        }
        volumes
    }

    /// Returns a pod that is made from a template and has a unique name. May also create the claims of its generic
    /// ephemeral volumes.
    fn pod(&mut self) -> Value {
        let mut pod = self.pick(&self.templates.clone());
        let name = format!("p{}", self.count);
        self.count += 1;
        pod["metadata"]["name"] = json!(name);
        pod["metadata"]["uid"] = json!(format!("uid-{name}"));
        if self.often(self.shape.unique) {
            pod["metadata"]["labels"]["name"] = json!(name);
        }
        let volumes = pod["spec"]["volumes"].as_array().cloned().unwrap_or_default();
        if volumes.iter().any(|volume| volume.get("ephemeral").is_some()) && self.often(80) {
            self.claim_for(&pod, &format!("{name}-e"));
        }
        pod
    }

    /// Adds a pod that already has a node.
    pub(super) fn add_pod(&mut self) {
        let mut pod = self.pod();
        // Some pods are on nodes that do not exist, or do not exist yet.
        pod["spec"]["nodeName"] = match self.any_node() {
            Some(node) if self.often(80) => json!(node),
            _ => json!(format!("n{}", self.random.below(NODES))),
        };
        self.remember(&pod);
        self.set("Pod is created", pod);
    }

    fn remember(&mut self, pod: &Value) {
        let text = |field: &str| pod["metadata"][field].as_str().unwrap_or_default().to_owned();
        self.pods.insert((text("namespace"), text("name")), pod.clone());
    }

    fn any_pod(&mut self) -> Option<Value> {
        let pods: Vec<Value> = self.pods.values().cloned().collect();
        (!pods.is_empty()).then(|| self.pick(&pods))
    }

    pub(super) fn update_pod(&mut self) {
        let Some(mut pod) = self.any_pod() else { return };
        let change = match self.random.below(5) {
            0 => {
                pod["metadata"]["labels"]["app"] = json!(self.pick(&APPS));
                "Pod labels"
            }
            1 => {
                pod["metadata"]["labels"]["tier"] = json!(self.pick(&["front", "back"]));
                "Pod labels"
            }
            2 => {
                let requests = json!({"cpu": self.pick(&["10m", "900m"]), "memory": self.pick(&["1Mi", "500Mi"])});
                let resources = json!({"requests": requests});
                pod["status"]["containerStatuses"] = json!([{
                    "name": "c", "image": "", "imageID": "", "ready": true, "restartCount": 0, "resources": resources,
                }]);
                "Pod status"
            }
            _ => {
                pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
                "Pod deletionTimestamp"
            }
        };
        self.remember(&pod);
        self.set(change, pod);
    }

    /// Returns the nominated pods.
    fn nominated(&self) -> Vec<Value> {
        self.pods.values().filter(|pod| pod["status"].get("nominatedNodeName").is_some()).cloned().collect()
    }

    pub(super) fn delete_pod(&mut self) {
        let nominated = self.nominated();
        let pod = match !nominated.is_empty() && self.often(45) {
            true => Some(self.pick(&nominated)),
            false => self.any_pod(),
        };
        let Some(mut pod) = pod else { return };
        let text = |field: &str| pod["metadata"][field].as_str().unwrap_or_default().to_owned();
        let (namespace, name) = (text("namespace"), text("name"));
        self.pods.remove(&(namespace.clone(), name.clone()));
        let is_nominated = pod["status"].get("nominatedNodeName").is_some();
        let change = if is_nominated { "Nominated pod is deleted" } else { "Pod is deleted" };
        if self.often(25) {
            pod["status"]["phase"] = json!("Succeeded");
            self.set(change, pod);
        } else {
            self.delete(change, "Pod", &namespace, &name);
        }
    }

    /// Nominates a node for a pod.
    pub(super) fn nominate(&mut self) {
        let mut pod = self.pod();
        let Some(node) = self.any_node() else { return };
        pod["spec"]["nodeName"] = Value::Null;
        pod["status"]["nominatedNodeName"] = json!(node);
        self.remember(&pod);
        self.set("Pod is nominated", pod);
    }

    /// Schedules a new or a nominated pod.
    pub(super) fn decide(&mut self) {
        let nominated = self.nominated();
        let pod = match !nominated.is_empty() && self.often(20) {
            true => self.pick(&nominated),
            false => self.pod(),
        };
        let is_placed = self.often(50);
        if is_placed {
            self.remember(&pod);
        }
        self.steps.push(Step::Schedule { pod, is_placed });
    }
}
