//! The binding cycle of a pod: kube-scheduler's `bindingCycle`, as a state machine that completed tasks advance.

use futures_util::future::{AbortHandle, AbortRegistration, Abortable};

use super::Scheduler;
use super::cycle::{Permitted, notify_extenders_of_unreserve};
use super::outcome::{Failure, Outcome, Placed};
use super::tasks::{Completed, Tasks, Work};
use crate::engine::ReservationId;
use crate::engine::bundle::{Bundle, with_profile};
use crate::engine::observer::Point;
use crate::model::Uid;
use crate::model::cache::{Base, PodState};
use crate::model::placement::Placement;
use crate::plugin_api::client::{Client, Event, EventType, StatusPatch};
use crate::plugin_api::handle::{PermitRejection, WaitingPod};
use crate::plugin_api::status::{Code, Status};
use crate::profile_api::extenders::Extenders;
use crate::profile_api::profile::PreBindPlan;
use crate::scheduler::queue::Attempt;

/// A pod that has its node and is not bound yet.
pub(super) struct Binding {
    pub(super) attempt: Attempt,
    pub(super) placement: Placement,
    reserved: ReservationId,
    plan: PreBindPlan,
    phase: Phase,
}

/// Phase of a binding cycle.
enum Phase {
    /// A patch of the pod's status is in progress. It writes the nominated node, because the next phases may take long,
    /// or the result of an earlier attempt.
    Writing,
    /// The pod waits in Permit.
    Waiting,
    /// PreBind runs. The fields are its abort handle, the plugin whose preemption aborted it, and its start time.
    PreBinding(AbortHandle, Option<&'static str>, i64),
    /// Bind runs, since this time.
    Binding(i64),
}

impl Binding {
    /// Returns whether PreBind has not started.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.phase, Phase::Writing | Phase::Waiting)
    }
    /// Aborts PreBind, because `plugin` preempts the pod. Returns false if PreBind is not running.
    pub(super) fn cancel_pre_bind(&mut self, plugin: &'static str) -> bool {
        let Phase::PreBinding(abort, cancelled, _) = &mut self.phase else { return false };
        abort.abort();
        *cancelled = Some(plugin);
        true
    }
}

impl<B: Bundle, C: Client> Scheduler<B, C> {
    /// Begins the binding cycle of a pod that has passed Permit, or waits there.
    pub(super) fn begin_binding(&mut self, attempt: Attempt, permitted: Permitted, tasks: &mut impl Tasks) {
        let Permitted { placement, reserved, waits } = permitted;
        let uid = placement.pod.uid.clone();
        self.leave_nominated_node(&placement);
        let plan = with_profile!(
            self.bundle,
            attempt.profile(),
            fn(
                engine,
                placement: &Placement = &placement,
                reserved: ReservationId = reserved,
            ) -> Result<PreBindPlan, Status> {
                let reserved = engine.reserved.get(reserved).ok_or_else(nothing_reserved)?;
                engine.plugins.pre_bind_pre_flight(placement, reserved)
            }
        );
        let plan = match plan {
            Ok(plan) => plan,
            Err(status) => return self.undo(attempt, placement, reserved, Failure::not_bound(status), tasks),
        };
        let takes_long = !waits.is_empty() || !plan.is_empty();
        if !waits.is_empty() {
            let pending = waits.into_iter().map(|(plugin, time)| (plugin, self.now + time)).collect();
            self.waiting.insert(WaitingPod { placement: placement.clone(), since: self.now, pending, rejected: None });
            self.handle.begin_waiting(uid.clone());
        }
        if takes_long && self.needs_nomination_write(&placement) {
            let nominated_node = Some(Some(placement.node_name.clone()));
            let patch = StatusPatch { condition: None, nominated_node };
            self.status.write(&self.client, placement.pod.clone(), patch, tasks);
        }
        self.bindings.insert(uid.clone(), Binding { attempt, placement, reserved, plan, phase: Phase::Writing });
        self.proceed(&uid, tasks);
    }

    /// Returns whether the nomination of a pod's node still has to be written. This is so if the last received status
    /// has another nomination or none, or if a write of the status is in progress.
    fn needs_nomination_write(&self, placement: &Placement) -> bool {
        let uid = &placement.pod.uid;
        let received = self.queue.pod(uid).and_then(|pod| pod.nominated_node);
        received != self.cache.base.interner.get(&placement.node_name) || self.status.is_busy(uid)
    }

    /// Handles the loss of the pod's nomination, if it was for a node other than that of the placement.
    fn leave_nominated_node(&mut self, placement: &Placement) {
        let node = self.cache.base.interner.get(&placement.node_name);
        if let Some(nominated) = placement.pod.nominated_node.filter(|nominated| Some(*nominated) != node) {
            self.nomination_lost(placement.pod.clone(), nominated);
        }
    }

