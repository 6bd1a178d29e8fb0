//! Two mistakes in every field of every kind: a misspelt name, and a value of a wrong type.

use std::collections::BTreeMap;
use std::fmt::Write;

use expect_test::expect;
use schedc_kinds::{AnyObject, join, join_item, samples};
use serde_json::{Map, Value, json};

use crate::{Kinds, ObjectReader, Validation};

/// A step from a value to a value that it contains.
#[derive(Clone)]
enum Step {
    Field(String),
    Item,
}

/// Collects all values in a sample with their paths.
fn walk(value: &Value, path: &mut Vec<Step>, found: &mut Vec<(Vec<Step>, Value)>) {
    if !path.is_empty() {
        found.push((path.clone(), value.clone()));
    }
    let children: Vec<(Step, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| (Step::Field(name.clone()), value)).collect(),
        Value::Array(items) => items.iter().map(|item| (Step::Item, item)).collect(),
        _ => Vec::new(),
    };
    for (step, child) in children {
        path.push(step);
        walk(child, path, found);
        path.pop();
    }
}

/// Returns the smallest value that has `value` at a path.
fn nested(path: &[Step], value: Value) -> Value {
    path.iter().rev().fold(value, |value, step| match step {
        Step::Field(name) => Value::Object(Map::from_iter([(name.clone(), value)])),
        Step::Item => json!([value]),
    })
}

fn text(path: &[Step]) -> String {
    path.iter().fold(String::new(), |text, step| match step {
        Step::Field(name) => join(&text, name),
        Step::Item => join_item(&text, 0),
    })
}

/// Returns whether reading the object reports an error at a path.
fn is_reported(object: &AnyObject, mut value: Value, path: &[Step]) -> bool {
    let sample = object.to_json().unwrap();
    let (api_version, kind) = (sample["apiVersion"].as_str().unwrap(), sample["kind"].as_str().unwrap());
    let fields = value.as_object_mut().unwrap();
    fields.insert("apiVersion".to_owned(), api_version.into());
    fields.insert("kind".to_owned(), kind.into());
    let mut reader = ObjectReader::new(Kinds::default(), Validation::Strict);
    let errors = reader.read(api_version, kind, value).err().unwrap_or_default();
    errors.iter().any(|error| error.field.as_deref() == Some(&text(path)))
}

/// Makes a mistake at every path for which `mistake` returns one. Returns the number of reported mistakes by kind, and
/// the fields whose mistakes are not reported.
fn report(mistake: impl Fn(&[Step], &Value) -> Option<(Vec<Step>, Value)>) -> String {
    let (mut report, mut missed) = (String::new(), BTreeMap::<String, usize>::new());
    for object in samples() {
        let mut found = Vec::new();
        let mut sample = object.to_json().unwrap();
        sample.as_object_mut().unwrap().retain(|name, _| name != "apiVersion" && name != "kind");
        walk(&sample, &mut Vec::new(), &mut found);
        let mistakes = found.iter().filter_map(|(path, value)| mistake(path, value));
        let mut reported = 0;
        for (path, value) in mistakes {
            match is_reported(&object, nested(&path, value), &path) {
                true => reported += 1,
                false => *missed.entry(text(&path)).or_default() += 1,
            }
        }
        writeln!(report, "{} {reported}", object.kind()).unwrap();
    }
    for (path, count) in missed {
        writeln!(report, "not reported: {path} ({count})").unwrap();
    }
    report
}

#[test]
fn every_misspelt_field_is_reported() {
    let mistake = |path: &[Step], value: &Value| {
        // The keys of a map can have any name, so they cannot be misspelt.
        let Some((Step::Field(name), parent)) = path.split_last().filter(|_| !is_entry(path)) else { return None };
        let last = name.chars().last()?;
        let misspelt = Step::Field(format!("{name}{last}"));
        Some(([parent, &[misspelt]].concat(), value.clone()))
    };
    expect![[r#"
        Node 115
        Pod 1359
        Namespace 39
        Service 75
        ReplicationController 1173
        ReplicaSet 1179
        StatefulSet 1268
        Deployment 1190
        PersistentVolume 222
        PersistentVolumeClaim 70
        StorageClass 39
        CSINode 36
        CSIDriver 43
        CSIStorageCapacity 38
        VolumeAttachment 233
        PodDisruptionBudget 53
        PriorityClass 33
        ResourceClaim 132
        ResourceClaimTemplate 104
        ResourceSlice 100
        DeviceClass 38
    "#]]
    .assert_eq(&report(mistake));
}

#[test]
fn every_value_of_a_wrong_type_is_reported() {
    let mistake = |path: &[Step], value: &Value| {
        let wrong = match value {
            Value::Null => return None,
            Value::Bool(_) | Value::Number(_) => json!("x"),
            Value::String(_) | Value::Array(_) => json!({"x": 1}),
            Value::Object(_) => json!(["x"]),
        };
        Some((path.to_vec(), wrong))
    };
    expect![[r#"
        Node 131
        Pod 1581
        Namespace 45
        Service 88
        ReplicationController 1362
        ReplicaSet 1370
        StatefulSet 1475
        Deployment 1381
        PersistentVolume 241
        PersistentVolumeClaim 85
        StorageClass 48
        CSINode 42
        CSIDriver 49
        CSIStorageCapacity 45
        VolumeAttachment 253
        PodDisruptionBudget 62
        PriorityClass 37
        ResourceClaim 161
        ResourceClaimTemplate 123
        ResourceSlice 130
        DeviceClass 43
        not reported: metadata.managedFields[0].fieldsV1 (21)
        not reported: spec.config[0].opaque.parameters (1)
        not reported: spec.devices.config[0].opaque.parameters (1)
        not reported: spec.metadata.managedFields[0].fieldsV1 (1)
        not reported: spec.spec.devices.config[0].opaque.parameters (1)
        not reported: spec.template.metadata.managedFields[0].fieldsV1 (4)
        not reported: spec.template.spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.managedFields[0].fieldsV1 (4)
        not reported: spec.volumeClaimTemplates[0].metadata.managedFields[0].fieldsV1 (1)
        not reported: spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.managedFields[0].fieldsV1 (1)
        not reported: status.allocation.devices.config[0].opaque.parameters (1)
        not reported: status.devices[0].data (1)
    "#]]
    .assert_eq(&report(mistake));
}

/// Returns whether the last step leads to an entry of a map. In samples, the keys of maps are times.
fn is_entry(path: &[Step]) -> bool {
    matches!(path.last(), Some(Step::Field(name)) if name.starts_with("1970-"))
}
