//! Wrong input: every call returns, with an error or an answer.

use std::str;

use schedc_api::{Cluster, Defaults, Evaluator, Profiles};
use schedc_core::random::Random;
use schedc_objects::decode::encode;
use serde_json::json;

use crate::{default_profile, node, pod};

const PROFILE: &str = "
scheduler-name = 'own'
[args.NodeResourcesFit]
scoring-strategy = { type = 'MostAllocated', resources = [{ name = 'cpu', weight = 1 }] }
";

/// Changes a few bytes of a text, or none: they are replaced, removed, inserted, or copied from another position.
fn mutated(text: &[u8], random: &mut Random) -> Vec<u8> {
    const PIECES: [&[u8]; 10] =
        [b"{", b"}", b"[", b"\"", b"-1", b"99999999999999999999", b"\n", b": ", b"\xff", b"&a *a"];
    let mut bytes = text.to_vec();
    for _ in 0..random.below(4) {
        let at = random.below(bytes.len().max(1)).min(bytes.len());
        let end = (at + random.below(20)).min(bytes.len());
        match random.below(4) {
            0 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = PIECES[random.below(PIECES.len())];
                drop(bytes.splice(at..at, piece.iter().copied()));
            }
            _ => {
                let copy = bytes[at..end].to_vec();
                let to = random.below(bytes.len().max(1)).min(bytes.len());
                drop(bytes.splice(to..to, copy));
            }
        }
    }
    bytes
}

fn cases() -> u64 {
    if slow_tests::is_enabled() { 2_000 } else { 300 }
}

/// Returns objects of many kinds, in YAML.
fn objects() -> String {
    let affinity = "affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: zone, labelSelector: { matchLabels: { app: p } } }] } }";
    let spread = "topologySpreadConstraints: [{ maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {} }]";
    let volume = "volumes: [{ name: v, persistentVolumeClaim: { claimName: v } }]";
    let claim = "---\n{ apiVersion: v1, kind: PersistentVolumeClaim, metadata: { name: v }, spec: { storageClassName: s, resources: { requests: { storage: 1Gi } } } }\n";
    [
        node("a", 2, "spec: { taints: [{ key: gpu, effect: NoSchedule }] }"),
        node("b", 4, ""),
        pod("p", 1, affinity),
        pod("q", 1, spread),
        pod("r", 1, volume),
        pod("s", 1, "nodeName: b"),
        claim.to_owned(),
    ]
    .concat()
}

#[test]
fn mutated_objects_cause_errors_or_answers() {
    let (profiles, objects) = (default_profile(), objects());
    let mut cluster = Cluster::new(&profiles, "default").unwrap();
    let mut accepted = 0;
    for seed in 0..cases() {
        let text = mutated(objects.as_bytes(), &mut Random::new(seed));
        let Ok(text) = str::from_utf8(&text) else { continue };
        cluster.clear();
        let defaults = if seed % 2 == 0 { Defaults::AsGiven } else { Defaults::Complete };
        if cluster.apply(text, defaults).is_err() {
            continue;
        }
        accepted += 1;
        for pod in cluster.pods().into_keys() {
            drop(cluster.decide(&pod).unwrap());
            cluster.schedule_on_any::<&str>(&pod, None).unwrap();
        }
        drop(cluster.estimate(text, &["p"], 3));
    }
    assert!(accepted > 10, "{accepted} texts are valid");
}

#[test]
fn mutated_messages_cause_errors_or_answers() {
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "labels": {"zone": "z"}}, "status": {"allocatable": {"cpu": "2", "pods": "9"}}});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"priority": 4, "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}});
    let messages = [node, pod].map(|object| encode(&object).unwrap());
    let mut cluster = Cluster::new(&default_profile(), "default").unwrap();
    let mut accepted = 0;
    for seed in 0..cases() {
        let mut random = Random::new(seed);
        let messages = [&messages[0], &messages[1]].map(|message| mutated(message, &mut random));
        cluster.clear();
        accepted += usize::from(cluster.apply_protobuf(&messages).is_ok());
        for pod in cluster.pods().into_keys() {
            drop(cluster.decide(&pod).unwrap());
        }
    }
    assert!(accepted > 10, "{accepted} pairs of messages are valid");
}

#[test]
fn mutated_profiles_cause_errors_or_clusters() {
    for seed in 0..cases() / 10 {
        let text = mutated(PROFILE.as_bytes(), &mut Random::new(seed));
        if let Ok(text) = str::from_utf8(&text)
            && let Ok(profiles) = Profiles::parse(&[("own.toml", text)])
        {
            assert!(Cluster::new(&profiles, "own").is_ok());
        }
    }
}

#[test]
fn mutated_requests_cause_lines_of_answers() {
    let requests = [
        r#"{"op": "apply", "objects": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}], "defaults": true}"#,
        r#"{"op": "apply", "objects": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": "a"}}]}"#,
        r#"{"op": "apply-columns", "template": {"apiVersion": "v1", "kind": "Node"}, "columns": {"/metadata/name": ["b", "c"], "/metadata/labels/zone": [null, "z"]}}"#,
        r#"{"op": "fork"}"#,
        r#"{"op": "check", "pod": "p", "node": "a"}"#,
        r#"{"op": "check-nodes", "pod": "p", "nodes": ["a", "a"]}"#,
        r#"{"op": "estimate", "template": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}], "pods": ["p"], "max-nodes": 4}"#,
        r#"{"op": "schedule-on-any", "pod": "p", "nodes": ["a"]}"#,
        r#"{"op": "delete", "kind": "Pod", "name": "p"}"#,
        r#"{"op": "revert"}"#,
    ]
    .join("\n");
    let mut cluster = Cluster::new(&default_profile(), "default").unwrap();
    for seed in 0..cases() {
        let requests = mutated(requests.as_bytes(), &mut Random::new(seed));
        let lines = requests.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
        let answers = cluster.requests(&requests);
        assert_eq!(answers.iter().filter(|byte| **byte == b'\n').count(), lines);
    }
}

#[test]
fn mutated_scenarios_cause_errors_or_results() {
    let scenario = r#"{"id": "s", "profile": "default", "objects": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "2", "pods": "9"}}}],
        "steps": [{"schedule": {"metadata": {"name": "p"}, "spec": {"priority": 4, "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}},
        {"delete": {"kind": "Pod", "name": "p"}}, {"create": {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "spec": {"minAvailable": 1}}}]}"#;
    let mut evaluator = Evaluator::new(&default_profile()).unwrap();
    let mut evaluated = 0;
    for seed in 0..cases() {
        let scenario = mutated(scenario.as_bytes(), &mut Random::new(seed));
        evaluated += usize::from(evaluator.evaluate(&scenario).is_ok());
        drop(evaluator.hints(&scenario));
    }
    assert!(evaluated > 10, "{evaluated} scenarios are valid");
}
