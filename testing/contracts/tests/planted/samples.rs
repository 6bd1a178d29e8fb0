//! Debug builds compare samples of cached answers with full evaluations.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use schedc_core::cache::{Cache, PodState, State};
use schedc_core::engine::{Engine, UNTIMED};
use schedc_core::handle::Handle;
use schedc_core::profile::{Bundle, Profile, Visitor};
use schedc_testing::objects;

use super::scheduler::Profiles;

/// Decides often about a pod, and adds another pod of its namespace to the only node. Returns the panic.
struct DecideOften;

impl<S: State> Visitor<S> for DecideOften {
    type Output = String;

    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) -> String {
        let mut cache = Cache::<S>::default();
        let interner = &mut cache.base.interner;
        let node = objects::node("{metadata: {name: n1}, status: {allocatable: {pods: 9}}}", interner);
        let waits = Arc::new(objects::pod("{metadata: {name: waits, namespace: a}}", interner));
        let runs = Arc::new(objects::pod("{metadata: {name: runs, namespace: a}}", interner));
        let name = node.name;
        cache.set_node(node);
        let mut decide = |cache: &mut Cache<S>| _ = engine.decide(&waits, cache, UNTIMED, |_| 0);
        (0..3).for_each(|_| decide(&mut cache));
        cache.add_pod(runs, name, PodState::Bound);
        let decisions = AssertUnwindSafe(|| (0..100).for_each(|_| decide(&mut cache)));
        let panic = catch_unwind(decisions).expect_err("a wrong answer");
        panic.downcast_ref::<String>().cloned().unwrap_or_default()
    }
}

#[test]
fn debug_builds_detect_a_wrong_cached_answer_in_any_test() {
    let profile = Profiles::PROFILES.iter().position(|profile| profile.name == "stale").expect("a profile");
    let panic = Profiles::new(&Handle::default()).expect("plugins").with(profile, DecideOften);
    let message = "a cached answer for pod waits differs from a full evaluation because of plugin Stale";
    assert!(panic.contains(message), "{panic}");
}
