//! `schedc evaluate`

use std::fs;
use std::io::Write;

use expect_test::{Expect, expect};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::cli::harness::{Folder, Run, schedc};

/// Returns a scenario with capacity for one pod, and two pods to schedule.
fn scenario(id: &str, profile: &str) -> String {
    let node = r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "2", "pods": "1"}}}"#;
    let step = |pod| {
        format!(r#"{{"schedule": {{"metadata": {{"name": "{pod}"}}, "spec": {{"containers": [{{"name": "c"}}]}}}}}}"#)
    };
    let steps = format!("{}, {}", step("a"), step("b"));
    format!(r#"{{"id": "{id}", "profile": "{profile}", "objects": [{node}], "steps": [{steps}]}}"#)
}

/// Returns the decisions, one line per scenario: its id, its profile, and the nodes of the pods.
#[track_caller]
fn decisions(output: &str) -> Vec<String> {
    let decision = |line| {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let results = line["results"].as_array().expect("results");
        let chosen: Vec<&str> = results.iter().map(|result| result["chosen"].as_str().unwrap_or("nowhere")).collect();
        let text = |field: &str| line[field].as_str().expect("text").to_owned();
        format!("{} by {}: {}", text("id"), text("profile"), chosen.join(", "))
    };
    output.lines().map(decision).collect()
}

fn compressed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn a_decision_has_all_fields() {
    let folder = Folder::with(&[("one.jsonl", &scenario("one", "edge"))]);
    expect![[r#"
        {"id":"one","profile":"edge","results":[{"pod":"default/a","prefilter":{"code":"Success","skip":["NodeAffinity","NodePorts"]},"nodes":{"n":{"code":"Success","scores":{"NodeResourcesFit":95,"TaintToleration":300},"raw":{"NodeResourcesFit":95,"TaintToleration":0},"total":395}},"feasible":["n"],"best":["n"],"chosen":"n","message":null,"preemption":null},{"pod":"default/b","prefilter":{"code":"Success","skip":["NodeAffinity","NodePorts"]},"nodes":{"n":{"code":"Unschedulable","plugin":"NodeResourcesFit","reasons":["Too many pods"]}},"feasible":[],"best":[],"chosen":null,"message":"0/1 nodes are available: 1 Too many pods.","reason":"Unschedulable","unschedulablePlugins":["NodeResourcesFit"],"preemption":null}]}
    "#]]
    .assert_eq(&folder.schedc(&["evaluate", "one.jsonl"]).ok());
}

#[test]
fn scenarios_come_from_files_and_from_standard_input() {
    let [one, two] = ["one", "two"].map(|id| scenario(id, "edge"));
    let beside_results =
        format!(r#"{{"scenario": {}, "expected": [{{"pod": "default/a"}}]}}"#, scenario("three", "edge"));
    let folder = Folder::with(&[("one.jsonl", &one), ("three.jsonl", &beside_results)]);
    let all = folder.schedc_with_input(&["evaluate", "one.jsonl", "-", "three.jsonl"], &format!("\n{two}\r\n\n"));
    let expected = ["one by edge: n, nowhere", "two by edge: n, nowhere", "three by edge: n, nowhere"];
    assert_eq!(decisions(&all.ok()), expected);
    assert_eq!(decisions(&folder.schedc_with_input(&["evaluate"], &two).ok()), expected[1..2]);
    assert_eq!(folder.schedc_with_input(&["evaluate"], "").ok(), "", "no scenario, no result");
}

#[test]
fn compressed_files_are_detected_by_their_first_bytes() {
    let folder = Folder::with(&[]);
    let parts = [compressed(&format!("{}\n", scenario("one", "edge"))), compressed(&scenario("two", "edge"))];
    fs::write(folder.path("both.jsonl"), parts.concat()).expect("a file");
    let both = folder.schedc(&["evaluate", "both.jsonl"]).ok();
    assert_eq!(decisions(&both), ["one by edge: n, nowhere", "two by edge: n, nowhere"]);
    fs::write(folder.path("plain.jsonl.gz"), scenario("three", "edge")).expect("a file");
    assert_eq!(decisions(&folder.schedc(&["evaluate", "plain.jsonl.gz"]).ok()), ["three by edge: n, nowhere"]);
}

#[test]
fn a_profile_can_be_chosen_for_all() {
    let folder = Folder::with(&[]);
    let input = [scenario("one", "edge"), scenario("two", "default-scheduler"), scenario("three", "other")].join("\n");
    let chosen = folder.schedc_with_input(&["evaluate", "--profile", "binpack"], &input).ok();
    let expected = ["one by binpack: n, nowhere", "two by binpack: n, nowhere", "three by binpack: n, nowhere"];
    assert_eq!(decisions(&chosen), expected);
    let Run { code, stdout, .. } = folder.schedc_with_input(&["evaluate"], &input);
    assert_eq!(code, Some(1));
    assert_eq!(decisions(&stdout), ["one by edge: n, nowhere", "two by default: n, nowhere"]);
}

#[test]
fn the_what_if_example_is_evaluated() {
    let decided = decisions(&schedc(&["evaluate", "examples/scenarios/what-if.jsonl"]).ok());
    let expected = [
        "today by default: north-2, south-1, north-2",
        "packed by binpack: south-1, north-2, north-2",
        "north-2 in maintenance by default: nowhere, south-1",
    ];
    assert_eq!(decided, expected);
}

#[test]
fn the_wake_example_lists_the_events_that_wake_a_pod() {
    let results = schedc(&["evaluate", "--hints", "examples/scenarios/wake.jsonl"]).ok();
    let summaries = results.lines().map(|line| {
        let result: Value = serde_json::from_str(line).unwrap();
        format!("{} {} {} {}", result["id"], result["events"], result["hints"], result["queue"])
    });
    let expected = [
        r#""another node" ["NodeAdd"] {"NodeAffinity":"Skip"} "unschedulable""#,
        r#""the right node" ["NodeAdd"] {"NodeAffinity":"Queue"} "backoff""#,
    ];
    assert_eq!(summaries.collect::<Vec<_>>(), expected);
}

#[test]
fn invalid_changes_are_reported_with_their_position() {
    for (line, problem) in [
        (
            r#"{"id": "a", "profile": "edge", "pod": {}, "event": {"old": {}}}"#,
            "scenario a: event.old: the object has no `kind`",
        ),
        (
            r#"{"id": "a", "profile": "edge", "pod": {}, "event": {}, "direct": {"resource": "Node", "action": "Paint"}}"#,
            "scenario a: direct: there is no event `Paint` of `Node`",
        ),
        (r#"{"id": "a", "profile": "edge", "event": {}}"#, "not a scenario: missing field `pod`"),
    ] {
        let folder = Folder::with(&[("in.jsonl", line)]);
        let run = folder.schedc(&["evaluate", "--hints", "in.jsonl"]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
        assert!(run.stderr.contains(problem), "{}", run.stderr);
    }
}

/// Checks the errors for invalid lines; the scenarios around them are evaluated.
fn check(lines: &str, stderr: Expect) {
    let input = format!("{}\n{lines}\n{}\n", scenario("before", "edge"), scenario("after", "edge"));
    let folder = Folder::with(&[("in.jsonl", &input)]);
    let run = folder.schedc(&["evaluate", "in.jsonl"]);
    assert_eq!(run.code, Some(1));
    assert_eq!(decisions(&run.stdout), ["before by edge: n, nowhere", "after by edge: n, nowhere"]);
    stderr.assert_eq(&run.stderr);
}

#[test]
fn an_invalid_scenario_does_not_stop_the_evaluation() {
    check(
        "{\n[]\n{\"id\": 7}\n{}\n\u{fffd}",
        expect![[r#"
            error: in.jsonl:2:1: not a scenario: EOF while parsing an object
            error: in.jsonl:3: not a scenario: a line must be a JSON object
            error: in.jsonl:4:8: not a scenario: invalid type: integer `7`, expected a string
            error: in.jsonl:5: not a scenario: both `id` and `scenario` are missing
            error: in.jsonl:6: not a scenario: a line must be a JSON object
            error: 5 scenarios or files were left out
        "#]],
    );
}

#[test]
fn a_failing_scenario_does_not_stop_the_evaluation() {
    let wrong = [
        scenario("a", "other"),
        scenario("b", "edge").replace(r#""kind": "Node""#, r#""kind": "Nod""#),
        scenario("c", "edge").replace(r#"{"name": "b"}"#, r#""b""#),
        scenario("d", "edge").replace(r#""cpu": "2""#, r#""cpu": "two""#),
        r#"{"id": "e", "steps": []}"#.to_owned(),
    ];
    check(
        &wrong.join("\n"),
        expect![[r#"
            error: in.jsonl:2: scenario a: no profile is named `other`; the profiles are binpack, default, edge
            error: in.jsonl:3: scenario b: objects[0]: Nod n: kind: there is no `Nod` in `v1`; did you mean `Node`?
            error: in.jsonl:4: scenario c: steps[1]: Pod without a name: metadata: is string "b", but must be fields
            error: in.jsonl:5: scenario d: objects[0]: Node n: status.allocatable[cpu]: `two` is not a quantity: it must begin with a number, as in `500m`, `2` or `1.5Gi`
            error: in.jsonl:6: scenario e: `profile` is missing; add it, or choose one with --profile
            error: 5 scenarios or files were left out
        "#]],
    );
}

#[test]
fn all_errors_of_a_scenario_are_reported() {
    let pod = |fields: &str| format!(r#"{{"schedule": {{"metadata": {{"name": "p"}}, "spec": {{{fields}}}}}}}"#);
    let steps = [
        pod(r#""nodeSelecter": {}"#),
        r#"{"create": {"kind": "Pod"}}"#.to_owned(),
        r#"{"delete": {"kind": "Nod", "name": "n"}}"#.to_owned(),
        r#"{"paint": {}}"#.to_owned(),
        pod(""),
        pod(r#""tolerations": 5"#),
    ];
    let objects = r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": 5}}, {"apiVersion": "v1"}"#;
    let steps = steps.join(", ");
    let many = vec![r#"{"paint": {}}"#; 25].join(", ");
    let wrong = [
        format!(r#"{{"id": "a", "profile": "other", "object": 1, "objects": [{objects}], "steps": [{steps}]}}"#),
        format!(r#"{{"id": "b", "profile": "edge", "steps": [{many}]}}"#),
    ];
    check(
        &wrong.join("\n"),
        expect![[r#"
            error: in.jsonl:2: scenario a: object: unknown field; did you mean `objects`?
            error: in.jsonl:2: scenario a: no profile is named `other`; the profiles are binpack, default, edge
            error: in.jsonl:2: scenario a: objects[0]: Node without a name: metadata.name: is integer `5`, but must be text; put it in quotes
            error: in.jsonl:2: scenario a: objects[1]: the object has no `kind`
            error: in.jsonl:2: scenario a: steps[0]: Pod default/p: spec.nodeSelecter: unknown field; did you mean `nodeSelector`?
            error: in.jsonl:2: scenario a: steps[1]: the object has no `apiVersion`
            error: in.jsonl:2: scenario a: steps[2]: scheduling ignores objects of kind `Nod`
            error: in.jsonl:2: scenario a: steps[3]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:2: scenario a: steps[5]: Pod default/p: spec.tolerations: is integer `5`, but must be a list
            error: in.jsonl:3: scenario b: steps[0]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[1]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[2]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[3]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[4]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[5]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[6]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[7]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[8]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[9]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[10]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[11]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[12]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[13]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[14]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[15]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[16]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[17]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[18]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: steps[19]: there is no step `paint`; a step has one of `schedule`, `create`, `update` and `delete`
            error: in.jsonl:3: scenario b: and 5 more errors
            error: 2 scenarios or files were left out
        "#]],
    );
    let change = r#"{"id": "a", "profile": "other", "pod": {}, "event": {"old": {}, "new": {}}, "objects": [{}],
        "direct": {"resource": "Node", "action": "Paint"}}"#;
    let folder = Folder::with(&[("in.jsonl", &change.replace('\n', ""))]);
    expect![[r#"
        error: in.jsonl:1: scenario a: no profile is named `other`; the profiles are binpack, default, edge
        error: in.jsonl:1: scenario a: objects[0]: the object has no `kind`
        error: in.jsonl:1: scenario a: event.old: the object has no `kind`
        error: in.jsonl:1: scenario a: event.new: the object has no `kind`
        error: in.jsonl:1: scenario a: direct: there is no event `Paint` of `Node`
        error: one scenario or file was left out
    "#]]
    .assert_eq(&folder.schedc(&["evaluate", "--hints", "in.jsonl"]).refused());
}

#[test]
fn an_unreadable_file_does_not_stop_the_evaluation() {
    let folder = Folder::with(&[("in.jsonl", &scenario("one", "edge"))]);
    fs::write(folder.path("broken.gz"), &compressed(&scenario("two", "edge"))[..40]).expect("a file");
    let run = folder.schedc(&["evaluate", "missing.jsonl", "broken.gz", "in.jsonl"]);
    assert_eq!(run.code, Some(1));
    assert_eq!(decisions(&run.stdout), ["one by edge: n, nowhere"]);
    expect![[r#"
        error: missing.jsonl: cannot be read: No such file or directory (os error 2)
        error: broken.gz: cannot be read: incomplete deflate stream
        error: 2 scenarios or files were left out
    "#]]
    .assert_eq(&run.stderr);
}

#[test]
fn an_unknown_profile_is_rejected_before_any_input_is_read() {
    let folder = Folder::with(&[]);
    expect![[r#"
        error: no profile is named `huge`; the profiles are binpack, default, edge
    "#]]
    .assert_eq(&folder.schedc(&["evaluate", "--profile", "huge", "missing.jsonl"]).refused());
}
