//! Failed attempts: kube-scheduler's `handleSchedulingFailure`.

use std::sync::Arc;

use super::Scheduler;
use super::outcome::{Failure, Outcome};
use super::tasks::Tasks;
use crate::engine::Unschedulable;
use crate::engine::bundle::Bundle;
use crate::model::Pod;
use crate::model::intern::Symbol;
use crate::plugin_api::client::{Client, Condition, Event, EventType, StatusPatch};
use crate::plugin_api::diagnosis::Diagnosis;
use crate::plugin_api::extension_points::{Nomination, Repair};
use crate::plugin_api::handle::WriteRequest;
use crate::scheduler::queue::{Attempt, Rejectors};

impl<B: Bundle, C: Client> Scheduler<B, C> {
    /// Handles a failed attempt: requeues the pod, applies the result of PostFilter, and reports the failure.
    pub(super) fn failed(&mut self, attempt: Attempt, failure: Failure, tasks: &mut impl Tasks) {
        let (rejectors, nomination) = match &failure {
            Failure::Unschedulable(unschedulable) => {
                let Diagnosis { unschedulable_plugins, pending_plugins, .. } = &unschedulable.diagnosis;
                let rejectors =
                    Rejectors { unschedulable: unschedulable_plugins.clone(), pending: pending_plugins.clone() };
                (rejectors, unschedulable.nomination())
            }
            Failure::Error(_) => (Rejectors::default(), Nomination::Clear),
        };
        if let Failure::Unschedulable(unschedulable) = &failure {
            self.preempt(&attempt, unschedulable, tasks);
            self.repair(&attempt, unschedulable, tasks);
        }
        let (uid, profile, attempts) = (attempt.pod().uid.clone(), attempt.profile(), attempt.attempts());
        let popped = attempt.pod().clone();
        let waited = self.waited(&attempt);
        let now = self.now;
        let (queue, mut context) = self.queue();
        let is_known = queue.requeue(attempt, rejectors, &mut context, now).is_some();
        // The failure is not reported if the pod was deleted, or was bound by another scheduler.
        let pod = self.queue.pod(&uid).filter(|_| is_known).cloned();
        if let Some(pod) = &pod {
            let nominated_node = self.nominate(pod.clone(), nomination);
            self.report_failure(profile, pod, &failure, nominated_node, tasks);
        }
        let pod = pod.unwrap_or(popped);
        self.outcomes.push(Outcome { pod, profile, attempts, waited, result: Err(failure) });
    }

    /// Writes the first of the repairs that PostFilter returned. A repair changes one object.
    fn repair(&mut self, attempt: &Attempt, unschedulable: &Unschedulable, tasks: &mut impl Tasks) {
        let Some(result) = &unschedulable.post_filter else { return };
        let Some(Repair { object, operations }) = result.repairs.first() else { return };
        for operation in operations {
            let (object, operation, pod) = (object.clone(), operation.clone(), attempt.pod().uid.clone());
            let request = WriteRequest { object, operation, plugin: result.status.plugin, pod };
            self.objects.write(request, &self.client, tasks);
        }
    }

    /// Writes the event and the status of a failure.
    fn report_failure(
        &mut self,
        profile: usize,
        pod: &Arc<Pod>,
        failure: &Failure,
        nominated_node: Option<Option<Arc<str>>>,
        tasks: &mut impl Tasks,
    ) {
        if matches!(failure, Failure::Error(message) if message.is_empty()) {
            // All Bind plugins skipped the pod. kube-scheduler does not report this either.
            return;
        }
        self.client.record(Event {
            scheduler: self.bundle.profiles()[profile].scheduler_name,
            regarding: pod.clone(),
            related: None,
            event_type: EventType::Warning,
            reason: "FailedScheduling",
            action: "Scheduling",
            note: Event::note(failure.message()),
        });
        let condition = Condition {
            kind: "PodScheduled",
            status: false,
            reason: failure.reason(),
            message: failure.message().to_owned(),
        };
        let patch = StatusPatch { condition: Some(condition), nominated_node };
        self.status.write(&self.client, pod.clone(), patch, tasks);
    }

    /// Stores a pod's nomination at once, before its status is written. Returns the nominated node for the status
    /// patch; `None` if the status is to keep its nomination.
    fn nominate(&mut self, pod: Arc<Pod>, nomination: Nomination) -> Option<Option<Arc<str>>> {
        let node: Option<Symbol> = match nomination {
            Nomination::Keep => return None,
            Nomination::Clear => None,
            Nomination::Set(node) => self.cache.base.infos()[node.get()].node.as_ref().map(|node| node.name),
        };
        let before = self.cache.nominator.node(&pod.uid);
        match node {
            Some(node) => self.cache.nominate(pod.clone(), node),
            None => self.cache.withdraw_nomination(&pod.uid),
        }
        // The loss is handled now and not when the status changes: the status may never have contained the nomination,
        // or may lose it late.
        if let Some(before) = before.filter(|before| Some(*before) != node) {
            self.nomination_lost(pod, before);
        }
        Some(node.map(|node| self.cache.base.interner.share(node)))
    }
}
