//! Replays the corpus of claims: the allocations equal those of kube-scheduler 1.36.2.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use schedc_core::model::{Object, ResourceClaimSpec};
use serde_json::{Value, json};

use crate::cluster::Cluster;

type Objects = BTreeMap<(String, String, String), Value>;

/// A scenario that is replayed: placed pods get the devices that kube-scheduler chose.
#[derive(Default)]
struct Replay {
    cluster: Cluster,
    objects: Objects,
    compared: usize,
    differences: Vec<String>,
}

#[test]
fn allocations_equal_those_of_kube_scheduler() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance/corpora/claims.jsonl.gz");
    let lines =
        BufReader::new(MultiGzDecoder::new(BufReader::new(File::open(path).expect("a complete corpus")))).lines();
    let (mut compared, mut differences) = (0, Vec::new());
    for line in lines {
        let entry: Value = serde_json::from_str(&line.expect("a complete corpus")).expect("a complete corpus");
        let replay = replay(&entry);
        compared += replay.compared;
        differences.extend(replay.differences);
    }
    assert!(compared > 1_500, "{compared} verdicts of nodes");
    let count = differences.len();
    differences.truncate(40);
    assert!(differences.is_empty(), "{count} of {compared} differ:\n{}", differences.join("\n"));
}

fn replay(entry: &Value) -> Replay {
    let mut replay = Replay::default();
    let scenario = &entry["scenario"];
    scenario["objects"].as_array().expect("a complete corpus").iter().for_each(|object| replay.set(object));
    let mut expected = entry["expected"].as_array().expect("a complete corpus").iter();
    for step in scenario["steps"].as_array().expect("a complete corpus") {
        if let Some(pod) = step.get("schedule") {
            let id = format!("{} {}", scenario["id"], pod["metadata"]["name"]);
            let expected = expected.next().expect("a complete corpus");
            replay.compare(&id, pod, expected);
            replay.place(pod, expected);
        } else if let Some(object) = step.get("create").or_else(|| step.get("update")) {
            replay.set(object);
        } else {
            let deleted = &step["delete"];
            replay.objects.remove(&key(deleted["kind"].as_str().expect("a complete corpus"), deleted));
            replay.cluster.remove(
                deleted["kind"].as_str().expect("a complete corpus"),
                deleted["name"].as_str().expect("a complete corpus"),
            );
        }
    }
    replay
}

fn key(kind: &str, named: &Value) -> (String, String, String) {
    let text = |name: &str| named[name].as_str().unwrap_or_default().to_owned();
    (kind.to_owned(), text("namespace"), text("name"))
}

impl Replay {
    fn set(&mut self, object: &Value) {
        let kind = object["kind"].as_str().expect("a complete corpus");
        match kind {
            "Node" => {
                let node = schedc_objects::testing::node(&object.to_string(), &mut self.cluster.interner);
                self.cluster
                    .nodes
                    .insert(object["metadata"]["name"].as_str().expect("a complete corpus").to_owned(), node);
            }
            "ResourceClaim" | "ResourceSlice" | "DeviceClass" => {
                self.cluster.object(&object.to_string());
            }
            _ => return,
        }
        self.objects.insert(key(kind, &object["metadata"]), object.clone());
    }

    /// Returns the claims of a pod, as `namespace/name` and the object.
    fn claims(&self, pod: &Value) -> Vec<(String, Value)> {
        let namespace = pod["metadata"]["namespace"].as_str().unwrap_or("default");
        let statuses = pod["status"]["resourceClaimStatuses"].as_array().cloned().unwrap_or_default();
        let claims = pod["spec"]["resourceClaims"].as_array().into_iter().flatten();
        let claim = |claim: &Value| {
            let status = statuses.iter().find(|status| status["name"] == claim["name"]);
            let name = claim["resourceClaimName"].as_str().or_else(|| status?["resourceClaimName"].as_str())?;
            let key = ("ResourceClaim".to_owned(), namespace.to_owned(), name.to_owned());
            Some((format!("{namespace}/{name}"), self.objects.get(&key)?.clone()))
        };
        claims.filter_map(claim).collect()
    }

