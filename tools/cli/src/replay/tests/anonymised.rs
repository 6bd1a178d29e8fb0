//! Anonymised recordings: each pod on each node has the same result as in the plain recording, for all kinds of
//! constraints.

use std::collections::BTreeSet;

use schedc_recording::Anonymiser;

use super::*;

const NODES: [&str; 6] = ["node-a", "node-b", "node-c", "node-d", "node-e", "node-f"];
const ZONES: [&str; 6] = ["zone-1", "zone-1", "zone-2", "zone-2", "zone-3", "zone-3"];
const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";

fn object(api_version: &str, kind: &str, name: &str, rest: Value) -> Value {
    let mut object =
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "uid": format!("uid-{name}")}});
    let namespaced = ["Service", "ReplicaSet", "PersistentVolumeClaim", "ResourceClaim", "PodDisruptionBudget", "Pod"];
    if namespaced.contains(&kind) {
        object["metadata"]["namespace"] = "shop".into();
    }
    merge(&mut object, rest);
    object
}

fn merge(object: &mut Value, changes: Value) {
    match (object, changes) {
        (Value::Object(object), Value::Object(changes)) => {
            changes.into_iter().for_each(|(key, change)| merge(object.entry(key).or_insert(Value::Null), change));
        }
        (object, change) => *object = change,
    }
}

fn nodes() -> Vec<Value> {
    let node = |(number, name): (usize, &&str)| {
        object(
            "v1",
            "Node",
            name,
            json!({
                "metadata": {"labels": {HOST: name, ZONE: ZONES[number], "disk": if number % 2 == 0 { "fast" } else { "slow" },
                    "rank": number.to_string()}},
                "status": {"allocatable": {"cpu": (4 + number).to_string(), "memory": "16Gi", "pods": "20", "example.com/gpu": "1"}},
            }),
        )
    };
    let mut nodes: Vec<Value> = NODES.iter().enumerate().map(node).collect();
    nodes[0]["status"]["images"] =
        json!([{"names": ["registry.shop/web:1", "registry.shop/web@sha256:1"], "sizeBytes": 900_000_000}]);
    nodes[1]["spec"] = json!({"taints": [{"key": "dedicated", "value": "checkout", "effect": "NoSchedule"}]});
    nodes[2]["spec"] = json!({"taints": [{"key": "old", "value": "batch", "effect": "PreferNoSchedule"}]});
    nodes[5]["spec"] = json!({"unschedulable": true});
    nodes
}

