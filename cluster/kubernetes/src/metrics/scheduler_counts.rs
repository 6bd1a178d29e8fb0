//! Counts that the scheduler reports on request: queue, cache and its own duration histograms.

use std::collections::BTreeMap;

use schedc_core::cache::PodState;
use schedc_core::claim_metrics::{ClaimMetrics, WaitLabels};
use schedc_core::column::CacheSize;
use schedc_core::erased::AnyScheduler;
use schedc_core::queue::{self, Cause, QueueKind};
use schedc_core::scheduler::DurationMetrics;

use super::exposition::Exposition;
use super::resources::PodRequests;
use super::scheduling::AttemptMetrics;
use super::table;
use super::values::Histogram;

#[derive(Clone, Debug, Default)]
pub(super) struct SchedulerCounts {
    queue: queue::QueueCounts,
    rejected: Vec<(usize, &'static str, usize)>,
    incoming: Vec<(Cause, QueueKind, u64)>,
    events: BTreeMap<String, usize>,
    nodes: usize,
    pods: usize,
    assumed: usize,
    bindings: usize,
    bound_after_flush: u64,
    durations: DurationMetrics,
    claims: ClaimMetrics,
    caches: Vec<CacheSize>,
    /// Resource requests of each pod; `None` unless the caller needs them.
    pub(super) requests: Option<PodRequests>,
}

impl SchedulerCounts {
    /// Reads the counts of a scheduler, and if `with_requests` is true, the resource requests of each pod.
    pub(super) fn take(scheduler: &mut dyn AnyScheduler, with_requests: bool) -> Self {
        let caches = scheduler.cache_sizes();
        let under_way = scheduler.in_progress();
        let mut events = BTreeMap::from([("PodPopped".to_owned(), under_way.attempts)]);
        for event in scheduler.events_in_flight() {
            *events.entry(event.to_string()).or_default() += 1;
        }
        let states = || scheduler.pods().map(|(.., state)| state);
        SchedulerCounts {
            queue: scheduler.queue_counts(),
            rejected: scheduler.rejected_pod_counts(),
            incoming: scheduler.incoming_counts(),
            events,
            nodes: scheduler.base().count(),
            pods: states().count(),
            assumed: states().filter(|state| *state != PodState::Bound).count(),
            bindings: under_way.bindings,
            bound_after_flush: scheduler.bound_after_flush(),
            durations: scheduler.duration_metrics().clone(),
            claims: scheduler.claim_metrics(),
            caches,
            requests: with_requests.then(|| PodRequests::of(scheduler)),
        }
    }

    pub(super) fn write(&self, exposition: &mut Exposition<'_>, attempts: &AttemptMetrics) {
        let queue::QueueCounts { active, backoff, unschedulable, gated } = self.queue;
        for (name, pods) in
            [("active", active), ("backoff", backoff), ("unschedulable", unschedulable), ("gated", gated)]
        {
            exposition.number(&table::PENDING_PODS, &[name], pods as f64);
        }
        for (profile, plugin, pods) in &self.rejected {
            exposition.number(&table::UNSCHEDULABLE_PODS, &[plugin, attempts.profile(*profile)], *pods as f64);
        }
        for (cause, queue, pods) in &self.incoming {
            exposition.number(&table::QUEUE_INCOMING, &[&cause.to_string(), queue.name()], *pods as f64);
        }
        for (event, count) in &self.events {
            exposition.number(&table::INFLIGHT_EVENTS, &[event], *count as f64);
        }
        for (name, count) in [("nodes", self.nodes), ("pods", self.pods), ("assumed_pods", self.assumed)] {
            exposition.number(&table::CACHE_SIZE, &[name], count as f64);
        }
        write_caches(&self.caches, exposition);
        exposition.number(&table::GOROUTINES, &["binding"], self.bindings as f64);
        exposition.number(&table::SCHEDULED_AFTER_FLUSH, &[], self.bound_after_flush as f64);
        self.write_durations(exposition, attempts);
        self.write_claims(exposition);
    }

    fn write_claims(&self, exposition: &mut Exposition<'_>) {
        let ClaimMetrics { created, not_created, waits, allocations } = &self.claims;
        for (status, count) in [("success", *created), ("failure", *not_created)] {
            // As for every vector of counters, a series exists from its first count on.
            if count > 0 {
                exposition.number(&table::RESOURCE_CLAIM_CREATES, &[status], count as f64);
            }
        }
        fn labels(labels: &WaitLabels) -> [&str; 3] {
            [&labels.driver, &labels.profile, labels.result.label()]
        }
        for (wait_labels, count) in allocations {
            exposition.number(&table::BINDING_CONDITIONS_ALLOCATIONS, &labels(wait_labels), *count as f64);
        }
        for (wait_labels, durations) in waits {
            let family = &table::BINDING_CONDITIONS_WAIT_DURATION;
            exposition.histogram(family, &labels(wait_labels), &Histogram::of(family, durations));
        }
    }

    fn write_durations(&self, exposition: &mut Exposition<'_>, attempts: &AttemptMetrics) {
        for (code, durations) in &self.durations.permit_waits {
            let family = &table::PERMIT_WAIT_DURATION;
            exposition.histogram(family, &[&code.to_string()], &Histogram::of(family, durations));
        }
        for (succeeded, durations) in &self.durations.preemptions {
            let result = [if *succeeded { "success" } else { "error" }];
            let histogram = Histogram::of(&table::PREEMPTION_GOROUTINES_DURATION, durations);
            exposition.number(&table::PREEMPTION_GOROUTINES, &result, histogram.count() as f64);
            exposition.histogram(&table::PREEMPTION_GOROUTINES_DURATION, &result, &histogram);
        }
        for ((profile, point, code), durations) in &self.durations.points {
            let family = &table::EXTENSION_POINT_DURATION;
            let labels = [&point.to_string(), attempts.profile(*profile), &code.to_string()];
            exposition.histogram(family, &labels, &Histogram::of(family, durations));
        }
    }
}

pub(super) fn write_caches<'a>(caches: impl IntoIterator<Item = &'a CacheSize>, exposition: &mut Exposition<'_>) {
    for CacheSize { cache, size, limit } in caches {
        exposition.number(&table::CACHE_SIZES, &[cache], *size as f64);
        if let Some(limit) = limit {
            exposition.number(&table::CACHE_LIMITS, &[cache], *limit as f64);
        }
    }
}