    fn compare(&mut self, id: &str, pod: &Value, expected: &Value) {
        let claims: Vec<_> =
            self.claims(pod).into_iter().filter(|(_, claim)| claim["status"]["allocation"].is_null()).collect();
        let names: Vec<String> = claims.iter().map(|(name, _)| name.clone()).collect();
        let specs_of_claims: Vec<_> = claims.iter().map(|(_, claim)| self.spec(&claim["spec"])).collect();
        let containers =
            pod["spec"]["containers"].as_array().into_iter().chain(pod["spec"]["initContainers"].as_array());
        let requests = containers.flatten().filter_map(|container| container["resources"]["requests"].as_object());
        let is_extended = requests.flatten().any(|(name, _)| name.contains('/'));
        for (node, verdict) in expected["nodes"].as_object().into_iter().flatten() {
            let expected_result = &expected["allocations"][node];
            let rejection = verdict["reasons"][0].as_str().filter(|_| verdict["plugin"] == "DynamicResources");
            let (specs, expected_result) = if let Some(entries) = expected_result.as_array() {
                let new: Vec<&Value> = entries.iter().filter(|entry| entry["new"] == true).collect();
                let mut specs = specs_of_claims.clone();
                let extended = new.iter().find(|entry| entry["extended"] == true);
                if let Some(entry) = extended {
                    specs.push(self.spec(&json!({"devices": {"requests": entry["requests"]}})));
                }
                (specs, new.iter().map(|entry| wanted_allocation(entry)).collect())
            } else if let Some(rejection) = rejection.filter(|text| !is_extended && is_of_allocator(text)) {
                (
                    specs_of_claims.clone(),
                    Value::from(rejection.trim_start_matches(r#"running "DynamicResources" filter plugin: "#)),
                )
            } else {
                continue;
            };
            if specs.is_empty() {
                continue;
            }
            let claim_names = names.clone();
            let actual =
                match self.cluster.allocate_on(node, &specs) {
                    Ok(allocations) => {
                        let json = allocations.iter().map(|allocation| allocation.to_json(&self.cluster.interner));
                        json.map(|allocation| normalized(&allocation)).collect()
                    }
                    Err(unfit) => Value::from(unfit.message(|at| {
                        claim_names.get(at).cloned().unwrap_or_else(|| "<extended-resources>".to_owned())
                    })),
                };
            self.compared += 1;
            if comparable(&actual) != comparable(&expected_result) {
                self.differences.push(format!("{id} on {node}:\n  expected {expected_result}\n  actual   {actual}"));
            }
        }
    }

    fn spec(&mut self, spec: &Value) -> Arc<ResourceClaimSpec> {
        let claim = json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c"}, "spec": spec,
        });
        match schedc_objects::testing::object(&claim.to_string(), &mut self.cluster.interner) {
            Object::ResourceClaim(claim) => claim.spec.clone(),
            _ => unreachable!("it is a claim"),
        }
    }

    /// Adds to the claims the allocations that kube-scheduler made on the chosen node.
    fn place(&mut self, pod: &Value, expected: &Value) {
        let Some(chosen) = expected["chosen"].as_str() else { return };
        for entry in
            expected["allocations"][chosen].as_array().into_iter().flatten().filter(|entry| entry["new"] == true)
        {
            let mut allocation = normalized(&json!({
                "devices": {"results": entry["results"], "config": entry["config"]}, "nodeSelector": entry["nodeSelector"],
            }));
            for result in allocation["devices"]["results"].as_array_mut().into_iter().flatten() {
                if result.get("shareID").is_some() {
                    result["shareID"] = format!("{}-{}", self.compared, self.objects.len()).into();
                }
            }
            let mut claim = match entry["claim"].as_str().and_then(|name| name.split_once('/')) {
                Some((namespace, name)) => {
                    self.objects[&("ResourceClaim".to_owned(), namespace.to_owned(), name.to_owned())].clone()
                }
                None => json!({
                    "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                    "metadata": {"name": format!("extended-{}", pod["metadata"]["name"]), "namespace": "default"},
                    "spec": {"devices": {"requests": entry["requests"]}},
                }),
            };
            claim["status"]["allocation"] = allocation;
            self.set(&claim);
        }
    }
}

/// Returns whether a rejection comes from the allocator, not from an earlier check of the plugin.
fn is_of_allocator(text: &str) -> bool {
    !text.starts_with("resourceclaim not available")
        && !text.starts_with("cannot fit")
        && !text.starts_with("cannot schedule")
}

fn wanted_allocation(entry: &Value) -> Value {
    normalized(&json!({
        "devices": {"results": entry["results"], "config": entry["config"]}, "nodeSelector": entry["nodeSelector"],
    }))
}

/// Removes null and empty values, and replaces the ids of shares, which are random.
fn normalized(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| (name.clone(), if name == "shareID" { "*".into() } else { normalized(value) }));
            let is_empty = |value: &Value| {
                value.is_null()
                    || value.as_array().is_some_and(Vec::is_empty)
                    || value.as_object().is_some_and(serde_json::Map::is_empty)
            };
            fields.filter(|(_, value)| !is_empty(value)).collect()
        }
        Value::Array(items) => items.iter().map(normalized).collect(),
        other => other.clone(),
    }
}

/// Returns a value to compare: without the messages of the CEL library, whose wording differs, and with quantities by
/// value.
fn comparable(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let cut = ["CEL compile error: ", "CEL runtime error: "]
                .iter()
                .find_map(|mark| text.find(mark).map(|at| &text[..at + mark.len()]));
            cut.unwrap_or(text).into()
        }
        Value::Array(items) => items.iter().map(comparable).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| match value.as_object().filter(|_| name == "consumedCapacity") {
                Some(amounts) => {
                    (name.clone(), amounts.iter().map(|(name, amount)| (name.clone(), quantity(amount))).collect())
                }
                None => (name.clone(), comparable(value)),
            })
            .collect(),
        other => other.clone(),
    }
}

fn quantity(amount: &Value) -> Value {
    let text = amount.as_str().unwrap_or_default();
    schedc_core::quantity::Quantity::parse(text).map_or(Value::Null, |quantity| quantity.to_string().into())
}
