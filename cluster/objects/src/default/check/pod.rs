//! Validation of pods.

use std::collections::HashSet;

use k8s_openapi::api::core::v1::{Container, Pod, PodSpec, Toleration};
use schedc_core::model::dns_subdomain_problems;

use super::super::ProblemReporter;
use super::{effect, key, labels, metadata, one_of, resources, selectors, sources, storage, syntax, value};

pub(crate) fn pod(pod: &Pod, reporter: &mut ProblemReporter<'_>) {
    metadata(&pod.metadata, reporter);
    let Some(spec) = &pod.spec else { return };
    if spec.containers.is_empty() {
        reporter.report("spec.containers", "is empty; a pod needs a container");
    }
    let mut names = HashSet::new();
    for (path, container) in containers(spec) {
        self::container(&path, container, &mut names, reporter);
    }
    if spec.host_network == Some(true) {
        host_network_ports(spec, reporter);
    }
    resource_claims(spec, reporter);
    resources::amounts("spec.overhead", spec.overhead.as_ref(), reporter);
    resources::pod_level(pod, reporter);
    for (i, toleration) in spec.tolerations.iter().flatten().enumerate() {
        self::toleration(&format!("spec.tolerations[{i}]"), toleration, reporter);
    }
    volumes(spec, reporter);
    preemption_policy("spec.preemptionPolicy", spec.preemption_policy.as_deref(), reporter);
    placement(spec, reporter);
    if let Some(phase) = pod.status.as_ref().and_then(|status| status.phase.as_deref()) {
        one_of("status.phase", phase, &["Pending", "Running", "Succeeded", "Failed", "Unknown"], reporter);
    }
}

/// Returns the containers with their paths.
fn containers(spec: &PodSpec) -> impl Iterator<Item = (String, &Container)> {
    let init = spec.init_containers.iter().flatten().enumerate();
    let main = spec.containers.iter().enumerate();
    init.map(|(i, container)| (format!("spec.initContainers[{i}]"), container))
        .chain(main.map(|(i, container)| (format!("spec.containers[{i}]"), container)))
}

pub(crate) fn preemption_policy(path: &str, policy: Option<&str>, reporter: &mut ProblemReporter<'_>) {
    if let Some(policy) = policy {
        one_of(path, policy, &["PreemptLowerPriority", "Never"], reporter);
    }
}

fn container<'a>(
    path: &str,
    container: &'a Container,
    names: &mut HashSet<&'a str>,
    reporter: &mut ProblemReporter<'_>,
) {
    let name = container.name.as_str();
    if name.is_empty() {
        reporter.report(format!("{path}.name"), "is missing; every container needs a name");
    } else if !names.insert(name) {
        reporter.report(format!("{path}.name"), format!("is `{name}`, but another container has the same name"));
    }
    if let Some(policy) = &container.restart_policy {
        one_of(&format!("{path}.restartPolicy"), policy, &["Always", "OnFailure", "Never"], reporter);
    }
    resources::requirements(&format!("{path}.resources"), container.resources.as_ref(), reporter);
    for (i, port) in container.ports.iter().flatten().enumerate() {
        let path = format!("{path}.ports[{i}]");
        for (field, number) in [("containerPort", Some(port.container_port)), ("hostPort", port.host_port)] {
            // Host port 0 stands for no host port.
            let number = number.filter(|&number| number != 0 || field == "containerPort");
            if let Some(number) = number.filter(|number| !(1..=65535).contains(number)) {
                reporter.report(format!("{path}.{field}"), format!("is {number}, but must be from 1 to 65535"));
            }
        }
        if let Some(protocol) = &port.protocol {
            one_of(&format!("{path}.protocol"), protocol, &["TCP", "UDP", "SCTP"], reporter);
        }
    }
}

/// Checks that host ports of a pod in the host network equal its container ports.
fn host_network_ports(spec: &PodSpec, reporter: &mut ProblemReporter<'_>) {
    for (i, container) in spec.containers.iter().enumerate() {
        for (j, port) in container.ports.iter().flatten().enumerate() {
            if let Some(number) = port.host_port.filter(|&number| number != port.container_port) {
                let message = format!(
                    "is {number}, but with hostNetwork it must equal the containerPort {}; leave it out",
                    port.container_port
                );
                reporter.report(format!("spec.containers[{i}].ports[{j}].hostPort"), message);
            }
        }
    }
}

/// Checks the resource claims of a pod, and the names that its containers use for them.
fn resource_claims(spec: &PodSpec, reporter: &mut ProblemReporter<'_>) {
    let mut names = HashSet::new();
    for (i, claim) in spec.resource_claims.iter().flatten().enumerate() {
        let path = format!("spec.resourceClaims[{i}]");
        if claim.name.is_empty() {
            reporter.report(format!("{path}.name"), "is missing; every claim of a pod needs a name");
        } else if !names.insert(claim.name.as_str()) {
            reporter
                .report(format!("{path}.name"), format!("is `{}`, but another claim has the same name", claim.name));
        }
        if claim.resource_claim_name.is_some() == claim.resource_claim_template_name.is_some() {
            reporter.report(path, "must have either a `resourceClaimName` or a `resourceClaimTemplateName`");
        }
    }
    for (path, container) in containers(spec) {
        let claims = container.resources.iter().flat_map(|resources| resources.claims.iter().flatten());
        for (i, claim) in claims.enumerate().filter(|(_, claim)| !names.contains(claim.name.as_str())) {
            let message = format!("is `{}`, but there is no claim with this name in spec.resourceClaims", claim.name);
            reporter.report(format!("{path}.resources.claims[{i}].name"), message);
        }
    }
}

