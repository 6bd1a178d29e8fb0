//! Unknown fields that are errors, those that are ignored, and their locations.

use expect_test::{Expect, expect};
use schedc_kinds::{KINDS, schema};

use super::Manifests;
use crate::{Kinds, ObjectReader, Validation};

const HANDWRITTEN: &str =
    "{apiVersion: v1, kind: Pod, metadata: {name: a, creationTimestamp: null}, spec: {nodeSelecter: {}}}";
const DUMPED: &str =
    "{apiVersion: v1, kind: Pod, metadata: {name: b, uid: x}, spec: {newField: 1}, status: {newer: {}}}";

fn read(name: &str, text: &str, validation: Validation) -> String {
    let mut reading = super::Reading { objects: ObjectReader::new(Kinds::default(), validation), ..Default::default() };
    super::document::read(name, text, &mut reading);
    match reading.finish() {
        Ok(found) if found.ignored.is_empty() => format!("{} pods", found.pods.len()),
        Ok(found) => format!("{} pods; {}", found.pods.len(), found.ignored.warnings().join("\n")),
        Err(error) => error.to_string(),
    }
}

fn check(validation: Validation, expected: Expect) {
    expected.assert_eq(&read("a.yaml", &format!("{HANDWRITTEN}\n---\n{DUMPED}"), validation));
}

#[test]
fn objects_of_a_cluster_may_have_newer_fields() {
    check(
        Validation::Auto,
        expect!["a.yaml:1: Pod default/a: spec.nodeSelecter: unknown field; did you mean `nodeSelector`?"],
    );
    check(
        Validation::Strict,
        expect![[r#"
        a.yaml:1: Pod default/a: spec.nodeSelecter: unknown field; did you mean `nodeSelector`?
        a.yaml:3: Pod default/b: spec.newField: unknown field; no field here has a similar name
        a.yaml:3: Pod default/b: status.newer: unknown field; no field here has a similar name"#]],
    );
    check(
        Validation::Warn,
        expect![
            "2 pods; 2 objects have unknown fields, which are ignored: Pod spec.newField (1), Pod spec.nodeSelecter (1), Pod status.newer (1)"
        ],
    );
    check(Validation::Ignore, expect!["2 pods"]);
}

#[test]
fn a_dump_has_one_warning() {
    let item = |i| {
        format!(
            "- {{metadata: {{name: a{i}, resourceVersion: '1'}}, spec: {{containers: [{{name: a, newer: 1}}, {{name: b, newer: 1}}], other: {{}}}}}}\n"
        )
    };
    let items: String = (0..1000).map(item).collect();
    let text = format!("apiVersion: v1\nkind: PodList\nmetadata: {{resourceVersion: '7'}}\nitems:\n{items}");
    expect!["1000 pods; 1000 objects have unknown fields, which are ignored: Pod spec.containers[].newer (1000), Pod spec.other (1000)"].assert_eq(&read("a.yaml", &text, Validation::Auto));
}

#[test]
fn fields_added_by_a_server_are_known() {
    let text = "
apiVersion: v1
kind: Pod
metadata:
  name: a
  uid: x
  generation: 1
  selfLink: /api/v1/namespaces/default/pods/a
  managedFields:
  - {apiVersion: v1, fieldsType: FieldsV1, manager: kubectl, operation: Update, time: 2026-01-31T12:00:00Z, fieldsV1: {'f:spec': {'f:containers': {}}}}
spec: {containers: []}
status: {phase: Pending, qosClass: BestEffort, conditions: [{type: PodScheduled, status: 'False', observedGeneration: 1}]}
";
    expect!["1 pods"].assert_eq(&read("a.yaml", text, Validation::Strict));
}

#[test]
fn a_field_has_its_line() {
    let yaml = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n  spec:\n    containers:\n    - name: c\n    - name: d\n      imag: nginx\n...\n---\n# comment\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  labels:\n    a: 1\n";
    expect![[r#"
        a.yaml:12 items[0]: Pod default/a: spec.containers[1].imag: unknown field; did you mean `image`?
        a.yaml:21: Pod without a name: metadata.labels.a: is integer `1`, but must be text; put it in quotes"#]]
    .assert_eq(&read("a.yaml", yaml, Validation::Auto));
    let json = "{\"apiVersion\": \"v1\", \"kind\": \"Pod\"}\n{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"Pod\",\n\t\"spec\": {\n\t\t\"nodeNmae\": \"n1\"\n\t}\n}";
    expect!["a.json:6: Pod without a name: spec.nodeNmae: unknown field; did you mean `nodeName`?"].assert_eq(&read(
        "a.json",
        json,
        Validation::Auto,
    ));
}

#[test]
fn keys_of_json_are_unique() {
    let text =
        "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"spec\": {},\n \"metadata\": {\"name\": \"a\", \"name\": \"b\"}}";
    expect!["a.json:2: is not JSON: duplicate key `name` is not allowed here"].assert_eq(&read(
        "a.json",
        text,
        Validation::Ignore,
    ));
    expect!["standard input:2: is not JSON: duplicate key `name` is not allowed here"].assert_eq(&read(
        "standard input",
        text,
        Validation::Ignore,
    ));
}

#[test]
fn every_kind_has_a_schema() {
    let counts: Vec<String> = KINDS.iter().map(|kind| format!("{kind} {}", schema(kind).len())).collect();
    expect![[r#"
        Node 117
        Pod 1361
        Namespace 41
        Service 77
        ReplicationController 1175
        ReplicaSet 1181
        StatefulSet 1270
        Deployment 1192
        PersistentVolume 224
        PersistentVolumeClaim 72
        StorageClass 41
        CSINode 38
        CSIDriver 45
        CSIStorageCapacity 40
        VolumeAttachment 235
        PodDisruptionBudget 55
        PriorityClass 35
        ResourceClaim 134
        ResourceClaimTemplate 106
        ResourceSlice 102
        DeviceClass 40"#]]
    .assert_eq(&counts.join("\n"));
    for (kind, parent, last) in [
        ("Pod", vec!["status"], "startTime"),
        ("Node", vec!["status", "volumesAttached"], "name"),
        ("StatefulSet", vec!["status"], "updatedReplicas"),
    ] {
        assert!(schema(kind).iter().any(|field| field.parent == parent && field.name == last), "{kind} {last}");
    }
}

#[test]
fn declared_kinds_have_any_fields_except_in_metadata() {
    static KIND: schedc_core::model::CustomKind = schedc_core::model::CustomKind {
        name: "podgroups.v1.example.com",
        api_version: "example.com/v1",
        kind: "PodGroup",
        plural: "podgroups",
        is_namespaced: true,
    };
    let text = "{apiVersion: example.com/v1, kind: PodGroup, metadata: {name: g, lables: {}}, spec: {anything: 1}}";
    let error = Manifests::parse_with("a.yaml", text, Kinds::from(std::slice::from_ref(&KIND))).unwrap_err();
    expect!["a.yaml:1: PodGroup g: metadata.lables: unknown field; did you mean `labels`?"]
        .assert_eq(&error.to_string());
}
