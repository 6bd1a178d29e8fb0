//! Manifests of similar nodes and pods.

/// Returns a node.
pub(crate) fn node(name: &str, cpu: &str) -> String {
    format!(
        "---
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}}}}}
status: {{allocatable: {{cpu: {cpu}, memory: 8Gi, pods: 110}}}}
"
    )
}

/// Returns a pod with a cpu request and more fields in its spec.
pub(crate) fn pod(name: &str, cpu: &str, spec: &str) -> String {
    labelled(name, "", cpu, spec)
}

/// Returns a pod with labels.
pub(crate) fn labelled(name: &str, labels: &str, cpu: &str, spec: &str) -> String {
    pod_with(name, &format!("labels: {{{labels}}}"), cpu, spec, "{}")
}

/// Returns a pod with a nominated node.
pub(crate) fn nominated(name: &str, node: &str, cpu: &str, spec: &str) -> String {
    pod_with(name, "labels: {}", cpu, spec, &format!("{{nominatedNodeName: {node}}}"))
}

/// Returns a pod with more fields in its metadata and status.
pub(crate) fn pod_with(name: &str, metadata: &str, cpu: &str, spec: &str, status: &str) -> String {
    format!(
        "---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, {metadata}}}
spec: {{containers: [{{name: main, image: pause, resources: {{requests: {{cpu: {cpu}}}}}}}], {spec}}}
status: {status}
"
    )
}

/// Returns equal pods `name-0`, `name-1` and so on.
pub(crate) fn pods(name: &str, count: usize, cpu: &str, spec: &str) -> String {
    (0..count).map(|number| pod(&format!("{name}-{number}"), cpu, spec)).collect()
}
