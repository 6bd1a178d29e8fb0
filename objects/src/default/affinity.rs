//! `matchLabelKeys` and `mismatchLabelKeys` of pod affinity, which an API server turns into label selectors.
//!
//! Those of topology spread constraints stay: PodTopologySpread looks at them itself.

use k8s_openapi::api::core::v1::{PodAffinityTerm, PodSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelectorRequirement;

pub(super) fn merge_label_keys<'a>(spec: &mut PodSpec, label: impl Fn(&str) -> Option<&'a String>) {
    let Some(affinity) = &mut spec.affinity else { return };
    let (mut required, mut preferred) = (Vec::new(), Vec::new());
    if let Some(affinity) = &mut affinity.pod_affinity {
        required.extend(affinity.required_during_scheduling_ignored_during_execution.iter_mut().flatten());
        preferred.extend(affinity.preferred_during_scheduling_ignored_during_execution.iter_mut().flatten());
    }
    if let Some(affinity) = &mut affinity.pod_anti_affinity {
        required.extend(affinity.required_during_scheduling_ignored_during_execution.iter_mut().flatten());
        preferred.extend(affinity.preferred_during_scheduling_ignored_during_execution.iter_mut().flatten());
    }
    for term in required.into_iter().chain(preferred.into_iter().map(|weighted| &mut weighted.pod_affinity_term)) {
        merge(term, &label);
    }
}

/// A term without a selector matches nothing, and stays so.
fn merge<'a>(term: &mut PodAffinityTerm, label: impl Fn(&str) -> Option<&'a String>) {
    let Some(selector) = &mut term.label_selector else { return };
    let wanted = [("In", &term.match_label_keys), ("NotIn", &term.mismatch_label_keys)];
    for (operator, keys) in wanted {
        for key in keys.iter().flatten() {
            let Some(value) = label(key) else { continue };
            let requirement = LabelSelectorRequirement {
                key: key.clone(),
                operator: operator.to_owned(),
                values: Some(vec![value.clone()]),
            };
            let expressions = selector.match_expressions.get_or_insert_default();
            // An object from a cluster has it already.
            if !expressions.contains(&requirement) {
                expressions.push(requirement);
            }
        }
    }
}
