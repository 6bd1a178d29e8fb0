//! The corpora of kube-scheduler's decisions: a cluster decides like the evaluator of scenarios.
//!
//! `tests/conformance` compares the evaluator with `schedc evaluate`.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use schedc_api::{Cluster, Defaults, Evaluator, Profiles};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the profiles of the corpora.
fn profiles() -> Profiles {
    let folder = fs::read_dir(root().join("tools/import/tests/profiles")).unwrap();
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    Profiles::read(&files).unwrap()
}

/// Returns the scenarios of a family.
fn scenarios(family: &str) -> impl Iterator<Item = Value> {
    let file = File::open(root().join(format!("tests/conformance/corpora/{family}.jsonl.gz"))).unwrap();
    let lines = BufReader::new(MultiGzDecoder::new(file)).lines();
    lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap()["scenario"].take())
}

/// Messages of a cluster about claims whose allocation is reserved but not written. A cluster writes nothing; therefore
/// its messages differ from those of `schedc evaluate`.
const UNWRITTEN: [&str; 2] = ["is in the process of being allocated", "deallocation of ResourceClaim completed"];

/// Returns whether a cluster treats a scenario differently from `schedc evaluate`. A cluster ignores nominations, does
/// not compute the status of PodDisruptionBudgets, and puts a pod with `spec.nodeName` on that node.
fn has_other_rules(scenario: &Value) -> bool {
    let text = scenario.to_string();
    ["nominatedNodeName", "PodDisruptionBudget"].iter().any(|word| text.contains(word))
        || steps(scenario).any(|(verb, object)| verb == "schedule" && object["spec"]["nodeName"].is_string())
}

fn steps(scenario: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let steps = scenario["steps"].as_array().unwrap().iter();
    steps.map(|step| step.as_object().unwrap().iter().next().map(|(verb, object)| (verb.as_str(), object)).unwrap())
}

/// Returns the decisions of a cluster, as JSON.
fn decisions(cluster: &mut Cluster, scenario: &Value) -> Vec<String> {
    let mut found = Vec::new();
    // One by one, to keep the order of creation in the scenario.
    for object in scenario["objects"].as_array().unwrap() {
        cluster.apply_values(vec![object.clone()], Defaults::AsGiven).unwrap();
    }
    for (verb, object) in steps(scenario) {
        let mut object = object.clone();
        if verb == "delete" {
            let text = |field: &str| object[field].as_str().unwrap_or_default();
            cluster.delete(text("kind"), text("namespace"), text("name")).unwrap();
            continue;
        }
        let metadata = &object["metadata"];
        let namespace = metadata["namespace"].as_str().filter(|namespace| !namespace.is_empty()).unwrap_or("default");
        let name = format!("{namespace}/{}", metadata["name"].as_str().unwrap_or_default());
        if verb == "schedule" {
            object["apiVersion"] = "v1".into();
            object["kind"] = "Pod".into();
            cluster.fork();
            cluster.apply_values(vec![object.clone()], Defaults::AsGiven).unwrap();
            let decision = cluster.decide(&name).unwrap();
            cluster.revert();
            found.push(serde_json::to_string(&decision).unwrap());
            let Some(node) = decision.chosen else { continue };
            if !decision.allocations.is_empty() {
                // Reserve allocates the claims.
                cluster.apply_values(vec![object], Defaults::AsGiven).unwrap();
                assert_eq!(cluster.schedule(&name, &node).unwrap().code, "Success");
                continue;
            }
            object["spec"]["nodeName"] = node.into();
        } else if verb == "update" && object["kind"] == "Pod" && !cluster.pods().contains_key(&name) {
            continue;
        }
        cluster.apply_values(vec![object], Defaults::AsGiven).unwrap();
    }
    found
}

#[test]
fn a_cluster_decides_like_evaluate() {
    let profiles = profiles();
    let mut evaluator = Evaluator::new(&profiles).unwrap();
    let families: &[&str] = if slow_tests::is_enabled() {
        &["claims", "podaffinity", "preemption", "resources", "taints", "volumes"]
    } else {
        &["taints"]
    };
    let (mut compared, mut unwritten) = (0, 0);
    for scenario in families.iter().flat_map(|family| scenarios(family)).filter(|scenario| !has_other_rules(scenario)) {
        let mut cluster = Cluster::new(&profiles, scenario["profile"].as_str().unwrap()).unwrap();
        let found = decisions(&mut cluster, &scenario).join(",");
        let line = evaluator.evaluate(scenario.to_string().as_bytes()).unwrap();
        let expected = line.split_once(r#""results":["#).unwrap().1.strip_suffix("]}").unwrap();
        if found != expected && UNWRITTEN.iter().any(|text| found.contains(text)) {
            unwritten += 1;
            continue;
        }
        assert_eq!(found, expected, "{}", scenario["id"]);
        compared += 1;
    }
    assert!(compared > 50 && unwritten < 20, "{compared} scenarios, {unwritten} with unwritten claims");
}
