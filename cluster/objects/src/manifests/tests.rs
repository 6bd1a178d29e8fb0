use std::fs;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Manifests {
    Manifests::parse("pods.yaml", text).unwrap_or_else(|error| panic!("{error}"))
}

fn check_error(text: &str, expected: Expect) {
    expected.assert_eq(&Manifests::parse("pods.yaml", text).unwrap_err().to_string());
}

fn names(text: &str) -> String {
    let found = parse(text);
    let pods = found.pods.iter().map(|pod| object_name("Pod", &pod.object.metadata) + " at " + &pod.place.to_string());
    let nodes = found.nodes.iter().map(|n| object_name("Node", &n.object.metadata) + " at " + &n.place.to_string());
    pods.chain(nodes).collect::<Vec<_>>().join("\n")
}

#[test]
fn documents_have_lines() {
    let text = "# cluster
%YAML 1.1
---
# first
apiVersion: v1
kind: Pod
metadata: {name: a}
---

---
null
--- # second
apiVersion: v1
kind: Node
metadata: {name: n1}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: shop}}
...
";
    expect![[r#"
        Pod default/a at pods.yaml:5
        Pod shop/b at pods.yaml:17
        Node n1 at pods.yaml:13"#]]
    .assert_eq(&names(text));
}

#[test]
fn lists_count_as_their_items() {
    let text = "apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: a}}
- apiVersion: v1
  kind: NodeList
  metadata: {resourceVersion: '5'}
  items:
  - metadata: {name: n1}
---
{apiVersion: v1, kind: PodList, items: []}
---
{apiVersion: apps/v1, kind: DaemonSetList, items: [{}, {}]}
";
    expect![[r#"
        Pod default/a at pods.yaml:1 items[0]
        Node n1 at pods.yaml:1 items[0]"#]]
    .assert_eq(&names(text));
    assert_eq!(parse(text).skipped.into_iter().collect::<Vec<_>>(), [("DaemonSet".to_owned(), 2)]);
}

#[test]
fn a_custom_kind_may_be_called_a_list() {
    static KIND: schedc_core::model::CustomKind = schedc_core::model::CustomKind {
        name: "allowlists.v1.example.com",
        api_version: "example.com/v1",
        kind: "AllowList",
        plural: "allowlists",
        is_namespaced: true,
    };
    let text = "{apiVersion: example.com/v1, kind: AllowList, metadata: {name: a}, spec: {nodes: [n]}}
---
{apiVersion: example.com/v1, kind: AllowList, metadata: {name: b}, items: null}
---
{apiVersion: v1, kind: PodList, items: null}
---
{apiVersion: v1, kind: NodeList}
---
{apiVersion: v1, kind: List}
";
    let found = Manifests::parse_with("a.yaml", text, Kinds::from(std::slice::from_ref(&KIND))).unwrap();
    let names = found.others.iter().filter_map(|other| other.object.metadata().name.as_deref());
    assert_eq!(names.collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(found.skipped.len(), 0);
    assert_eq!(parse(text).skipped.into_iter().collect::<Vec<_>>(), [("AllowList".to_owned(), 2)]);
}

#[test]
fn json_may_be_a_stream() {
    let text = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}}{"apiVersion": "v1",
  "kind": "Node", "metadata": {"name": "n"}}

{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "c"}}
"#;
    expect![[r#"
        Pod default/a at pods.yaml:1
        Pod default/b at pods.yaml:2
        Pod default/c at pods.yaml:5
        Node n at pods.yaml:2"#]]
    .assert_eq(&names(text));
}

#[test]
fn other_kinds_are_counted() {
    let found = parse(
        "{apiVersion: apps/v1, kind: ControllerRevision}
---
{apiVersion: apps/v1, kind: DaemonSet}
---
{apiVersion: apps/v1, kind: DaemonSet}
---
{apiVersion: example.com/v1, kind: Node}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 5}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
",
    );
    let skipped: Vec<_> = found.skipped.iter().map(|(kind, n)| format!("{kind} {n}")).collect();
    assert_eq!(skipped, ["ControllerRevision 1", "DaemonSet 2", "Node 1"]);
    assert_eq!((found.nodes.len(), found.priority_classes.len(), found.others.len()), (0, 1, 1));
}

#[test]
fn yaml_is_read_as_kubectl_reads_it() {
    let found = parse(
        "apiVersion: v1
kind: Pod
metadata:
  name: a
  labels: &labels {app: web}
  annotations: {<<: *labels, octal: '0644'}
  creationTimestamp: null
spec:
  hostNetwork: yes
  priority: 010
  containers:
  - name: c
    resources:
      requests: {cpu: 2, memory: 1e3, example.com/share: 0.5}
      limits:
  volumes:
  - {name: v, configMap: {name: m, defaultMode: 0644}}
",
    );
    let pod = &found.pods[0].object;
    let spec = pod.spec.as_ref().unwrap();
    assert_eq!(pod.metadata.annotations.as_ref().unwrap()["app"], "web");
    assert_eq!((spec.host_network, spec.priority), (Some(true), Some(8)));
    assert_eq!(spec.volumes.as_ref().unwrap()[0].config_map.as_ref().unwrap().default_mode, Some(0o644));
    let requests = spec.containers[0].resources.as_ref().unwrap().requests.as_ref().unwrap();
    assert_eq!(requests.values().map(|text| text.0.as_str()).collect::<Vec<_>>(), ["2", "0.5", "1000"]);
}

#[test]
fn byte_order_marks_and_carriage_returns_are_ignored() {
    let text = "\u{feff}apiVersion: v1\r\nkind: Pod\r\nmetadata:\r\n  name: a\r\n---\r\napiVersion: v1\r\nkind: Pod\r\nmetadata: {name: b}\r\n";
    expect![[r#"
        Pod default/a at pods.yaml:1
        Pod default/b at pods.yaml:6"#]]
    .assert_eq(&names(text));
}

#[test]
fn a_text_without_documents_is_empty() {
    for text in ["", "\n\n", "# nothing\n", "---\n---\n# nothing\n---\n", "null", "~\n"] {
        let found = parse(text);
        assert!(found.pods.is_empty() && found.nodes.is_empty() && found.skipped.is_empty(), "{text:?}");
    }
}

#[test]
fn documents_that_are_not_objects_are_errors() {
    check_error("just text", expect!["pods.yaml:1: is not a Kubernetes object: there are no fields"]);
    check_error(
        "- apiVersion: v1\n  kind: Pod\n",
        expect!["pods.yaml:1: is not a Kubernetes object: there are no fields"],
    );
    check_error(
        "metadata: {name: a}\n",
        expect!["pods.yaml:1: is not a Kubernetes object: there is no `apiVersion` and no `kind`"],
    );
    check_error(
        "{apiVersion: v1, metadata: {name: a}}",
        expect!["pods.yaml:1: is not a Kubernetes object: there is no `kind`"],
    );
    check_error(
        "{apiVersion: 1, kind: Pod}",
        expect!["pods.yaml:1: is not a Kubernetes object: there is no `apiVersion`"],
    );
    check_error(
        "{apiVersion: v2, kind: Pod, metadata: {name: a, namespace: b}}",
        expect!["pods.yaml:1: Pod b/a: apiVersion: is `v2`, but a Pod is `v1`"],
    );
    check_error(
        "{apiVersion: scheduling.k8s.io/v1beta1, kind: PriorityClass, metadata: {name: a}}",
        expect![
            "pods.yaml:1: PriorityClass a: apiVersion: is `scheduling.k8s.io/v1beta1`, but a PriorityClass is `scheduling.k8s.io/v1`"
        ],
    );
}

#[test]
fn syntax_errors_have_a_line() {
    check_error(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels: {app: web\nspec: {}\n",
        expect!["pods.yaml:6: is not YAML: while parsing a flow mapping, did not find expected ',' or '}'"],
    );
    check_error(
        "# fine\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nkind: Node\n",
        expect!["pods.yaml:6: is not YAML: duplicate mapping key `kind` is not allowed here"],
    );
    check_error("a: *nowhere\n", expect!["pods.yaml:1: is not YAML: reference to unknown value"]);
    check_error(
        "a:\n\t- b\n",
        expect!["pods.yaml:2: is not YAML: tabs disallowed within this context (block indentation)"],
    );
    check_error(
        "{\"apiVersion\": \"v1\",\n \"kind\": \"Pod\",\n}{",
        expect!["pods.yaml:3: is not JSON: trailing comma"],
    );
    let error = Manifests::parse("pod.json", "{\"kind\":\n \"Pod\"").unwrap_err();
    expect!["pod.json:2: is not JSON: EOF while parsing an object"].assert_eq(&error.to_string());
}

#[test]
fn an_invalid_document_does_not_affect_others() {
    check_error(
        "a: [\n---\napiVersion: v1\nkind: Pod\nspec: 5\n---\nnothing: here\n",
        expect![[r#"
            pods.yaml:1: is not YAML: unclosed bracket '['
            pods.yaml:5: Pod without a name: spec: is integer `5`, but must be fields
            pods.yaml:7: is not a Kubernetes object: there is no `apiVersion` and no `kind`"#]],
    );
}

#[test]
fn fields_of_a_wrong_type_are_named() {
    let pod = |rest: &str| format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: a, namespace: shop}}\n{rest}");
    check_error(
        &pod("spec: {containers: [{name: a}, {name: b, ports: [{containerPort: http}]}]}"),
        expect![[
            r#"pods.yaml:4: Pod shop/a: spec.containers[1].ports[0].containerPort: is string "http", but must be a whole number"#
        ]],
    );
    check_error(
        &pod("spec: {containers: {name: a}}"),
        expect!["pods.yaml:4: Pod shop/a: spec.containers: is fields, but must be a list"],
    );
    check_error(
        &pod("spec: {nodeSelector: {example.com/rack: 7}}"),
        expect![
            "pods.yaml:4: Pod shop/a: spec.nodeSelector[example.com/rack]: is integer `7`, but must be text; put it in quotes"
        ],
    );
    check_error(
        &pod("spec: {hostNetwork: 'true'}"),
        expect![[r#"pods.yaml:4: Pod shop/a: spec.hostNetwork: is string "true", but must be true or false"#]],
    );
    check_error(&pod("spec: [a]"), expect!["pods.yaml:4: Pod shop/a: spec: is a list, but must be fields"]);
    check_error(
        &pod("spec: {tolerations: [{key: [a]}]}"),
        expect!["pods.yaml:4: Pod shop/a: spec.tolerations[0].key: is a list, but must be text"],
    );
    check_error(
        &pod("spec: {priority: 1.5}"),
        expect!["pods.yaml:4: Pod shop/a: spec.priority: is floating point `1.5`, but must be a whole number"],
    );
    check_error(
        &pod("status: {startTime: yesterday}"),
        expect![
            "pods.yaml:4: Pod shop/a: status.startTime: is not a time such as 2026-01-31T12:00:00Z: failed to parse four digit integer as year: invalid digit, expected 0-9 but got y"
        ],
    );
    check_error(
        "{apiVersion: v1, kind: Node, metadata: {name: n}}",
        expect![
            "pods.yaml:1: Node without a name: metadata.name: is boolean `false`, but must be text; put it in quotes; `y`, `n`, `yes`, `no`, `on` and `off` are booleans too"
        ],
    );
    check_error(
        &pod("spec: {priority: high, hostNetwork: maybe}"),
        expect![[r#"
            pods.yaml:4: Pod shop/a: spec.hostNetwork: is string "maybe", but must be true or false
            pods.yaml:4: Pod shop/a: spec.priority: is string "high", but must be a whole number"#]],
    );
    check_error(
        "{apiVersion: v1, kind: Pod, metadata: {name: 5}}",
        expect!["pods.yaml:1: Pod without a name: metadata.name: is integer `5`, but must be text; put it in quotes"],
    );
}

#[test]
fn quantities_must_be_quantities() {
    check_error(
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, resources: {requests: {memory: 1GB}}}]}}",
        expect![
            "pods.yaml:1: Pod default/a: spec.containers[0].resources.requests[memory]: `1GB` is not a quantity; did you mean `1G` or `1Gi`?"
        ],
    );
    check_error(
        "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: four}}}",
        expect![
            "pods.yaml:1: Node n1: status.allocatable[cpu]: `four` is not a quantity: it must begin with a number, as in `500m`, `2` or `1.5Gi`"
        ],
    );
}

#[test]
fn duplicate_objects_are_errors() {
    let a = "{apiVersion: v1, kind: Pod, metadata: {name: a}}\n";
    let also_a = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}}\n";
    let other = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: other}}\n";
    let generated = "{apiVersion: v1, kind: Pod, metadata: {generateName: a-}}\n";
    let documents = [a, also_a, other, generated, generated, a].map(|text| format!("---\n{text}")).concat();
    check_error(
        &documents,
        expect![[r#"
        pods.yaml:4: Pod default/a is already at pods.yaml:2; remove one of them or rename it
        pods.yaml:12: Pod default/a is already at pods.yaml:2; remove one of them or rename it"#]],
    );
}

#[test]
fn alias_bombs_and_deep_nesting_are_errors() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..12 {
        let before = i - 1;
        text += &format!("a{i}: &a{i} [*a{before}, *a{before}, *a{before}, *a{before}, *a{before}, *a{before}]\n");
    }
    assert!(Manifests::parse("bomb.yaml", &text).is_err());
    let deep = "[".repeat(100_000);
    assert!(Manifests::parse("deep.yaml", &deep).is_err());
    assert!(Manifests::parse("deep.json", &deep).is_err());
    assert!(Manifests::parse("deep.yaml", &format!("a:{}", " -".repeat(100_000))).is_err());
}

#[test]
fn large_documents_are_read() {
    let item = "- {apiVersion: v1, kind: Endpoints, metadata: {name: a}, spec: {ports: [1, 2, 3, 4, 5, 6, 7, 8]}}\n";
    let text = format!("apiVersion: v1\nkind: List\nitems:\n{}", item.repeat(20_000));
    assert_eq!(parse(&text).skipped["Endpoints"], 20_000);
}

#[test]
fn long_lists_of_problems_are_truncated() {
    let error = Manifests::parse("x.yaml", &"---\na: 1\n".repeat(25)).unwrap_err();
    assert_eq!(error.problems.len(), 25);
    assert!(error.to_string().ends_with("\nand 5 more"));
}

#[test]
fn folders_are_read_in_order_of_their_paths() {
    let folder = std::env::temp_dir().join(format!("schedc-objects-{}", std::process::id()));
    let pod = |name: &str| format!("{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}}}");
    fs::create_dir_all(folder.join("b/empty")).unwrap();
    fs::write(folder.join("b/two.yml"), pod("two")).unwrap();
    fs::write(folder.join("a.yaml"), pod("one")).unwrap();
    fs::write(folder.join("c.json"), r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "three"}}"#).unwrap();
    fs::write(folder.join("notes.txt"), "not a manifest").unwrap();
    let found = Manifests::read([&folder]).unwrap();
    let names: Vec<_> = found.pods.iter().map(|pod| pod.object.metadata.name.as_deref().unwrap()).collect();
    assert_eq!(names, ["one", "two", "three"]);

    fs::write(folder.join("b/binary.yaml"), [0xff, 0xfe, 0]).unwrap();
    let paths = [folder.join("b/empty"), folder.join("missing.yaml"), folder.join("b")];
    let error = Manifests::read(paths).unwrap_err().to_string().replace(&*folder.to_string_lossy(), "manifests");
    expect![[r#"
        manifests/b/empty: is a folder without .yaml, .yml, .json or .jsonl files
        manifests/missing.yaml: cannot be read: No such file or directory (os error 2)
        manifests/b/binary.yaml: is not UTF-8 text"#]]
    .assert_eq(&error);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
#[cfg(unix)]
fn an_unreadable_folder_is_one_problem() {
    use std::os::unix::fs::PermissionsExt;

    let folder = std::env::temp_dir().join(format!("schedc-unreadable-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser can read all folders.
    if fs::read_dir(&folder).is_err() {
        let error = Manifests::read([&folder]).unwrap_err().to_string();
        assert_eq!(error, format!("{}: cannot be read: Permission denied (os error 13)", folder.display()));
    }
    fs::remove_dir(folder).unwrap();
}

const SAMPLE: &str = "apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: a, labels: {app: web, \"tier\": 'x'}}
  spec:
    containers:
    - name: c
      resources: {requests: {cpu: 100m, memory: 1Gi}}
      ports: [{containerPort: 80, hostPort: 8080}]
    affinity: &x
      nodeAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]
    tolerations: [{operator: Exists}]
    topologySpreadConstraints:
    - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}, matchLabelKeys: [app]}
    volumes: [{name: v, persistentVolumeClaim: {claimName: data}}, {name: w, ephemeral: {volumeClaimTemplate: {}}}]
- apiVersion: v1
  kind: PersistentVolume
  metadata: {name: p}
  spec:
    capacity: {storage: 1Gi}
    accessModes: [ReadWriteOnce]
    claimRef: {namespace: default, name: data}
    awsElasticBlockStore: {volumeID: aws://a/vol-1}
    nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: Exists}]}]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, annotations: {pv.kubernetes.io/bind-completed: 'yes'}}