fn toleration(path: &str, toleration: &Toleration, reporter: &mut ProblemReporter<'_>) {
    let text = |text: &'_ Option<String>| text.clone().unwrap_or_default();
    let (toleration_key, operator) = (text(&toleration.key), text(&toleration.operator));
    let (toleration_value, toleration_effect) = (text(&toleration.value), text(&toleration.effect));
    if !toleration_key.is_empty() {
        key(&format!("{path}.key"), &toleration_key, reporter);
    } else if operator != "Exists" {
        reporter.report(format!("{path}.operator"), "must be `Exists` where there is no key");
    }
    if toleration.toleration_seconds.is_some() && toleration_effect != "NoExecute" {
        reporter.report(format!("{path}.effect"), "must be `NoExecute` where there are tolerationSeconds");
    }
    match operator.as_str() {
        "" | "Equal" => value(&format!("{path}.value"), &toleration_value, reporter),
        "Exists" if !toleration_value.is_empty() => {
            reporter.report(format!("{path}.value"), "must be left out where the operator is `Exists`");
        }
        other => {
            one_of(&format!("{path}.operator"), other, &["Equal", "Exists"], reporter);
        }
    }
    if !toleration_effect.is_empty() {
        effect(&format!("{path}.effect"), &toleration_effect, reporter);
    }
}

fn volumes(spec: &PodSpec, reporter: &mut ProblemReporter<'_>) {
    let mut names = HashSet::new();
    for (i, volume) in spec.volumes.iter().flatten().enumerate() {
        let path = format!("spec.volumes[{i}]");
        if volume.name.is_empty() {
            reporter.report(format!("{path}.name"), "is missing; every volume needs a name");
        } else if !names.insert(&volume.name) {
            reporter
                .report(format!("{path}.name"), format!("is `{}`, but another volume has the same name", volume.name));
        }
        sources::volume(&path, volume, reporter);
        if volume.persistent_volume_claim.as_ref().is_some_and(|claim| claim.claim_name.is_empty()) {
            reporter.report(format!("{path}.persistentVolumeClaim.claimName"), "is missing");
        }
        let Some(ephemeral) = &volume.ephemeral else { continue };
        let path = format!("{path}.ephemeral.volumeClaimTemplate");
        match &ephemeral.volume_claim_template {
            Some(template) => storage::claim_spec(&format!("{path}.spec"), &template.spec, reporter),
            None => reporter.report(path, "is missing"),
        }
    }
}

/// Checks the fields that restrict the nodes of a pod.
fn placement(spec: &PodSpec, reporter: &mut ProblemReporter<'_>) {
    let node = spec.node_name.as_deref().unwrap_or_default();
    if !node.is_empty() {
        syntax("spec.nodeName", node, dns_subdomain_problems(node), reporter);
    }
    labels("spec.nodeSelector", spec.node_selector.as_ref(), reporter);
    let gates = spec.scheduling_gates.as_deref().unwrap_or_default();
    for (i, gate) in gates.iter().enumerate() {
        key(&format!("spec.schedulingGates[{i}].name"), &gate.name, reporter);
        if gates.iter().take(i).any(|other| other.name == gate.name) {
            reporter.report(
                format!("spec.schedulingGates[{i}].name"),
                format!("`{}` is a duplicate; remove one of them", gate.name),
            );
        }
    }
    if !gates.is_empty() && !node.is_empty() {
        reporter.report("spec.nodeName", "must be left out as long as there are schedulingGates");
    }
    let constraints = spec.topology_spread_constraints.as_deref().unwrap_or_default();
    for (i, constraint) in constraints.iter().enumerate() {
        let path = format!("spec.topologySpreadConstraints[{i}]");
        let before = constraints.get(..i).unwrap_or_default();
        selectors::spread_constraint(&path, constraint, before, reporter);
    }
    let Some(affinity) = &spec.affinity else { return };
    if let Some(affinity) = &affinity.node_affinity {
        selectors::node_affinity("spec.affinity.nodeAffinity", affinity, reporter);
    }
    if let Some(affinity) = &affinity.pod_affinity {
        let required = affinity.required_during_scheduling_ignored_during_execution.as_ref();
        let preferred = affinity.preferred_during_scheduling_ignored_during_execution.as_ref();
        selectors::pod_affinity("spec.affinity.podAffinity", required, preferred, reporter);
    }
    if let Some(affinity) = &affinity.pod_anti_affinity {
        let required = affinity.required_during_scheduling_ignored_during_execution.as_ref();
        let preferred = affinity.preferred_during_scheduling_ignored_during_execution.as_ref();
        selectors::pod_affinity("spec.affinity.podAntiAffinity", required, preferred, reporter);
    }
}