    /// Advances the binding cycle as far as possible without waiting.
    pub(super) fn proceed(&mut self, uid: &Uid, tasks: &mut impl Tasks) {
        let Some(binding) = self.bindings.get_mut(uid).filter(|binding| binding.is_waiting()) else { return };
        if let Some(rejection) = self.waiting.get(uid).and_then(|waiting| waiting.rejected.clone()) {
            self.fail_in_permit(uid, rejection, tasks);
            return;
        }
        if self.status.is_busy(uid) {
            return;
        }
        binding.phase = Phase::Waiting;
        if self.waiting.get(uid).is_some_and(|waiting| !waiting.is_settled()) {
            return;
        }
        self.queue.permitted(&binding.attempt);
        self.stop_waiting(uid, Code::Success);
        self.run_pre_bind(uid, tasks);
    }

    fn run_pre_bind(&mut self, uid: &Uid, tasks: &mut impl Tasks) {
        let Some(binding) = self.bindings.get_mut(uid) else { return };
        if binding.plan.is_empty() {
            self.run_bind(uid, tasks);
            return;
        }
        let (abort, registration) = AbortHandle::new_pair();
        binding.phase = Phase::PreBinding(abort, None, self.now);
        let Binding { placement, reserved, plan, .. } = binding;
        with_profile!(
            self.bundle,
            binding.attempt.profile(),
            fn<C: Client, T: Tasks>(
                engine,
                client: &C = &self.client,
                placement: &Placement = &*placement,
                reserved: ReservationId = *reserved,
                plan: PreBindPlan = *plan,
                attempt: u64 = binding.attempt.id(),
                registration: AbortRegistration = registration,
                tasks: &mut T = tasks,
            ) {
                let (client, placement, plugins) = (client.clone(), placement.clone(), engine.plugins.clone());
                let reserved = engine.reserved.share(reserved);
                tasks.spawn(async move {
                    let run = async {
                        match &reserved {
                            Some(reserved) => plugins.pre_bind(&client, &placement, reserved, plan).await,
                            None => Err(nothing_reserved()),
                        }
                    };
                    let result = Abortable::new(run, registration).await.ok();
                    Completed(Work::PreBound { pod: placement.pod.uid.clone(), attempt, result })
                });
            }
        );
    }

    pub(super) fn pre_bound(
        &mut self,
        uid: &Uid,
        attempt: u64,
        result: Option<Result<(), Status>>,
        tasks: &mut impl Tasks,
    ) {
        let Some(binding) = self.bindings.get(uid).filter(|binding| binding.attempt.id() == attempt) else { return };
        let Phase::PreBinding(_, cancelled, since) = &binding.phase else { return };
        let code = match &result {
            Some(Ok(())) => Code::Success,
            Some(Err(status)) => status.code,
            None => Code::Error,
        };
        self.duration_metrics.ran(binding.attempt.profile(), Point::PreBind, code, self.now - since);
        let status = match (cancelled, result) {
            (Some(plugin), _) => Status::error(format!("preempted by {plugin}")),
            (None, None) => Status::error("PreBind was aborted"),
            (None, Some(Err(status))) => status,
            (None, Some(Ok(()))) => return self.run_bind(uid, tasks),
        };
        self.fail_binding(uid, Failure::not_bound(status), tasks);
    }

    fn run_bind(&mut self, uid: &Uid, tasks: &mut impl Tasks) {
        let Some(binding) = self.bindings.get_mut(uid) else { return };
        binding.phase = Phase::Binding(self.now);
        with_profile!(
            self.bundle,
            binding.attempt.profile(),
            fn<C: Client, T: Tasks>(
                engine,
                client: &C = &self.client,
                placement: &Placement = &binding.placement,
                base: &Base = &self.cache.base,
                attempt: u64 = binding.attempt.id(),
                tasks: &mut T = tasks,
            ) {
                let (client, placement, plugins) = (client.clone(), placement.clone(), engine.plugins.clone());
                let binders = plugins.extenders().binders(&placement.pod, base);
                let bound = move |pod: Uid, result| Completed(Work::Bound { pod, attempt, result });
                if binders.is_empty() {
                    tasks.spawn(async move {
                        let result = plugins.bind(&client, &placement).await;
                        bound(placement.pod.uid.clone(), result)
                    });
                    return;
                }
                tasks.spawn(async move {
                    let (caller, at) = (plugins.clone(), placement.clone());
                    let by_extender = move || caller.extenders().bind(&at, &binders);
                    let result = match client.bind_by_extender(&placement, by_extender).await {
                        Ok(true) => Ok(()),
                        Ok(false) => plugins.bind(&client, &placement).await,
                        Err(error) => Err(Status::error(error)),
                    };
                    bound(placement.pod.uid.clone(), result)
                });
            }
        );
    }

