//! Checks of the invariants that hold after every step.

use std::collections::BTreeSet;
use std::sync::Arc;

use schedc_core::cache::PodState;
use schedc_core::model::Uid;
use schedc_core::queue::QueuePlace;

use crate::delivered::uid;
use crate::invariants::{Invariant, Violation, violated};
use crate::manifests::PodFacts;
use crate::pipelines::state::State;
use crate::plugin_fault::FaultyPlugin;
use crate::simulation::Simulation;

/// The expected place of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Expected {
    /// Neither in the queue nor in the cache.
    Nowhere,
    /// In the queue.
    Queued,
    /// Assumed on a node.
    Assumed(String),
    /// Bound by this scheduler; the watch has not delivered the binding.
    Finished(String),
    /// Delivered as bound.
    Bound(String),
}

impl Simulation {
    /// Checks all invariants that hold after every step.
    pub(crate) fn check(&mut self) -> Result<(), Violation> {
        if let Some(description) = self.injectors.lock().take_violations().pop() {
            let is_double_binding = description.ends_with("is bound twice");
            let invariant = if is_double_binding { Invariant::NoPodIsBoundTwice } else { Invariant::ReservesArePaired };
            return violated(invariant, description);
        }
        if let Some(moved) = self.cluster.moved.pop() {
            return violated(Invariant::NoPodIsBoundTwice, moved);
        }
        if !self.scheduler.has_all_strings() {
            return violated(
                Invariant::ObjectsHaveStrings,
                "a string was freed, but an object still has it".to_owned(),
            );
        }
        self.check_waits()?;
        self.check_nominations()?;
        self.check_places()?;
        self.check_devices()?;
        self.check_columns()
    }

    /// Checks the decisions since the last call.
    pub(crate) fn check_decisions(&mut self) -> Result<(), Violation> {
        let decisions = self.injectors.lock().take_decisions();
        for (uid, node) in decisions {
            self.counts.add("attempt", "got a node");
            let Some(pod) = self.delivered.pods.get(&uid) else {
                return violated(
                    Invariant::DecisionsAreValid,
                    format!("{uid} is assigned to {node}, but does not exist"),
                );
            };
            if pod.node.is_some() || pod.has_other_scheduler || pod.gated || pod.deleting {
                return violated(
                    Invariant::DecisionsAreValid,
                    format!("{uid} is assigned to {node}, but is not to be scheduled: {pod:?}"),
                );
            }
            if self.was_preempting(&uid) {
                return violated(
                    Invariant::OnePreemptionPerPod,
                    format!("{} is assigned to {node} during its preemption", pod.name),
                );
            }
            let others: Vec<PodFacts> = self.on_node(&node, &uid).into_iter().cloned().collect();
            let mut pod = pod.clone();
            self.assumed.insert(uid.clone(), pod.clone());
            self.waking_events_before.insert(uid.clone(), self.waking_events);
            if self.shared_ports.contains(&*node) {
                pod.port = None;
            }
            if let Err(reason) = self.delivered.fits(&pod, &node, &others) {
                return violated(
                    Invariant::DecisionsAreValid,
                    format!("{} is assigned to {node}, but {reason}", pod.name),
                );
            }
        }
        Ok(())
    }

