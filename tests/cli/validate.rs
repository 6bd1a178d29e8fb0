//! Unknown fields of objects, in every command that reads manifests.

use expect_test::{Expect, expect};

use crate::cli::harness::{EXAMPLE, Folder, Run, schedc};

const NODE: &str = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 4, pods: 10}}\n---\n";
const TYPO: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  nodeSelecter: {pool: gpu}\n  containers: [{name: c, image: c}]\n";
const DUMP: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: b, uid: x, resourceVersion: '1'}\nspec:\n  newer: 1\n  containers: [{name: c, image: c}]\n";

fn folder() -> Folder {
    let events = "- at: 1s\n  create:\n    apiVersion: v1\n    kind: Pod\n    metadata: {name: late}\n    spec: {containers: [], nodeNmae: n1}\n- {at: 2s, apply: {apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {unschedulabel: true}}}\n";
    let scenario = r#"{"id": "s", "profile": "default", "objects": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"alocatable": {}}}], "steps": [{"schedule": {"metadata": {"name": "p"}, "spec": {"nodeSelecter": {}}}}]}"#;
    Folder::with(&[
        ("typo.yaml", &format!("{NODE}{TYPO}")),
        ("dump.yaml", &format!("{NODE}{DUMP}")),
        ("node.yaml", NODE),
        ("events.yaml", events),
        ("scenario.jsonl", scenario),
    ])
}

fn check(args: &[&str], expected: Expect) {
    let Run { code, stderr, .. } = folder().schedc(args);
    expected.assert_eq(&format!("exit code {}\n{stderr}", code.unwrap_or(-1)));
}

