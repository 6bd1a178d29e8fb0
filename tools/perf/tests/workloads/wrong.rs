//! Tests of error messages.

use expect_test::{Expect, expect};

use crate::harness::{run_file, run_workload};

#[track_caller]
fn check(file: &str, expected: Expect) {
    expected.assert_eq(&run_file(file, &[]).unwrap_err().to_string());
}

#[track_caller]
fn check_operations(operations: &str, params: &str, templates: &[(&str, &str)], expected: Expect) {
    expected.assert_eq(&run_workload(operations, params, templates).unwrap_err().to_string());
}

#[test]
fn invalid_files_are_refused() {
    check("- name: [", expect!["w.yaml:1: is not YAML: unclosed bracket '['"]);
    check("{}", expect!["w.yaml:1: is not YAML: expected sequence start"]);
    check(
        "[]",
        expect!["w.yaml: has no test cases; a file is a list of them, each with name, workloadTemplate and workloads"],
    );
    check("- {workloads: []}", expect!["w.yaml: the test case at 0 (from 0) has no name"]);
    check(
        "- {name: a, workloadTemplte: []}",
        expect![
            "w.yaml: test case `a`: unknown field `workloadTemplte`, expected one of `name`, `labels`, `workloadTemplate`, `workloads`, `featureGates`, `schedulerConfigPath`, `defaultPodTemplatePath`, `metricsCollectorConfig`, `defaultThresholdMetricSelector`"
        ],
    );
    check(
        "- {name: a, workloads: [{name: w}]}",
        expect!["w.yaml: test case `a`: has no operations; list them under workloadTemplate"],
    );
    let barrier = "workloadTemplate: [{opcode: barrier}]";
    check(
        &format!("- {{name: a, {barrier}, workloads: [{{name: w}}]}}"),
        expect![
            "w.yaml: test case `a`: no operation collects metrics, so there is nothing to report; let a createPods have `collectMetrics: true`, or put startCollectingMetrics and stopCollectingMetrics around some operations"
        ],
    );
    let pods = "workloadTemplate: [{opcode: createPods, count: 1, collectMetrics: true}]";
    check(&format!("- {{name: a, {pods}}}"), expect!["w.yaml: test case `a`: has no workloads"]);
    check(
        &format!("- {{name: a, {pods}, workloads: [{{name: w}}, {{name: w}}]}}"),
        expect!["w.yaml: test case `a`: workload `w`: duplicate name; rename one of the two"],
    );
    check(
        &format!("- {{name: a, {pods}, workloads: [{{name: w, parms: {{}}}}]}}"),
        expect![
            "w.yaml: test case `a`: workload `w`: unknown field `parms`, expected one of `name`, `labels`, `params`, `featureGates`, `threshold`, `thresholdMetricSelector`"
        ],
    );
    let case = format!("- {{name: a, {pods}, workloads: [{{name: w}}]}}\n");
    check(&(case.clone() + &case), expect!["w.yaml: duplicate test case `a`; rename one of the two"]);
}

