//! EnqueueExtensions: which events are for whom, and whether they wake a pod.

use schedc_core::events::{Action, ClusterEvent, EventObject, EventResource};
use schedc_core::handle::Handle;
use schedc_core::hints::{Interested, PluginSet};
use schedc_core::profile::Profile;
use schedc_core::queue::Place;
use schedc_objects::testing;

use crate::framework::plugins::stage::notes;
use crate::framework::world::{World, uid};

mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/waking.toml");
}
use scheduler::{Profiles, waking::Pipeline};

const NODE_ADDED: ClusterEvent = ClusterEvent::new(EventResource::Node, Action::ADD);
const NODE_TAINTED: ClusterEvent = ClusterEvent::new(EventResource::Node, Action::UPDATE_NODE_TAINT);
const NODE_LABELLED: ClusterEvent = ClusterEvent::new(EventResource::Node, Action::UPDATE_NODE_LABEL);
const POD_DELETED: ClusterEvent = ClusterEvent::new(EventResource::AssignedPod, Action::DELETE);

/// Names of the plugins that an event always wakes, and of those that are asked.
fn interested(event: ClusterEvent) -> [Vec<&'static str>; 2] {
    let Interested { always, asked } = Interested::of(Pipeline::PLUGINS, event);
    [always, asked].map(|set| set.iter().map(|at| Pipeline::PLUGINS[at].name).collect())
}

#[test]
fn a_plugin_that_does_not_tell_hears_of_everything_and_one_that_rejects_nothing_of_nothing() {
    assert_eq!(interested(NODE_ADDED), [vec!["Slots"], vec!["Sleeper"]]);
    assert_eq!(interested(NODE_TAINTED), [vec!["Sleeper", "Slots"], vec![]]);
    assert_eq!(interested(NODE_LABELLED), [vec!["Slots"], vec![]]);
    assert_eq!(interested(POD_DELETED), [vec!["Sleeper", "Slots"], vec![]]);
}

#[test]
fn an_event_wakes_pods_by_the_plugins_that_rejected_them() {
    let mut world = World::<Profiles>::new();
    let profile = Pipeline::new(&Handle::default()).ok().unwrap();
    let pod = world.pod("p", "");
    for (node, event, rejectors, wakes) in [
        ("alarm", NODE_ADDED, &["Sleeper"][..], true),
        ("quiet", NODE_ADDED, &["Sleeper"], false),
        ("broken-alarm", NODE_ADDED, &["Sleeper"], true),
        ("quiet", NODE_ADDED, &["Sleeper", "Slots"], true),
        ("quiet", NODE_ADDED, &["Slots"], true),
        ("alarm", NODE_ADDED, &[], false),
        ("alarm", NODE_ADDED, &["Priority", "SomethingElse"], false),
        ("quiet", NODE_TAINTED, &["Sleeper"], true),
        ("alarm", NODE_LABELLED, &["Sleeper"], false),
    ] {
        world.node(node, "");
        let index = world
            .embedded
            .scheduler
            .cache
            .base
            .node(world.embedded.scheduler.cache.base.interner.get(node).unwrap())
            .unwrap();
        let cache = &world.embedded.scheduler.cache;
        let object = EventObject::Node(None, cache.base.infos()[index.get()].node.as_deref());
        let rejected_by = PluginSet::of(Pipeline::PLUGINS, rejectors.iter().copied());
        let interested = Interested::of(Pipeline::PLUGINS, event);
        let woken = interested.wakes(&profile, rejected_by, &pod, object, cache);
        assert_eq!(woken, wakes, "{node} {event} {rejectors:?}");
    }
}

#[test]
fn the_cache_knows_of_a_change_before_pods_are_woken_for_it() {
    let mut world = World::<Profiles>::new();
    world.node("n", "");
    world.pending("web", "");
    assert_eq!(world.run(), ["web waits: 0/1 nodes are available: 1 pod sleeps."]);
    for (node, place) in [("quiet", Place::Unschedulable), ("alarm", Place::Backoff)] {
        notes();
        world.node(node, "");
        assert_eq!(notes(), [format!("Sleeper hears of {node}, which is there")]);
        assert_eq!(world.embedded.scheduler.place(&uid("web")), Some(place));
    }
}

#[test]
fn what_a_node_says_of_itself_wakes_those_who_wait_for_it_and_is_nothing_to_columns() {
    for (metadata, status, place) in [
        ("", "", Place::Unschedulable),
        ("managedFields: [{manager: kubelet}],", "", Place::Unschedulable),
        (
            "",
            "conditions: [{type: Ready, status: 'True', lastHeartbeatTime: '2026-01-01T00:00:09Z'}],",
            Place::Unschedulable,
        ),
        ("", "conditions: [{type: Ready, status: 'False'}],", Place::Unschedulable),
        ("annotations: {a: b},", "", Place::Backoff),
        ("annotations: {a: b},", "conditions: [{type: Ready, status: 'False'}],", Place::Backoff),
    ] {
        let mut world = World::<Profiles>::new();
        let tell = |world: &mut World<Profiles>, metadata: &str, status: &str| {
            let manifest =
                format!("{{metadata: {{{metadata} name: node}}, status: {{{status} allocatable: {{pods: '10'}}}}}}");
            let node = testing::node(&manifest, world.embedded.interner());
            world.embedded.node(node);
        };
        tell(&mut world, "", "conditions: [{type: Ready, status: 'True'}],");
        world.pending("web", "");
        assert_eq!(world.run(), ["web waits: 0/1 nodes are available: 1 pod sleeps."]);
        let logged = world.embedded.scheduler.cache.log.end();
        let status = if status.is_empty() { "conditions: [{type: Ready, status: 'True'}]," } else { status };
        tell(&mut world, metadata, status);
        let scheduler = &world.embedded.scheduler;
        assert_eq!(scheduler.place(&uid("web")), Some(place), "{metadata} {status}");
        assert_eq!(scheduler.cache.log.end(), logged, "{metadata} {status}");
    }
}
