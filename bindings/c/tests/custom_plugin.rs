//! A compiled profile with a plugin of another crate, called through the C interface.

#![allow(unsafe_code, reason = "the functions are those of the C interface")]

use std::{ptr, slice, str};

use schedc_api::{Cluster, Evaluator};
use schedc_c::*;

const OBJECTS: &str = "
apiVersion: v1
kind: Node
metadata: { name: a, labels: { example.com/maintenance: disk } }
status: { allocatable: { cpu: 2, pods: 10 } }
---
apiVersion: v1
kind: Node
metadata: { name: b }
status: { allocatable: { cpu: 2, pods: 10 } }
---
apiVersion: v1
kind: Pod
metadata: { name: p }
spec: { containers: [{ name: c, resources: { requests: { cpu: 1 } } }] }
";

/// Returns the text of a buffer, which is released.
fn text(mut out: Buffer) -> String {
    if out.data.is_null() {
        return String::new();
    }
    // SAFETY: a function of the library wrote the buffer.
    let text = unsafe { str::from_utf8(slice::from_raw_parts(out.data, out.length)) }.unwrap().to_owned();
    // SAFETY: as above, and the buffer is released once.
    unsafe { schedc_buffer_free(&raw mut out) };
    text
}

#[test]
fn a_plugin_of_another_crate_decides_through_the_c_interface() {
    let cluster = Cluster::compiled::<out_of_tree::scheduler::maintenance::Pipeline>().unwrap();
    let cluster = ClusterHandle::from(cluster).into_raw();
    let mut out = Buffer { data: ptr::null_mut(), length: 0 };
    // SAFETY: the handle is valid until it is released once, and the texts are constants.
    unsafe {
        assert_eq!(schedc_cluster_apply(cluster, Text::of(OBJECTS), false, ptr::null_mut()), Status::Ok);
        let status = schedc_cluster_check(cluster, Text::of("p"), Text::of("a"), &raw mut out);
        assert_eq!(status, Status::Rejected);
        let answer = r#"{"code":"Unschedulable","plugin":"Maintenance","reasons":["node(s) were under maintenance"]}"#;
        assert_eq!(text(out), answer);
        assert_eq!(schedc_cluster_check(cluster, Text::of("p"), Text::of("b"), &raw mut out), Status::Ok);
        assert_eq!(text(out), "");
        schedc_cluster_free(cluster);
    }
}

#[test]
fn scenarios_are_evaluated_with_a_plugin_of_another_crate() {
    let evaluator =
        EvaluatorHandle::from(Evaluator::compiled::<out_of_tree::scheduler::Profiles>().unwrap()).into_raw();
    let scenario = r#"{"id": "s", "profile": "maintenance",
        "objects": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "labels": {"example.com/maintenance": ""}}, "status": {"allocatable": {"pods": "9"}}}],
        "steps": [{"schedule": {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}}}]}"#;
    let mut out = Buffer { data: ptr::null_mut(), length: 0 };
    // SAFETY: the handle is valid until it is released once, and the text is a constant.
    unsafe {
        assert_eq!(schedc_evaluator_evaluate(evaluator, Text::of(scenario), &raw mut out), Status::Ok);
        schedc_evaluator_free(evaluator);
    }
    let line = text(out);
    assert!(line.contains(r#""unschedulablePlugins":["Maintenance"]"#), "{line}");
}