#[test]
fn invalid_operations_are_refused() {
    let operations_with =
        |operation: &str| format!("\n- {operation}\n- {{opcode: createPods, count: 1, collectMetrics: true}}\n");
    for (operation, expected) in [
        ("{count: 1}", expect!["w.yaml: test case `case`: op 0 has no opcode"]),
        (
            "{opcode: createNodes, cuont: 1}",
            expect![
                "w.yaml: test case `case`: op 0 (createNodes): unknown field `cuont`, expected one of `count`, `countParam`, `nodeTemplatePath`, `nodeAllocatableStrategy`, `labelNodePrepareStrategy`, `uniqueNodeLabelStrategy`"
            ],
        ),
        (
            "{opcode: createNodes, count: -1}",
            expect!["w.yaml: test case `case`: op 0 (createNodes): invalid value: integer `-1`, expected usize"],
        ),
        (
            "{opcode: createNodes, countParam: nodes}",
            expect!["w.yaml: workload `case/small`: op 0 (createNodes): countParam: `nodes` must begin with a $"],
        ),
        (
            "{opcode: createNodes, countParam: $nodes}",
            expect![
                "w.yaml: workload `case/small`: op 0 (createNodes): countParam: no parameter `nodes`; add it to the params of the workload"
            ],
        ),
        (
            "{opcode: createNodes, countParam: $text}",
            expect![[
                r#"w.yaml: workload `case/small`: op 0 (createNodes): parameter `text` is "many", but must be a whole number, 0 or more"#
            ]],
        ),
        (
            "{opcode: createNodes, count: 1, labelNodePrepareStrategy: {labelKey: a, labelValues: []}}",
            expect![
                "w.yaml: test case `case`: op 0 (createNodes): labelNodePrepareStrategy: labelValues: is empty; add at least one value"
            ],
        ),
        (
            "{opcode: createPods, count: 1, collectMetrics: true, skipWaitToCompletion: true}",
            expect![
                "w.yaml: test case `case`: op 0 (createPods): collectMetrics and skipWaitToCompletion are mutually exclusive"
            ],
        ),
        (
            "{opcode: createPods, count: 1, steadyState: true}",
            expect![
                "w.yaml: workload `case/small`: op 0 (createPods): duration: must be longer than 0 in a steady state"
            ],
        ),
        (
            "{opcode: createPods, count: 1, persistentVolumeTemplatePath: pv.yaml}",
            expect![
                "w.yaml: test case `case`: op 0 (createPods): persistentVolumeTemplatePath and persistentVolumeClaimTemplatePath require each other"
            ],
        ),
        (
            "{opcode: churn, mode: recreate, templatePaths: [a.yaml]}",
            expect!["w.yaml: test case `case`: op 0 (churn): number: must be at least 1 in mode recreate"],
        ),
        (
            "{opcode: churn, mode: often, templatePaths: [a.yaml]}",
            expect!["w.yaml: test case `case`: op 0 (churn): unknown variant `often`, expected `create` or `recreate`"],
        ),
        (
            "{opcode: churn, mode: create, templatePaths: []}",
            expect!["w.yaml: test case `case`: op 0 (churn): templatePaths: is empty; name at least one file"],
        ),
        (
            "{opcode: barrier, stageRequirement: Done}",
            expect![
                "w.yaml: test case `case`: op 0 (barrier): unknown variant `Done`, expected `Scheduled` or `Attempted`"
            ],
        ),
        (
            "{opcode: barrier, namespaces: [nowhere]}",
            expect!["w.yaml: workload `case/small`: op 0 (barrier): namespaces: namespace `nowhere` does not exist"],
        ),
        (
            "{opcode: sleep, duration: 10}",
            expect!["w.yaml: test case `case`: op 0 (sleep): invalid type: integer `10`, expected a string"],
        ),
        (
            "{opcode: sleep, duration: 10 s}",
            expect!["w.yaml: test case `case`: op 0 (sleep): `10 s` is not a duration such as 90s, 1m30s or 250ms"],
        ),
        (
            "{opcode: startCollectingMetrics, namespaces: []}",
            expect![
                "w.yaml: test case `case`: op 0 (startCollectingMetrics): namespaces: is empty; name the namespaces of the pods to measure"
            ],
        ),
        (
            "{opcode: startCollectingMetrics, namespaces: [a]}",
            expect![
                "w.yaml: workload `case/small`: op 1 (createPods): metrics are already being collected; add stopCollectingMetrics before it"
            ],
        ),
        (
            "{opcode: stopCollectingMetrics}",
            expect![
                "w.yaml: workload `case/small`: op 0 (stopCollectingMetrics): no metrics are being collected; add startCollectingMetrics before it"
            ],
        ),
        (
            "{opcode: createResourceDriver, driverName: d, nodes: gpu}",
            expect!["w.yaml: workload `case/small`: op 0 (createResourceDriver): nodes: no node has a name like `gpu`"],
        ),
        (
            "{opcode: createResourceDriver, driverName: '', nodes: gpu}",
            expect!["w.yaml: test case `case`: op 0 (createResourceDriver): driverName: is empty"],
        ),
        (
            "{opcode: createResourceDriver, driverName: d, nodes: 'n[0-9]'}",
            expect![
                "w.yaml: test case `case`: op 0 (createResourceDriver): nodes: `n[0-9]` contains a square bracket or a backslash; patterns have only * and ?"
            ],
        ),
        (
            "{opcode: createResourceDriver, driverName: d, nodes: gpu, maxClaimsPerNodeParam: $n}",
            expect![
                "w.yaml: workload `case/small`: op 0 (createResourceDriver): maxClaimsPerNodeParam: no parameter `n`; add it to the params of the workload"
            ],
        ),
        (
            "{opcode: deleteNodes, count: 1}",
            expect![
                "w.yaml: workload `case/small`: op 0 (deleteNodes): unknown opcode; the operations are createNodes, createNamespaces, createPods, createPodSets, createAny, updateAny, createResourceDriver, createResourceClaims, allocResourceClaims, deletePods, churn, barrier, sleep, startCollectingMetrics, stopCollectingMetrics"
            ],
        ),
    ] {
        let params = if operation.contains("$text") { "text: many" } else { "" };
        check_operations(&operations_with(operation), params, &[], expected);
    }
    check_operations(
        &operations_with("{opcode: barrier}"),
        "nodes: 1, pods: 2",
        &[],
        expect![
            "w.yaml: workload `case/small`: no operation uses the parameters nodes, pods; check the spelling of the names"
        ],
    );
}

