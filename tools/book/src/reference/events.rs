//! Events that requeue the pods that a plugin rejected.

use schedc_codegen::catalog::PluginEntry;
use schedc_codegen::plan::Point;
use schedc_core::events::Action;
use schedc_core::extension_points::Registration;
use schedc_core::hints::PluginEvents;

macro_rules! events {
    ($($plugin:ident),* $(,)?) => { &[$(PluginEvents::of::<schedc_plugins::$plugin>()),*] };
}

/// In-tree plugins with event registrations.
const PLUGINS: &[PluginEvents] = events![
    DefaultPreemption,
    DynamicResources,
    InterPodAffinity,
    NodeAffinity,
    NodeDeclaredFeatures,
    NodeName,
    NodePorts,
    NodeResourcesFit,
    NodeUnschedulable,
    NodeVolumeLimits,
    PodTopologySpread,
    SchedulingGates,
    TaintToleration,
    VolumeBinding,
    VolumeRestrictions,
    VolumeZone,
];

/// Extension points whose rejection keeps a pod waiting for events.
const REJECTING: [Point; 5] = [Point::PreEnqueue, Point::PreFilter, Point::Filter, Point::Reserve, Point::Permit];

/// kube-scheduler's names of actions, with their meaning.
const ACTIONS: [(&str, &str); 13] = [
    ("Add", "added"),
    ("Delete", "deleted"),
    ("UpdateNodeAllocatable", "allocatable changes"),
    ("UpdateNodeLabel", "labels change"),
    ("UpdateNodeTaint", "taints change"),
    ("UpdateNodeCondition", "conditions change"),
    ("UpdateNodeAnnotation", "annotations change"),
    ("UpdateNodeDeclaredFeature", "declared features change"),
    ("UpdatePodLabel", "labels change"),
    ("UpdatePodScaleDown", "requests decrease"),
    ("UpdatePodSchedulingGatesEliminated", "scheduling gates removed"),
    ("UpdatePodToleration", "tolerations change"),
    ("UpdatePodGeneratedResourceClaim", "generated claims change"),
];

/// Describes the events of a plugin: first those that always requeue, then those with a queueing hint.
pub(super) fn waking(plugin: &PluginEntry) -> Result<String, String> {
    if !REJECTING.into_iter().any(|point| plugin.implements(point)) {
        return Ok("it rejects no pods".to_owned());
    }
    if !plugin.enqueue_extensions {
        return Ok("every event".to_owned());
    }
    let listed = PLUGINS.iter().find(|events| events.name == plugin.name);
    let Some(events) = listed.and_then(|listed| listed.events) else {
        return Err(format!("{}: add it to PLUGINS in tools/book/src/reference/events.rs", plugin.name));
    };
    let described =
        |has_hint| -> Vec<String> { events.iter().filter(|event| event.has_hint == has_hint).map(describe).collect() };
    let (always, hinted) = (described(false).join("; "), described(true).join("; "));
    Ok(match (always.is_empty(), hinted.is_empty()) {
        (true, true) => "no event".to_owned(),
        (false, true) => always,
        (true, false) => format!("if its hint requests an attempt: {hinted}"),
        (false, false) => format!("{always}; if its hint requests an attempt: {hinted}"),
    })
}

fn describe(registration: &Registration) -> String {
    let actions = registration.event.actions;
    let has = |name: &str| Action::from_name(name).is_some_and(|action| actions.contains(action));
    let is_all_changes = actions.contains(Action::UPDATE);
    let named = ACTIONS.iter().filter(|(name, _)| has(name) && !(is_all_changes && name.starts_with("Update")));
    let mut words: Vec<&str> = named.map(|(_, words)| *words).collect();
    if is_all_changes {
        words.push("changed");
    }
    let resource = registration.event.resource.name();
    let resource = resource.rsplit('/').next().unwrap_or(resource);
    format!("{resource} {}", words.join(", "))
}
