//! Conversion of pods.

use std::sync::Arc;

use k8s_openapi::api::core::v1 as api;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{HostPort, Pod, PodSpec, PreemptionPolicy, Protocol, Toleration, TolerationOperator, Uid};
use schedc_kinds::namespace;

use super::device_requests::device_requests;
use super::features::required_features;
use super::pod_affinity::pod_affinity;
use super::requests::{Requests, is_restartable};
use super::resource_claim::{claim_statuses, pod_claim};
use super::selector::{broken, preferred, required};
use super::topology_spread::topology_spread;
use super::volume::volumes;
use super::workload::controller;
use super::{effect, labels, nanoseconds, non_empty, symbol, uid};

/// Converts a pod. Invalid input has the same effect as in kube-scheduler.
///
/// A missing namespace is `default`. A missing uid is derived from namespace and name, because the scheduler identifies
/// pods by uid.
pub fn convert_pod(pod: &api::Pod, interner: &mut Interner) -> Pod {
    let meta = &pod.metadata;
    let name = meta.name.as_deref().unwrap_or_default();
    let namespace = namespace(meta);
    let status = pod.status.as_ref();
    let requests = Requests::new(pod, interner);
    let namespace_symbol = interner.intern(namespace);
    Pod {
        uid: Uid(uid("Pod", meta)),
        namespace: interner.share(namespace_symbol),
        name: name.into(),
        spec: Arc::new(convert_spec(pod, namespace, &requests, interner)),
        usage: Arc::new(requests.usage),
        claim_statuses: status.and_then(|status| claim_statuses(status, interner)),
        nominated_node: non_empty(status.and_then(|status| status.nominated_node_name.as_ref()), interner),
        preempted: is_preempted(pod),
        deleting: meta.deletion_timestamp.is_some(),
        created: nanoseconds(meta.creation_timestamp.as_ref()),
        started: nanoseconds(status.and_then(|status| status.start_time.as_ref())),
    }
}

/// Returns whether a preemption deletes this pod (`podTerminatingByPreemption`).
fn is_preempted(pod: &api::Pod) -> bool {
    let mut conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let disruption = conditions.find(|condition| condition.type_ == "DisruptionTarget");
    pod.metadata.deletion_timestamp.is_some()
        && disruption.is_some_and(|condition| {
            condition.status == "True" && condition.reason.as_deref() == Some("PreemptionByScheduler")
        })
}

/// Returns whether a pod has finished. The scheduler ignores finished pods, even if they are assigned to a node.
pub fn is_finished(pod: &api::Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Succeeded" | "Failed"))
}

fn convert_spec(pod: &api::Pod, namespace: &str, requests: &Requests, interner: &mut Interner) -> PodSpec {
    let absent = api::PodSpec::default();
    let spec = pod.spec.as_ref().unwrap_or(&absent);
    let node_affinity = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
    let init_containers = spec.init_containers.as_deref().unwrap_or_default();
    let namespace = interner.intern(namespace);
    PodSpec {
        namespace,
        labels: labels(pod.metadata.labels.as_ref(), interner),
        scheduler_name: symbol(spec.scheduler_name.as_ref(), interner),
        priority: spec.priority.unwrap_or(0),
        preemption_policy: match spec.preemption_policy.as_deref() {
            Some("Never") => PreemptionPolicy::Never,
            _ => PreemptionPolicy::PreemptLowerPriority,
        },
        node_name: non_empty(spec.node_name.as_ref(), interner),
        requests: requests.by_spec.clone(),
        fit_score_requests: requests.fit_score.clone(),
        balance_requests: requests.usage.requests.clone(),
        tolerations: spec.tolerations.iter().flatten().map(|t| convert_toleration(t, interner)).collect(),
        node_selector: labels(spec.node_selector.as_ref(), interner),
        required_node_affinity: node_affinity.and_then(|affinity| required(affinity, interner)).into(),
        broken_node_affinity: node_affinity.and_then(|affinity| broken(affinity, interner)),
        preferred_node_affinity: node_affinity.map(|affinity| preferred(affinity, interner)).unwrap_or_default(),
        affinity: pod_affinity(spec.affinity.as_ref(), namespace, interner),
        spread: topology_spread(spec.topology_spread_constraints.as_ref(), pod.metadata.labels.as_ref(), interner),
        controller: controller(&pod.metadata, interner),
        volumes: volumes(pod, interner),
        resource_claims: spec.resource_claims.iter().flatten().map(|claim| pod_claim(claim, interner)).collect(),
        device_requests: device_requests(spec, interner),
        required_features: required_features(spec, interner),
        host_ports: host_ports(spec, interner),
        images: images(spec, interner),
        containers: u32::try_from(spec.containers.len() + init_containers.len()).unwrap_or(u32::MAX),
        scheduling_gates: spec.scheduling_gates.iter().flatten().map(|gate| interner.intern(&gate.name)).collect(),
    }
}

fn convert_toleration(toleration: &api::Toleration, interner: &mut Interner) -> Toleration {
    let effect_name = toleration.effect.as_deref().unwrap_or_default();
    Toleration {
        key: non_empty(toleration.key.as_ref(), interner),
        operator: match toleration.operator.as_deref().unwrap_or_default() {
            "" | "Equal" => TolerationOperator::Equal,
            "Exists" => TolerationOperator::Exists,
            _ => TolerationOperator::Never,
        },
        value: symbol(toleration.value.as_ref(), interner),
        effect: (!effect_name.is_empty()).then(|| effect(effect_name, interner)),
    }
}

/// Returns the host ports of containers and restartable init containers (`GetHostPorts`, with `HostPortInfo`'s
/// defaults).
fn host_ports(spec: &api::PodSpec, interner: &mut Interner) -> Box<[HostPort]> {
    let init = spec.init_containers.iter().flatten().filter(|container| is_restartable(container));
    let mut ports = Vec::new();
    for port in init.chain(&spec.containers).flat_map(|container| container.ports.iter().flatten()) {
        let Some(number) = port.host_port.filter(|&number| number > 0) else { continue };
        let ip = port.host_ip.as_deref().filter(|ip| !ip.is_empty()).unwrap_or("0.0.0.0");
        ports.push(HostPort {
            ip: interner.intern(ip),
            protocol: match port.protocol.as_deref().unwrap_or_default() {
                "" | "TCP" => Protocol::Tcp,
                "UDP" => Protocol::Udp,
                "SCTP" => Protocol::Sctp,
                other => Protocol::Other(interner.intern(other)),
            },
            port: number,
        });
    }
    ports.sort_unstable();
    ports.dedup();
    ports.into()
}

fn images(spec: &api::PodSpec, interner: &mut Interner) -> Box<[Symbol]> {
    let containers = spec.init_containers.iter().flatten().chain(&spec.containers);
    let of_containers = containers.map(|container| container.image.as_deref().unwrap_or_default());
    let volumes = spec.volumes.iter().flatten().filter_map(|volume| volume.image.as_ref());
    let of_volumes = volumes.map(|image| image.reference.as_deref().unwrap_or_default());
    of_containers.chain(of_volumes).map(|image| image_symbol(image, interner)).collect()
}

/// Returns the image name in the form that nodes report (`normalizedImageName`).
fn image_symbol(name: &str, interner: &mut Interner) -> Symbol {
    // A colon before the last slash belongs to a port. In a name without colon and slash, both positions are `None`.
    if name.rfind(':') <= name.rfind('/') { interner.intern(&format!("{name}:latest")) } else { interner.intern(name) }
}

#[cfg(test)]
mod tests;
