//! Requests and results of the scheduler.

use schedc_core::cache::State;
use schedc_core::extension_points::Nomination;
use schedc_core::model::Uid;
use schedc_core::queue::QueuePlace;
use schedc_core::scheduler::{Failure, Outcome};
use schedc_in_memory::server::{Key, Request};
use serde_json::Value;

use crate::cluster::claim_of;
use crate::history::Answer;
use crate::injected_bugs::InjectedBug;
use crate::invariants::{Invariant, Violation, violated};
use crate::simulation::{Simulation, Spawner};

/// Prefix of the uids of claims that an injected bug invents.
const LEAKED_PREFIX: &str = "leaked ";

/// Minimum number of new strings after which an interner runs another pass over its strings.
const MIN_NEW_STRINGS: usize = 1 << 14;

impl Simulation {
    /// Responds to a request.
    pub(crate) fn answer(&mut self, at: usize, answer: Answer) {
        let is_affected = match self.bug {
            Some(InjectedBug::FalseBinding | InjectedBug::DoubleBinding) => {
                let calls = &self.cluster.calls;
                calls.get(at % calls.len().max(1)).is_some_and(|call| matches!(call.request, Request::Bind { .. }))
            }
            _ => false,
        };
        if self.bug == Some(InjectedBug::ForgottenReservation) {
            self.remove_reservation(at);
        }
        let request = match self.bug {
            Some(InjectedBug::FalseBinding) if is_affected => self.cluster.answer_without_effect(at, Ok(None)),
            Some(InjectedBug::DoubleBinding) if is_affected => {
                let request = self.cluster.answer_without_effect(at, Ok(None));
                if let Some(Request::Bind { pod, node }) = &request {
                    self.cluster.force_node(pod, node);
                }
                request
            }
            _ => self.cluster.answer(at, answer),
        };
        self.cluster.observe(self.attempts, &mut self.counts);
        let Some(request) = request else { return };
        let request_kind = match request {
            Request::Bind { .. } => "bind",
            Request::PatchPodStatus { .. } => "pod status",
            Request::DeletePod { .. } => "pod deletion",
            request if claim_of(&request).is_some() => "claim",
            _ => "storage",
        };
        match answer {
            Answer::Done => self.counts.add("request", request_kind),
            fault => self.counts.add("fault", &format!("{request_kind}: {fault}")),
        }
    }

    /// Removes the reservation from the request at an index, if the request writes an allocation.
    fn remove_reservation(&mut self, at: usize) {
        let count = self.cluster.calls.len().max(1);
        let call = self.cluster.calls.get_mut(at % count);
        if let Some(Request::Patch(Key { kind: "ResourceClaim", .. }, patch)) = call.map(|call| &mut call.request)
            && let Some(Value::Object(status)) = patch.get_mut("status")
            && status.contains_key("allocation")
        {
            status.remove("reservedFor");
        }
    }

    /// Runs tasks until all wait, and passes the results of completed ones to the scheduler.
    pub(crate) fn pump(&mut self) {
        while let Some(completed) = self.executor.run_until_one_ends() {
            if self.bug == Some(InjectedBug::LostCompletion) && self.bug_strikes() {
                continue;
            }
            self.scheduler.on_completed(completed, &mut Spawner(&mut self.executor));
        }
    }

    /// Collects and checks the results of the scheduler: requests, bindings, decisions, outcomes.
    pub(crate) fn collect_results(&mut self) -> Result<(), Violation> {
        let bindings = self.injectors.lock().take_bindings();
        self.check_decisions()?;
        self.check_new_allocations()?;
        self.corrupt_allocations();
        self.check_requests()?;
        for (uid, node) in bindings {
            if self.delivered.pods.get(&uid).is_some_and(|pod| pod.node.is_none()) {
                self.bound_but_undelivered.insert(uid, node);
            }
        }
        for outcome in self.scheduler.take_outcomes() {
            self.take_outcome(&outcome)?;
        }
        self.corrupt_cache();
        Ok(())
    }

    /// Corrupts the cache as an injected bug requires.
    fn corrupt_cache(&mut self) {
        if !matches!(self.bug, Some(InjectedBug::DoubleCount | InjectedBug::StaleNomination)) {
            return;
        }
        let cache = &mut self.scheduler.cache;
        let Some((pod, node)) = cache.pods().next().map(|(pod, node, _)| (pod.clone(), node)) else { return };
        match cache.base.node(node) {
            Some(at) if self.bug == Some(InjectedBug::DoubleCount) => State::add_pod(&mut cache.state, at, &pod),
            _ => cache.nominate(pod, node),
        }
    }

