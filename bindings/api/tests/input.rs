//! Every form of input: manifests, values, columns and protobuf.

use std::collections::BTreeMap;

use schedc_api::{Cluster, Defaults, ErrorCode};
use schedc_objects::decode::encode;
use serde_json::{Value, json};

use crate::default_profile;

fn node(name: &str, cpu: &str) -> Value {
    let metadata = json!({"name": name, "labels": {"example.com/zone": name}});
    json!({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": {"cpu": cpu, "pods": "10"}}})
}

fn pod(name: &str, cpu: &str, node: Option<&str>) -> Value {
    let containers = json!([{"name": "c", "resources": {"requests": {"cpu": cpu}}}]);
    let mut spec = json!({"nodeSelector": {"example.com/zone": "b"}, "containers": containers});
    if let Some(node) = node {
        spec["nodeName"] = node.into();
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})
}

fn objects() -> Vec<Value> {
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "v"}, "spec": {}});
    vec![node("a", "2"), node("b", "4"), pod("p", "3", None), pod("q", "2", Some("b")), claim]
}

fn new_cluster() -> Cluster {
    Cluster::new(&default_profile(), "default").unwrap()
}

fn decisions(cluster: &mut Cluster) -> String {
    format!("{:?} {:?} {:?}", cluster.nodes(), cluster.pods(), cluster.decide("p").unwrap())
}

/// Returns a list of objects in protobuf. `encode` writes single objects.
fn list(kind: &str, objects: &[Value]) -> Vec<u8> {
    let field = |number: u8, content: &[u8]| {
        assert!(content.len() < 1 << 14);
        let length = [content.len() as u8 & 0x7f | 0x80, (content.len() >> 7) as u8];
        [&[number << 3 | 2], &length[..], content].concat()
    };
    let items = objects.iter().flat_map(|object| {
        let message = encode(object).unwrap();
        // In the envelope of a small object, the length of the type has one byte, and that of the object one or two.
        let kind_length = usize::from(message[5]);
        let rest = &message[6 + kind_length..];
        let start = if rest[1] < 0x80 { 2 } else { 3 };
        let length =
            if start == 2 { usize::from(rest[1]) } else { usize::from(rest[1] & 0x7f) | usize::from(rest[2]) << 7 };
        field(2, &rest[start..start + length])
    });
    let items: Vec<u8> = items.collect();
    let types = [&[0x0a, 2][..], b"v1", &[0x12, kind.len() as u8], kind.as_bytes()].concat();
    [b"k8s\0".as_slice(), &field(1, &types), &field(2, &items)].concat()
}

#[test]
fn every_form_of_input_gives_the_same_cluster() {
    let mut expected = new_cluster();
    let applied = expected.apply_values(objects(), Defaults::AsGiven).unwrap();
    assert_eq!((applied.nodes, applied.pods, applied.others), (2, 2, 1));
    let expected = decisions(&mut expected);

    let mut text = new_cluster();
    let lines: String = objects().iter().map(|object| format!("{object}\n")).collect();
    assert_eq!(text.apply(&lines, Defaults::AsGiven).unwrap(), applied);
    assert_eq!(decisions(&mut text), expected);

    let mut protobuf = new_cluster();
    let messages: Vec<Vec<u8>> = objects().iter().map(|object| encode(object).unwrap()).collect();
    assert_eq!(protobuf.apply_protobuf(&messages).unwrap(), applied);
    assert_eq!(decisions(&mut protobuf), expected);

    let mut lists = new_cluster();
    let objects = objects();
    lists.apply_protobuf(&[list("NodeList", &objects[..2]), list("PodList", &objects[2..4])]).unwrap();
    assert_eq!(decisions(&mut lists), expected);

    let mut columns = new_cluster();
    let node_columns = json!({
        "/metadata/name": ["a", "b"],
        "/metadata/labels/example.com~1zone": ["a", "b"],
        "/status/allocatable/cpu": [2, "4"],
    });
    let template = json!({"apiVersion": "v1", "kind": "Node", "status": {"allocatable": {"pods": "10"}}});
    let apply = |columns: &mut Cluster, template: &Value, values: Value| {
        let values: BTreeMap<String, Vec<Value>> = serde_json::from_value(values).unwrap();
        columns.apply_columns(template, &values, Defaults::AsGiven).unwrap()
    };
    assert_eq!(apply(&mut columns, &template, node_columns).nodes, 2);
    let pod_columns = json!({
        "/metadata/name": ["p", "q"],
        "/spec/containers/0/resources/requests/cpu": ["3", "2"],
        "/spec/nodeName": [null, "b"],
    });
    let mut template = pod("", "0", None);
    template["metadata"] = json!({});
    assert_eq!(apply(&mut columns, &template, pod_columns).pods, 2);
    assert_eq!(decisions(&mut columns), expected);
}

#[test]
fn wrong_messages_change_nothing() {
    let mut cluster = new_cluster();
    let good = encode(&node("a", "2")).unwrap();
    let unnamed = encode(&json!({"apiVersion": "v1", "kind": "Node", "metadata": {}})).unwrap();
    for wrong in [b"k8s\0\x0a\xff".as_slice(), b"{}", b"", &good[..good.len() - 1], &unnamed] {
        let error = cluster.apply_protobuf(&[&good, wrong]).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidObjects, "{error}");
    }
    assert!(cluster.nodes().is_empty());
    let other = b"k8s\0\x0a\x14\x0a\x07apps/v1\x12\x09DaemonSet\x12\x00";
    assert_eq!(cluster.apply_protobuf(&[other.as_slice()]).unwrap().skipped["DaemonSet"], 1);
}

#[test]
fn a_wrong_expression_is_a_warning_unless_the_api_server_would_refuse_it() {
    let class = "{ apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: { name: c }, \
                 spec: { selectors: [{ cel: { expression: 'device.' } }] } }";
    let mut cluster = new_cluster();
    let applied = cluster.apply(class, Defaults::AsGiven).unwrap();
    assert_eq!(applied.others, 1);
    assert!(applied.warnings[0].contains("expression"), "{:?}", applied.warnings);
    assert_eq!(cluster.apply(class, Defaults::Complete).unwrap_err().code, ErrorCode::InvalidObjects);
}
