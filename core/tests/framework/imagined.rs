//! A node as it would be with other pods.

use std::sync::Arc;

use schedc_core::engine::Engine;
use schedc_core::imagined::Imagined;
use schedc_core::model::{NodeIndex, Pod};
use schedc_core::profile::{PreFilterRun, Profile};
use schedc_core::verdict::Verdict;

use crate::framework::world::World;

mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/filters.toml");
}
use scheduler::{Profiles, filters::Pipeline};

struct Cluster {
    world: World<Profiles>,
    node: NodeIndex,
    blue: Arc<Pod>,
    red: Arc<Pod>,
}

/// A node for two pods, on which a blue and a red one run.
fn cluster() -> Cluster {
    let mut world = World::new();
    let node = world.node_for(2, "n", "");
    let blue = world.running("blue", "team: blue", "n");
    let red = world.running("red", "team: red", "n");
    Cluster { world, node, blue, red }
}

fn reasons(answer: Result<(), Verdict>) -> Vec<String> {
    answer.err().map(|verdict| verdict.reasons.into_iter().map(Into::into).collect()).unwrap_or_default()
}

#[test]
fn a_pod_can_be_tried_on_a_node_with_other_pods() {
    let Cluster { mut world, node, blue, red } = cluster();
    let engine = Engine::<Pipeline>::new(&Default::default()).unwrap();
    let pod = world.pod("web", "team: blue");
    let more = world.pod("more", "");
    let mut ask = |imagine: fn(&mut Imagined<'_, Pipeline>, [&Arc<Pod>; 3])| {
        let cache = &mut world.embedded.scheduler.cache;
        reasons(engine.run_filter_plugins(&pod, cache, node, |imagined| imagine(imagined, [&blue, &red, &more])))
    };
    assert_eq!(ask(|_, _| ()), ["node(s) had a pod of the team"]);
    assert_eq!(ask(|node, [blue, ..]| node.remove_pod(blue)), [""; 0]);
    assert_eq!(ask(|node, [_, red, _]| node.remove_pod(red)), ["node(s) had a pod of the team"]);
    assert_eq!(
        ask(|node, [blue, _, more]| {
            node.remove_pod(blue);
            node.add_pod(more);
        }),
        ["node(s) were full"]
    );
    assert_eq!(
        ask(|node, [blue, red, _]| {
            node.remove_pod(blue);
            node.remove_pod(red);
            node.add_pod(blue);
        }),
        ["node(s) had a pod of the team"]
    );
}

#[test]
fn a_pod_that_pre_filter_rejects_is_not_tried_on_any_node() {
    let Cluster { mut world, node, .. } = cluster();
    let engine = Engine::<Pipeline>::new(&Default::default()).unwrap();
    for (labels, reason) in [
        ("only-a: never", "not ever"),
        ("only-a: later", "not now"),
        ("only-a: elsewhere", "node(s) didn't satisfy plugin PinnedA"),
        ("only-a: 'n', only-b: elsewhere", "node(s) didn't satisfy plugin(s) [PinnedA PinnedB] simultaneously"),
    ] {
        let pod = world.pod("web", labels);
        let answer = engine.run_filter_plugins(&pod, &mut world.embedded.scheduler.cache, node, |_| ());
        assert_eq!(reasons(answer), [reason]);
    }
}

#[test]
fn all_that_speaks_against_a_node_can_be_asked() {
    let Cluster { mut world, node, .. } = cluster();
    let engine = Engine::<Pipeline>::new(&Default::default()).unwrap();
    let pod = world.pod("web", "team: blue");
    let cache = &mut world.embedded.scheduler.cache;
    let mut found = Vec::new();
    let first = engine.run_filter_plugins(&pod, cache, node, |imagined| found = imagined.all_verdicts());
    assert_eq!(found.iter().map(|verdict| verdict.plugin).collect::<Vec<_>>(), ["Apart", "Slots"]);
    assert_eq!(first.unwrap_err(), found[0]);
}

#[test]
fn afterwards_everything_is_as_it_was() {
    let Cluster { mut world, node, blue, red } = cluster();
    let engine = Engine::<Pipeline>::new(&Default::default()).unwrap();
    let pod = world.pod("web", "team: blue");
    let more = world.pod("more", "team: blue");
    let cache = &mut world.embedded.scheduler.cache;
    let compiled = engine.plugins.compile(&pod.spec, &mut cache.base.interner, &mut cache.state);
    let cache = &*cache;
    let mut cycle = engine.plugins.pre_filter(&compiled, cache, &mut PreFilterRun::default()).unwrap();
    let before = (cycle.apart.clone(), cache.state.slot_count.clone());
    {
        let mut imagined = Imagined::<Pipeline>::new(&compiled, &mut cycle, cache, node);
        imagined.remove_pod(&blue);
        imagined.add_pod(&more);
        imagined.add_pod(&blue);
        imagined.remove_pod(&red);
        imagined.remove_pod(&more);
        imagined.remove_pod(&blue);
        assert!(imagined.filter().is_ok());
    }
    assert_eq!((cycle.apart.clone(), cache.state.slot_count.clone()), before);
}

#[test]
fn what_was_imagined_can_be_taken_back_in_part() {
    let Cluster { mut world, node, blue, red } = cluster();
    let engine = Engine::<Pipeline>::new(&Default::default()).unwrap();
    let pod = world.pod("web", "team: blue");
    let cache = &mut world.embedded.scheduler.cache;
    let answer = engine.run_filter_plugins(&pod, cache, node, |imagined| {
        imagined.remove_pod(&blue);
        let without_blue = imagined.now();
        assert!(imagined.filter().is_ok());
        imagined.remove_pod(&red);
        imagined.add_pod(&blue);
        assert!(imagined.filter().is_err());
        imagined.back_to(without_blue);
    });
    assert_eq!(reasons(answer), [""; 0]);
}

#[test]
fn a_node_must_do_with_and_without_the_pods_that_are_nominated_for_it() {
    let Cluster { mut world, node, blue, red } = cluster();
    let engine = Engine::<Pipeline>::new(&Default::default()).unwrap();
    let pod = world.pod("web", "team: green");
    let more = world.pod("more", "");
    let rival = world.pod("rival", "team: green");
    let cache = &mut world.embedded.scheduler.cache;
    let answer = engine.run_filter_plugins(&pod, cache, node, |imagined| {
        imagined.remove_pod(&blue);
        assert!(imagined.filter_with_nominated(&[]).is_ok());
        let mut reasons = |nominated: &[Arc<Pod>]| {
            let verdict = imagined.verdict_with_nominated(nominated);
            assert_eq!(imagined.filter_with_nominated(nominated).is_ok(), verdict.is_none());
            verdict.map(|verdict| verdict.reasons.concat()).unwrap_or_default()
        };
        assert_eq!(reasons(&[]), "");
        assert_eq!(reasons(std::slice::from_ref(&more)), "node(s) were full");
        assert_eq!(reasons(&[rival]), "node(s) had a pod of the team");
        imagined.remove_pod(&red);
        assert!(imagined.filter_with_nominated(&[more]).is_ok());
    });
    assert_eq!(reasons(answer), [""; 0]);
}