spec: {volumeName: p, resources: {requests: {storage: 1Gi}}, selector: {matchLabels: {a: b}}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: csi.example.com
allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [a, b]}]}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: b}
spec: {minAvailable: 50%, selector: {matchExpressions: [{key: a, operator: In, values: [b]}]}}
---
{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"n\"}, \"status\": {\"capacity\": {\"cpu\": 4}}}
";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn damaged_text_does_not_panic(
        cuts in prop::collection::vec((0..SAMPLE.len(), 0..12_usize, "[-:{}\\[\\]&*!#|>'\"%@`,? \\n\\ta0.~]{0,4}"), 1..6),
    ) {
        let mut bytes = SAMPLE.as_bytes().to_vec();
        for (at, length, insert) in cuts {
            let at = at.min(bytes.len());
            let end = (at + length).min(bytes.len());
            bytes.splice(at..end, insert.bytes());
        }
        let text = String::from_utf8_lossy(&bytes);
        for name in ["a.yaml", "a.json"] {
            if let Ok(found) = Manifests::parse(name, &text) {
                let mut interner = schedc_core::intern::Interner::default();
                for pod in &found.pods {
                    crate::convert_pod(&pod.object, &mut interner);
                }
                for node in &found.nodes {
                    crate::convert_node(&node.object, &mut interner);
                }
                for other in &found.others {
                    crate::convert_object(&other.object, &mut interner);
                }
                let _ = crate::Objects::new(found, crate::Options::default());
            }
        }
    }
}

#[test]
fn the_sample_is_valid() {
    let found = parse(SAMPLE);
    assert_eq!((found.pods.len(), found.nodes.len(), found.others.len()), (1, 1, 4));
}
