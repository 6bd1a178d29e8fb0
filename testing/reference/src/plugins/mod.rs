//! Plugins, one file each.

mod dynamic_resources;
mod image_locality;
mod inter_pod_affinity;
mod node_affinity;
mod node_declared_features;
mod node_name;
mod node_ports;
mod node_resources_balanced_allocation;
mod node_resources_fit;
mod node_unschedulable;
mod node_volume_limits;
mod pod_topology_spread;
mod taint_toleration;
mod volume_binding;
mod volume_restrictions;
mod volume_zone;

use crate::plugin::Plugin;

static ALL: [&dyn Plugin; 16] = [
    &dynamic_resources::DynamicResources,
    &image_locality::ImageLocality,
    &inter_pod_affinity::InterPodAffinity,
    &node_affinity::NodeAffinity,
    &node_declared_features::NodeDeclaredFeatures,
    &node_name::NodeName,
    &node_ports::NodePorts,
    &node_resources_balanced_allocation::NodeResourcesBalancedAllocation,
    &node_resources_fit::NodeResourcesFit,
    &node_unschedulable::NodeUnschedulable,
    &node_volume_limits::NodeVolumeLimits,
    &pod_topology_spread::PodTopologySpread,
    &taint_toleration::TaintToleration,
    &volume_binding::VolumeBinding,
    &volume_restrictions::VolumeRestrictions,
    &volume_zone::VolumeZone,
];

/// Returns all plugins.
pub(crate) fn all() -> impl Iterator<Item = &'static dyn Plugin> {
    ALL.iter().copied()
}

/// Returns the plugin with this name.
pub(crate) fn named(name: &str) -> Option<&'static dyn Plugin> {
    all().find(|plugin| plugin.name() == name)
}
