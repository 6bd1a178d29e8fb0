//! The predicates and priorities that there were. What each one meant is in kube-scheduler's `LegacyRegistry`.

/// A predicate and the plugins that filter as it did, in the order in which predicates ran.
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

/// Predicates that were there whatever a policy said.
pub(super) const MANDATORY: [&str; 2] = ["CheckNodeUnschedulable", "PodToleratesNodeTaints"];

/// Predicates of a policy that says nothing of them.
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

/// A priority, the plugin that scores as it did, and its weight in a policy that says nothing of priorities. They are in
/// the order in which they ran.
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

/// Predicates, or priorities.
pub(super) struct Kind {
    /// One of them in words.
    pub(super) subject: &'static str,
    /// The list of them in a policy.
    pub(super) key: &'static str,
    /// What each has in it.
    pub(super) fields: &'static [&'static str],
    /// What one of them was called before, and later.
    pub(super) renamed: (&'static str, &'static str),
    /// Those that became taints before they were plugins.
    pub(super) became_taints: &'static [&'static str],
    /// Those that said the same of every node.
    pub(super) without_effect: &'static [&'static str],
    /// Those that a policy may add under names of its own, by what their argument says.
    pub(super) custom: &'static [CustomFunction],
}

/// A function that a policy adds.
pub(super) struct CustomFunction {
    /// What the argument says.
    pub(super) argument: &'static str,
    /// The registered function that it is.
    pub(super) function: &'static str,
    pub(super) summary: ArgumentTarget,
}

/// What becomes of an argument.
pub(super) enum ArgumentTarget {
    /// Labels under this key that nodes should have or not have, and what these are called among NodeLabel's arguments.
    Labels { key: &'static str, present: &'static str, absent: &'static str },
    /// The plugin's arguments.
    Args,
    /// No plugin of today does what it did.
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
            summary: ArgumentTarget::Nothing,
        },
        CustomFunction {
            argument: "labelsPresence",
            function: "CheckNodeLabelPresence",
            summary: ArgumentTarget::Labels { key: "labels", present: "presentLabels", absent: "absentLabels" },
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
            summary: ArgumentTarget::Nothing,
        },
        CustomFunction {
            argument: "labelPreference",
            function: "NodeLabel",
            summary: ArgumentTarget::Labels {
                key: "label",
                present: "presentLabelsPreference",
                absent: "absentLabelsPreference",
            },
        },
        CustomFunction {
            argument: "requestedToCapacityRatioArguments",
            function: "RequestedToCapacityRatio",
            summary: ArgumentTarget::Args,
        },
    ],
};

impl Kind {
    /// Whether each has a weight.
    pub(super) fn is_weighted(&self) -> bool {
        self.fields.contains(&"weight")
    }

    /// Those that need no argument.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        let (filters, scores) = (FILTERS.iter().map(|(name, _)| *name), SCORES.iter().map(|(name, ..)| *name));
        let is_weighted = self.is_weighted();
        filters.filter(move |_| !is_weighted).chain(scores.filter(move |_| is_weighted))
    }
}
