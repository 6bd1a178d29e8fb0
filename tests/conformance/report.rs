//! Report about the agreement of a family's results with those of kube-scheduler.

use std::collections::BTreeMap;
use std::fmt;

use schedc::evaluation::{Decision, Evaluator};
use schedc_core::profile::Bundle;
use serde_json::Value;

use crate::conformance::compare::{Difference, differences};
use crate::conformance::corpus::{Entry, entries};

/// Maximum number of disagreeing results in a report.
const MAX_SHOWN: usize = 5;
/// Maximum number of differences per result.
const MAX_SHOWN_DIFFERENCES: usize = 4;

/// Number of equal values among all compared ones.
#[derive(Default)]
struct Count {
    agree: usize,
    all: usize,
}

impl Count {
    fn add(&mut self, agrees: bool) {
        self.agree += usize::from(agrees);
        self.all += 1;
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.agree, self.all)
    }
}

/// Agreement of one plugin.
#[derive(Default)]
struct PluginCounts {
    /// Verdicts, actual or expected, with which the plugin rejects a node or the pod.
    verdicts: Count,
    /// Results of Score.
    raw: Count,
}

/// Result of the comparison of a family.
pub(crate) struct Report {
    family: String,
    results: Count,
    plugins: BTreeMap<String, PluginCounts>,
    /// Each disagreeing result: scenario, profile and pod as text, and the differences.
    disagreements: Vec<(String, Vec<Difference>)>,
}

impl Report {
    /// Evaluates the scenarios of a family. `stand_in` returns the profile that replaces a scenario's profile; for
    /// `None`, the scenario is left out. Pods are placed on the expected nodes, so a different node does not cause
    /// further differences.
    pub(crate) fn of<B: Bundle>(family: &str, stand_in: impl Fn(&str) -> Option<String>) -> Self {
        Self::by(Evaluator::of::<B>().unwrap(), family, stand_in, |_| {})
    }

    /// Evaluates with a given evaluator, and changes its decisions before the comparison.
    pub(crate) fn by(
        mut evaluator: Evaluator,
        family: &str,
        stand_in: impl Fn(&str) -> Option<String>,
        change: impl Fn(&mut Decision),
    ) -> Self {
        let mut report = Report {
            family: family.to_owned(),
            results: Count::default(),
            plugins: BTreeMap::new(),
            disagreements: Vec::new(),
        };
        for Entry { mut scenario, expected } in entries(family, |profile| stand_in(profile).is_some()) {
            let profile = scenario.profile.take().unwrap();
            scenario.profile = stand_in(&profile);
            let id = scenario.id.clone();
            let chosen = |at: usize| expected.get(at)?["chosen"].as_str().map(str::to_owned);
            let evaluation = evaluator.evaluate_placing(scenario, |at, _| chosen(at));
            let evaluation = evaluation.unwrap_or_else(|error| panic!("{id}: {error}"));
            assert_eq!(evaluation.results.len(), expected.len(), "{id}");
            for (expected, mut got) in expected.iter().zip(evaluation.results) {
                change(&mut got);
                let pod = format!("{id} ({profile}), pod {}", got.pod);
                report.add(pod, expected, &serde_json::to_value(&got).unwrap());
            }
        }
        report
    }

    fn add(&mut self, pod: String, expected: &Value, got: &Value) {
        self.count_plugins(expected, got);
        let differences = differences(expected, got);
        self.results.add(differences.is_empty());
        if !differences.is_empty() {
            self.disagreements.push((pod, differences));
        }
    }

    fn count_plugins(&mut self, expected: &Value, got: &Value) {
        let nodes = expected["nodes"].as_object().into_iter().flatten().map(|(name, node)| (node, &got["nodes"][name]));
        for (expected, got) in nodes.chain([(&expected["prefilter"], &got["prefilter"])]) {
            let fields = ["code", "plugin", "reasons"];
            let agrees = fields.iter().all(|field| expected[field] == got[field]);
            let mut rejectors = [expected["plugin"].as_str(), got["plugin"].as_str()];
            if rejectors[0] == rejectors[1] {
                rejectors[1] = None;
            }
            for plugin in rejectors.into_iter().flatten() {
                self.plugins.entry(plugin.to_owned()).or_default().verdicts.add(agrees);
            }
            // Scores are compared only if both results score the node; otherwise the verdicts differ.
            if let (Some(expected), Some(got)) = (expected["raw"].as_object(), got["raw"].as_object()) {
                for plugin in expected.keys().chain(got.keys().filter(|&plugin| !expected.contains_key(plugin))) {
                    let agrees = expected.get(plugin) == got.get(plugin);
                    self.plugins.entry(plugin.clone()).or_default().raw.add(agrees);
                }
            }
        }
    }

    /// Returns whether all results agree.
    pub(crate) fn agrees(&self) -> bool {
        self.disagreements.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {} results agree", self.family, self.results)?;
        for (plugin, PluginCounts { verdicts, raw }) in &self.plugins {
            write!(f, "  {plugin}:")?;
            if verdicts.all > 0 {
                write!(f, " {verdicts} verdicts")?;
            }
            if raw.all > 0 {
                write!(f, " {raw} raw scores")?;
            }
            writeln!(f)?;
        }
        for (pod, differences) in self.disagreements.iter().take(MAX_SHOWN) {
            writeln!(f, "{pod}:")?;
            for difference in differences.iter().take(MAX_SHOWN_DIFFERENCES) {
                writeln!(f, "    {difference}")?;
            }
            if let more @ 1.. = differences.len().saturating_sub(MAX_SHOWN_DIFFERENCES) {
                writeln!(f, "    and {more} more")?;
            }
        }
        Ok(())
    }
}
