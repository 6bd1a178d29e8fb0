//! Fields of node affinity, pod affinity and topology spread constraints.

use k8s_openapi::api::core::v1 as api;

use super::object::selected_fields;

selected_fields! {
    api::Affinity {
        node_affinity: "nodeAffinity" = 1,
        pod_affinity: "podAffinity" = 2,
        pod_anti_affinity: "podAntiAffinity" = 3,
    }
    api::NodeAffinity {
        required_during_scheduling_ignored_during_execution: "requiredDuringSchedulingIgnoredDuringExecution" = 1,
        preferred_during_scheduling_ignored_during_execution: "preferredDuringSchedulingIgnoredDuringExecution" = 2,
    }
    api::PodAffinity {
        required_during_scheduling_ignored_during_execution: "requiredDuringSchedulingIgnoredDuringExecution" = 1,
        preferred_during_scheduling_ignored_during_execution: "preferredDuringSchedulingIgnoredDuringExecution" = 2,
    }
    api::PodAntiAffinity {
        required_during_scheduling_ignored_during_execution: "requiredDuringSchedulingIgnoredDuringExecution" = 1,
        preferred_during_scheduling_ignored_during_execution: "preferredDuringSchedulingIgnoredDuringExecution" = 2,
    }
    api::NodeSelector { node_selector_terms: "nodeSelectorTerms" = 1 }
    api::NodeSelectorTerm { match_expressions: "matchExpressions" = 1, match_fields: "matchFields" = 2 }
    api::NodeSelectorRequirement { key = 1, operator = 2, values = 3 }
    api::PreferredSchedulingTerm { weight = 1, preference = 2 }
    api::PodAffinityTerm {
        namespaces = 2,
        label_selector: "labelSelector" = 1,
        namespace_selector: "namespaceSelector" = 4,
        topology_key: "topologyKey" = 3,
    }
    api::WeightedPodAffinityTerm { weight = 1, pod_affinity_term: "podAffinityTerm" = 2 }
    api::TopologySpreadConstraint {
        label_selector: "labelSelector" = 4,
        match_label_keys: "matchLabelKeys" = 8,
        max_skew: "maxSkew" = 1,
        min_domains: "minDomains" as Pointer = 5,
        node_affinity_policy: "nodeAffinityPolicy" as Pointer = 6,
        node_taints_policy: "nodeTaintsPolicy" as Pointer = 7,
        topology_key: "topologyKey" = 2,
        when_unsatisfiable: "whenUnsatisfiable" = 3,
    }
}