/// Returns the objects that are neither nodes nor pods.
fn others() -> Vec<Value> {
    let device = |node: &str, model: &str| {
        object(
            "resource.k8s.io/v1",
            "ResourceSlice",
            &format!("slice-{node}"),
            json!({"spec": {"driver": "gpu.example.com", "nodeName": node,
                "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "gpu-0", "attributes": {"model": {"string": model}}}]}}),
        )
    };
    let volume = |name: &str, node: &str| {
        object(
            "v1",
            "PersistentVolume",
            name,
            json!({"spec": {"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local",
                "local": {"path": "/disk"}, "claimRef": {"namespace": "shop", "name": "data", "uid": "uid-data"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [
                    {"matchExpressions": [{"key": HOST, "operator": "In", "values": [node]}]}]}}},
                "status": {"phase": "Bound"}}),
        )
    };
    let claim = |name: &str, class: &str, volume: Option<&str>| {
        let mut claim = object(
            "v1",
            "PersistentVolumeClaim",
            name,
            json!({"spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": class,
                "resources": {"requests": {"storage": "5Gi"}}}, "status": {"phase": "Pending"}}),
        );
        if let Some(volume) = volume {
            claim["metadata"]["annotations"] = json!({"pv.kubernetes.io/bind-completed": "yes"});
            claim["spec"]["volumeName"] = volume.into();
            claim["status"]["phase"] = "Bound".into();
        }
        claim
    };
    let mut zonal = volume("volume-zonal", "node-c");
    zonal["metadata"]["labels"] = json!({ZONE: "zone-2"});
    zonal["spec"]["claimRef"] = json!({"namespace": "shop", "name": "zonal", "uid": "uid-zonal"});
    if let Some(spec) = zonal["spec"].as_object_mut() {
        spec.remove("nodeAffinity");
    }
    vec![
        object("v1", "Namespace", "shop", json!({"metadata": {"labels": {"team": "sales"}}})),
        object("v1", "Namespace", "other", json!({"metadata": {"labels": {"team": "search"}}})),
        object("v1", "Service", "web", json!({"spec": {"selector": {"app": "web"}}})),
        object(
            "apps/v1",
            "ReplicaSet",
            "web",
            json!({"spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {}}}),
        ),
        object(
            "policy/v1",
            "PodDisruptionBudget",
            "web",
            json!({"spec": {"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": 1}, "status": {"disruptionsAllowed": 0,
                "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}}),
        ),
        object(
            "storage.k8s.io/v1",
            "StorageClass",
            "local",
            json!({"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}),
        ),
        object(
            "storage.k8s.io/v1",
            "StorageClass",
            "dynamic",
            json!({"provisioner": "disk.example.com", "volumeBindingMode": "WaitForFirstConsumer", "allowedTopologies": [
                {"matchLabelExpressions": [{"key": ZONE, "values": ["zone-1", "zone-2"]}]}]}),
        ),
        object("storage.k8s.io/v1", "CSIDriver", "disk.example.com", json!({"spec": {"storageCapacity": true}})),
        object(
            "storage.k8s.io/v1",
            "CSIStorageCapacity",
            "capacity",
            json!({"metadata": {"namespace": "storage"}, "storageClassName": "dynamic", "capacity": "100Gi",
                "nodeTopology": {"matchLabels": {ZONE: "zone-1"}}}),
        ),
        object(
            "storage.k8s.io/v1",
            "CSINode",
            "node-a",
            json!({"spec": {"drivers": [{"name": "disk.example.com", "nodeID": "i-1", "topologyKeys": [ZONE],
                "allocatable": {"count": 0}}]}}),
        ),
        volume("volume-data", "node-c"),
        zonal,
        claim("data", "local", Some("volume-data")),
        claim("zonal", "local", Some("volume-zonal")),
        claim("new", "dynamic", None),
        device("node-a", "small"),
        device("node-d", "large"),
        device("node-e", "large"),
        object(
            "resource.k8s.io/v1",
            "DeviceClass",
            "gpu",
            json!({"spec": {"selectors": [
            {"cel": {"expression": "device.driver == \"gpu.example.com\""}}]}}),
        ),
        object(
            "resource.k8s.io/v1",
            "ResourceClaim",
            "large-gpu",
            json!({"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu",
                "allocationMode": "ExactCount", "count": 1, "selectors": [{"cel": {"expression":
                    "device.attributes[\"gpu.example.com\"].model == \"large\""}}]}}]}}}),
        ),
    ]
}

/// Returns a pod on a node, or a pending pod without a node.
fn pod(name: &str, node: Option<&str>, rest: Value) -> Value {
    let mut pod = object(
        "v1",
        "Pod",
        name,
        json!({"metadata": {"labels": {"app": name.split('-').next()}},
            "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "main", "image": "registry.shop/web:1",
                "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}]}}),
    );
    if let Some(node) = node {
        pod["spec"]["nodeName"] = node.into();
    }
    merge(&mut pod, rest);
    pod
}

fn bound() -> Vec<Value> {
    let selector = json!({"matchLabels": {"app": "lonely"}});
    vec![
        pod("web-1", Some("node-a"), json!({"spec": {"priority": 0}})),
        pod("web-2", Some("node-c"), json!({})),
        pod(
            "port-1",
            Some("node-d"),
            json!({"spec": {"containers": [
            {"name": "main", "image": "i", "ports": [{"containerPort": 80, "hostPort": 8080, "protocol": "TCP"}]}]}}),
        ),
        pod(
            "gpu-1",
            Some("node-e"),
            json!({"spec": {"containers": [
            {"name": "main", "image": "i", "resources": {"requests": {"example.com/gpu": "1"}}}]}}),
        ),
        pod("search-1", Some("node-e"), json!({"metadata": {"namespace": "other"}})),
        pod(
            "guard-1",
            Some("node-b"),
            json!({"spec": {"affinity": {"podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": ZONE, "labelSelector": selector}]}}}}),
        ),
    ]
}

fn pending() -> Vec<Value> {
    let web = json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]});
    let spread = |when: &str, key: &str| {
        json!({"spec": {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when,
            "labelSelector": web}]}})
    };
    let pod_term = |key: &str, rest: Value| {
        let mut term = json!({"topologyKey": key, "labelSelector": web});
        merge(&mut term, rest);
        term
    };
    let affinity = |kind: &str, terms: Value| json!({"spec": {"affinity": {kind: terms}}});
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
    let node_terms = |expression: Value| json!({required: {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}});
    let volume =
        |claim: &str| json!({"spec": {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]}});
    let container = |rest: Value| {
        let mut container = json!({"name": "main", "image": "registry.shop/web:1"});
        merge(&mut container, rest);
        json!({"spec": {"containers": [container]}})
    };
    let cases = [
        json!({}),
        json!({"spec": {"nodeSelector": {"disk": "fast"}}}),
        json!({"spec": {"tolerations": [{"key": "dedicated", "operator": "Equal", "value": "checkout", "effect": "NoSchedule"}]}}),
        affinity("nodeAffinity", node_terms(json!({"key": "rank", "operator": "Gt", "values": ["2"]}))),
        affinity("nodeAffinity", node_terms(json!({"key": "disk", "operator": "NotIn", "values": ["slow"]}))),
        affinity(
            "nodeAffinity",
            json!({required: {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-d"]}]}]}}),
        ),
        affinity(
            "nodeAffinity",
            json!({preferred: [{"weight": 50, "preference": {
            "matchExpressions": [{"key": ZONE, "operator": "In", "values": ["zone-3"]}]}}]}),
        ),
        affinity("podAffinity", json!({required: [pod_term(ZONE, json!({}))]})),
        affinity("podAffinity", json!({preferred: [{"weight": 20, "podAffinityTerm": pod_term(ZONE, json!({}))}]})),
        affinity("podAntiAffinity", json!({required: [pod_term(HOST, json!({}))]})),
        affinity(
            "podAntiAffinity",
            json!({required: [json!({"topologyKey": HOST,
            "labelSelector": {"matchLabels": {"app": "search"}},
            "namespaceSelector": {"matchLabels": {"team": "search"}}})]}),
        ),
        affinity(
            "podAntiAffinity",
            json!({required: [json!({"topologyKey": ZONE,
            "labelSelector": {"matchLabels": {"app": "search"}}, "namespaces": ["other"]})]}),
        ),
        json!({"metadata": {"labels": {"app": "lonely"}}}),
        spread("DoNotSchedule", ZONE),
        spread("ScheduleAnyway", HOST),
        container(json!({"ports": [{"containerPort": 80, "hostPort": 8080, "protocol": "TCP"}]})),
        container(json!({"resources": {"requests": {"example.com/gpu": "1"}}})),
        container(json!({"resources": {"requests": {"cpu": "6"}}})),
        container(json!({"image": "registry.shop/absent"})),
        volume("data"),
        volume("zonal"),
        volume("new"),
        volume("absent"),
        json!({"spec": {"resourceClaims": [{"name": "gpu", "resourceClaimName": "large-gpu"}],
            "containers": [{"name": "main", "image": "i", "resources": {"claims": [{"name": "gpu"}]}}]}}),
        json!({"spec": {"priority": 1000, "priorityClassName": "high", "containers": [
            {"name": "main", "image": "i", "resources": {"requests": {"cpu": "8"}}}]}}),
        json!({"spec": {"schedulingGates": [{"name": "example.com/quota"}]}}),
        json!({"status": {"nominatedNodeName": "node-d"}, "spec": {"priority": 10}}),
    ];
    cases
        .into_iter()
        .enumerate()
        .map(|(number, rest)| {
            let mut pod = pod(&format!("web-{}", number + 10), None, json!({"metadata": {"labels": {"app": "web"}}}));
            merge(&mut pod, rest);
            pod
        })
        .collect()
}

/// Returns a recording with a binding of each pending pod to each node, and with a rejection of each pending pod.
fn lines() -> Vec<Value> {
    let pending = pending();
    let objects: Vec<Value> = [nodes(), others(), bound(), pending.clone()].concat();
    let mut lines = vec![json!({"at": 0, "recording": {"version": 1, "begin": "start", "schedc": "0"}})];
    let count = objects.len();
    lines.extend(objects.into_iter().map(|object| json!({"at": 1, "set": object})));
    lines.push(json!({"at": 2, "synced": {"objects": count}}));
    for pod in &pending {
        let mut decision =
            json!({"namespace": "shop", "name": pod["metadata"]["name"], "scheduler": "default-scheduler"});
        for node in NODES {
            decision["node"] = node.into();
            lines.push(json!({"at": 3, "bind": decision}));
        }
        decision["message"] = "0/6 nodes are available".into();
        lines.push(json!({"at": 3, "reject": decision}));
    }
    lines
}

/// Removes names in quotes, and the names of gates, which are in brackets.
fn without_names(text: &str) -> String {
    let unquoted: String = text.split('"').step_by(2).collect();
    unquoted.split('[').next().unwrap_or_default().to_owned()
}

/// Returns the disagreements without names.
fn results(report: &Report) -> Vec<Value> {
    let result = |difference: &Difference| {
        let value = serde_json::to_value(difference).expect("JSON");
        let text = |field: &str| value[field].as_str().map(without_names);
        let best = value["best"].as_array().map(Vec::len);
        json!([value["place"], value["result"], text("reason"), text("ours"), best, value["by"], value["scores"]])
    };
    report.disagreements.iter().map(result).collect()
}

#[test]
fn pseudonyms_do_not_change_any_result() {
    let lines = lines();
    let anonymiser = Anonymiser::default();
    let anonymised = |line: &Value| {
        let line = serde_json::from_value(line.clone()).expect("a line");
        serde_json::to_string(&anonymiser.line(line)).expect("JSON")
    };
    let anonymised_lines: Vec<String> = lines.iter().map(anonymised).collect();
    let plain = replay(lines.iter().map(Value::to_string)).expect("a valid recording");
    let replayed = replay(anonymised_lines.iter().cloned()).expect("a valid recording");
    assert_eq!(plain.ignored, replayed.ignored);
    let (expected, found) = (results(&plain), results(&replayed));
    for (expected, found) in expected.iter().zip(&found) {
        assert_eq!(expected, found, "{}", lines[line_of(expected)]);
    }
    assert_eq!((plain.counts, plain.ties), (replayed.counts, replayed.ties));
    let text = anonymised_lines.concat();
    for name in
        NODES.iter().chain(&ZONES).chain(&["shop", "web", "lonely", "checkout", "large-gpu", "volume-data", "sales"])
    {
        assert!(!text.contains(&format!("\"{name}")), "{name}");
    }

    // The test is of little use if a constraint has no effect.
    let reasons: BTreeSet<String> = plain
        .disagreements
        .iter()
        .filter_map(|difference| match &difference.disagreement.finding {
            Finding::Infeasible { reason, .. } => reason.split(':').next().map(str::to_owned),
            _ => None,
        })
        .collect();
    for plugin in [
        "DynamicResources",
        "InterPodAffinity",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "NodeUnschedulable",
        "PodTopologySpread",
        "TaintToleration",
        "VolumeBinding",
        "VolumeZone",
    ] {
        assert!(reasons.contains(plugin), "{plugin} rejects no node: {reasons:?}");
    }
    let scored: BTreeSet<String> = expected
        .iter()
        .flat_map(|result| result[6].as_array().into_iter().flatten())
        .filter(|score| {
            score["bound"]["weighted"] != Value::Null && score["best"]["weighted"] != score["bound"]["weighted"]
        })
        .map(|score| score["plugin"].to_string())
        .collect();
    for plugin in [
        "ImageLocality",
        "InterPodAffinity",
        "NodeAffinity",
        "NodeResourcesFit",
        "PodTopologySpread",
        "TaintToleration",
    ] {
        assert!(scored.contains(&format!("\"{plugin}\"")), "{plugin} has no influence: {scored:?}");
    }
}

/// Returns the index of the line of a result.
fn line_of(result: &Value) -> usize {
    let place = result[0].as_str().unwrap_or_default();
    place.rsplit(':').next().and_then(|line| line.parse::<usize>().ok()).map_or(0, |line| line - 1)
}
