//! Former predicates and priorities, as in kube-scheduler's `LegacyRegistry`.

/// Predicates, each with the plugins that replace it, in the order in which predicates ran.
pub(super) const FILTERS: [(&str, &[&str]); 19] = [
    ("CheckNodeUnschedulable", &["NodeUnschedulable"]),
    ("GeneralPredicates", &["NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"]),
    ("HostName", &["NodeName"]),
    ("PodFitsHostPorts", &["NodePorts"]),
    ("MatchNodeSelector", &["NodeAffinity"]),
    ("PodFitsResources", &["NodeResourcesFit"]),
    ("NoDiskConflict", &["VolumeRestrictions"]),
    ("PodToleratesNodeTaints", &["TaintToleration"]),
    ("CheckNodeLabelPresence", &["NodeLabel"]),
    ("CheckServiceAffinity", &["ServiceAffinity"]),
    ("MaxEBSVolumeCount", &["EBSLimits"]),
    ("MaxGCEPDVolumeCount", &["GCEPDLimits"]),
    ("MaxCSIVolumeCountPred", &["NodeVolumeLimits"]),
    ("MaxAzureDiskVolumeCount", &["AzureDiskLimits"]),
    ("MaxCinderVolumeCount", &["CinderLimits"]),
    ("CheckVolumeBinding", &["VolumeBinding"]),
    ("NoVolumeZoneConflict", &["VolumeZone"]),
    ("EvenPodsSpread", &["PodTopologySpread"]),
    ("MatchInterPodAffinity", &["InterPodAffinity"]),
];

/// Predicates that ran regardless of the policy.
pub(super) const MANDATORY: [&str; 2] = ["CheckNodeUnschedulable", "PodToleratesNodeTaints"];

/// Predicates that run if a policy has no key `predicates`.
pub(super) const DEFAULT_PREDICATES: [&str; 12] = [
    "CheckNodeUnschedulable",
    "GeneralPredicates",
    "NoDiskConflict",
    "PodToleratesNodeTaints",
    "MaxEBSVolumeCount",
    "MaxGCEPDVolumeCount",
    "MaxCSIVolumeCountPred",
    "MaxAzureDiskVolumeCount",
    "CheckVolumeBinding",
    "NoVolumeZoneConflict",
    "EvenPodsSpread",
    "MatchInterPodAffinity",
];

/// Priorities, each with the plugin that replaces it, and its weight if the policy has no key `priorities` (0: it does
/// not run then). They are in the order in which they ran.
pub(super) const SCORES: [(&str, &str, i64); 13] = [
    ("BalancedResourceAllocation", "NodeResourcesBalancedAllocation", 1),
    ("EvenPodsSpreadPriority", "PodTopologySpread", 2),
    ("ImageLocalityPriority", "ImageLocality", 1),
    ("InterPodAffinityPriority", "InterPodAffinity", 1),
    ("LeastRequestedPriority", "NodeResourcesLeastAllocated", 1),
    ("MostRequestedPriority", "NodeResourcesMostAllocated", 0),
    ("NodeAffinityPriority", "NodeAffinity", 1),
    ("NodeLabel", "NodeLabel", 0),
    ("NodePreferAvoidPodsPriority", "NodePreferAvoidPods", 10_000),
    ("RequestedToCapacityRatio", "RequestedToCapacityRatio", 0),
    ("SelectorSpreadPriority", "SelectorSpread", 1),
    ("ServiceAffinity", "ServiceAffinity", 0),
    ("TaintTolerationPriority", "TaintToleration", 1),
];

/// Either the predicates or the priorities.
pub(super) struct Kind {
    /// Their singular, for messages.
    pub(super) subject: &'static str,
    /// Their key in a policy.
    pub(super) key: &'static str,
    /// The fields of each predicate or priority.
    pub(super) fields: &'static [&'static str],
    /// A former and a later name of one of them.
    pub(super) renamed: (&'static str, &'static str),
    /// Functions that taints replaced before plugins replaced the others.
    pub(super) became_taints: &'static [&'static str],
    /// Functions with the same result for every node.
    pub(super) without_effect: &'static [&'static str],
    /// Functions that a policy can add under custom names, by their argument.
    pub(super) custom: &'static [CustomFunction],
}

/// A function that a policy adds.
pub(super) struct CustomFunction {
    /// Key of the argument.
    pub(super) argument: &'static str,
    /// The registered function.
    pub(super) function: &'static str,
    pub(super) target: ArgumentTarget,
}

/// Target of an argument.
pub(super) enum ArgumentTarget {
    /// Labels that nodes should have, or should not have. `key` is their key in the argument; `present` and `absent`
    /// are their keys in NodeLabel's arguments.
    Labels { key: &'static str, present: &'static str, absent: &'static str },
    /// The plugin's arguments.
    Args,
    /// No current plugin has the same function.
    Nothing,
}

pub(super) static PREDICATES: Kind = Kind {
    subject: "predicate",
    key: "predicates",
    fields: &["name", "argument"],
    renamed: ("PodFitsPorts", "PodFitsHostPorts"),
    became_taints: &["CheckNodeCondition", "CheckNodeMemoryPressure", "CheckNodeDiskPressure", "CheckNodePIDPressure"],
    without_effect: &[],
    custom: &[
        CustomFunction {
            argument: "serviceAffinity",
            function: "CheckServiceAffinity",
            target: ArgumentTarget::Nothing,
        },
        CustomFunction {
            argument: "labelsPresence",
            function: "CheckNodeLabelPresence",
            target: ArgumentTarget::Labels { key: "labels", present: "presentLabels", absent: "absentLabels" },
        },
    ],
};

pub(super) static PRIORITIES: Kind = Kind {
    subject: "priority",
    key: "priorities",
    fields: &["name", "weight", "argument"],
    renamed: ("ServiceSpreadingPriority", "SelectorSpreadPriority"),
    became_taints: &[],
    without_effect: &["EqualPriority"],
    custom: &[
        CustomFunction {
            argument: "serviceAntiAffinity",
            function: "ServiceAffinity",
            target: ArgumentTarget::Nothing,
        },
        CustomFunction {
            argument: "labelPreference",
            function: "NodeLabel",
            target: ArgumentTarget::Labels {
                key: "label",
                present: "presentLabelsPreference",
                absent: "absentLabelsPreference",
            },
        },
        CustomFunction {
            argument: "requestedToCapacityRatioArguments",
            function: "RequestedToCapacityRatio",
            target: ArgumentTarget::Args,
        },
    ],
};

impl Kind {
    /// Returns whether each function has a weight.
    pub(super) fn is_weighted(&self) -> bool {
        self.fields.contains(&"weight")
    }

    /// Returns all registered names. A function with another name needs an argument that defines it.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        let (filters, scores) = (FILTERS.iter().map(|(name, _)| *name), SCORES.iter().map(|(name, ..)| *name));
        let is_weighted = self.is_weighted();
        filters.filter(move |_| !is_weighted).chain(scores.filter(move |_| is_weighted))
    }
}
