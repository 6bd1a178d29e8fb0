//! `schedc manifest --format helm` and `--format kustomize`

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::{expect, expect_file};
use serde_json::{Value, json};

use super::helm::{render, yaml};
use crate::cli::harness::{Folder, schedc};

/// Folders of generated files, and the commands that generate them.
const CHECKED_IN: [(&str, &[&str]); 2] = [
    ("deploy/helm/schedc", &["manifest", "default", "--name", "schedc", "--format", "helm", "-o"]),
    ("deploy/kustomize/base", &["manifest", "default", "--name", "schedc", "--format", "kustomize", "-o"]),
];

/// Objects by kind, namespace and name.
type Objects = BTreeMap<[String; 3], Value>;

fn objects(text: &str) -> Objects {
    let documents = text.split("---\n").filter(|document| document.contains("kind:"));
    let objects = documents.map(|document| serde_saphyr::from_str::<Value>(document).expect(document));
    let part = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    objects
        .map(|object| {
            let about = &object["metadata"];
            ([part(&object["kind"]), part(&about["namespace"]), part(&about["name"])], object)
        })
        .collect()
}

/// Writes a chart of the profile `edge`. The chart is called `schedc-edge`.
fn chart(folder: &Folder, args: &[&str]) -> PathBuf {
    let path = folder.path("chart");
    let path_argument = path.to_string_lossy();
    schedc(&[&["manifest", "edge", "--format", "helm", "-o", &path_argument], args].concat()).ok();
    path
}

/// Returns the objects of a chart.
fn rendered(chart: &Path, release: &str, namespace: &str, overrides: &Value) -> Objects {
    let templates = render(chart, release, namespace, overrides);
    templates.values().map(|text| objects(text)).fold(Objects::new(), |mut all, objects| {
        all.extend(objects);
        all
    })
}

#[test]
fn a_chart_with_default_values_equals_the_manifest() {
    for args in [
        &[][..],
        &["--namespace", "edge", "--image", "host:5000/edge@sha256:0a1b", "--replicas", "1", "--service-monitor"],
        &["--image", "host:5000/edge:7"],
    ] {
        let folder = Folder::with(&[]);
        let manifest = objects(&schedc(&[&["manifest", "edge"], args].concat()).ok());
        let namespace = if args.contains(&"edge") { "edge" } else { "kube-system" };
        assert_eq!(rendered(&chart(&folder, args), "schedc-edge", namespace, &json!({})), manifest, "{args:?}");
    }
}

#[test]
fn a_kustomize_base_equals_the_manifest() {
    let folder = Folder::with(&[]);
    let path = folder.path("base");
    schedc(&["manifest", "edge", "--format", "kustomize", "-o", &path.to_string_lossy()]).ok();
    let kustomization = yaml(&path.join("kustomization.yaml"));
    let resources = kustomization["resources"].as_array().expect("resources");
    let read = |name: &Value| fs::read_to_string(path.join(name.as_str().expect("a name"))).expect("a file");
    let base = resources.iter().map(read).collect::<Vec<_>>().join("---\n");
    assert_eq!(objects(&base), objects(&schedc(&["manifest", "edge"]).ok()));
    let files = fs::read_dir(&path).expect("a folder").count();
    assert_eq!(files, resources.len() + 1, "each file is a resource");
}

#[test]
fn checked_in_files_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (checked_in, args) in CHECKED_IN {
        let folder = Folder::with(&[]);
        let generated = folder.path("generated");
        schedc(&[args, &[&generated.to_string_lossy()]].concat()).ok();
        let names = files(&generated);
        for name in &names {
            let text = fs::read_to_string(generated.join(name)).expect("a file");
            expect_file![root.join(checked_in).join(name)].assert_eq(&text);
        }
        assert_eq!(files(&root.join(checked_in)), names, "{checked_in} has these files and no others");
    }
}

/// Returns the paths of all files below a folder.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = PathBuf::from(entry.file_name());
        if entry.path().is_dir() {
            files.extend(self::files(&entry.path()).into_iter().map(|file| name.join(file)));
        } else {
            files.insert(name);
        }
    }
    files
}

