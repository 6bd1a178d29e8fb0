//! Conversion of topology spread constraints.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as api;
use schedc_core::intern::Interner;
use schedc_core::model::{InclusionPolicy, LabelSelector, TopologySpreadConstraint, UnsatisfiableAction};

use super::label_selector::label_selector;

/// Converts the constraints of a pod with these labels. Missing fields get PodTopologySpread's defaults
/// (`filterTopologySpreadConstraints`).
pub(super) fn topology_spread(
    constraints: Option<&Vec<api::TopologySpreadConstraint>>,
    labels: Option<&BTreeMap<String, String>>,
    interner: &mut Interner,
) -> Box<[TopologySpreadConstraint]> {
    let convert = |constraint: &api::TopologySpreadConstraint| TopologySpreadConstraint {
        max_skew: constraint.max_skew,
        topology_key: interner.intern(&constraint.topology_key),
        when_unsatisfiable: match constraint.when_unsatisfiable.as_str() {
            "DoNotSchedule" => UnsatisfiableAction::DoNotSchedule,
            "ScheduleAnyway" => UnsatisfiableAction::ScheduleAnyway,
            _ => UnsatisfiableAction::Other,
        },
        selector: match label_selector(constraint.label_selector.as_ref(), interner) {
            Ok(Some(selector)) => Ok(Some(with_pod_labels(selector, constraint, labels, interner))),
            Ok(None) => Ok(None),
            Err(error) => Err(error.into()),
        },
        min_domains: constraint.min_domains.unwrap_or(1),
        node_affinity_policy: policy(constraint.node_affinity_policy.as_ref(), InclusionPolicy::Honor),
        node_taints_policy: policy(constraint.node_taints_policy.as_ref(), InclusionPolicy::Ignore),
    };
    constraints.into_iter().flatten().map(convert).collect()
}

/// Adds the pod's labels whose keys are in `matchLabelKeys`.
fn with_pod_labels(
    selector: LabelSelector,
    constraint: &api::TopologySpreadConstraint,
    labels: Option<&BTreeMap<String, String>>,
    interner: &mut Interner,
) -> LabelSelector {
    let keys = constraint.match_label_keys.iter().flatten();
    let own: BTreeMap<_, _> = keys.filter_map(|key| labels?.get_key_value(key)).collect();
    let own: Vec<_> = own.into_iter().map(|(key, value)| (interner.intern(key), interner.intern(value))).collect();
    selector.and(&LabelSelector::from_labels(&own))
}

fn policy(name: Option<&String>, absent: InclusionPolicy) -> InclusionPolicy {
    match name.map(String::as_str) {
        None => absent,
        Some("Honor") => InclusionPolicy::Honor,
        Some(_) => InclusionPolicy::Ignore,
    }
}

#[cfg(test)]
mod tests {
    use schedc_core::model::LabelsExt;

    use super::*;
    use crate::testing::pod;

    #[test]
    fn constraints_have_defaults_and_explicit_values() {
        let mut interner = Interner::default();
        let pod = pod(
            "
            spec:
              topologySpreadConstraints:
              - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}
              - {maxSkew: 2, topologyKey: host, whenUnsatisfiable: ScheduleAnyway, minDomains: 3, labelSelector: {},
                 nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor}
              - {maxSkew: 2, topologyKey: host, whenUnsatisfiable: Never, labelSelector: {matchExpressions: [
                 {key: a, operator: Near}]}}
            ",
            &mut interner,
        );
        let [first, second, third] = &*pod.spec.spread else { panic!("three constraints") };
        assert_eq!((first.when_unsatisfiable, &first.selector), (UnsatisfiableAction::DoNotSchedule, &Ok(None)));
        assert_eq!((first.max_skew, first.min_domains, Some(first.topology_key)), (1, 1, interner.get("zone")));
        let policies =
            |constraint: &TopologySpreadConstraint| (constraint.node_affinity_policy, constraint.node_taints_policy);
        assert_eq!(policies(first), (InclusionPolicy::Honor, InclusionPolicy::Ignore));
        assert_eq!(policies(second), (InclusionPolicy::Ignore, InclusionPolicy::Honor));
        assert_eq!((second.min_domains, &second.selector), (3, &Ok(Some(LabelSelector::default()))));
        assert_eq!(third.when_unsatisfiable, UnsatisfiableAction::Other);
        assert_eq!(third.selector, Err(r#""Near" is not a valid label selector operator"#.into()));
    }

    #[test]
    fn match_label_keys_select_the_labels_of_the_pod() {
        let mut interner = Interner::default();
        let mut selector = |text: &str| {
            let pod = pod(
                &format!(
                    "{{metadata: {{labels: {{app: web, hash: x1}}}}, spec: {{topologySpreadConstraints: [
                    {{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, {text}}}]}}}}"
                ),
                &mut interner,
            );
            let selector = pod.spec.spread[0].selector.clone().unwrap();
            let labels = selector.as_ref().map(LabelSelector::labels);
            labels.map(|labels| ["app", "hash", "other"].map(|key| labels.value(interner.intern(key)).is_some()))
        };
        let app = "labelSelector: {matchLabels: {app: web}}";
        assert_eq!(selector(&format!("{app}, matchLabelKeys: [hash, other]")), Some([true, true, false]));
        assert_eq!(selector("labelSelector: {}, matchLabelKeys: [hash]"), Some([false, true, false]));
        assert_eq!(selector("matchLabelKeys: [hash]"), None, "a missing selector stays missing");
    }
}
