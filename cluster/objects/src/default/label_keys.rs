//! An API server merges `matchLabelKeys` and `mismatchLabelKeys` into label selectors: for pod affinity, and since 1.34
//! also for topology spread constraints (`MatchLabelKeysInPodTopologySpreadSelectorMerge`).

use k8s_openapi::api::core::v1::{PodAffinityTerm, PodSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};

/// Merges the keys of a pod into its selectors. `label` returns the value of the pod's label with a key.
pub(super) fn merge<'a>(spec: &mut PodSpec, label: impl Fn(&str) -> Option<&'a String>) {
    for term in affinity_terms(spec) {
        let selector = term.label_selector.as_mut();
        merge_into(selector, "In", term.match_label_keys.as_ref(), &label);
        let selector = term.label_selector.as_mut();
        merge_into(selector, "NotIn", term.mismatch_label_keys.as_ref(), &label);
    }
    for constraint in spec.topology_spread_constraints.iter_mut().flatten() {
        merge_into(constraint.label_selector.as_mut(), "In", constraint.match_label_keys.as_ref(), &label);
    }
}

fn affinity_terms(spec: &mut PodSpec) -> impl Iterator<Item = &mut PodAffinityTerm> {
    let (mut required, mut preferred) = (Vec::new(), Vec::new());
    if let Some(affinity) = &mut spec.affinity {
        if let Some(affinity) = &mut affinity.pod_affinity {
            required.extend(affinity.required_during_scheduling_ignored_during_execution.iter_mut().flatten());
            preferred.extend(affinity.preferred_during_scheduling_ignored_during_execution.iter_mut().flatten());
        }
        if let Some(affinity) = &mut affinity.pod_anti_affinity {
            required.extend(affinity.required_during_scheduling_ignored_during_execution.iter_mut().flatten());
            preferred.extend(affinity.preferred_during_scheduling_ignored_during_execution.iter_mut().flatten());
        }
    }
    required.into_iter().chain(preferred.into_iter().map(|weighted| &mut weighted.pod_affinity_term))
}

/// Merges the keys into a selector. A missing selector matches nothing and stays missing.
fn merge_into<'a>(
    selector: Option<&mut LabelSelector>,
    operator: &str,
    keys: Option<&Vec<String>>,
    label: impl Fn(&str) -> Option<&'a String>,
) {
    let Some(selector) = selector else { return };
    for key in keys.into_iter().flatten() {
        let Some(value) = label(key) else { continue };
        let requirement = LabelSelectorRequirement {
            key: key.clone(),
            operator: operator.to_owned(),
            values: Some(vec![value.clone()]),
        };
        let expressions = selector.match_expressions.get_or_insert_default();
        // The selector of an object from a cluster has the requirement already.
        if !expressions.contains(&requirement) {
            expressions.push(requirement);
        }
    }
}
