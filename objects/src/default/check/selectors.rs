//! Selectors: node affinity, pod affinity, topology spread.

use k8s_openapi::api::core::v1::{
    NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodAffinityTerm, TopologySpreadConstraint,
    WeightedPodAffinityTerm,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use schedc_core::model::dns_subdomain_problems;

use super::super::Complaints;
use super::{key, labels, one_of, syntax, value};

pub(super) fn node_affinity(path: &str, affinity: &NodeAffinity, complaints: &mut Complaints<'_>) {
    if let Some(required) = &affinity.required_during_scheduling_ignored_during_execution {
        node_selector(&format!("{path}.requiredDuringSchedulingIgnoredDuringExecution"), required, complaints);
    }
    let preferred = affinity.preferred_during_scheduling_ignored_during_execution.iter().flatten();
    for (i, term) in preferred.enumerate() {
        let path = format!("{path}.preferredDuringSchedulingIgnoredDuringExecution[{i}]");
        weight(&path, term.weight, complaints);
        // An API server lets any value pass here, and scheduling such a pod fails.
        node_selector_term(&format!("{path}.preference"), &term.preference, false, complaints);
    }
}

/// A selector of nodes: alternative terms.
pub(super) fn node_selector(path: &str, selector: &NodeSelector, complaints: &mut Complaints<'_>) {
    let path = format!("{path}.nodeSelectorTerms");
    if selector.node_selector_terms.is_empty() {
        complaints.say(&path, "is empty; give one term at least, or leave the affinity out");
    }
    for (i, term) in selector.node_selector_terms.iter().enumerate() {
        node_selector_term(&format!("{path}[{i}]"), term, true, complaints);
    }
}

fn node_selector_term(path: &str, term: &NodeSelectorTerm, check_values: bool, complaints: &mut Complaints<'_>) {
    for (i, requirement) in term.match_expressions.iter().flatten().enumerate() {
        let path = format!("{path}.matchExpressions[{i}]");
        key(&format!("{path}.key"), &requirement.key, complaints);
        let known = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
        if one_of(&format!("{path}.operator"), &requirement.operator, &known, complaints) {
            number_of_values(&path, requirement, complaints);
        }
        if check_values {
            for (i, text) in requirement.values.iter().flatten().enumerate() {
                value(&format!("{path}.values[{i}]"), text, complaints);
            }
        }
    }
    for (i, requirement) in term.match_fields.iter().flatten().enumerate() {
        let path = format!("{path}.matchFields[{i}]");
        one_of(&format!("{path}.key"), &requirement.key, &["metadata.name"], complaints);
        one_of(&format!("{path}.operator"), &requirement.operator, &["In", "NotIn"], complaints);
        if requirement.values.as_ref().map_or(0, Vec::len) != 1 {
            complaints.say(format!("{path}.values"), "must be a list of one value");
        }
    }
}

fn number_of_values(path: &str, requirement: &NodeSelectorRequirement, complaints: &mut Complaints<'_>) {
    let values = requirement.values.as_deref().unwrap_or_default();
    let operator = &requirement.operator;
    let message = match (operator.as_str(), values) {
        ("In" | "NotIn", []) => format!("must have a value when the operator is {operator}"),
        ("Exists" | "DoesNotExist", [_, ..]) => format!("must be left out when the operator is {operator}"),
        ("Gt" | "Lt", [_]) => return,
        ("Gt" | "Lt", _) => format!("must be a list of one value when the operator is {operator}"),
        _ => return,
    };
    complaints.say(format!("{path}.values"), message);
}

pub(super) fn pod_affinity(
    path: &str,
    required: Option<&Vec<PodAffinityTerm>>,
    preferred: Option<&Vec<WeightedPodAffinityTerm>>,
    complaints: &mut Complaints<'_>,
) {
    for (i, term) in required.into_iter().flatten().enumerate() {
        let path = format!("{path}.requiredDuringSchedulingIgnoredDuringExecution[{i}]");
        pod_affinity_term(&path, term, complaints);
    }
    for (i, weighted) in preferred.into_iter().flatten().enumerate() {
        let path = format!("{path}.preferredDuringSchedulingIgnoredDuringExecution[{i}]");
        weight(&path, weighted.weight, complaints);
        pod_affinity_term(&format!("{path}.podAffinityTerm"), &weighted.pod_affinity_term, complaints);
    }
}

fn pod_affinity_term(path: &str, term: &PodAffinityTerm, complaints: &mut Complaints<'_>) {
    if term.topology_key.is_empty() {
        complaints.say(format!("{path}.topologyKey"), "is missing");
    } else {
        key(&format!("{path}.topologyKey"), &term.topology_key, complaints);
    }
    let selector = term.label_selector.as_ref();
    label_selector(&format!("{path}.labelSelector"), selector, complaints);
    label_selector(&format!("{path}.namespaceSelector"), term.namespace_selector.as_ref(), complaints);
    for (i, namespace) in term.namespaces.iter().flatten().enumerate() {
        syntax(&format!("{path}.namespaces[{i}]"), namespace, dns_subdomain_problems(namespace), complaints);
    }
    let mismatches = term.mismatch_label_keys.as_ref();
    label_keys(&format!("{path}.mismatchLabelKeys"), mismatches, selector, complaints);
    match_label_keys(path, term.match_label_keys.as_ref(), mismatches, selector, complaints);
}

pub(super) fn spread_constraint(
    path: &str,
    constraint: &TopologySpreadConstraint,
    before: &[TopologySpreadConstraint],
    complaints: &mut Complaints<'_>,
) {
    if constraint.max_skew <= 0 {
        complaints.say(format!("{path}.maxSkew"), format!("is {}, but must be 1 or more", constraint.max_skew));
    }
    if constraint.topology_key.is_empty() {
        complaints.say(format!("{path}.topologyKey"), "is missing");
    }
    let action = &constraint.when_unsatisfiable;
    one_of(&format!("{path}.whenUnsatisfiable"), action, &["DoNotSchedule", "ScheduleAnyway"], complaints);
    if before.iter().any(|other| other.topology_key == constraint.topology_key && other.when_unsatisfiable == *action) {
        complaints.say(path, "is a second constraint with this topologyKey and whenUnsatisfiable; remove one of them");
    }
    if let Some(minimum) = constraint.min_domains {
        if minimum <= 0 {
            complaints.say(format!("{path}.minDomains"), format!("is {minimum}, but must be 1 or more"));
        }
        if action != "DoNotSchedule" {
            let message = "can only be used when whenUnsatisfiable is DoNotSchedule";
            complaints.say(format!("{path}.minDomains"), message);
        }
    }
    let policies = [
        ("nodeAffinityPolicy", &constraint.node_affinity_policy),
        ("nodeTaintsPolicy", &constraint.node_taints_policy),
    ];
    for (field, policy) in policies {
        if let Some(policy) = policy {
            one_of(&format!("{path}.{field}"), policy, &["Honor", "Ignore"], complaints);
        }
    }
    label_selector(&format!("{path}.labelSelector"), constraint.label_selector.as_ref(), complaints);
    let keys = constraint.match_label_keys.as_ref();
    match_label_keys(path, keys, None, constraint.label_selector.as_ref(), complaints);
}

/// Keys whose values the pod has itself. They have been merged into the selector, which may not name them otherwise.
fn match_label_keys(
    path: &str,
    keys: Option<&Vec<String>>,
    mismatches: Option<&Vec<String>>,
    selector: Option<&LabelSelector>,
    complaints: &mut Complaints<'_>,
) {
    let path = format!("{path}.matchLabelKeys");
    label_keys(&path, keys, selector, complaints);
    let Some(selector) = selector else { return };
    for (i, text) in keys.into_iter().flatten().enumerate() {
        if mismatches.is_some_and(|mismatches| mismatches.contains(text)) {
            let message = format!("`{text}` is among the mismatchLabelKeys too; remove one of them");
            complaints.say(format!("{path}[{i}]"), message);
            continue;
        }
        let labels = selector.match_labels.iter().flatten().filter(|(key, _)| *key == text).count();
        let expressions = selector.match_expressions.iter().flatten().filter(|e| e.key == *text).count();
        if expressions > 0 && labels + expressions > 1 {
            let message = format!("`{text}` is in the labelSelector too; remove one of them");
            complaints.say(format!("{path}[{i}]"), message);
        }
    }
}

fn label_keys(
    path: &str,
    keys: Option<&Vec<String>>,
    selector: Option<&LabelSelector>,
    complaints: &mut Complaints<'_>,
) {
    for (i, text) in keys.into_iter().flatten().enumerate() {
        key(&format!("{path}[{i}]"), text, complaints);
    }
    if keys.is_some_and(|keys| !keys.is_empty()) && selector.is_none() {
        complaints.say(path, "can only be used with a labelSelector");
    }
}

pub(super) fn label_selector(path: &str, selector: Option<&LabelSelector>, complaints: &mut Complaints<'_>) {
    let Some(selector) = selector else { return };
    labels(&format!("{path}.matchLabels"), selector.match_labels.as_ref(), complaints);
    for (i, requirement) in selector.match_expressions.iter().flatten().enumerate() {
        let path = format!("{path}.matchExpressions[{i}]");
        key(&format!("{path}.key"), &requirement.key, complaints);
        let (operator, values) = (&requirement.operator, requirement.values.as_deref().unwrap_or_default());
        if one_of(&format!("{path}.operator"), operator, &["In", "NotIn", "Exists", "DoesNotExist"], complaints) {
            let wants_values = operator == "In" || operator == "NotIn";
            if wants_values && values.is_empty() {
                complaints.say(format!("{path}.values"), format!("must have a value when the operator is {operator}"));
            } else if !wants_values && !values.is_empty() {
                let message = format!("must be left out when the operator is {operator}");
                complaints.say(format!("{path}.values"), message);
            }
        }
        for (i, text) in values.iter().enumerate() {
            value(&format!("{path}.values[{i}]"), text, complaints);
        }
    }
}

fn weight(path: &str, weight: i32, complaints: &mut Complaints<'_>) {
    if !(1..=100).contains(&weight) {
        complaints.say(format!("{path}.weight"), format!("is {weight}, but must be from 1 to 100"));
    }
}
