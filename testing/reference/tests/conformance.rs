//! Compares the reference implementation with the framework of kube-scheduler 1.36.2, in the scenarios of
//! tests/conformance: verdicts and scores of each node, the choice, and messages. Preemption is not compared.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_codegen::plan::{Plan, Point};
use schedc_codegen::{Options, load};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{ObjectKey, Pod, Uid};
use schedc_objects::{AnyObject, convert_node, convert_object, convert_pod, is_finished};
use schedc_reference::{Args, Cluster, Profile, ReferenceEvaluation, evaluate};
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the profile of a scenario, and whether it contains SchedulingGates, which holds gated pods.
fn profile(name: &str) -> (Profile, bool) {
    let path = root().join(format!("tools/import/tests/profiles/{name}.toml"));
    let args = Args::read(&fs::read_to_string(&path).unwrap()).unwrap();
    let compilation = load(&[path], &Options { manifest_dir: root() }).unwrap();
    let plan: &Plan = &compilation.plans[0];
    let names = |point| plan.at(point).map(|(_, plugin)| plugin.entry.name.as_str());
    let scores = plan
        .at(Point::Score)
        .map(|(step, plugin)| (plugin.entry.name.as_str(), step.weight.as_ref().map_or(1, |weight| weight.value)));
    let is_gated = names(Point::PreEnqueue).any(|name| name == "SchedulingGates");
    (Profile::new(names(Point::PreFilter), names(Point::Filter), scores, args).unwrap(), is_gated)
}

/// Cluster of a scenario.
#[derive(Default)]
struct ScenarioCluster {
    /// Whether the profile contains SchedulingGates. If so, gated pods are not nominated.
    is_gated: bool,
    names: Interner,
    cluster: Cluster,
    pods: HashMap<String, (Uid, Option<Symbol>)>,
    others: HashMap<(String, String, String), ObjectKey>,
}

fn object(value: &Value) -> AnyObject {
    let text = |field: &str| value[field].as_str().unwrap();
    AnyObject::from_json(text("apiVersion"), text("kind"), value.clone()).unwrap().unwrap()
}

fn pod(value: &Value) -> ApiPod {
    let mut value = value.clone();
    value["apiVersion"] = json!("v1");
    value["kind"] = json!("Pod");
    match object(&value) {
        AnyObject::Pod(pod) => *pod,
        other => panic!("{other:?}"),
    }
}

fn full_name(pod: &ApiPod) -> String {
    let namespace = pod.metadata.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or("default");
    format!("{namespace}/{}", pod.metadata.name.as_deref().unwrap_or_default())
}

impl ScenarioCluster {
    fn apply(&mut self, object: AnyObject) {
        match object {
            AnyObject::Node(node) => self.cluster.set_node(Arc::new(convert_node(&node, &mut self.names))),
            AnyObject::Pod(pod) => self.set_pod(&pod),
            other => {
                if let Some(object) = convert_object(&other, &mut self.names) {
                    let name = (other.kind().to_owned(), other.namespace().to_owned(), other.name().to_owned());
                    self.others.insert(name, object.key());
                    self.cluster.set_object(object);
                }
            }
        }
    }

    fn set_pod(&mut self, pod: &ApiPod) {
        let name = full_name(pod);
        let before = self.remove_pod(&name);
        if is_finished(pod) {
            return;
        }
        let converted = Arc::new(convert_pod(pod, &mut self.names));
        let node = converted.spec.node_name.or(before.and_then(|(_, node)| node));
        match (node, converted.nominated_node) {
            (Some(node), _) => self.cluster.place(converted.clone(), node),
            (None, Some(node)) if !self.is_gated || converted.spec.scheduling_gates.is_empty() => {
                self.cluster.nominate(converted.clone(), node);
            }
            _ => {}
        }
        self.pods.insert(name, (converted.uid.clone(), node));
    }

    fn remove_pod(&mut self, name: &str) -> Option<(Uid, Option<Symbol>)> {
        let known = self.pods.remove(name)?;
        self.cluster.remove_pod(&known.0);
        Some(known)
    }

    fn delete(&mut self, reference: &Value) {
        let [kind, namespace, name] =
            ["kind", "namespace", "name"].map(|field| reference[field].as_str().unwrap_or(""));
        let namespace = match (AnyObject::is_namespaced(kind).unwrap(), namespace) {
            (false, _) => "",
            (true, "") => "default",
            (true, namespace) => namespace,
        };
        match kind {
            "Pod" => drop(self.remove_pod(&format!("{namespace}/{name}"))),
            "Node" => self.cluster.remove_node(self.names.intern(name)),
            _ => {
                let name = (kind.to_owned(), namespace.to_owned(), name.to_owned());
                if let Some(key) = self.others.remove(&name) {
                    self.cluster.remove_object(&key);
                }
            }
        }
    }

    fn pending(&mut self, pod: &ApiPod) -> Pod {
        let converted = convert_pod(pod, &mut self.names);
        match self.pods.get(&full_name(pod)) {
            Some((uid, _)) => Pod { uid: uid.clone(), ..converted },
            None => converted,
        }
    }

    fn place(&mut self, api: &ApiPod, pod: Pod, node: &str) {
        let node = self.names.intern(node);
        self.remove_pod(&full_name(api));
        self.pods.insert(full_name(api), (pod.uid.clone(), Some(node)));
        self.cluster.place(Arc::new(pod), node);
    }
}

