//! kube-scheduler 1.36: its plugins, their extension points, and its default profile.

use schedc_profile_rules::point::Point;
use schedc_profile_rules::point::Point::{
    Bind, Filter, PostFilter, PreBind, PreEnqueue, PreFilter, PreScore, QueueSort, Reserve, Score,
};

/// A plugin of kube-scheduler's default profile.
#[derive(Debug)]
pub(crate) struct Plugin {
    pub(crate) name: &'static str,
    /// The extension points that it implements.
    pub(crate) points: &'static [Point],
    /// The weight in the default profile; 0 for a plugin without weight.
    pub(crate) default_weight: i64,
}

/// The default profile's `multiPoint` list in order, with default feature gates (`getDefaultPlugins` in
/// pkg/scheduler/apis/config/v1/default_plugins.go).
pub(crate) const DEFAULT_PLUGINS: [Plugin; 20] = [
    plugin("SchedulingGates", &[PreEnqueue], 0),
    plugin("PrioritySort", &[QueueSort], 0),
    plugin("NodeUnschedulable", &[Filter], 0),
    plugin("NodeName", &[Filter], 0),
    plugin("TaintToleration", &[Filter, PreScore, Score], 3),
    plugin("NodeAffinity", &[PreFilter, Filter, PreScore, Score], 2),
    plugin("NodePorts", &[PreFilter, Filter], 0),
    plugin("NodeResourcesFit", &[PreFilter, Filter, PreScore, Score], 1),
    plugin("VolumeRestrictions", &[PreFilter, Filter], 0),
    plugin("NodeVolumeLimits", &[PreFilter, Filter], 0),
    plugin("VolumeBinding", &[PreFilter, Filter, PreScore, Score, Reserve, PreBind], 0),
    plugin("VolumeZone", &[PreFilter, Filter], 0),
    plugin("PodTopologySpread", &[PreFilter, Filter, PreScore, Score], 2),
    plugin("InterPodAffinity", &[PreFilter, Filter, PreScore, Score], 2),
    plugin("DynamicResources", &[PreEnqueue, PreFilter, Filter, PostFilter, Score, Reserve, PreBind], 2),
    plugin("DefaultPreemption", &[PreEnqueue, PostFilter], 0),
    plugin("NodeResourcesBalancedAllocation", &[PreScore, Score], 1),
    plugin("ImageLocality", &[Score], 1),
    plugin("DefaultBinder", &[Bind], 0),
    plugin("NodeDeclaredFeatures", &[PreFilter, Filter], 0),
];

const fn plugin(name: &'static str, points: &'static [Point], default_weight: i64) -> Plugin {
    Plugin { name, points, default_weight }
}

/// Returns the plugin with this name.
pub(crate) fn find(name: &str) -> Option<&'static Plugin> {
    DEFAULT_PLUGINS.iter().find(|plugin| plugin.name == name)
}

/// Plugins of alpha features; no default profile contains them.
pub(crate) const ALPHA_PLUGINS: [&str; 3] = ["GangScheduling", "TopologyPlacementGenerator", "PodGroupPodsCount"];

/// Removed plugins of kube-scheduler, each with its replacement.
const REMOVED_PLUGINS: [(&str, &str); 13] = [
    ("AzureDiskLimits", "NodeVolumeLimits"),
    ("CinderLimits", "NodeVolumeLimits"),
    ("EBSLimits", "NodeVolumeLimits"),
    ("GCEPDLimits", "NodeVolumeLimits"),
    ("NodeLabel", "NodeAffinity"),
    ("NodePreferAvoidPods", "TaintToleration"),
    ("NodeResourcesLeastAllocated", "NodeResourcesFit"),
    ("NodeResourcesMostAllocated", "NodeResourcesFit"),
    ("RequestedToCapacityRatio", "NodeResourcesFit"),
    ("SelectorSpread", "PodTopologySpread"),
    ("DefaultPodTopologySpread", "PodTopologySpread"),
    ("EvenPodsSpread", "PodTopologySpread"),
    ("ServiceAffinity", "PodTopologySpread"),
];

/// Returns the replacement of a removed plugin.
pub(crate) fn successor(name: &str) -> Option<&'static str> {
    REMOVED_PLUGINS.iter().find(|(removed, _)| *removed == name).map(|(_, successor)| *successor)
}

/// Returns the key of an extension point in a KubeSchedulerConfiguration: `preFilter`.
pub(crate) fn key(point: Point) -> &'static str {
    match point {
        PreEnqueue => "preEnqueue",
        QueueSort => "queueSort",
        PreFilter => "preFilter",
        Filter => "filter",
        PostFilter => "postFilter",
        PreScore => "preScore",
        Score => "score",
        Reserve => "reserve",
        Point::Permit => "permit",
        PreBind => "preBind",
        Bind => "bind",
        Point::PostBind => "postBind",
    }
}