    /// Frees strings of objects if the injected bug requires it. Callers check the invariants immediately afterwards,
    /// because debug builds stop at a symbol without a string.
    pub(crate) fn corrupt_strings(&mut self) {
        let has_pods = self.scheduler.cache.pods().next().is_some();
        if self.bug != Some(InjectedBug::FreedStrings) || !has_pods || !self.bug_strikes() {
            return;
        }
        let interner = &mut self.scheduler.cache.base.interner;
        // A pass frees a string only if the previous pass did not mark the string either. A pass runs only after at
        // least as many strings were added as the previous pass marked.
        for pass in 0..2 {
            for number in 0..interner.len() + MIN_NEW_STRINGS {
                interner.intern(&format!("unused {pass} {number}"));
            }
            interner.free_all_except([], []);
        }
    }

    /// Corrupts the pending allocations as an injected bug requires.
    fn corrupt_allocations(&mut self) {
        let Some(handle) = self.handle() else { return };
        let mut pending = handle.pending_allocations();
        let claims: Vec<Uid> = pending.iter().map(|(uid, _)| uid.clone()).collect();
        match self.bug {
            Some(InjectedBug::DoubleAllocation) => claims.iter().for_each(|claim| pending.remove(claim)),
            Some(InjectedBug::LeakedCounter) => {
                for claim in claims.iter().filter(|claim| !claim.0.starts_with(LEAKED_PREFIX)) {
                    let Some(allocation) = pending.get(claim).map(|pending| pending.allocation.clone()) else {
                        continue;
                    };
                    let leaked = format!("{LEAKED_PREFIX}{}", claim.0);
                    if pending.get(&Uid(leaked.as_str().into())).is_none() {
                        let name = self.scheduler.cache.base.interner.intern(&leaked);
                        pending.insert(Uid(leaked.into()), Some((name, name)), allocation);
                    }
                }
            }
            _ => {}
        }
    }

    fn check_requests(&mut self) -> Result<(), Violation> {
        let before: Vec<Uid> = self.binds().collect();
        for request in self.cluster.take_calls(&self.client) {
            let Request::Bind { pod, node } = request else { continue };
            if before.contains(&pod.uid) {
                let description = format!("a second binding of {}, to {node}, is requested", pod.name);
                violated(Invariant::NoPodIsBoundTwice, description)?;
            }
        }
        Ok(())
    }

    fn binds(&self) -> impl Iterator<Item = Uid> {
        self.cluster.outstanding().filter(|call| !call.is_abandoned()).filter_map(|call| match &call.request {
            Request::Bind { pod, .. } => Some(pod.uid.clone()),
            _ => None,
        })
    }

    fn take_outcome(&mut self, outcome: &Outcome) -> Result<(), Violation> {
        let name = match &outcome.result {
            Ok(_) => "bound",
            Err(Failure::Unschedulable(_)) => "unschedulable",
            Err(Failure::Error(_)) => "failed",
        };
        self.counts.add("attempt", name);
        let message = outcome.result.as_ref().err().map_or("bound", Failure::message).to_owned();
        self.last_outcomes.insert(outcome.pod.uid.0.clone(), message.clone());
        let waking_events_before = self.waking_events_before.remove(&outcome.pod.uid.0);
        let Err(Failure::Unschedulable(unschedulable)) = &outcome.result else { return Ok(()) };
        let is_fault_injector = |plugin: &&str| *plugin == "First" || *plugin == "Last";
        if waking_events_before.is_some_and(|waking_events_before| waking_events_before < self.waking_events)
            && unschedulable.diagnosis.unschedulable_plugins.iter().any(is_fault_injector)
            && self.scheduler.place(&outcome.pod.uid) == Some(QueuePlace::Unschedulable)
        {
            let description = format!("{} is in the unschedulable pods: {message}", outcome.pod.name);
            return violated(Invariant::EventsAreNotLost, description);
        }
        if matches!(unschedulable.nomination(), Nomination::Set(_)) && !unschedulable.victims().is_empty() {
            self.counts.add("preemption", "found");
            if self.preempting.contains(&outcome.pod.uid.0) {
                let description = format!("{} preempts during its own preemption", outcome.pod.name);
                return violated(Invariant::OnePreemptionPerPod, description);
            }
        }
        Ok(())
    }
}
