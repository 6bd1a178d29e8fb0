//! Replacements of plugins that kube-scheduler has removed.

/// Replacement of a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Successor {
    /// This plugin, at the same points.
    Plugin(&'static str),
    /// NodeResourcesFit with this scoring strategy.
    Strategy(&'static str),
    /// NodeAffinity, with an equivalent `addedAffinity`.
    AddedAffinity,
    /// There is no replacement. The text recommends an alternative.
    Nothing(&'static str),
}

/// Returns the replacement of a removed plugin.
pub(super) fn of(name: &str) -> Option<Successor> {
    Some(match name {
        "AzureDiskLimits" | "CinderLimits" | "EBSLimits" | "GCEPDLimits" => Successor::Plugin("NodeVolumeLimits"),
        "SelectorSpread" | "DefaultPodTopologySpread" => Successor::Plugin("PodTopologySpread"),
        "NodeResourcesLeastAllocated" => Successor::Strategy("LeastAllocated"),
        "NodeResourcesMostAllocated" => Successor::Strategy("MostAllocated"),
        "RequestedToCapacityRatio" => Successor::Strategy("RequestedToCapacityRatio"),
        "NodeLabel" => Successor::AddedAffinity,
        "NodePreferAvoidPods" => {
            Successor::Nothing("if pods should avoid a node, give it a taint with the effect PreferNoSchedule")
        }
        "NodeResourceLimits" => Successor::Nothing("kube-scheduler no longer reads the limits of pods"),
        "ServiceAffinity" => Successor::Nothing(
            "use `podAffinity` over the label to keep the pods of a service together, or \
             `topologySpreadConstraints` to spread them",
        ),
        _ => return None,
    })
}

/// Returns whether a plugin spread the pods of services and controllers before PodTopologySpread did.
pub(super) fn spreads_selected(name: &str) -> bool {
    of(name) == Some(Successor::Plugin("PodTopologySpread"))
}