#[test]
fn invalid_templates_are_refused() {
    let operations_with = |kind: &str, path: &str| match kind {
        "Pod" => format!("\n- {{opcode: createPods, count: 2, podTemplatePath: {path}, collectMetrics: true}}\n"),
        _ => format!(
            "\n- {{opcode: createAny, count: 2, templatePath: {path}}}\n- {{opcode: createPods, count: 1, collectMetrics: true}}\n"
        ),
    };
    check_operations(
        &operations_with("Pod", "missing.yaml"),
        "",
        &[],
        expect![
            "w.yaml: workload `case/small`: op 0 (createPods): missing.yaml: cannot be read: No such file or directory (os error 2)"
        ],
    );
    for (kind, text, expected) in [
        (
            "Pod",
            "a: [",
            expect!["w.yaml: workload `case/small`: op 0 (createPods): t.yaml:1: is not YAML: unclosed bracket '['"],
        ),
        (
            "Pod",
            "text",
            expect![
                "w.yaml: workload `case/small`: op 0 (createPods): t.yaml: is not a Kubernetes object: it has no fields"
            ],
        ),
        (
            "Pod",
            "{kind: Node}",
            expect!["w.yaml: workload `case/small`: op 0 (createPods): t.yaml: is a Node, but must be a Pod"],
        ),
        (
            "Pod",
            "{kind: Pod, metadata: {name: a}}",
            expect![
                "w.yaml: workload `case/small`: op 0 (createPods): Pod namespace-0/a: spec.containers: is empty; a pod needs a container"
            ],
        ),
        (
            "Pod",
            "{kind: Pod, metadata: {generateName: a-}, spec: {containers: 5}}",
            expect![
                "w.yaml: workload `case/small`: op 0 (createPods): t.yaml: Pod default/a-*: spec.containers: is integer `5`, but must be a list"
            ],
        ),
        (
            "Pod",
            "{kind: Pod, metadata: {generateName: a-}, spec: {containers: [{name: c, resources: {requests: {cpu: x}}}]}}",
            expect![
                "w.yaml: workload `case/small`: op 0 (createPods): t.yaml: Pod default/a-*: spec.containers[0].resources.requests[cpu]: `x` is not a quantity: it must begin with a number, as in `500m`, `2` or `1.5Gi`"
            ],
        ),
        (
            "Pod",
            "{kind: Pod, metadata: {generateName: a-}, spec: {priorityClassName: high, containers: [{name: c}]}}",
            expect![
                "w.yaml: workload `case/small`: op 0 (createPods): Pod namespace-0/a-bbbbb: spec.priorityClassName: is `high`, but there is no such PriorityClass; add it, or set spec.priority"
            ],
        ),
        (
            "Pod",
            "kind: Pod\nmetadata: {name: '{{ .Name }}'}",
            expect![
                "w.yaml: workload `case/small`: op 0 (createPods): t.yaml:2: `{{ .Name }}`: `.Name` is unknown; use .Index, .Count, numbers and AddFloat, AddInt, DivideFloat, DivideInt, Mod, MultiplyFloat, MultiplyInt, SubtractFloat, SubtractInt"
            ],
        ),
        (
            "any",
            "{metadata: {name: a}}",
            expect![
                "w.yaml: workload `case/small`: op 0 (createAny): t.yaml: is not a Kubernetes object: `kind` is missing"
            ],
        ),
        (
            "any",
            "{apiVersion: v1, kind: Service, metadata: {name: a}}",
            expect![
                "w.yaml: workload `case/small`: op 0 (createAny): namespace: is missing, but objects of kind Service need one"
            ],
        ),
    ] {
        check_operations(&operations_with(kind, "t.yaml"), "", &[("t.yaml", text)], expected);
    }
    let node = "{kind: Node, apiVersion: v1, metadata: {name: a}}";
    let operations = "\n- {opcode: createAny, templatePath: t.yaml, namespace: web}\n- {opcode: createPods, count: 1, collectMetrics: true}\n";
    check_operations(
        operations,
        "",
        &[("t.yaml", node)],
        expect![
            "w.yaml: workload `case/small`: op 0 (createAny): namespace: is `web`, but objects of kind Node have no namespace; omit it"
        ],
    );
}

