//! Recording of decisions and bindings.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1 as api;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::Pod;
use schedc_in_memory::SimulationHooks;
use schedc_in_memory::server::{Change, ChangeKind, Request, Response};
use schedc_objects::AnyObject;

use crate::measure::{Decisions, Stopwatch};
use crate::placements::{Placements, is_scheduled};

/// Pods selected by namespace and labels.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    /// Namespaces. The list is not empty; an empty one would select no pods.
    pub(crate) namespaces: Vec<String>,
    pub(crate) labels: BTreeMap<String, String>,
}

impl Selection {
    pub(crate) fn of_namespace(namespace: &str) -> Self {
        Selection { namespaces: vec![namespace.to_owned()], labels: BTreeMap::new() }
    }

    pub(crate) fn has(&self, pod: &api::Pod) -> bool {
        let namespace = pod.metadata.namespace.as_deref().unwrap_or("default");
        self.namespaces.iter().any(|own| own == namespace) && has(&self.labels, pod)
    }
}

/// Returns whether a pod has all these labels.
pub(crate) fn has(labels: &BTreeMap<String, String>, pod: &api::Pod) -> bool {
    let pod_labels = pod.metadata.labels.as_ref();
    labels.iter().all(|(key, value)| pod_labels.and_then(|labels| labels.get(key)) == Some(value))
}

/// The current collection of metrics.
#[derive(Debug)]
struct Collection {
    selection: Selection,
    /// Namespaces of the selection, as symbols of the scheduler.
    namespaces: Vec<Symbol>,
    labels: Vec<(Symbol, Symbol)>,
    begin: Instant,
}

impl Collection {
    fn has(&self, pod: &Pod) -> bool {
        self.namespaces.contains(&pod.spec.namespace)
            && self.labels.iter().all(|label| {
                pod.spec
                    .labels
                    .binary_search_by_key(&label.0, |own| own.0)
                    .is_ok_and(|at| pod.spec.labels[at].1 == label.1)
            })
    }
}

/// Current numbers of pods with a node, by namespace.
#[derive(Debug, Default)]
pub(crate) struct ScheduledCounts {
    /// Labels that a pod must have.
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) pods: BTreeMap<String, usize>,
}

/// Hooks that record the data of a report.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    stopwatch: Option<Stopwatch>,
    collection: Option<Collection>,
    /// Decisions for the selected pods.
    pub(crate) decisions: Decisions,
    /// Number of selected pods that were bound during the collection.
    pub(crate) bound: usize,
    /// Duration of the collection, in real time.
    pub(crate) time: Duration,
    /// Namespace of a wait, and the number of pods bound there since the wait began.
    pub(crate) awaited: Option<(String, usize)>,
    /// Numbers of pods with a node; `None` unless a wait needs them.
    pub(crate) scheduled: Option<ScheduledCounts>,
    /// Placements to validate.
    pub(crate) placements: Placements,
}

impl Probe {
    /// Starts collecting. Returns false if it had started already.
    pub(crate) fn start(&mut self, selection: Selection, interner: &mut Interner) -> bool {
        if self.collection.is_some() {
            return false;
        }
        let namespaces = selection.namespaces.iter().map(|namespace| interner.intern(namespace)).collect();
        let labels =
            selection.labels.iter().map(|(key, value)| (interner.intern(key), interner.intern(value))).collect();
        self.collection = Some(Collection { selection, namespaces, labels, begin: Instant::now() });
        true
    }

    /// Stops collecting. Returns false if it had not started.
    pub(crate) fn stop(&mut self) -> bool {
        let Some(collection) = self.collection.take() else { return false };
        self.time += collection.begin.elapsed();
        true
    }

    /// Adds a pod to the counts of pods with a node (`is_added`), or subtracts it after its deletion.
    fn count(&mut self, pod: &api::Pod, is_added: bool) {
        let Some(scheduled) = &mut self.scheduled else { return };
        if has(&scheduled.labels, pod) {
            let namespace = pod.metadata.namespace.clone().unwrap_or_default();
            let pods = scheduled.pods.entry(namespace).or_default();
            *pods = if is_added { *pods + 1 } else { pods.saturating_sub(1) };
        }
    }
}

impl SimulationHooks for Probe {
    fn before_pop(&mut self) {
        if self.collection.is_some() {
            self.stopwatch = Some(Stopwatch::start());
        }
    }

    fn decided(&mut self, pod: &Arc<Pod>, _has_node: bool) {
        let Some(stopwatch) = self.stopwatch.take() else { return };
        let (time, allocations) = stopwatch.stop();
        if self.collection.as_ref().is_some_and(|collection| collection.has(pod)) {
            self.decisions.push(time, allocations);
        }
    }

    fn on_response(&mut self, _now: i64, request: &Request, response: &Response) {
        let (Request::Bind { .. }, Ok(Some(object))) = (request, response) else { return };
        let AnyObject::Pod(pod) = &**object else { return };
        if self.collection.as_ref().is_some_and(|collection| collection.selection.has(pod)) {
            self.bound += 1;
        }
        if let Some((namespace, bound)) = &mut self.awaited
            && pod.metadata.namespace.as_ref() == Some(namespace)
        {
            *bound += 1;
        }
        self.count(pod, true);
    }

    fn on_change(&mut self, _now: i64, change: &Change) {
        self.placements.record(change);
        if self.scheduled.is_none() || change.kind == ChangeKind::Modified {
            return;
        }
        if let AnyObject::Pod(pod) = &*change.object
            && is_scheduled(pod)
        {
            self.count(pod, change.kind == ChangeKind::Added);
        }
    }
}
