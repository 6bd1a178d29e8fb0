//! Records the results of pods while a simulation runs.

use std::collections::HashSet;
use std::sync::Arc;

use schedc_core::cache::Base;
use schedc_core::client::ApiReason;
use schedc_core::erased::AnyScheduler;
use schedc_core::extension_points::Nomination;
use schedc_core::model::Pod;
use schedc_core::scheduler::{Failure, Outcome};
use schedc_in_memory::SimulationHooks;
use schedc_in_memory::server::{Change, ChangeKind, Request, Response};
use schedc_objects::{AnyObject, is_finished};

use super::log::Log;
use super::pod_records::{PodRecords, Preemption};
use crate::budgets::{Budgets, Effects};
use crate::cluster::{Routes, SchedulingState, Skipped};

/// Hooks of the simulator that record results.
pub(super) struct Recorder<'a, F> {
    pub(super) pod_records: PodRecords,
    pub(super) skipped: Skipped,
    /// The log, if requested.
    pub(super) log: Option<Log>,
    /// The disruption budgets of the scheduler's state.
    budgets: Budgets,
    /// Number of events whose object did not exist.
    pub(super) without_object: usize,
    /// Names of existing nodes.
    nodes: HashSet<String>,
    routes: Routes,
    /// Start in nanoseconds since 1970.
    start: i64,
    /// Number of attempted pods.
    attempted: usize,
    progress: F,
    observer: &'a mut dyn SimulationHooks,
}

impl<'a, F: FnMut(usize)> Recorder<'a, F> {
    pub(super) fn new(
        routes: Routes,
        start: i64,
        log: bool,
        progress: F,
        observer: &'a mut dyn SimulationHooks,
    ) -> Self {
        Recorder {
            pod_records: PodRecords::default(),
            skipped: Skipped::default(),
            log: log.then(Log::default),
            budgets: Budgets::default(),
            without_object: 0,
            nodes: HashSet::new(),
            routes,
            start,
            attempted: 0,
            progress,
            observer,
        }
    }

    /// Records the deletion or the end of a pod.
    fn record_removal(&mut self, uid: &str, now: i64) {
        if self.pod_records.record_deletion(uid, now) == Some(Preemption::OfGivenPod) {
            self.skipped.bound -= 1;
        }
    }
}

impl<F: FnMut(usize)> SimulationHooks for Recorder<'_, F> {
    fn observes_attempts(&self) -> bool {
        self.observer.observes_attempts()
    }

    fn before_attempt(&mut self, now: i64, pod: &Arc<Pod>, scheduler: &mut dyn AnyScheduler) {
        self.observer.before_attempt(now, pod, scheduler);
    }

    fn on_response(&mut self, _: i64, request: &Request, response: &Response) {
        // Such a request comes from an event: plugins send these requests only for objects that exist.
        if let (Request::Delete(_, None) | Request::Patch(..) | Request::Replace(_), Err(error)) = (request, response)
            && error.reason == ApiReason::NotFound
        {
            self.without_object += 1;
        }
    }

    fn on_change(&mut self, now: i64, change: &Change) {
        self.observer.on_change(now, change);
        let now = now - self.start;
        if let Some(log) = &mut self.log {
            let uid = change.object.metadata().uid.as_deref().unwrap_or_default();
            log.changed(now, change, self.pod_records.preemptor_of(uid));
        }
        if let (AnyObject::Node(_), name) = (&*change.object, change.object.name()) {
            match change.kind {
                ChangeKind::Deleted => self.nodes.remove(name),
                ChangeKind::Added | ChangeKind::Modified => self.nodes.insert(name.to_owned()),
            };
        }
        let AnyObject::Pod(pod) = &*change.object else { return };
        let uid = pod.metadata.uid.as_deref().unwrap_or_default();
        if change.kind == ChangeKind::Deleted {
            return self.record_removal(uid, now);
        }
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).filter(|node| !node.is_empty());
        if self.pod_records.contains(uid) {
            if is_finished(pod) {
                self.record_removal(uid, now);
            } else if let Some(node) = node {
                self.pod_records.record_binding(uid, node, now);
            }
            return;
        }
        if change.kind != ChangeKind::Added {
            return;
        }
        let skipped = &mut self.skipped;
        let is_served = match SchedulingState::of(pod, &self.routes) {
            SchedulingState::Pending(_) => true,
            SchedulingState::Bound(node) => {
                skipped.bound += 1;
                skipped.bound_to_unknown_nodes += usize::from(!self.nodes.contains(node));
                false
            }
            SchedulingState::Finished => {
                skipped.finished += 1;
                return;
            }
            SchedulingState::Deleting => {
                skipped.deleting += 1;
                return;
            }
            SchedulingState::OtherScheduler(name) => {
                *skipped.other_schedulers.entry(name.to_owned()).or_default() += 1;
                false
            }
        };
        let name = format!("{}/{}", change.object.namespace(), change.object.name());
        self.pod_records.record_creation(uid, name, node, is_served, now);
    }

    fn on_outcome(&mut self, now: i64, outcome: &Outcome, cluster: &Base) {
        self.observer.on_outcome(now, outcome, cluster);
        let uid = &*outcome.pod.uid.0;
        if self.pod_records.record_attempt(uid) {
            self.attempted += 1;
            (self.progress)(self.attempted);
        }
        let Err(failure) = &outcome.result else { return };
        self.pod_records.record_failure(uid, failure.message());
        let mut victims = Vec::new();
        let mut nominated_node = None;
        if let Failure::Unschedulable(unschedulable) = failure {
            let by = outcome.pod.namespaced_name().to_string();
            if let Some(result) = &unschedulable.post_filter {
                let Effects { violated, protected } = self.budgets.effects(&outcome.pod, result, cluster);
                self.pod_records.record_protected(protected, &by);
                for victim in &result.victims {
                    let name = self.pod_records.name(&victim.0).map(str::to_owned);
                    let violates =
                        violated.iter().filter(|budget| budget.pods.iter().any(|pod| Some(pod) == name.as_ref()));
                    let violates = violates.map(|violated| violated.budget.clone()).collect();
                    self.pod_records.record_victim(&victim.0, by.clone(), violates);
                    victims.extend(name);
                }
            }
            nominated_node = match unschedulable.nomination() {
                Nomination::Keep => outcome.pod.nominated_node.map(|node| cluster.interner.resolve(node)),
                Nomination::Clear => None,
                Nomination::Set(node) => Some(cluster.name(node)),
            };
        }
        if let Some(log) = &mut self.log {
            log.outcome(now - self.start, outcome, nominated_node, &victims);
        }
    }

    fn before_change(&mut self, scheduler: &dyn AnyScheduler) {
        if let Some(log) = &mut self.log {
            log.before_change(scheduler);
        }
    }

    fn after_change(&mut self, now: i64, change: &Change, scheduler: &mut dyn AnyScheduler) {
        self.observer.after_change(now, change, scheduler);
        match change.kind {
            ChangeKind::Deleted => self.budgets.remove(&change.object),
            _ => self.budgets.set(&change.object, &mut scheduler.base_mut().interner),
        }
        if let Some(log) = &mut self.log {
            log.after_change(now - self.start, change, scheduler);
        }
    }
}