#[test]
fn waiting_for_missing_pods_is_an_error() {
    let large = "{kind: Pod, metadata: {generateName: large-}, spec: {containers: [{name: c, resources: {requests: {cpu: 100}}}]}}";
    let pods = "createPods, count: 3, podTemplatePath: t.yaml";
    let operations = format!("\n- {{opcode: createNodes, count: 2}}\n- {{opcode: {pods}, collectMetrics: true}}\n");
    check_operations(
        &operations,
        "",
        &[("t.yaml", large)],
        expect![
            "w.yaml: workload `case/small`: op 1 (createPods): timeout: 0 of 3 pods of namespace `namespace-1` were scheduled; pod large-bbbbd: 0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
        ],
    );
    let operations = format!(
        "\n- {{opcode: createNodes, count: 2}}\n- {{opcode: {pods}, skipWaitToCompletion: true}}\n- {{opcode: barrier}}\n- {{opcode: stopCollectingMetrics}}\n"
    );
    check_operations(
        &operations,
        "",
        &[("t.yaml", large)],
        expect![
            "w.yaml: workload `case/small`: op 2 (barrier): timeout: 0 of 3 pods of namespace `namespace-1` are scheduled; pod large-bbbbd: 0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
        ],
    );
    let operations = "\n- {opcode: createPods, count: 1, podTemplatePath: t.yaml, collectMetrics: true}\n";
    let other = "{kind: Pod, metadata: {generateName: a-}, spec: {schedulerName: other, containers: [{name: c}]}}";
    check_operations(
        operations,
        "",
        &[("t.yaml", other)],
        expect![
            "w.yaml: workload `case/small`: op 0 (createPods): timeout: 0 of 1 pods of namespace `namespace-0` were scheduled; pod a-bbbbb: it was not attempted; check that a profile has its scheduler name"
        ],
    );
    let operations = "\n- {opcode: startCollectingMetrics, namespaces: [elsewhere]}\n- {opcode: createNodes, count: 1}\n- {opcode: createPods, count: 1}\n- {opcode: stopCollectingMetrics}\n";
    check_operations(
        operations,
        "",
        &[],
        expect!["w.yaml: workload `case/small`: no pod was attempted while metrics were collected"],
    );
}