#[test]
fn values_change_the_objects() {
    let folder = Folder::with(&[]);
    let given = json!({
        "image": {"repository": "host/edge", "tag": "7", "pullPolicy": "Always", "pullSecrets": [{"name": "host"}]},
        "replicas": 3,
        "leaderElection": {"resourceNamespace": "leases", "resourceName": "edge"},
        "extraArgs": ["-v=2", "--dry-run"],
        "serviceAccount": {"name": "account", "annotations": {"note": "a"}},
        "podAnnotations": {"note": "b"},
        "podLabels": {"team": "c"},
        "priorityClassName": "",
        "resources": {"limits": {"memory": "1Gi"}},
        "nodeSelector": {"role": "d"},
        "tolerations": [],
        "affinity": {"nodeAffinity": {}},
    });
    let chart = chart(&folder, &[]);
    let before = rendered(&chart, "prod", "edge", &json!({}));
    let after = rendered(&chart, "prod", "edge", &given);
    let account = &after[&["ServiceAccount".into(), "edge".into(), "account".into()]];
    assert_eq!(account["metadata"]["annotations"], json!({"note": "a"}));
    assert!(after.contains_key(&["Role".into(), "leases".into(), "prod-schedc-edge-leader-election".into()]));
    let deployment = ["Deployment".to_owned(), "edge".to_owned(), "prod-schedc-edge".to_owned()];
    let text = |objects: &Objects| serde_json::to_string_pretty(&objects[&deployment]["spec"]).expect("JSON");
    let (before, after) = (text(&before), text(&after));
    let only_in = |text: &str, other: &str| {
        let lines = text.lines().filter(|line| !other.lines().any(|other| other == *line));
        lines.map(str::trim).collect::<Vec<_>>().join("\n")
    };
    expect![[r#"
        "replicas": 3,
        "annotations": {
        "note": "b"
        "app.kubernetes.io/name": "schedc",
        "team": "c"
        "affinity": {
        "nodeAffinity": {}
        "--leader-elect-resource-namespace=leases",
        "--leader-elect-resource-name=edge",
        "-v=2",
        "--dry-run"
        "image": "host/edge:7",
        "imagePullPolicy": "Always",
        "limits": {
        "memory": "1Gi"
        "imagePullSecrets": [
        "name": "host"
        "nodeSelector": {
        "role": "d"
        "serviceAccountName": "account","#]]
    .assert_eq(&only_in(&after, &before));
    expect![[r#"
        "replicas": 2,
        "app.kubernetes.io/name": "schedc"
        "--leader-elect-resource-namespace=edge",
        "--leader-elect-resource-name=prod-schedc-edge"
        "image": "schedc-edge:0.1.0",
        "priorityClassName": "system-cluster-critical",
        "serviceAccountName": "prod-schedc-edge",
        "tolerations": [
        "effect": "NoSchedule",
        "key": "node-role.kubernetes.io/control-plane",
        "operator": "Exists""#]]
    .assert_eq(&only_in(&before, &after));
}

#[test]
fn objects_can_be_left_out() {
    let folder = Folder::with(&[]);
    let given = json!({"leaderElection": {"enabled": false}, "serviceAccount": {"create": false, "name": "mine"}});
    let objects = rendered(&chart(&folder, &[]), "schedc-edge", "edge", &given);
    let names: Vec<String> = objects.keys().map(|key| key.join(" ")).collect();
    expect![[r#"
        ClusterRole  schedc-edge
        ClusterRoleBinding  schedc-edge
        Deployment edge schedc-edge
        PodDisruptionBudget edge schedc-edge
        Role kube-system schedc-edge-authentication
        RoleBinding kube-system schedc-edge-authentication"#]]
    .assert_eq(&names.join("\n"));
    let binding = &objects[&["ClusterRoleBinding".into(), String::new(), "schedc-edge".into()]];
    assert_eq!(binding["subjects"][0]["name"], "mine");
    let pods = &objects[&["Deployment".into(), "edge".into(), "schedc-edge".into()]]["spec"]["template"]["spec"];
    assert_eq!(
        (&pods["serviceAccountName"], &pods["containers"][0]["args"][1]),
        (&json!("mine"), &json!("--leader-elect=false"))
    );
}

#[test]
fn every_value_is_in_the_schema() {
    let folder = Folder::with(&[]);
    let chart = chart(&folder, &[]);
    let schema = yaml(&chart.join("values.schema.json"));
    let mut values = BTreeSet::new();
    paths(&yaml(&chart.join("values.yaml")), &schema, "", &mut values);
    let mut properties = BTreeSet::new();
    property_paths(&schema, "", &mut properties);
    properties.remove(".global");
    assert_eq!(values, properties);
}

/// Collects the paths of values. A mapping without `properties` in the schema counts as one value.
fn paths(value: &Value, schema: &Value, path: &str, into: &mut BTreeSet<String>) {
    match (value, &schema["properties"]) {
        (Value::Object(fields), Value::Object(_)) => {
            for (name, value) in fields {
                paths(value, &schema["properties"][name], &format!("{path}.{name}"), into);
            }
        }
        _ => _ = into.insert(path.to_owned()),
    }
}

fn property_paths(schema: &Value, path: &str, into: &mut BTreeSet<String>) {
    match &schema["properties"] {
        Value::Object(properties) => {
            for (name, schema) in properties {
                property_paths(schema, &format!("{path}.{name}"), into);
            }
        }
        _ => _ = into.insert(path.to_owned()),
    }
}

#[test]
fn notes_mention_kube_scheduler_only_if_it_is_replaced() {
    let folder = Folder::with(&[]);
    let notes = |chart: &Path| render(chart, "schedc", "edge", &json!({}))["NOTES.txt"].clone();
    expect![[r#"
        This scheduler places the pods whose schedulerName is edge.

        Wait until it runs:

          kubectl -n edge rollout status deployment/schedc-schedc-edge

        See which of its pods is the leader:

          kubectl -n edge get lease schedc-schedc-edge
    "#]]
    .assert_eq(&notes(&chart(&folder, &[])));
    let default = notes(&Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/helm/schedc"));
    assert!(default.contains("stop kube-scheduler first"), "{default}");
}

#[test]
fn other_folders_are_not_overwritten() {
    let mine = ("profiles/mine.toml", "scheduler-name = \"mine\"");
    let folder = Folder::with(&[mine, ("other/Chart.yaml", "name: other\n"), ("file", "")]);
    let refused = |args: &[&str]| folder.schedc(&[&["manifest", "mine"], args].concat()).refused();
    expect![[r#"
        error: other contains other files than `schedc manifest` generates: choose a new or an empty folder
    "#]]
    .assert_eq(&refused(&["--format", "helm", "-o", "other"]));
    expect![[r#"
        error: cannot write file: Not a directory (os error 20)
    "#]]
    .assert_eq(&refused(&["--format", "kustomize", "-o", "file"]));
    expect![[r#"
        error: --format yaml prints to standard output: choose --format helm or kustomize to write into other
    "#]]
    .assert_eq(&refused(&["-o", "other"]));
    let without = folder.schedc(&["manifest", "mine", "--format", "helm"]).stderr;
    expect![[r#"
        error: the following required arguments were not provided:
          --output-dir <FOLDER>"#]]
    .assert_eq(without.lines().take(2).collect::<Vec<_>>().join("\n").as_str());
}

#[test]
fn stale_templates_are_reported() {
    let folder = Folder::with(&[("profiles/mine.toml", "scheduler-name = \"mine\"")]);
    let write = || folder.schedc(&["manifest", "mine", "--format", "helm", "-o", "chart"]);
    assert_eq!(write().stderr, "");
    fs::write(folder.path("chart/templates/role-old.yaml"), "").expect("a file");
    expect![[r#"
        warning: chart/templates/role-old.yaml is not part of this version of the chart: delete it unless you added it
    "#]]
    .assert_eq(&write().stderr);
}
