//! Preemption after PostFilter: kube-scheduler's `prepareCandidateAsync`.

use std::sync::Arc;

use futures_util::future::join_all;

use super::Scheduler;
use super::tasks::{Completed, Tasks, Work};
use crate::engine::Unschedulable;
use crate::engine::bundle::Bundle;
use crate::model::{NodeIndex, Pod, Uid};
use crate::plugin_api::client::{ApiError, ApiReason, Client, Condition, Event, EventType, StatusPatch};
use crate::plugin_api::extension_points::Nomination;
use crate::plugin_api::handle::PermitRejection;
use crate::scheduler::queue::{Attempt, QueuePlace};

impl<B: Bundle, C: Client> Scheduler<B, C> {
    /// Removes the victims in the result of PostFilter. Until they are removed, the preemptor must not be retried
    /// ([`Handle::is_preempting`](crate::handle::Handle::is_preempting)), and no other victims are removed for it.
    pub(super) fn preempt(&mut self, attempt: &Attempt, unschedulable: &Unschedulable, tasks: &mut impl Tasks) {
        let Some(result) = &unschedulable.post_filter else { return };
        let Nomination::Set(node) = result.nomination else { return };
        let preemptor = attempt.pod();
        let victims: Vec<Arc<Pod>> =
            result.victims.iter().filter_map(|uid| self.cache.pod(uid)).map(|(pod, ..)| pod.clone()).collect();
        if victims.is_empty() || !self.handle.begin_preempting(preemptor.uid.clone()) {
            return;
        }
        self.clear_lower_nominations(node, preemptor, tasks);
        let node = self.cache.base.name(node);
        let note = format!("Preempted by pod {} on node {node}", preemptor.uid.0);
        let scheduler = self.bundle.profiles()[attempt.profile()].scheduler_name;
        let plugin = result.status.plugin;
        let mut to_delete = Vec::new();
        for victim in victims {
            if self.stop_binding(&victim.uid, plugin) {
                let note = format!("{note} (in kube-scheduler memory).");
                self.client.record(preempted_event(scheduler, victim, preemptor.clone(), note));
            } else {
                to_delete.push(victim);
            }
        }
        let eviction = Eviction {
            client: self.client.clone(),
            scheduler,
            preemptor: preemptor.clone(),
            message: format!("{scheduler}: preempting to accommodate a higher priority pod"),
            note,
        };
        let since = self.now;
        tasks.spawn(async move {
            let succeeded = eviction.evict(&to_delete).await;
            Completed(Work::Preempted { preemptor: eviction.preemptor.uid.clone(), since, succeeded })
        });
        self.settle(tasks);
    }

    /// Handles a finished preemption, successful or not. After a success, the events of the removed victims move the
    /// preemptor. It is activated here in two cases: after a failure, and if its place is `Gated`, because an event
    /// arrived during the preemption and PreEnqueue held the preemptor.
    pub(super) fn preempted(&mut self, preemptor: &Uid, since: i64, succeeded: bool) {
        self.duration_metrics.preempted(succeeded, self.now - since);
        self.handle.end_preempting(preemptor);
        if !succeeded || self.place(preemptor) == Some(QueuePlace::Gated) {
            self.activate(preemptor);
        }
    }

    /// Stops the binding of a victim; the victim then goes back to the queue and need not be deleted. Returns false if
    /// no binding is in progress, or if it is too late to stop it.
    fn stop_binding(&mut self, victim: &Uid, plugin: &'static str) -> bool {
        let Some(binding) = self.bindings.get_mut(victim) else { return false };
        if binding.is_waiting() {
            let rejection = PermitRejection { plugin, reason: "preempted".into(), preempted: true };
            return self.waiting.reject(victim, rejection);
        }
        binding.cancel_pre_bind(plugin)
    }

    /// Clears the nominations for the node, if the priority of the nominated pod is lower than that of the preemptor.
    fn clear_lower_nominations(&mut self, node: NodeIndex, preemptor: &Pod, tasks: &mut impl Tasks) {
        let Some(name) = self.cache.base.infos()[node.get()].node.as_ref().map(|node| node.name) else { return };
        let nominated = self.cache.nominator.pods(name).iter();
        let lower: Vec<_> = nominated.filter(|pod| pod.spec.priority < preemptor.spec.priority).cloned().collect();
        for pod in lower {
            self.cache.withdraw_nomination(&pod.uid);
            let patch = StatusPatch { condition: None, nominated_node: Some(None) };
            self.status.write(&self.client, pod.clone(), patch, tasks);
            self.nomination_lost(pod, name);
        }
    }
}

/// Requests that evict victims.
struct Eviction<C> {
    client: C,
    scheduler: &'static str,
    preemptor: Arc<Pod>,
    message: String,
    note: String,
}

impl<C: Client> Eviction<C> {
    /// Deletes all victims but one at the same time. Then deletes the last one, unless a deletion failed. Returns
    /// whether all are deleted; the preemptor is retried in any case.
    async fn evict(&self, victims: &[Arc<Pod>]) -> bool {
        let Some((last, others)) = victims.split_last() else { return true };
        let results = join_all(others.iter().map(|victim| self.evict_one(victim))).await;
        results.iter().all(Result::is_ok) && self.evict_one(last).await.is_ok()
    }

    async fn evict_one(&self, victim: &Arc<Pod>) -> Result<(), ApiError> {
        let condition = Condition {
            kind: "DisruptionTarget",
            status: true,
            reason: "PreemptionByScheduler",
            message: self.message.clone(),
        };
        let patch = StatusPatch { condition: Some(condition), nominated_node: None };
        let removed = match self.client.patch_pod_status(victim, &patch).await {
            Ok(()) => self.client.delete_pod(victim).await,
            Err(error) => Err(error),
        };
        match removed {
            Ok(()) => self.client.record(preempted_event(
                self.scheduler,
                victim.clone(),
                self.preemptor.clone(),
                self.note.clone(),
            )),
            Err(error) if error.reason == ApiReason::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

fn preempted_event(scheduler: &'static str, victim: Arc<Pod>, preemptor: Arc<Pod>, note: String) -> Event {
    Event {
        scheduler,
        regarding: victim,
        related: Some(preemptor),
        event_type: EventType::Normal,
        reason: "Preempted",
        action: "Preempting",
        note,
    }
}
