//! Where pods and volumes want to be.

use k8s_openapi::api::core::v1 as api;

use super::object::look_at;

look_at! {
    api::Affinity { node_affinity: "nodeAffinity", pod_affinity: "podAffinity", pod_anti_affinity: "podAntiAffinity" }
    api::NodeAffinity {
        required_during_scheduling_ignored_during_execution: "requiredDuringSchedulingIgnoredDuringExecution",
        preferred_during_scheduling_ignored_during_execution: "preferredDuringSchedulingIgnoredDuringExecution",
    }
    api::PodAffinity {
        required_during_scheduling_ignored_during_execution: "requiredDuringSchedulingIgnoredDuringExecution",
        preferred_during_scheduling_ignored_during_execution: "preferredDuringSchedulingIgnoredDuringExecution",
    }
    api::PodAntiAffinity {
        required_during_scheduling_ignored_during_execution: "requiredDuringSchedulingIgnoredDuringExecution",
        preferred_during_scheduling_ignored_during_execution: "preferredDuringSchedulingIgnoredDuringExecution",
    }
    api::NodeSelector { node_selector_terms: "nodeSelectorTerms" }
    api::NodeSelectorTerm { match_expressions: "matchExpressions", match_fields: "matchFields" }
    api::NodeSelectorRequirement { key, operator, values }
    api::PreferredSchedulingTerm { weight, preference }
    api::PodAffinityTerm {
        namespaces,
        label_selector: "labelSelector",
        namespace_selector: "namespaceSelector",
        topology_key: "topologyKey",
    }
    api::WeightedPodAffinityTerm { weight, pod_affinity_term: "podAffinityTerm" }
    api::TopologySpreadConstraint {
        label_selector: "labelSelector",
        match_label_keys: "matchLabelKeys",
        max_skew: "maxSkew",
        min_domains: "minDomains",
        node_affinity_policy: "nodeAffinityPolicy",
        node_taints_policy: "nodeTaintsPolicy",
        topology_key: "topologyKey",
        when_unsatisfiable: "whenUnsatisfiable",
    }
}
