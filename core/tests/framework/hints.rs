//! EnqueueExtensions: the plugins that are interested in an event, and their hints.

use schedc_core::events::{Action, ClusterEvent, EventObject, EventResource};
use schedc_core::handle::Handle;
use schedc_core::hints::{InterestedPlugins, PluginSet};
use schedc_core::profile::Profile;
use schedc_core::queue::QueuePlace;
use schedc_objects::testing;

use crate::framework::plugins::stage::notes;
use crate::framework::test_cluster::{TestCluster, uid};

mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/waking.toml");
}
use scheduler::{Profiles, waking::Pipeline};

const NODE_ADDED: ClusterEvent = ClusterEvent::new(EventResource::Node, Action::ADD);
const NODE_TAINTED: ClusterEvent = ClusterEvent::new(EventResource::Node, Action::UPDATE_NODE_TAINT);
const NODE_LABELLED: ClusterEvent = ClusterEvent::new(EventResource::Node, Action::UPDATE_NODE_LABEL);
const POD_DELETED: ClusterEvent = ClusterEvent::new(EventResource::AssignedPod, Action::DELETE);

/// Returns the names of two groups of plugins: an event always causes an attempt, or a hint decides.
fn interested(event: ClusterEvent) -> [Vec<&'static str>; 2] {
    let InterestedPlugins { always, hinted } = InterestedPlugins::of(Pipeline::PLUGINS, event);
    [always, hinted].map(|set| set.iter().map(|at| Pipeline::PLUGINS[at].name).collect())
}

#[test]
fn plugins_without_registrations_get_all_events_and_plugins_that_cannot_reject_get_none() {
    assert_eq!(interested(NODE_ADDED), [vec!["Slots"], vec!["Sleeper"]]);
    assert_eq!(interested(NODE_TAINTED), [vec!["Sleeper", "Slots"], vec![]]);
    assert_eq!(interested(NODE_LABELLED), [vec!["Slots"], vec![]]);
    assert_eq!(interested(POD_DELETED), [vec!["Sleeper", "Slots"], vec![]]);
}

#[test]
fn an_event_requeues_pods_by_their_rejectors() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    let profile = Pipeline::new(&Handle::default()).ok().unwrap();
    let pod = test_cluster.pod("p", "");
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
        test_cluster.node(node, "");
        let index = test_cluster
            .cluster
            .scheduler
            .cache
            .base
            .node(test_cluster.cluster.scheduler.cache.base.interner.get(node).unwrap())
            .unwrap();
        let cache = &test_cluster.cluster.scheduler.cache;
        let object = EventObject::Node(None, cache.base.infos()[index.get()].node.as_deref());
        let rejected_by = PluginSet::of(Pipeline::PLUGINS, rejectors.iter().copied());
        let interested = InterestedPlugins::of(Pipeline::PLUGINS, event);
        let woken = interested.wakes(&profile, rejected_by, &pod, object, cache);
        assert_eq!(woken, wakes, "{node} {event} {rejectors:?}");
    }
}

#[test]
fn the_cache_changes_before_pods_are_woken() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n", "");
    test_cluster.pending("web", "");
    assert_eq!(test_cluster.run(), ["web waits: 0/1 nodes are available: 1 pod sleeps."]);
    for (node, place) in [("quiet", QueuePlace::Unschedulable), ("alarm", QueuePlace::Backoff)] {
        notes();
        test_cluster.node(node, "");
        assert_eq!(notes(), [format!("Sleeper receives {node}, which exists")]);
        assert_eq!(test_cluster.cluster.scheduler.place(&uid("web")), Some(place));
    }
}

#[test]
fn annotation_updates_requeue_pods_although_no_column_changes() {
    for (metadata, status, place) in [
        ("", "", QueuePlace::Unschedulable),
        ("managedFields: [{manager: kubelet}],", "", QueuePlace::Unschedulable),
        (
            "",
            "conditions: [{type: Ready, status: 'True', lastHeartbeatTime: '2026-01-01T00:00:09Z'}],",
            QueuePlace::Unschedulable,
        ),
        ("", "conditions: [{type: Ready, status: 'False'}],", QueuePlace::Unschedulable),
        ("annotations: {a: b},", "", QueuePlace::Backoff),
        ("annotations: {a: b},", "conditions: [{type: Ready, status: 'False'}],", QueuePlace::Backoff),
    ] {
        let mut test_cluster = TestCluster::<Profiles>::new();
        let update = |test_cluster: &mut TestCluster<Profiles>, metadata: &str, status: &str| {
            let manifest =
                format!("{{metadata: {{{metadata} name: node}}, status: {{{status} allocatable: {{pods: '10'}}}}}}");
            let node = testing::node(&manifest, test_cluster.cluster.interner());
            test_cluster.cluster.node(node);
        };
        update(&mut test_cluster, "", "conditions: [{type: Ready, status: 'True'}],");
        test_cluster.pending("web", "");
        assert_eq!(test_cluster.run(), ["web waits: 0/1 nodes are available: 1 pod sleeps."]);
        let logged = test_cluster.cluster.scheduler.cache.log.end();
        let status = if status.is_empty() { "conditions: [{type: Ready, status: 'True'}]," } else { status };
        update(&mut test_cluster, metadata, status);
        let scheduler = &test_cluster.cluster.scheduler;
        assert_eq!(scheduler.place(&uid("web")), Some(place), "{metadata} {status}");
        assert_eq!(scheduler.cache.log.end(), logged, "{metadata} {status}");
    }
}
