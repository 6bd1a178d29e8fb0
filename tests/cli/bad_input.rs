//! Invalid input: one clear message each, exit code 1, no result.

use expect_test::{Expect, expect};

use crate::cli::harness::{Folder, schedc};

fn check(manifest: &str, expected: Expect) {
    let folder = Folder::with(&[("pods.yaml", manifest)]);
    expected.assert_eq(&folder.schedc(&["simulate", "pods.yaml"]).refused());
}

#[test]
fn a_missing_file_is_an_error() {
    let folder = Folder::with(&[]);
    expect![[r#"
        error: nodes.yaml: cannot be read: No such file or directory (os error 2)
    "#]]
    .assert_eq(&folder.schedc(&["simulate", "nodes.yaml"]).refused());
}

#[test]
fn a_folder_without_manifests_is_an_error() {
    let folder = Folder::with(&[("empty/README.md", "")]);
    expect![[r#"
        error: empty: is a folder without .yaml, .yml, .json or .jsonl files
    "#]]
    .assert_eq(&folder.schedc(&["simulate", "empty"]).refused());
}

#[test]
fn text_that_is_not_yaml_is_an_error() {
    check(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: [}\n",
        expect![[r#"
        error: pods.yaml:3: is not YAML: mismatched bracket '[' closed by '}'
    "#]],
    );
}

#[test]
fn yaml_that_is_not_an_object_is_an_error() {
    check(
        "- just\n- a list\n",
        expect![[r#"
        error: pods.yaml:1: is not a Kubernetes object: there are no fields
    "#]],
    );
    check(
        "kind: Pod\nmetadata: {name: p}\n",
        expect![[r#"
        error: pods.yaml:1: is not a Kubernetes object: there is no `apiVersion`
    "#]],
    );
}

#[test]
fn an_invalid_pod_is_an_error() {
    check(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: nginx}\n",
        expect![[r#"
            error: pods.yaml:4: Pod default/p: spec.containers: is string "nginx", but must be a list
        "#]],
    );
}

#[test]
fn an_invalid_quantity_is_an_error() {
    check(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i, resources: {requests: {cpu: 2 cores}}}]}\n",
        expect![[r#"
            error: pods.yaml:4: Pod default/p: spec.containers[0].resources.requests[cpu]: `2 cores` is not a quantity; did you mean `2`?
        "#]],
    );
}

#[test]
fn an_invalid_selector_is_an_error() {
    check(
        "
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers: [{name: c, image: i}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: zone, operator: Is, values: [a]}]
",
        expect![[r#"
            error: pods.yaml:11: Pod default/p: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator: is `Is`, but must be one of `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`
        "#]],
    );
}

#[test]
fn duplicate_objects_are_an_error() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n";
    check(
        &format!("{pod}---\n{pod}"),
        expect![[r#"
        error: pods.yaml:6: Pod default/p is already at pods.yaml:1; remove one of them or rename it
    "#]],
    );
}

#[test]
fn an_unknown_profile_is_an_error() {
    let refused = schedc(&["simulate", "examples/cluster", "--profile", "edgy"]).refused();
    expect![[r#"
        error: no profile is named `edgy`; the profiles are binpack, default, edge
    "#]]
    .assert_eq(&refused);
}

#[test]
fn an_invalid_command_line_is_an_error() {
    let run = schedc(&["expand"]);
    assert_eq!(run.code, Some(2));
    expect![[r#"
        error: the following required arguments were not provided:
          <PROFILE>

        Usage: schedc expand <PROFILE>

        For more information, try '--help'.
    "#]]
    .assert_eq(&run.stderr);
    expect![[r#"
        error: no file or folder is given; `-` is standard input, and --live reads the objects of a cluster
    "#]]
    .assert_eq(&schedc(&["simulate"]).refused());
}
