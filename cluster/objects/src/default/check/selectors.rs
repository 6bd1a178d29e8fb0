//! Validation of selectors: node affinity, pod affinity, topology spread.

use k8s_openapi::api::core::v1::{
    NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodAffinityTerm, TopologySpreadConstraint,
    WeightedPodAffinityTerm,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use schedc_core::model::dns_subdomain_problems;

use super::super::ProblemReporter;
use super::{key, labels, one_of, syntax, value};

pub(super) fn node_affinity(path: &str, affinity: &NodeAffinity, reporter: &mut ProblemReporter<'_>) {
    if let Some(required) = &affinity.required_during_scheduling_ignored_during_execution {
        node_selector(&format!("{path}.requiredDuringSchedulingIgnoredDuringExecution"), required, reporter);
    }
    let preferred = affinity.preferred_during_scheduling_ignored_during_execution.iter().flatten();
    for (i, term) in preferred.enumerate() {
        let path = format!("{path}.preferredDuringSchedulingIgnoredDuringExecution[{i}]");
        weight(&path, term.weight, reporter);
        // An API server does not check the values of preferred terms. A pod with invalid values cannot be scheduled.
        node_selector_term(&format!("{path}.preference"), &term.preference, false, reporter);
    }
}

/// Checks a node selector, which is a list of alternative terms.
pub(super) fn node_selector(path: &str, selector: &NodeSelector, reporter: &mut ProblemReporter<'_>) {
    let path = format!("{path}.nodeSelectorTerms");
    if selector.node_selector_terms.is_empty() {
        reporter.report(&path, "is empty; add a term, or remove the whole selector");
    }
    for (i, term) in selector.node_selector_terms.iter().enumerate() {
        node_selector_term(&format!("{path}[{i}]"), term, true, reporter);
    }
}

fn node_selector_term(path: &str, term: &NodeSelectorTerm, check_values: bool, reporter: &mut ProblemReporter<'_>) {
    for (i, requirement) in term.match_expressions.iter().flatten().enumerate() {
        let path = format!("{path}.matchExpressions[{i}]");
        key(&format!("{path}.key"), &requirement.key, reporter);
        let known = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
        if one_of(&format!("{path}.operator"), &requirement.operator, &known, reporter) {
            number_of_values(&path, requirement, reporter);
        }
        if check_values {
            for (i, text) in requirement.values.iter().flatten().enumerate() {
                value(&format!("{path}.values[{i}]"), text, reporter);
            }
        }
    }
    for (i, requirement) in term.match_fields.iter().flatten().enumerate() {
        let path = format!("{path}.matchFields[{i}]");
        one_of(&format!("{path}.key"), &requirement.key, &["metadata.name"], reporter);
        one_of(&format!("{path}.operator"), &requirement.operator, &["In", "NotIn"], reporter);
        if requirement.values.as_ref().map_or(0, Vec::len) != 1 {
            reporter.report(format!("{path}.values"), "must be a list of one value");
        }
    }
}

fn number_of_values(path: &str, requirement: &NodeSelectorRequirement, reporter: &mut ProblemReporter<'_>) {
    let values = requirement.values.as_deref().unwrap_or_default();
    let operator = &requirement.operator;
    let message = match (operator.as_str(), values) {
        ("In" | "NotIn", []) => format!("must have a value when the operator is {operator}"),
        ("Exists" | "DoesNotExist", [_, ..]) => format!("must be left out when the operator is {operator}"),
        ("Gt" | "Lt", [_]) => return,
        ("Gt" | "Lt", _) => format!("must be a list of one value when the operator is {operator}"),
        _ => return,
    };
    reporter.report(format!("{path}.values"), message);
}

pub(super) fn pod_affinity(
    path: &str,
    required: Option<&Vec<PodAffinityTerm>>,
    preferred: Option<&Vec<WeightedPodAffinityTerm>>,
    reporter: &mut ProblemReporter<'_>,
) {
    for (i, term) in required.into_iter().flatten().enumerate() {
        let path = format!("{path}.requiredDuringSchedulingIgnoredDuringExecution[{i}]");
        pod_affinity_term(&path, term, reporter);
    }
    for (i, weighted) in preferred.into_iter().flatten().enumerate() {
        let path = format!("{path}.preferredDuringSchedulingIgnoredDuringExecution[{i}]");
        weight(&path, weighted.weight, reporter);
        pod_affinity_term(&format!("{path}.podAffinityTerm"), &weighted.pod_affinity_term, reporter);
    }
}

fn pod_affinity_term(path: &str, term: &PodAffinityTerm, reporter: &mut ProblemReporter<'_>) {
    if term.topology_key.is_empty() {
        reporter.report(format!("{path}.topologyKey"), "is missing");
    } else {
        key(&format!("{path}.topologyKey"), &term.topology_key, reporter);
    }
    let selector = term.label_selector.as_ref();
    label_selector(&format!("{path}.labelSelector"), selector, reporter);
    label_selector(&format!("{path}.namespaceSelector"), term.namespace_selector.as_ref(), reporter);
    for (i, namespace) in term.namespaces.iter().flatten().enumerate() {
        syntax(&format!("{path}.namespaces[{i}]"), namespace, dns_subdomain_problems(namespace), reporter);
    }
    let mismatches = term.mismatch_label_keys.as_ref();
    label_keys(&format!("{path}.mismatchLabelKeys"), mismatches, selector, reporter);
    match_label_keys(path, term.match_label_keys.as_ref(), mismatches, selector, reporter);
}

pub(super) fn spread_constraint(
    path: &str,
    constraint: &TopologySpreadConstraint,
    before: &[TopologySpreadConstraint],
    reporter: &mut ProblemReporter<'_>,
) {
    if constraint.max_skew <= 0 {
        reporter.report(format!("{path}.maxSkew"), format!("is {}, but must be 1 or more", constraint.max_skew));
    }
    if constraint.topology_key.is_empty() {
        reporter.report(format!("{path}.topologyKey"), "is missing");
    }
    let action = &constraint.when_unsatisfiable;
    one_of(&format!("{path}.whenUnsatisfiable"), action, &["DoNotSchedule", "ScheduleAnyway"], reporter);
    if before.iter().any(|other| other.topology_key == constraint.topology_key && other.when_unsatisfiable == *action) {
        reporter.report(path, "is a second constraint with this topologyKey and whenUnsatisfiable; remove one of them");
    }
    if let Some(minimum) = constraint.min_domains {
        if minimum <= 0 {
            reporter.report(format!("{path}.minDomains"), format!("is {minimum}, but must be 1 or more"));
        }
        if action != "DoNotSchedule" {
            let message = "can only be used when whenUnsatisfiable is DoNotSchedule";
            reporter.report(format!("{path}.minDomains"), message);
        }
    }
    let policies = [
        ("nodeAffinityPolicy", &constraint.node_affinity_policy),
        ("nodeTaintsPolicy", &constraint.node_taints_policy),
    ];
    for (field, policy) in policies {
        if let Some(policy) = policy {
            one_of(&format!("{path}.{field}"), policy, &["Honor", "Ignore"], reporter);
        }
    }
    label_selector(&format!("{path}.labelSelector"), constraint.label_selector.as_ref(), reporter);
    let keys = constraint.match_label_keys.as_ref();
    match_label_keys(path, keys, None, constraint.label_selector.as_ref(), reporter);
}

/// Checks the `matchLabelKeys`. For each key, the API server adds a requirement with the value of the pod's label to
/// the selector. The selector must not have other requirements for these keys.
fn match_label_keys(
    path: &str,
    keys: Option<&Vec<String>>,
    mismatches: Option<&Vec<String>>,
    selector: Option<&LabelSelector>,
    reporter: &mut ProblemReporter<'_>,
) {
    let path = format!("{path}.matchLabelKeys");
    label_keys(&path, keys, selector, reporter);
    let Some(selector) = selector else { return };
    for (i, text) in keys.into_iter().flatten().enumerate() {
        if mismatches.is_some_and(|mismatches| mismatches.contains(text)) {
            let message = format!("`{text}` is among the mismatchLabelKeys too; remove one of them");
            reporter.report(format!("{path}[{i}]"), message);
            continue;
        }
        let labels = selector.match_labels.iter().flatten().filter(|(key, _)| *key == text).count();
        let expressions = selector.match_expressions.iter().flatten().filter(|e| e.key == *text).count();
        if expressions > 0 && labels + expressions > 1 {
            let message = format!("`{text}` is in the labelSelector too; remove one of them");
            reporter.report(format!("{path}[{i}]"), message);
        }
    }
}

fn label_keys(
    path: &str,
    keys: Option<&Vec<String>>,
    selector: Option<&LabelSelector>,
    reporter: &mut ProblemReporter<'_>,
) {
    for (i, text) in keys.into_iter().flatten().enumerate() {
        key(&format!("{path}[{i}]"), text, reporter);
    }
    if keys.is_some_and(|keys| !keys.is_empty()) && selector.is_none() {
        reporter.report(path, "can only be used with a labelSelector");
    }
}

pub(super) fn label_selector(path: &str, selector: Option<&LabelSelector>, reporter: &mut ProblemReporter<'_>) {
    let Some(selector) = selector else { return };
    labels(&format!("{path}.matchLabels"), selector.match_labels.as_ref(), reporter);
    for (i, requirement) in selector.match_expressions.iter().flatten().enumerate() {
        let path = format!("{path}.matchExpressions[{i}]");
        key(&format!("{path}.key"), &requirement.key, reporter);
        let (operator, values) = (&requirement.operator, requirement.values.as_deref().unwrap_or_default());
        if one_of(&format!("{path}.operator"), operator, &["In", "NotIn", "Exists", "DoesNotExist"], reporter) {
            let needs_values = operator == "In" || operator == "NotIn";
            if needs_values && values.is_empty() {
                reporter.report(format!("{path}.values"), format!("must have a value when the operator is {operator}"));
            } else if !needs_values && !values.is_empty() {
                let message = format!("must be left out when the operator is {operator}");
                reporter.report(format!("{path}.values"), message);
            }
        }
        for (i, text) in values.iter().enumerate() {
            value(&format!("{path}.values[{i}]"), text, reporter);
        }
    }
}

fn weight(path: &str, weight: i32, reporter: &mut ProblemReporter<'_>) {
    if !(1..=100).contains(&weight) {
        reporter.report(format!("{path}.weight"), format!("is {weight}, but must be from 1 to 100"));
    }
}