fn strings(value: &Value) -> BTreeSet<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns all differences between the recorded decision and the reference evaluation.
fn differences(expected: &Value, actual: &ReferenceEvaluation) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |place: &str, expected: &dyn std::fmt::Debug, actual: &dyn std::fmt::Debug| {
        let (expected, actual) = (format!("{expected:?}"), format!("{actual:?}"));
        if expected != actual {
            found.push(format!("{place}: expected {expected}, got {actual}"));
        }
    };
    let mut verdicts = BTreeMap::new();
    for (name, node) in expected["nodes"].as_object().into_iter().flatten() {
        let reasons: Vec<&str> = node["reasons"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        verdicts
            .insert(name.as_str(), (node["code"].as_str().unwrap(), node["plugin"].as_str().unwrap_or(""), reasons));
        let scores = |of: fn(&schedc_reference::Score) -> i64| -> BTreeMap<&str, i64> {
            actual.nodes.get(name).iter().flat_map(|node| &node.scores).map(|score| (score.plugin, of(score))).collect()
        };
        let expected = |field: &str| -> BTreeMap<&str, i64> {
            let scores = node[field].as_object().into_iter().flatten();
            scores.map(|(plugin, score)| (plugin.as_str(), score.as_i64().unwrap())).collect()
        };
        compare(&format!("{name} raw"), &expected("raw"), &scores(|score| score.raw));
        compare(&format!("{name} scores"), &expected("scores"), &scores(|score| score.normalized * score.weight));
    }
    let actual_verdicts: BTreeMap<&str, _> = (actual.nodes.iter())
        .map(|(name, node)| match &node.rejection {
            None => (name.as_str(), ("Success".to_owned(), "", Vec::new())),
            Some(rejection) => (
                name.as_str(),
                (rejection.code.to_string(), rejection.plugin, rejection.reasons.iter().map(String::as_str).collect()),
            ),
        })
        .collect();
    for (name, verdict) in &verdicts {
        compare(name, &Some(verdict), &actual_verdicts.get(name));
    }
    compare("number of nodes", &verdicts.len(), &actual_verdicts.len());
    compare("feasible", &strings(&expected["feasible"]), &actual.feasible().collect::<BTreeSet<_>>());
    compare("best", &strings(&expected["best"]), &actual.best.iter().map(String::as_str).collect::<BTreeSet<_>>());
    let nominated = (expected["chosenBy"] == "nominated").then(|| expected["chosen"].as_str()).flatten();
    compare("by nomination", &nominated, &actual.by_nomination.as_deref());
    let pre_filter = &expected["prefilter"];
    let rejected = pre_filter["code"].as_str().filter(|code| *code != "Success");
    compare("PreFilter", &rejected, &actual.pre_filter.as_ref().map(|rejection| rejection.code.to_string()).as_deref());
    if let (Some(chosen), choices) = (expected["chosen"].as_str(), actual.choices()) {
        compare("can be chosen", &true, &choices.contains(chosen));
    }
    let text = expected["message"].as_str();
    match expected["reason"].as_str() {
        Some("SchedulerError") => {
            let texts = strings(&expected["messages"]);
            let texts = if texts.is_empty() { text.into_iter().collect() } else { texts };
            compare("errors", &texts, &actual.failures.iter().map(String::as_str).collect::<BTreeSet<_>>());
        }
        Some(_) => {
            let own = actual.message.as_deref().unwrap_or("no message");
            let rest = text.unwrap_or_default().strip_prefix(own).map(|rest| rest.is_empty() || rest.starts_with(' '));
            if rest != Some(true) {
                compare("message", &text, &own);
            }
        }
        None => compare("message", &None::<&str>, &actual.message.as_deref()),
    }
    found
}

fn check(family: &str) {
    let path = root().join(format!("tests/conformance/corpora/{family}.jsonl.gz"));
    let mut profiles = HashMap::<String, (Profile, bool)>::new();
    let mut found = Vec::new();
    let mut count = 0;
    for line in BufReader::new(MultiGzDecoder::new(BufReader::new(File::open(path).unwrap()))).lines() {
        let entry: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let scenario = &entry["scenario"];
        let name = scenario["profile"].as_str().unwrap();
        let (profile, is_gated) = profiles.entry(name.to_owned()).or_insert_with(|| profile(name));
        let mut world = ScenarioCluster { is_gated: *is_gated, ..ScenarioCluster::default() };
        scenario["objects"].as_array().into_iter().flatten().for_each(|value| world.apply(object(value)));
        let mut expected = entry["expected"].as_array().unwrap().iter();
        for step in scenario["steps"].as_array().into_iter().flatten() {
            let (action, value) = step.as_object().unwrap().iter().next().unwrap();
            match action.as_str() {
                "create" => world.apply(object(value)),
                "update" => match object(value) {
                    AnyObject::Pod(pod) if !world.pods.contains_key(&full_name(&pod)) => {}
                    object => world.apply(object),
                },
                "delete" => world.delete(value),
                _ => {
                    let expected = expected.next().unwrap();
                    let api = pod(value);
                    let pod = world.pending(&api);
                    if expected.get("skipped").is_none() && expected.get("preenqueue").is_none() {
                        let actual = evaluate(profile, &world.cluster, &world.names, &pod);
                        count += 1;
                        let id = format!("{} ({name}), pod {}", scenario["id"].as_str().unwrap(), pod.name);
                        let differences = differences(expected, &actual);
                        if !differences.is_empty() {
                            found.push(format!("{id}:\n    {}", differences.join("\n    ")));
                        }
                    }
                    if let Some(node) = expected["chosen"].as_str() {
                        world.place(&api, pod, node);
                    }
                }
            }
        }
    }
    assert!(
        found.is_empty(),
        "{family}: {} of {count} differ\n{}",
        found.len(),
        found[..found.len().min(5)].join("\n")
    );
}

macro_rules! families {
    ($($family:ident)*) => {
        $(#[test]
        fn $family() {
            check(stringify!($family));
        })*
    };
}

families! {
    gates hostile images mixed nodeaffinity nodename podaffinity ports preemption resources sequence spread taints volumes
}
