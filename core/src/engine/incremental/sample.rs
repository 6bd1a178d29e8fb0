//! Samples of cached answers, which debug builds compare with full evaluations. A wrong promise of a plugin
//! ([`Incremental`](crate::incremental::Incremental)) fails tests in this way.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::{CachedAnswer, NodeVerdicts};
use crate::engine::evaluated::Evaluated;
use crate::engine::evaluation::Evaluation;
use crate::engine::pre_filtered_pod::PreFilteredPod;
use crate::model::Pod;
use crate::model::cache::Cache;
use crate::model::node_mask::NodeMask;
use crate::profile_api::plugin_results::PluginResults;
use crate::profile_api::profile::Profile;

/// One of this many decisions is compared, if a cached answer made it.
const INTERVAL: u64 = 61;

thread_local! {
    static PAUSED: Cell<bool> = const { Cell::new(false) };
}

/// Calls `run` without comparisons of cached answers on this thread: for tests that count the work of a decision.
pub fn without_samples<T>(run: impl FnOnce() -> T) -> T {
    let before = PAUSED.replace(true);
    let result = run();
    PAUSED.set(before);
    result
}

/// Counter of decisions: one of [`INTERVAL`] decisions is a sample, except in [`without_samples`].
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    decisions: u64,
    is_due: bool,
}

impl Sampler {
    /// Starts a decision. Returns whether it is a sample.
    #[inline(always)]
    pub(crate) fn start(&mut self) -> bool {
        if cfg!(debug_assertions) {
            self.decisions += 1;
            self.is_due = self.decisions.is_multiple_of(INTERVAL) && !PAUSED.get();
        }
        self.is_due()
    }

    /// Returns whether the current decision is a sample. Always false in builds without debug assertions.
    #[inline(always)]
    pub(crate) fn is_due(&self) -> bool {
        cfg!(debug_assertions) && self.is_due
    }
}

/// A full evaluation of the pod of a cached answer.
pub(crate) struct Sample<'a, P: Profile> {
    pub(crate) plugins: &'a P,
    pub(crate) pod: &'a Arc<Pod>,
    pub(crate) cache: &'a Cache<P::State>,
    pub(crate) attempt: &'a mut PreFilteredPod<P>,
    pub(crate) evaluation: &'a mut Evaluation<P>,
}

impl<P: Profile> Sample<'_, P> {
    /// Compares a cached answer with the full evaluation.
    ///
    /// # Panics
    /// Panics if they differ, with the names of the plugins that caused the difference.
    pub(crate) fn compare(&mut self, cached: &mut CachedAnswer<P>) {
        let restricting = self.attempt.pre_filter.narrowed_by();
        if !restricting.is_empty() {
            self.fail("PreFilter", &restricting, "restricts the nodes", "all nodes");
        }
        let mut verdicts = self.compare_verdicts(cached);
        if cached.count >= 2 {
            self.compare_totals(cached);
        }
        if cached.count == 0 {
            let expected = verdicts.diagnosis(self.cache.base.count());
            let got = cached.diagnose(self.pod, self.cache);
            if expected != got {
                let plugins = [&expected, &got].map(|of| of.unschedulable_plugins.clone());
                let plugins: BTreeSet<&str> = plugins.into_iter().flatten().collect();
                self.fail("diagnosis", &Vec::from_iter(plugins), &expected.message(), &got.message());
            }
        }
    }

    /// Evaluates all nodes and compares the verdicts. Returns the new verdicts.
    fn compare_verdicts(&mut self, cached: &mut CachedAnswer<P>) -> NodeVerdicts {
        let slots = self.cache.base.infos().len();
        let mut verdicts = NodeVerdicts::default();
        verdicts.resize(slots);
        let mut feasible = NodeMask::default();
        feasible.resize(slots);
        for node in self.cache.base.alive().iter() {
            let verdict = self.attempt.verdict(self.pod, self.cache, node);
            let passes = cached.feasible.contains(node);
            let what = || format!("Filter on node {}", self.cache.base.name(node));
            match &verdict {
                Some(verdict) if passes => {
                    let reasons = verdict.reasons.iter().map(|reason| &**reason).collect::<Vec<_>>().join(", ");
                    self.fail(&what(), &[verdict.plugin], &format!("rejects: {reasons}"), "passes");
                }
                None if !passes => {
                    let PreFilteredPod { compiled, cycle, .. } = &cached.attempt;
                    self.fail(&what(), &cached.parts.rejectors(compiled, cycle, node), "passes", "rejects");
                }
                None => feasible.insert(node),
                Some(_) => {}
            }
            verdicts.set(node, verdict.as_ref());
        }
        self.evaluation.feasible.copy_from(&feasible);
        verdicts
    }

    fn compare_totals(&mut self, cached: &CachedAnswer<P>) {
        let PreFilteredPod { compiled, cycle, .. } = &*self.attempt;
        let expected = match self.evaluation.breakdown(self.plugins, compiled, cycle, self.cache) {
            Ok(expected) => expected,
            Err(status) => self.fail("Score", &[], &status.message(), "totals"),
        };
        let Some(score) = &cached.score else { return };
        for (node, scores) in expected {
            let total = scores.iter().fold(0, |sum: i64, score| sum.wrapping_add(score.weighted()));
            if cached.total(node) == Some(total) {
                continue;
            }
            // The parts of the total that differ.
            let of = |plugins: &[&str]| {
                let parts = scores.iter().filter(|score| plugins.contains(&score.plugin));
                parts.fold(0, |sum: i64, score| sum.wrapping_add(score.weighted()))
            };
            let parts = cached.parts.parts_of_total(score, node, cached.totals[node.get()]);
            let wrong: Vec<&str> = parts
                .iter()
                .filter(|(plugins, part)| *part != of(plugins))
                .flat_map(|(plugins, _)| *plugins)
                .copied()
                .collect();
            let what = format!("total of node {}", self.cache.base.name(node));
            let got = cached.total(node).map_or_else(|| "none".to_owned(), |total| total.to_string());
            self.fail(&what, &wrong, &total.to_string(), &got);
        }
    }

    fn fail(&self, what: &str, plugins: &[&str], expected: &str, got: &str) -> ! {
        fail(self.plugins, self.pod, what, plugins, [expected, got])
    }
}

/// Reports a wrong cached answer.
///
/// # Panics
/// Always.
pub(crate) fn fail<P: Profile>(plugins: &P, pod: &Pod, what: &str, culprits: &[&str], [expected, got]: [&str; 2]) -> ! {
    let difference = format!("a cached answer for pod {} differs from a full evaluation", pod.name);
    let details = format!("\n  {what}\n    full evaluation: {expected}\n    cached answer:   {got}");
    report_broken_promise(plugins, &difference, culprits, &details)
}

/// Reports a compiled pod from the cache that differs from a new compilation.
///
/// # Panics
/// Always.
pub(crate) fn fail_compiled<P: Profile>(plugins: &P, pod: &Pod, culprits: &[&str]) -> ! {
    let difference = format!("the cached compiled form of pod {} differs from a new compilation", pod.name);
    report_broken_promise(plugins, &difference, culprits, "")
}

fn report_broken_promise<P: Profile>(plugins: &P, difference: &str, culprits: &[&str], details: &str) -> ! {
    let culprits = if culprits.is_empty() { "unknown".to_owned() } else { culprits.join(", ") };
    panic!(
        "profile {}: {difference} because of plugin {culprits}{details}\n\
         The plugin breaks a promise of its trait Incremental.",
        plugins.info().name,
    );
}
