//! Methods with which callers read the state of a scheduler: pods in the queue, counts and metrics.

use std::sync::Arc;

use super::Scheduler;
use super::duration_metrics::DurationMetrics;
use crate::engine::bundle::{Bundle, with_profile};
use crate::model::cache::State;
use crate::model::cache_size::{self, CacheSize};
use crate::model::{Pod, Uid};
use crate::plugin_api::claim_metrics::ClaimMetrics;
use crate::plugin_api::client::Client;
use crate::plugin_api::events::ClusterEvent;
use crate::plugin_api::status::Status;
use crate::scheduler::queue::{Cause, QueueContext, QueueCounts, QueueKind, QueuePlace};

/// Counts of work in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InProgressCounts {
    /// Pods in flight.
    pub attempts: usize,
    /// Events kept for pods in flight.
    pub events: usize,
    /// Pods that have a node and are not bound.
    pub bindings: usize,
    /// Pods that wait in Permit. They are also in `bindings`.
    pub waiting: usize,
    /// Pods with a status patch in progress or waiting.
    pub status_writes: usize,
    /// Preemptors whose victims are being removed.
    pub preemptions: usize,
    /// Objects that are being written for plugins.
    pub object_writes: usize,
}

impl<B: Bundle, C: Client> Scheduler<B, C> {
    /// Returns the place of a pod in the queue. `None`: it is not in the queue.
    pub fn place(&self, uid: &Uid) -> Option<QueuePlace> {
        self.queue.place(uid)
    }

    /// Runs PreEnqueue again for a gated pod, and returns the status of the plugin that holds it. `None` if the pod is not
    /// gated, or would be admitted now.
    pub fn gate_status(&mut self, uid: &Uid) -> Option<Status> {
        if self.queue.place(uid) != Some(QueuePlace::Gated) {
            return None;
        }
        let pod = self.queue.pod(uid)?.clone();
        let profile = self.profile_of(&pod)?;
        let (_, mut context) = self.queue();
        context.pre_enqueue(profile, &pod).err()
    }

    /// Returns the queue's version of a pending pod; `None` if the pod is not in the queue.
    pub fn pending(&self, uid: &Uid) -> Option<&Arc<Pod>> {
        self.queue.pod(uid)
    }

    /// Returns the number of pods that can be attempted now.
    pub fn ready(&self) -> usize {
        self.queue.ready()
    }

    /// Returns the counts of work in progress; all are 0 when every task has completed and no pod is in flight.
    pub fn in_progress(&self) -> InProgressCounts {
        InProgressCounts {
            attempts: self.queue.in_flight(),
            events: self.queue.in_flight_events(),
            bindings: self.bindings.len(),
            waiting: self.waiting.iter().count(),
            status_writes: self.status.len(),
            preemptions: self.handle.n_preempting(),
            object_writes: self.objects.len(),
        }
    }

    /// Returns the number of pods that were bound after a retry without an event: see
    /// `SchedulingQueue::bound_after_flush`.
    pub fn bound_after_flush(&self) -> u64 {
        self.queue.bound_after_flush()
    }

    /// Returns the number of pods in each place of the queue.
    pub fn queue_counts(&self) -> QueueCounts {
        self.queue.queue_counts()
    }

    /// Returns, for each plugin of each profile, the number of pods that it gates or that it rejected in their last
    /// attempt. Reads every pod.
    pub fn rejected_pod_counts(&self) -> Vec<(usize, &'static str, usize)> {
        self.queue.rejected_pod_counts()
    }

    /// Returns the numbers of arrivals by cause and queue.
    pub fn incoming_counts(&self) -> impl Iterator<Item = (Cause, QueueKind, u64)> {
        self.queue.incoming_counts()
    }

    /// Returns the events kept for pods in flight.
    pub fn events_in_flight(&self) -> impl Iterator<Item = ClusterEvent> {
        self.queue.events_in_flight().map(|happened| happened.event)
    }

    /// Returns the sizes of all caches by name. Sizes with the same name, of several profiles, are added up.
    pub fn cache_sizes(&mut self) -> Vec<CacheSize> {
        let mut sizes = self.cache.state.cache_sizes();
        sizes.extend(self.handle.cache_sizes());
        sizes.extend([
            self.cache.base.interner.cache_size(),
            self.templates.cache_size(),
            self.cache.log.cache_size("node_changes"),
            CacheSize::limited(
                "events_in_flight",
                self.queue.events_in_flight().count(),
                self.options.max_in_flight_events,
            ),
            CacheSize::of_objects("status_patches", self.status.len()),
        ]);
        for profile in 0..self.bundle.profiles().len() {
            sizes.extend(with_profile!(self.bundle, profile, fn(engine) -> [CacheSize; 3] { engine.cache_sizes() }));
        }
        cache_size::sums(sizes)
    }

    /// Returns all pods without a node, unordered.
    pub fn pending_pods(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.queue.pods()
    }

    /// Returns the histograms of durations.
    pub fn duration_metrics(&self) -> &DurationMetrics {
        &self.duration_metrics
    }

    /// Returns the counts of writes and waits for resource claims.
    pub fn claim_metrics(&self) -> ClaimMetrics {
        self.handle.claim_metrics().clone()
    }

    /// Returns the first event of the last change, if it caused one.
    pub fn last_event(&self) -> Option<ClusterEvent> {
        self.last_event
    }
}
