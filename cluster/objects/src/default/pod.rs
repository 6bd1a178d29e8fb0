//! Defaults of pods.

use k8s_openapi::api::core::v1::{Container, Pod, PodSpec, PodStatus, Toleration};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Text;

use super::{ResourceList, label_keys};
use crate::convert::{container_amounts, is_pod_level};

pub(super) fn complete(pod: &mut Pod) {
    let spec = pod.spec.get_or_insert_default();
    let host_network = spec.host_network.unwrap_or(false);
    for container in spec.init_containers.iter_mut().flatten().chain(&mut spec.containers) {
        complete_container(container, host_network);
    }
    pod_level_resources(pod);
    let spec = pod.spec.get_or_insert_default();
    let scheduler_name = spec.scheduler_name.get_or_insert_default();
    if scheduler_name.is_empty() {
        scheduler_name.push_str("default-scheduler");
    }
    tolerate_failing_nodes(spec);
    let labels = pod.metadata.labels.as_ref();
    label_keys::merge(spec, |key| labels.and_then(|labels| labels.get(key)));
    let phase = pod.status.get_or_insert_with(PodStatus::default).phase.get_or_insert_default();
    if phase.is_empty() {
        phase.push_str("Pending");
    }
}

fn complete_container(container: &mut Container, host_network: bool) {
    if let Some(resources) = &mut container.resources
        && let Some(limits) = &resources.limits
    {
        let requests = resources.requests.get_or_insert_default();
        for (name, limit) in limits {
            requests.entry(name.clone()).or_insert_with(|| limit.clone());
        }
    }
    for port in container.ports.iter_mut().flatten() {
        let protocol = port.protocol.get_or_insert_default();
        if protocol.is_empty() {
            protocol.push_str("TCP");
        }
        if host_network && port.host_port.unwrap_or(0) == 0 {
            port.host_port = Some(port.container_port);
        }
    }
}

/// Sets missing pod-level limits of huge pages to the sum of the containers' limits (`defaultHugePagePodLimits`). If
/// the pod then has pod-level limits, sets missing pod-level requests: cpu and memory to the sum of the containers'
/// requests, and requests that are still missing to the pod-level limits (`defaultPodRequests`).
fn pod_level_resources(pod: &mut Pod) {
    let Some(resources) = pod.spec.as_ref().and_then(|spec| spec.resources.as_ref()) else { return };
    let mut requests: ResourceList = resources.requests.clone().unwrap_or_default();
    let mut limits: ResourceList = resources.limits.clone().unwrap_or_default();
    if requests.is_empty() && limits.is_empty() {
        return;
    }
    for (name, amount) in container_amounts(pod, |resources| resources.limits.as_ref()) {
        if name.starts_with("hugepages-") && !requests.contains_key(name) {
            limits.entry(name.to_owned()).or_insert_with(|| Text(amount.to_string()));
        }
    }
    if !limits.is_empty() {
        for (name, amount) in container_amounts(pod, |resources| resources.requests.as_ref()) {
            if name == "cpu" || name == "memory" {
                requests.entry(name.to_owned()).or_insert_with(|| Text(amount.to_string()));
            }
        }
        for (name, limit) in limits.iter().filter(|(name, _)| is_pod_level(name)) {
            requests.entry(name.clone()).or_insert_with(|| limit.clone());
        }
    }
    let resources = pod.spec.get_or_insert_default().resources.get_or_insert_default();
    resources.limits = (!limits.is_empty()).then_some(limits);
    resources.requests = (!requests.is_empty()).then_some(requests);
}

/// Tolerates not-ready and unreachable nodes for five minutes, as the DefaultTolerationSeconds admission plugin does.
fn tolerate_failing_nodes(spec: &mut PodSpec) {
    let given = spec.tolerations.as_deref().unwrap_or_default();
    let missing: Vec<_> = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
        .into_iter()
        .filter(|key| {
            !given.iter().any(|toleration| {
                let own = toleration.key.as_deref().unwrap_or_default();
                let effect = toleration.effect.as_deref().unwrap_or_default();
                (own.is_empty() || own == *key) && (effect.is_empty() || effect == "NoExecute")
            })
        })
        .map(|key| Toleration {
            key: Some(key.to_owned()),
            operator: Some("Exists".to_owned()),
            effect: Some("NoExecute".to_owned()),
            toleration_seconds: Some(300),
            ..Toleration::default()
        })
        .collect();
    if !missing.is_empty() {
        spec.tolerations.get_or_insert_default().extend(missing);
    }
}
