//! Request bodies: the argument types of `extender/v1`, with the keys and `null` values that Go's encoder writes.

use std::collections::BTreeMap;

use schedc_core::cache::Base;
use schedc_core::extension_points::{Candidate, Placement};
use schedc_core::model::{NodeIndex, Pod};
use schedc_core::node_mask::NodeMask;
use serde::Serialize;

/// Writes an `ExtenderArgs`.
pub(crate) fn extender_args(pod: &Pod, base: &Base, nodes: &NodeMask, by_name: bool) -> Result<Vec<u8>, String> {
    let mut body = begin_body(pod, base)?;
    if by_name {
        let names: Vec<&str> = nodes.iter().map(|node| base.name(node)).collect();
        body.extend(br#","Nodes":null,"NodeNames":"#);
        append_json(&mut body, &names)?;
    } else {
        body.extend(br#","Nodes":{"metadata":{},"items":["#);
        for (at, node) in nodes.iter().enumerate() {
            if at > 0 {
                body.push(b',');
            }
            body.extend(original_node(node, base)?.as_bytes());
        }
        body.extend(br#"]},"NodeNames":null"#);
    }
    body.push(b'}');
    Ok(body)
}

/// Writes an `ExtenderPreemptionArgs`.
pub(crate) fn preemption_args(
    pod: &Pod,
    base: &Base,
    candidates: &[Candidate],
    by_uid: bool,
) -> Result<Vec<u8>, String> {
    let mut body = begin_body(pod, base)?;
    if by_uid {
        body.extend(br#","NodeNameToVictims":null,"NodeNameToMetaVictims":"#);
        let victims = |candidate: &Candidate| MetaVictims {
            pods: candidate.victims.iter().map(|victim| MetaPod { uid: victim.uid.0.to_string() }).collect(),
            violations: candidate.violations,
        };
        let by_node: BTreeMap<&str, MetaVictims> =
            candidates.iter().map(|candidate| (base.name(candidate.node), victims(candidate))).collect();
        append_json(&mut body, &by_node)?;
    } else {
        body.extend(br#","NodeNameToVictims":{"#);
        let by_node: BTreeMap<&str, &Candidate> =
            candidates.iter().map(|candidate| (base.name(candidate.node), candidate)).collect();
        for (at, (node, candidate)) in by_node.into_iter().enumerate() {
            if at > 0 {
                body.push(b',');
            }
            append_json(&mut body, node)?;
            body.extend(br#":{"Pods":["#);
            for (at, victim) in candidate.victims.iter().enumerate() {
                if at > 0 {
                    body.push(b',');
                }
                body.extend(original_pod(victim, base)?.as_bytes());
            }
            body.extend(format!(r#"],"NumPDBViolations":{}}}"#, candidate.violations).as_bytes());
        }
        body.extend(br#"},"NodeNameToMetaVictims":null"#);
    }
    body.push(b'}');
    Ok(body)
}

/// Writes an `ExtenderBindingArgs`, for bind and unreserve.
pub(crate) fn binding_args(placement: &Placement) -> Result<Vec<u8>, String> {
    let Placement { pod, node_name, .. } = placement;
    let mut body = Vec::new();
    let (name, namespace, uid) = (&*pod.name, &*pod.namespace, &*pod.uid.0);
    append_json(&mut body, &BindingArgs { name, namespace, uid, node: node_name })?;
    Ok(body)
}

#[derive(Serialize)]
struct MetaVictims {
    #[serde(rename = "Pods")]
    pods: Vec<MetaPod>,
    #[serde(rename = "NumPDBViolations")]
    violations: usize,
}

#[derive(Serialize)]
struct MetaPod {
    #[serde(rename = "UID")]
    uid: String,
}

#[derive(Serialize)]
struct BindingArgs<'a> {
    #[serde(rename = "PodName")]
    name: &'a str,
    #[serde(rename = "PodNamespace")]
    namespace: &'a str,
    #[serde(rename = "PodUID")]
    uid: &'a str,
    #[serde(rename = "Node")]
    node: &'a str,
}

fn begin_body(pod: &Pod, base: &Base) -> Result<Vec<u8>, String> {
    Ok([br#"{"Pod":"#, original_pod(pod, base)?.as_bytes()].concat())
}

fn append_json(body: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) -> Result<(), String> {
    serde_json::to_writer(body, value).map_err(|error| error.to_string())
}

fn original_pod<'a>(pod: &Pod, base: &'a Base) -> Result<&'a str, String> {
    let original = base.originals.pod(&pod.uid).map(|original| &**original);
    original.ok_or_else(|| format!("pod {} cannot be sent: its original is not stored", pod.namespaced_name()))
}

fn original_node(node: NodeIndex, base: &Base) -> Result<&str, String> {
    let name = base.name(node);
    let original = base.interner.get(name).and_then(|name| base.originals.node(name)).map(|original| &**original);
    original.ok_or_else(|| format!("node {name} cannot be sent: its original is not stored"))
}
