//! Queueing hints: for each event that a plugin registered with a hint, changes that queue a pod and changes
//! that do not.

mod completeness;
mod default_preemption;
mod dynamic_resources;
mod history;
mod inter_pod_affinity;
mod known_misses;
mod node_affinity;
mod node_declared_features;
mod node_ports;
mod node_resources_fit;
mod node_unschedulable;
mod node_volume_limits;
mod pod_topology_spread;
mod scheduling_gates;
mod table;
mod taint_toleration;
mod test_cluster;
mod volume_binding;
mod volume_restrictions;
mod volume_zone;

use std::collections::BTreeMap;

use schedc_core::events::{Action, ClusterEvent, EventResource};
use schedc_core::extension_points::QueueingHint;
use schedc_core::profile::Profile;

use scheduler::all::Pipeline;
use table::{Change, Event, Hints};
use test_cluster::TestCluster;

mod scheduler {
    schedc_macros::profile!("tests/hints/all.toml");
}

const TABLES: [Hints; 15] = [
    scheduling_gates::HINTS,
    node_unschedulable::HINTS,
    taint_toleration::HINTS,
    node_affinity::HINTS,
    node_ports::HINTS,
    node_resources_fit::HINTS,
    volume_restrictions::HINTS,
    node_volume_limits::HINTS,
    volume_binding::HINTS,
    volume_zone::HINTS,
    pod_topology_spread::HINTS,
    inter_pod_affinity::HINTS,
    dynamic_resources::HINTS,
    default_preemption::HINTS,
    node_declared_features::HINTS,
];

/// Returns the possible actions on objects of a kind.
fn actions(resource: EventResource) -> Vec<Action> {
    let particular: &[Action] = match resource {
        EventResource::Node => &[
            Action::UPDATE_NODE_ALLOCATABLE,
            Action::UPDATE_NODE_LABEL,
            Action::UPDATE_NODE_TAINT,
            Action::UPDATE_NODE_CONDITION,
            Action::UPDATE_NODE_ANNOTATION,
            Action::UPDATE_NODE_DECLARED_FEATURE,
        ],
        EventResource::Pod => &[
            Action::UPDATE_POD_LABEL,
            Action::UPDATE_POD_SCALE_DOWN,
            Action::UPDATE_POD_SCHEDULING_GATES_ELIMINATED,
            Action::UPDATE_POD_TOLERATION,
            Action::UPDATE_POD_GENERATED_RESOURCE_CLAIM,
            Action::UPDATE,
        ],
        _ => &[Action::UPDATE],
    };
    [&[Action::ADD, Action::DELETE], particular].concat()
}

/// Returns the events that each plugin registered with a hint.
fn hinted() -> BTreeMap<&'static str, Vec<ClusterEvent>> {
    let mut hinted: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for plugin in Pipeline::PLUGINS {
        for registration in plugin.events.expect("every plugin declares its events").iter().filter(|r| r.has_hint) {
            let ClusterEvent { resource, actions: registered } = registration.event;
            let registered = actions(resource).into_iter().filter(|action| registered.contains(*action));
            // A registration for `UPDATE` covers every kind of update, with one hint for all of them.
            let mut registered: Vec<_> = registered.collect();
            if registered.contains(&Action::UPDATE) {
                registered.retain(|action| *action == Action::UPDATE || !Action::UPDATE.contains(*action));
            }
            let events = registered.into_iter().map(|action| ClusterEvent::new(resource, action));
            hinted.entry(plugin.name).or_default().extend(events);
        }
    }
    hinted
}

fn check(
    plugin: &str,
    event: &Event,
    kind: ClusterEvent,
    change: &Change,
    expected: QueueingHint,
) -> Result<(), String> {
    let what = format!("{plugin}, {}: {change:?}", event.name);
    let mut cluster = TestCluster::new(event.rejected);
    event.others.iter().for_each(|object| cluster.object(object));
    let derived = cluster.apply(kind.resource, change.old, change.new);
    let caused = derived.iter().find(|derived| kind.covers(**derived));
    if caused.is_some() != change.makes_event {
        return Err(format!("{what}\nmakes the events {derived:?}"));
    }
    let event = caused.copied().unwrap_or(kind);
    match cluster.hint(plugin, event) {
        Some(Ok(hint)) if hint == expected => Ok(()),
        hint => Err(format!("{what}\nis {hint:?}")),
    }
}

#[test]
fn hints_match_their_tables() {
    let hinted = hinted();
    let mut wrong = Vec::new();
    for Hints { plugin, events } in &TABLES {
        for event in *events {
            let kind = hinted[plugin].iter().find(|kind| kind.to_string() == event.name);
            let kind = *kind.unwrap_or_else(|| panic!("{plugin} has no hint for {}", event.name));
            let queue = event.queue.iter().map(|change| (change, QueueingHint::Queue));
            let skip = event.skip.iter().map(|change| (change, QueueingHint::Skip));
            wrong.extend(
                queue.chain(skip).filter_map(|(change, expected)| check(plugin, event, kind, change, expected).err()),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A hint with a constant result is unnecessary. Therefore the tables must have both results for each registration. For
/// the registrations of DefaultPreemption, the result Skip is enough.
#[test]
fn every_hinted_event_queues_some_pods_and_skips_others() {
    let has = |plugin: &str, event: &str, changes: fn(&Event) -> &[Change]| {
        let tables = TABLES.iter().filter(|table| table.plugin == plugin);
        let mut events = tables.flat_map(|table| table.events).filter(|of| of.name == event);
        events.any(|of| !changes(of).is_empty())
    };
    let mut missing = Vec::new();
    let mut count = 0;
    for (plugin, events) in hinted() {
        for event in events.iter().map(ClusterEvent::to_string) {
            count += 1;
            // No event queues a pod that DefaultPreemption rejected: the end of the preemption does.
            if plugin != "DefaultPreemption" && !has(plugin, &event, |of| of.queue) {
                missing.push(format!("{plugin} {event}: Queue"));
            }
            if !has(plugin, &event, |of| of.skip) {
                missing.push(format!("{plugin} {event}: Skip"));
            }
        }
    }
    assert_eq!(missing, [""; 0]);
    assert!(count > 50, "{count} kinds of events with a hint, over all plugins");
}