    /// Returns the pods on a node, as delivered or decided, except one pod.
    fn on_node<'a>(&'a self, node: &str, except: &Arc<str>) -> Vec<&'a PodFacts> {
        let others = self.delivered.pods.iter().filter(|(uid, _)| *uid != except);
        let is_on_node = |(uid, pod): &(&Arc<str>, &PodFacts)| match &pod.node {
            Some(on) => on == node,
            None => match self.expected(uid) {
                Expected::Assumed(on) | Expected::Finished(on) => on == node,
                _ => false,
            },
        };
        let when_decided = |(uid, pod): (&Arc<str>, &'a PodFacts)| match &pod.node {
            Some(_) => pod,
            None => self.assumed.get(uid).unwrap_or(pod),
        };
        others.filter(is_on_node).map(when_decided).collect()
    }

    fn expected(&self, uid: &Arc<str>) -> Expected {
        let Some(pod) = self.delivered.pods.get(uid) else { return Expected::Nowhere };
        if let Some(node) = &pod.node {
            return Expected::Bound(node.clone());
        }
        if pod.has_other_scheduler {
            return Expected::Nowhere;
        }
        if let Some(node) = self.bound_but_undelivered.get(uid) {
            return Expected::Finished(node.to_string());
        }
        match self.injectors.lock().held_on(FaultyPlugin::First, uid) {
            Some(node) => Expected::Assumed(node.to_string()),
            None => Expected::Queued,
        }
    }

    fn check_waits(&self) -> Result<(), Violation> {
        let Some(handle) = self.handle() else { return Ok(()) };
        let waiting = handle.waiting_pods();
        let injectors = self.injectors.lock();
        let waits = injectors.waiting().filter(|(_, uid, _)| waiting.binary_search(&Uid((*uid).clone())).is_ok());
        for (plugin, uid, until) in waits {
            if self.delivered.pods.get(uid).is_none_or(|pod| pod.node.is_some()) {
                return violated(Invariant::WaitsEnd, format!("{uid} waits for {plugin}, but was deleted or bound"));
            }
            if until < self.cluster.now {
                let late = (self.cluster.now - until) / 1_000_000;
                return violated(Invariant::WaitsEnd, format!("{uid} waits for {plugin}, {late} ms too long"));
            }
        }
        Ok(())
    }

    fn check_nominations(&self) -> Result<(), Violation> {
        for (node, pods) in self.scheduler.cache.nominator.iter() {
            for pod in pods {
                let place = self.scheduler.place(&pod.uid);
                if matches!(place, None | Some(QueuePlace::InFlight)) {
                    let node = self.scheduler.cache.base.interner.resolve(node);
                    let description = format!("{} is nominated for {node}, and is {}", pod.uid.0, describe(place));
                    return violated(Invariant::NominationsHavePods, description);
                }
            }
        }
        Ok(())
    }

    fn check_places(&self) -> Result<(), Violation> {
        let cache = &self.scheduler.cache;
        for (uid, pod) in &self.delivered.pods {
            let expected = self.expected(uid);
            let place = self.scheduler.place(&Uid(uid.clone()));
            let cached =
                cache.pod(&Uid(uid.clone())).map(|(_, node, state)| (cache.base.interner.resolve(node), state));
            let holds = match (&expected, cached, place) {
                (Expected::Nowhere, None, None) => true,
                (Expected::Queued, None, Some(place)) => place != QueuePlace::InFlight,
                (Expected::Assumed(node), Some((on, PodState::Assumed)), Some(QueuePlace::InFlight)) => node == on,
                (Expected::Finished(node), Some((on, PodState::BindingFinished)), None) => node == on,
                (Expected::Bound(node), Some((on, PodState::Bound)), None) => node == on,
                _ => false,
            };
            if !holds {
                let cached = cached.map_or("not in the cache".to_owned(), |(on, state)| format!("{state:?} on {on}"));
                let description = format!("{} should be {expected:?}, and is {}, {cached}", pod.name, describe(place));
                let lost = expected == Expected::Queued && place.is_none();
                let invariant = if lost { Invariant::NoPodIsLost } else { Invariant::QueueAndCacheAgree };
                return violated(invariant, description);
            }
        }
        for (pod, node, state) in cache.pods() {
            if !self.delivered.pods.contains_key(&pod.uid.0) {
                let node = cache.base.interner.resolve(node);
                let description = format!("{} is {state:?} on {node}, but does not exist", pod.uid.0);
                return violated(Invariant::QueueAndCacheAgree, description);
            }
        }
        // The loops above do not reach attempts of deleted pods. Therefore the numbers are compared, too.
        let in_flight = self.scheduler.in_progress().attempts;
        let held = self.injectors.lock().held().filter(|(plugin, ..)| *plugin == FaultyPlugin::First).count();
        if in_flight != held {
            let description = format!("{in_flight} pods are in flight, but {held} have a reservation");
            return violated(Invariant::QueueAndCacheAgree, description);
        }
        Ok(())
    }

    /// Records the nodes on which several pods use the same host port. Bindings by other schedulers can cause this.
    pub(crate) fn note_shared_ports(&mut self) {
        let mut taken = BTreeSet::new();
        for (uid, pod) in self.delivered.pods.iter().filter(|(_, pod)| pod.port.is_some()) {
            let node = match self.expected(uid) {
                Expected::Assumed(node) | Expected::Finished(node) | Expected::Bound(node) => node,
                Expected::Nowhere | Expected::Queued => continue,
            };
            if !taken.insert((node.clone(), pod.port)) {
                self.shared_ports.insert(node);
            }
        }
    }

    fn check_columns(&self) -> Result<(), Violation> {
        let cache = &self.scheduler.cache;
        let mut rebuilt = cache.rebuilt();
        if !self.shared_ports.is_empty() {
            rebuilt.node_ports.clone_from(&cache.state.node_ports);
        }
        match first_difference(&cache.state, &rebuilt) {
            Some(column) => violated(Invariant::CacheEqualsRebuilt, format!("{column} differs")),
            None => Ok(()),
        }
    }

    /// Returns the pods that wait for this scheduler according to the server, with their uids.
    pub(crate) fn pending(&self) -> Vec<(Arc<str>, PodFacts)> {
        let pods = self.cluster.list(crate::history::Stream::Pods);
        let facts = pods.iter().filter_map(|object| match &**object {
            schedc_objects::AnyObject::Pod(pod) => Some((uid(object), PodFacts::of(pod))),
            _ => None,
        });
        facts
            .filter(|(_, pod)| pod.node.is_none() && !pod.has_other_scheduler && !pod.finished && !pod.deleting)
            .collect()
    }
}

/// Returns the name of the first column that differs.
fn first_difference(kept: &State, rebuilt: &State) -> Option<&'static str> {
    macro_rules! compare {
        ($($field:ident)*) => { $(
            if kept.$field != rebuilt.$field {
                return Some(stringify!($field));
            }
        )* };
    }
    compare! { node_resources node_taints node_labels node_name node_ports node_disks node_features node_images }
    None
}

/// Describes a place in words.
pub(crate) fn describe(place: Option<QueuePlace>) -> String {
    place.map_or("not in the queue".to_owned(), |place| format!("{place:?} in the queue"))
}
