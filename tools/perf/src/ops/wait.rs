//! Waiting for pods.

use schedc_objects::AnyObject;

use super::SECOND;
use crate::Error;
use crate::config::{Barrier, Stage};
use crate::placements::is_scheduled;
use crate::probe::{ScheduledCounts, Selection, has};
use crate::run::Runner;

/// Time limit of each wait, measured with the clock of the workload.
const WAIT_TIMEOUT: i64 = 600 * SECOND;

impl Runner<'_> {
    /// Returns the number of pods that were bound since the wait began.
    pub(super) fn awaited(&self) -> usize {
        self.simulator.hooks.awaited.as_ref().map_or(0, |(_, bound)| *bound)
    }

    /// Waits until the given number of pods of the namespace are bound.
    pub(super) fn await_pods(&mut self, namespace: &str, count: usize) -> Result<(), Error> {
        match self.run_until(WAIT_TIMEOUT, |runner| runner.awaited() >= count)? {
            true => Ok(()),
            false => {
                let reason = format!("{} of {count} pods of namespace `{namespace}` were scheduled", self.awaited());
                Err(self.timeout_error(&reason, &Selection::of_namespace(namespace), Stage::Scheduled))
            }
        }
    }

    pub(super) fn barrier(&mut self, op: &Barrier) -> Result<(), Error> {
        if let Some(unknown) = op.namespaces.iter().find(|namespace| !self.has_namespace(namespace)) {
            return Err(Error::new(format!("namespaces: namespace `{unknown}` does not exist")));
        }
        let wanted: Vec<(String, usize)> = match op.namespaces.is_empty() {
            true => self.unawaited.clone().into_iter().collect(),
            false => {
                let count = |namespace: &String| self.unawaited.get(namespace).copied().unwrap_or(0);
                op.namespaces.iter().map(|namespace| (namespace.clone(), count(namespace))).collect()
            }
        };
        let reached = match op.stage_requirement {
            Stage::Attempted => self.await_attempts(op, &wanted)?,
            Stage::Scheduled => self.await_scheduled(op, &wanted)?,
        };
        if let Err(namespace) = reached {
            let count = wanted.iter().find(|(own, _)| *own == namespace).map_or(0, |(_, count)| *count);
            let stage = match op.stage_requirement {
                Stage::Scheduled => "scheduled",
                Stage::Attempted => "attempted",
            };
            let selection = Selection { namespaces: vec![namespace.clone()], labels: op.label_selector.clone() };
            let found = self.count(&selection, op.stage_requirement);
            let reason = format!("{found} of {count} pods of namespace `{namespace}` are {stage}");
            return Err(self.timeout_error(&reason, &selection, op.stage_requirement));
        }
        if op.stage_requirement == Stage::Scheduled {
            wanted.iter().for_each(|(namespace, _)| _ = self.unawaited.remove(namespace));
        }
        Ok(())
    }

    /// Waits for attempts by polling; the first poll usually suffices, because pods are attempted as soon as possible.
    /// The inner error is a namespace whose pods were not all attempted in time.
    fn await_attempts(&mut self, op: &Barrier, wanted: &[(String, usize)]) -> Result<Result<(), String>, Error> {
        let end = self.clock.now().saturating_add(WAIT_TIMEOUT);
        loop {
            self.settle()?;
            self.settle()?;
            let missing = wanted.iter().find(|(namespace, count)| {
                let selection = Selection { namespaces: vec![namespace.clone()], labels: op.label_selector.clone() };
                self.count(&selection, Stage::Attempted) < *count
            });
            let Some((missing, _)) = missing else { return Ok(Ok(())) };
            if self.clock.now() >= end {
                return Ok(Err(missing.clone()));
            }
            self.run_until(SECOND, |_| false)?;
        }
    }

    /// Waits for bindings. The inner error is a namespace whose pods were not all bound in time.
    fn await_scheduled(&mut self, op: &Barrier, wanted: &[(String, usize)]) -> Result<Result<(), String>, Error> {
        // A pending change would be counted twice: by the count below, and when it is delivered. Therefore, changes are
        // delivered first.
        self.simulator.deliver_changes();
        let mut scheduled = ScheduledCounts { labels: op.label_selector.clone(), ..ScheduledCounts::default() };
        for (namespace, _) in wanted {
            let selection = Selection { namespaces: vec![namespace.clone()], labels: op.label_selector.clone() };
            scheduled.pods.insert(namespace.clone(), self.count(&selection, Stage::Scheduled));
        }
        self.simulator.hooks.scheduled = Some(scheduled);
        let missing = |runner: &Self| {
            let pods = &runner.simulator.hooks.scheduled.as_ref()?.pods;
            wanted.iter().find(|(namespace, count)| pods.get(namespace).copied().unwrap_or(0) < *count).cloned()
        };
        let is_done = self.run_until(WAIT_TIMEOUT, |runner| missing(runner).is_none())?;
        let missing = missing(self);
        self.simulator.hooks.scheduled = None;
        Ok(match missing.filter(|_| !is_done) {
            None => Ok(()),
            Some((namespace, _)) => Err(namespace),
        })
    }

    /// Returns the number of pods that have reached a stage.
    fn count(&self, selection: &Selection, stage: Stage) -> usize {
        self.pods(selection).filter(|pod| has_reached(pod, stage)).count()
    }

    fn pods<'s>(&'s self, selection: &'s Selection) -> impl Iterator<Item = &'s k8s_openapi::api::core::v1::Pod> {
        let namespaces = selection.namespaces.iter();
        let all = namespaces.flat_map(|namespace| self.simulator.server.list_in("Pod", namespace));
        all.filter_map(|object| match &**object {
            AnyObject::Pod(pod) if has(&selection.labels, pod) => Some(&**pod),
            _ => None,
        })
    }

    /// Returns the error of a wait that exceeded the time limit.
    fn timeout_error(&self, reason: &str, selection: &Selection, stage: Stage) -> Error {
        let waiting = self.pods(selection).find(|pod| !has_reached(pod, stage));
        let Some(pod) = waiting else { return Error::new(format!("timeout: {reason}")) };
        let name = pod.metadata.name.as_deref().unwrap_or_default();
        let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
        let condition = conditions.iter().find(|condition| condition.type_ == "PodScheduled");
        let message = condition.and_then(|condition| condition.message.as_deref());
        let message = message.unwrap_or("it was not attempted; check that a profile has its scheduler name");
        Error::new(format!("timeout: {reason}; pod {name}: {message}"))
    }
}

/// Returns whether a pod has reached a stage. A gated pod counts as attempted, because Kubernetes' API server sets its
/// condition `PodScheduled`.
fn has_reached(pod: &k8s_openapi::api::core::v1::Pod, stage: Stage) -> bool {
    if is_scheduled(pod) {
        return true;
    }
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let is_gated =
        pod.spec.as_ref().and_then(|spec| spec.scheduling_gates.as_ref()).is_some_and(|gates| !gates.is_empty());
    stage == Stage::Attempted && (is_gated || conditions.iter().any(|condition| condition.type_ == "PodScheduled"))
}