    pub(super) fn bound(&mut self, uid: &Uid, attempt: u64, result: Result<(), Status>, tasks: &mut impl Tasks) {
        let Some(binding) = self.bindings.get(uid).filter(|binding| binding.attempt.id() == attempt) else { return };
        if let Phase::Binding(since) = binding.phase {
            let code = result.as_ref().map_or_else(|status| status.code, |()| Code::Success);
            self.duration_metrics.ran(binding.attempt.profile(), Point::Bind, code, self.now - since);
        }
        if let Err(status) = result {
            return self.fail_binding(uid, Failure::not_bound(status), tasks);
        }
        let Some(Binding { attempt, placement, reserved, .. }) = self.bindings.remove(uid) else { return };
        self.cache.finish_binding(uid);
        with_profile!(
            self.bundle,
            attempt.profile(),
            fn(engine, placement: &Placement = &placement, reserved: ReservationId = reserved) {
                engine.reserved.remove(reserved);
                engine.plugins.post_bind(placement);
            }
        );
        let pod = &placement.pod;
        self.client.record(Event {
            scheduler: self.bundle.profiles()[attempt.profile()].scheduler_name,
            regarding: pod.clone(),
            related: None,
            event_type: EventType::Normal,
            reason: "Scheduled",
            action: "Binding",
            note: format!("Successfully assigned {} to {}", pod.namespaced_name(), placement.node_name),
        });
        self.outcomes.push(Outcome {
            pod: placement.pod,
            profile: attempt.profile(),
            attempts: attempt.attempts(),
            waited: self.waited(&attempt),
            result: Ok(Placed { node: placement.node_name }),
        });
        let (queue, mut context) = self.queue();
        queue.bound(attempt, &mut context);
    }

    /// Handles a rejection or timeout in Permit.
    fn fail_in_permit(&mut self, uid: &Uid, rejection: PermitRejection, tasks: &mut impl Tasks) {
        let PermitRejection { plugin, reason, preempted } = rejection;
        self.stop_waiting(uid, if preempted { Code::Error } else { Code::Unschedulable });
        let failure = if preempted {
            Failure::Error(format!("waiting on permit for pod: {reason}"))
        } else {
            Failure::on_node(Status::unschedulable(reason).with_plugin(plugin))
        };
        self.fail_binding(uid, failure, tasks);
    }

    fn fail_binding(&mut self, uid: &Uid, failure: Failure, tasks: &mut impl Tasks) {
        let Some(Binding { attempt, placement, reserved, .. }) = self.bindings.remove(uid) else { return };
        self.undo(attempt, placement, reserved, failure, tasks);
    }

    /// Reverts a failed binding cycle and requeues the pod: kube-scheduler's `handleBindingCycleError`.
    fn undo(
        &mut self,
        attempt: Attempt,
        placement: Placement,
        reserved: ReservationId,
        failure: Failure,
        tasks: &mut impl Tasks,
    ) {
        // The pod may be bound although the response was lost: extenders are then not notified.
        let node = |name| self.cache.base.interner.resolve(name);
        let is_bound = self
            .cache
            .pod(&placement.pod.uid)
            .is_some_and(|(_, name, state)| state == PodState::Bound && node(name) == &*placement.node_name);
        with_profile!(
            self.bundle,
            attempt.profile(),
            fn<C: Client>(
                engine,
                client: &C = &self.client,
                base: &Base = &self.cache.base,
                placement: &Placement = &placement,
                reserved: ReservationId = reserved,
                is_bound: bool = is_bound,
            ) {
                if let Some(reserved) = engine.reserved.remove(reserved) {
                    engine.plugins.unreserve(placement, &reserved);
                }
                if !is_bound {
                    notify_extenders_of_unreserve(&engine.plugins, client, placement, base);
                }
            }
        );
        self.cache.forget(&placement.pod.uid);
        if let Some(node) = self.cache.base.interner.get(&placement.node_name) {
            self.node_freed(placement.pod, node);
        }
        self.failed(attempt, failure, tasks);
    }

    fn stop_waiting(&mut self, uid: &Uid, code: Code) {
        if let Some(waiting) = self.waiting.remove(uid) {
            self.duration_metrics.waited_in_permit(code, self.now - waiting.since);
            self.handle.end_waiting(uid);
        }
    }
}

fn nothing_reserved() -> Status {
    Status::error("the pod has no reservation")
}
