//! Rules that depend on a pod, its node and the pods there, but not on other nodes.

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Effect, HostPort, Node, Resources};

use super::cluster::{NodePods, Placement};
use super::rule::Rule;
use super::selectors::{node_affinity_matches, tolerates, tolerates_taints};

impl NodePods {
    /// Checks whether a pod may be bound to the node in its current state.
    pub(super) fn check(&self, placement: Placement<'_>, violations: &mut Vec<(Rule, String)>) {
        let Some(node) = &self.node else { return };
        let Placement { pod, names, .. } = placement;
        let spec = &*pod.spec;
        let mut report_violation = |rule: Rule, what: &str| violations.push((rule, what.to_owned()));
        if !spec.scheduling_gates.is_empty() {
            report_violation(Rule::SchedulingGates, "the pod has scheduling gates");
        }
        // kube-scheduler treats an unschedulable node like a node with this taint.
        let unschedulable_taint = names.get("node.kubernetes.io/unschedulable").unwrap_or(Symbol::EMPTY);
        if node.unschedulable && !tolerates(&spec.tolerations, unschedulable_taint, Symbol::EMPTY, Effect::NoSchedule) {
            report_violation(Rule::NodeUnschedulable, "the node is unschedulable");
        }
        if !tolerates_taints(node, &spec.tolerations) {
            report_violation(Rule::TaintToleration, "the node has a taint that the pod does not tolerate");
        }
        if !node_affinity_matches(&spec.node_selector, spec.required_node_affinity.get(), node, names) {
            report_violation(Rule::NodeAffinity, "the pod does not select the node");
        }
        if spec.required_features.iter().any(|feature| !node.declared_features.contains(feature)) {
            report_violation(Rule::NodeDeclaredFeatures, "the node lacks a feature that the pod uses");
        }
        for port in &spec.host_ports {
            if self.ports.iter().any(|taken| conflicts(port, taken, names)) {
                report_violation(Rule::NodePorts, &format!("port {} is in use", port.port));
            }
        }
        self.check_resources(placement, node, violations);
    }

    fn check_resources(&self, placement: Placement<'_>, node: &Node, violations: &mut Vec<(Rule, String)>) {
        let Placement { pod, cluster, names, .. } = placement;
        let mut check = |name: &str, requested: i64, used: i64, allocatable: i64| {
            if requested > 0 && i128::from(requested) + i128::from(used) > i128::from(allocatable) {
                let what = format!("{name}: {requested} requested, {used} of {allocatable} used");
                violations.push((Rule::NodeResourcesFit, what));
            }
        };
        let (requested, used, allocatable) = (&pod.spec.requests, &self.used, &node.allocatable);
        check("pods", 1, self.pods, node.allowed_pods);
        check("milli-cpu", requested.milli_cpu, used.milli_cpu, allocatable.milli_cpu);
        check("memory", requested.memory, used.memory, allocatable.memory);
        check("ephemeral-storage", requested.ephemeral_storage, used.ephemeral_storage, allocatable.ephemeral_storage);
        for &(name, amount) in &requested.scalars {
            let amount_in = |resources: &Resources| resources.scalar(name).unwrap_or_default();
            // An extended resource that the node does not have may be served by devices. It is not checked then.
            if amount_in(allocatable) != 0 || !cluster.is_backed(name) {
                check(names.resolve(name), amount, amount_in(used), amount_in(allocatable));
            }
        }
    }
}

fn conflicts(one: &HostPort, other: &HostPort, names: &Interner) -> bool {
    let any = names.get("0.0.0.0");
    one.port == other.port
        && one.protocol == other.protocol
        && (one.ip == other.ip || Some(one.ip) == any || Some(other.ip) == any)
}