#[test]
fn a_misspelt_field_of_a_manifest_is_an_error_in_every_command() {
    check(
        &["simulate", "typo.yaml"],
        expect![[r#"
        exit code 1
        error: typo.yaml:10: Pod default/a: spec.nodeSelecter: unknown field; did you mean `nodeSelector`?
        note: with --validate=warn, unknown fields are ignored
    "#]],
    );
    check(
        &["explain", "a", "typo.yaml"],
        expect![[r#"
        exit code 1
        error: typo.yaml:10: Pod default/a: spec.nodeSelecter: unknown field; did you mean `nodeSelector`?
        note: with --validate=warn, unknown fields are ignored
    "#]],
    );
    check(
        &["diff", "default", "kube-scheduler", "--cluster", "typo.yaml"],
        expect![[r#"
        exit code 2
        error: typo.yaml:10: Pod default/a: spec.nodeSelecter: unknown field; did you mean `nodeSelector`?
        note: with --validate=warn, unknown fields are ignored
    "#]],
    );
    check(
        &["simulate", "node.yaml", "--events", "events.yaml"],
        expect![[r#"
        exit code 1
        error: events.yaml:2: Pod default/late: spec.nodeNmae: unknown field; did you mean `nodeName`?
        error: events.yaml:7: Node n1: spec.unschedulabel: unknown field; did you mean `unschedulable`?
        note: with --validate=warn, unknown fields are ignored
    "#]],
    );
    check(
        &["evaluate", "scenario.jsonl"],
        expect![[r#"
            exit code 1
            error: scenario.jsonl:1: scenario s: objects[0]: Node n: status.alocatable: unknown field; did you mean `allocatable`?
            error: scenario.jsonl:1: scenario s: steps[0]: Pod default/p: spec.nodeSelecter: unknown field; did you mean `nodeSelector`?
            error: one scenario or file was left out
        "#]],
    );
}

#[test]
fn unknown_fields_from_a_newer_cluster_are_warnings() {
    check(
        &["simulate", "dump.yaml"],
        expect![[r#"
        exit code 0
        warning: 1 object has unknown fields, which are ignored: Pod spec.newer (1)
    "#]],
    );
    check(
        &["explain", "b", "dump.yaml"],
        expect![[r#"
        exit code 0
        warning: 1 object has unknown fields, which are ignored: Pod spec.newer (1)
    "#]],
    );
    check(
        &["diff", "default", "kube-scheduler", "--cluster", "dump.yaml"],
        expect![[r#"
        exit code 1
        warning: 1 object has unknown fields, which are ignored: Pod spec.newer (1)
    "#]],
    );
}

#[test]
fn validation_modes_match_kubectl() {
    check(
        &["simulate", "typo.yaml", "--validate=warn"],
        expect![[r#"
        exit code 0
        warning: 1 object has unknown fields, which are ignored: Pod spec.nodeSelecter (1)
    "#]],
    );
    check(
        &["simulate", "typo.yaml", "--validate=ignore"],
        expect![[r#"
        exit code 0
    "#]],
    );
    check(
        &["simulate", "dump.yaml", "--validate=strict"],
        expect![[r#"
        exit code 1
        error: dump.yaml:10: Pod default/b: spec.newer: unknown field; no field here has a similar name
        note: with --validate=warn, unknown fields are ignored
    "#]],
    );
    check(
        &["simulate", "dump.yaml", "--validate=true"],
        expect![[r#"
        exit code 1
        error: dump.yaml:10: Pod default/b: spec.newer: unknown field; no field here has a similar name
        note: with --validate=warn, unknown fields are ignored
    "#]],
    );
    check(
        &["simulate", "dump.yaml", "--validate=false"],
        expect![[r#"
        exit code 0
    "#]],
    );
    check(
        &["simulate", "node.yaml", "--events", "events.yaml", "--validate=warn"],
        expect![[r#"
        exit code 1
        error: events.yaml:2: Pod default/late: spec.containers: is empty; a pod needs a container
    "#]],
    );
    check(
        &["evaluate", "scenario.jsonl", "--validate=warn"],
        expect![[r#"
        exit code 0
        warning: 2 objects have unknown fields, which are ignored: Node status.alocatable (1), Pod spec.nodeSelecter (1)
    "#]],
    );
}

#[test]
fn the_example_has_no_unknown_fields() {
    let run = schedc(&["simulate", EXAMPLE, "--validate=strict"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
}

#[test]
fn duplicate_scenario_keys_are_errors() {
    let scenario = r#"{"id": "s", "steps": [{"schedule": {"metadata": {"name": "p", "name": "q"}}}]}"#;
    let folder = Folder::with(&[("scenario.jsonl", scenario)]);
    expect![[r#"
        error: scenario.jsonl:1:68: not a scenario: duplicate key `name` is not allowed here
        error: one scenario or file was left out
    "#]]
    .assert_eq(&folder.schedc(&["evaluate", "scenario.jsonl"]).refused());
}

const SCENARIOS: &str = r#"
{"id": "a", "profile": "default", "setps": [], "objcts": []}
{"expected": [], "scenario": {"id": "b", "profile": "default", "object": []}}
{"id": "c", "profile": "default", "pod": {}, "event": {}}
{"id": "d", "profile": "default", "steps": [{"delete": {"kind": "Pod", "nmae": "p"}}]}
{"id": "e", "profile": "default", "steps": [{"delete": {"kind": "Pod", "name": "p"}, "after": 1}, {}]}
{"id": "f", "profile": "default", "steps": [{}]}
{"id": "g", "profile": "default"}
"#;

const HINT_SCENARIOS: &str = r#"
{"id": "a", "profile": "default", "pod": {}, "event": {}, "inflight": true, "steps": []}
{"id": "b", "profile": "default", "pod": {}, "event": {"nwe": {}}, "direct": {"resource": "Node", "action": "Add", "to": 1}}
{"id": "c", "profile": "default", "pod": {}, "event": {"resource": "nodes"}, "topic": "nothing", "about": 1}
{"id": "d", "profile": "default", "pod": {}, "event": {"resource": "nodes"}, "topic": "nothing"}
"#;

fn check_scenarios(args: &[&str], expected: Expect) {
    let folder = Folder::with(&[("a.jsonl", SCENARIOS.trim_start()), ("hints.jsonl", HINT_SCENARIOS.trim_start())]);
    let Run { stdout, stderr, .. } = folder.schedc(&[&["evaluate"], args].concat());
    let ids: Vec<&str> = stdout.lines().filter_map(|line| line.split('"').nth(3)).collect();
    expected.assert_eq(&format!("{ids:?}\n{stderr}"));
}

#[test]
fn an_unknown_key_of_a_scenario_is_an_error() {
    check_scenarios(
        &["a.jsonl"],
        expect![[r#"
            ["g"]
            error: a.jsonl:1: scenario a: objcts: unknown field; did you mean `objects`?
            error: a.jsonl:1: scenario a: setps: unknown field; did you mean `steps`?
            error: a.jsonl:2: scenario b: object: unknown field; did you mean `objects`?
            error: a.jsonl:3: scenario c: event: unknown field; only scenarios for `--hints` have it
            error: a.jsonl:3: scenario c: pod: unknown field; only scenarios for `--hints` have it
            error: a.jsonl:4: scenario d: steps[0]: delete: unknown field `nmae`, expected one of `kind`, `namespace`, `name`
            error: a.jsonl:5: scenario e: steps[0]: a step has one key, but this one has `after` and `delete`
            error: a.jsonl:5: scenario e: steps[1]: a step has one of `schedule`, `create`, `update` and `delete`
            error: a.jsonl:6: scenario f: steps[0]: a step has one of `schedule`, `create`, `update` and `delete`
            error: 6 scenarios or files were left out
        "#]],
    );
    check_scenarios(
        &["a.jsonl", "--validate=warn"],
        expect![[r#"
            ["a", "b", "c", "g"]
            error: a.jsonl:4: scenario d: steps[0]: delete: unknown field `nmae`, expected one of `kind`, `namespace`, `name`
            error: a.jsonl:5: scenario e: steps[0]: a step has one key, but this one has `after` and `delete`
            error: a.jsonl:5: scenario e: steps[1]: a step has one of `schedule`, `create`, `update` and `delete`
            error: a.jsonl:6: scenario f: steps[0]: a step has one of `schedule`, `create`, `update` and `delete`
            warning: 3 objects have unknown fields, which are ignored: scenario event (1), scenario objcts (1), scenario object (1), scenario pod (1), scenario setps (1)
            error: 3 scenarios or files were left out
        "#]],
    );
    check_scenarios(
        &["a.jsonl", "--validate=ignore"],
        expect![[r#"
            ["a", "b", "c", "g"]
            error: a.jsonl:4: scenario d: steps[0]: delete: unknown field `nmae`, expected one of `kind`, `namespace`, `name`
            error: a.jsonl:5: scenario e: steps[0]: a step has one key, but this one has `after` and `delete`
            error: a.jsonl:5: scenario e: steps[1]: a step has one of `schedule`, `create`, `update` and `delete`
            error: a.jsonl:6: scenario f: steps[0]: a step has one of `schedule`, `create`, `update` and `delete`
            error: 3 scenarios or files were left out
        "#]],
    );
}

#[test]
fn an_unknown_key_of_a_hint_scenario_is_an_error() {
    check_scenarios(
        &["--hints", "hints.jsonl"],
        expect![[r#"
            ["d"]
            error: hints.jsonl:1: scenario a: inflight: unknown field; did you mean `inFlight`?
            error: hints.jsonl:1: scenario a: steps: unknown field; scenarios for `--hints` do not have it
            error: hints.jsonl:2: scenario b: event.nwe: unknown field; did you mean `new`?
            error: hints.jsonl:2: scenario b: direct.to: unknown field; the fields here are resource, action
            error: hints.jsonl:3: scenario c: about: unknown field; the fields here are id, profile, objects, pod, plugins, pending, event, inFlight, backoffDone, direct, topic
            error: 3 scenarios or files were left out
        "#]],
    );
    check_scenarios(
        &["--hints", "hints.jsonl", "--validate=warn"],
        expect![[r#"
        ["a", "b", "c", "d"]
        warning: 3 objects have unknown fields, which are ignored: scenario about (1), scenario direct.to (1), scenario event.nwe (1), scenario inflight (1), scenario steps (1)
    "#]],
    );
}
