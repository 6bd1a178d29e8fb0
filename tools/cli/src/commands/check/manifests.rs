//! Manifests, checked against a cluster before their submission.

use schedc_core::erased::AnyBundle;

use super::Check;
use super::sarif::{Finding, sarif};
use crate::commands::failure::Failure;
use crate::commands::new_pods::choose_profile;
use crate::commands::output;
use crate::commands::tables::precheck::table;
use crate::commands::validate;
use crate::precheck::{PendingPod, Precheck, PrecheckError, WorkloadResult, precheck};
use crate::trial;
use crate::workloads::Submission;

const WAITS: (&str, &str) = ("pod-waits", "A pod of the manifest would wait for a node");
const PREEMPTS: (&str, &str) = ("pod-preempts", "A pod of the manifest would preempt another pod");

impl Check {
    /// Prints the effect of the manifests. Returns whether no pod waits and, with `--fail-on-preemption`, none is preempted.
    pub(super) fn manifests(&self, bundle: &AnyBundle) -> Result<bool, Failure> {
        let setup = self.input.setup(bundle)?;
        let objects = self.input.load(bundle)?;
        let submission = Submission::read(&self.manifests, &objects)?;
        let mut ignored = objects.ignored.clone();
        ignored.extend(submission.ignored.clone());
        validate::warn(&ignored);
        submission.check_profiles(&setup.routes).map_err(choose_profile)?;
        let options = trial::Options { routes: setup.routes, seed: self.seed, extenders: setup.extenders };
        let found = precheck(&setup.bundle, objects, submission, &options).map_err(|error| match error {
            PrecheckError::Start(errors) => Failure::from(errors),
            PrecheckError::Manifests(error) => Failure::from(error),
        })?;
        let is_accepted = found.waiting.is_empty() && (found.preempted.is_empty() || !self.fail_on_preemption);
        match self.output.common() {
            Some(format) => output::print(format, &found, table)?,
            None => output::print_text(&(output::json(&self.findings(&found))? + "\n"))?,
        }
        Ok(is_accepted)
    }

    /// Returns a SARIF log: a finding for each message of a workload's waiting pods, and one for each workload that preempts.
    fn findings(&self, found: &Precheck) -> serde_json::Value {
        let mut findings = Vec::new();
        for result in &found.workloads {
            let WorkloadResult { workload, file, line, pods, .. } = result;
            let place = Some((file.clone(), Some((*line).max(1) as usize), None));
            let of_workload = || found.waiting.iter().filter(move |pod| pod.workload == *workload);
            let mut messages: Vec<&str> = of_workload().map(|pod| pod.rejection.message.as_str()).collect();
            messages.sort_unstable();
            messages.dedup();
            for message in messages {
                let number = of_workload().filter(|pod: &&PendingPod| pod.rejection.message == message).count();
                let message = format!("{number} of {pods} pods of {workload} would wait: {message}");
                findings.push(Finding { rule: WAITS.0, level: "error", message, place: place.clone() });
            }
            let is_of_workload = |by: &str| found.running.iter().any(|pod| pod.pod == by && pod.workload == *workload);
            let victims: Vec<String> = found
                .preempted
                .iter()
                .filter(|victim| is_of_workload(&victim.by))
                .map(|victim| format!("{} on {}", victim.pod, victim.node))
                .collect();
            if !victims.is_empty() {
                let level = if self.fail_on_preemption { "error" } else { "warning" };
                let message = format!("pods of {workload} would preempt {}", victims.join(", "));
                findings.push(Finding { rule: PREEMPTS.0, level, message, place });
            }
        }
        sarif(&[WAITS, PREEMPTS], &findings)
    }
}
