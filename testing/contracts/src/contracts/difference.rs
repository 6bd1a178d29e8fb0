//! Comparison of two results that a contract requires to be equal.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use schedc_core::explain::{Explanation, NodeExplanation};
use schedc_core::profile::PluginScore;
use schedc_core::status::{Code, Status};
use schedc_core::verdict::Verdict;

/// The fields in which two results differ, and the plugins that cause the difference.
pub(super) struct Difference {
    /// Subject of both results.
    subject: String,
    /// Names of the two sides: the expected result, and the one that is checked.
    sides: [&'static str; 2],
    plugins: BTreeSet<&'static str>,
    fields: Vec<(String, [String; 2])>,
}

impl Difference {
    /// Starts a comparison of results about `subject`.
    pub(super) fn of(subject: impl Into<String>, sides: [&'static str; 2]) -> Self {
        Difference { subject: subject.into(), sides, plugins: BTreeSet::new(), fields: Vec::new() }
    }

    /// Compares a field of both results, as text.
    pub(super) fn field(&mut self, name: &str, expected: String, actual: String) {
        if expected != actual {
            self.fields.push((name.to_owned(), [expected, actual]));
        }
    }

    /// Compares a field whose value comes from one plugin.
    pub(super) fn field_of(&mut self, plugin: &'static str, name: &str, expected: String, actual: String) {
        if expected != actual {
            self.plugins.insert(plugin);
            self.field(name, expected, actual);
        }
    }

    /// Adds plugins that cause a difference.
    pub(super) fn name_plugins(&mut self, plugins: impl IntoIterator<Item = &'static str>) {
        self.plugins.extend(plugins);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Returns an error that names plugins and fields, unless the results are equal.
    pub(super) fn finish(self) -> Result<(), String> {
        if self.is_empty() {
            return Ok(());
        }
        let [expected_side, actual_side] = self.sides;
        let width = expected_side.len().max(actual_side.len()) + 1;
        let mut text = format!("{}:", self.subject);
        let plugins: Vec<&str> = self.plugins.iter().copied().collect();
        // Writing to a string cannot fail.
        if !plugins.is_empty() {
            let _ = write!(text, "\n  differs in {}", plugins.join(", "));
        }
        for (name, [expected, actual]) in &self.fields {
            let _ = write!(text, "\n  {name}");
            for (side, value) in [(expected_side, expected), (actual_side, actual)] {
                let _ = write!(text, "\n    {:width$} {value}", format!("{side}:"));
            }
        }
        Err(text)
    }

    /// Compares two explanations of one pod, except for indexes of nodes.
    pub(super) fn explanations(&mut self, expected: &Explanation, actual: &Explanation) {
        self.statuses("PreEnqueue", expected.gated_by.as_ref(), actual.gated_by.as_ref());
        self.statuses("PreFilter", expected.pre_filter.as_ref(), actual.pre_filter.as_ref());
        // A pod that PreFilter rejects has no further results.
        if !self.is_empty() {
            return;
        }
        let narrowed = |explanation: &Explanation| {
            explanation.narrowed.as_ref().map_or_else(|| "all".to_owned(), |nodes| nodes.join(", "))
        };
        self.field("nodes that PreFilter leaves", narrowed(expected), narrowed(actual));
        let names = |explanation: &Explanation| {
            explanation.nodes.iter().map(|node| node.node.as_str()).collect::<Vec<_>>().join(", ")
        };
        self.field("nodes", names(expected), names(actual));
        for node in &expected.nodes {
            if let Some(other) = actual.nodes.iter().find(|other| other.node == node.node) {
                self.nodes(node, other);
            }
        }
    }

    fn statuses(&mut self, point: &str, expected: Option<&Status>, actual: Option<&Status>) {
        if expected != actual {
            self.name_plugins([expected, actual].into_iter().flatten().map(|status| status.plugin));
            self.field(point, status(expected), status(actual));
        }
    }

    fn nodes(&mut self, expected: &NodeExplanation, actual: &NodeExplanation) {
        let node = &expected.node;
        let rejecting = |side: &NodeExplanation| side.verdicts.iter().map(|verdict| verdict.plugin).collect::<Vec<_>>();
        let plugins: BTreeSet<&'static str> = [rejecting(expected), rejecting(actual)].concat().into_iter().collect();
        for plugin in plugins {
            let verdict_of =
                |side: &NodeExplanation| verdict(side.verdicts.iter().find(|verdict| verdict.plugin == plugin));
            self.field_of(plugin, &format!("Filter of {plugin} on {node}"), verdict_of(expected), verdict_of(actual));
        }
        let scoring = |side: &NodeExplanation| side.scores.iter().map(|score| score.plugin).collect::<Vec<_>>();
        let plugins: BTreeSet<&'static str> = [scoring(expected), scoring(actual)].concat().into_iter().collect();
        for plugin in plugins {
            let score_of = |side: &NodeExplanation| score(side.scores.iter().find(|score| score.plugin == plugin));
            self.field_of(plugin, &format!("Score of {plugin} on {node}"), score_of(expected), score_of(actual));
        }
    }
}

/// Returns a status as text; `None` is success.
pub(super) fn status(status: Option<&Status>) -> String {
    match status {
        None => "passes".to_owned(),
        Some(status) => rejection(status.code, &status.message()),
    }
}

/// Returns a verdict as text; `None` is success.
pub(super) fn verdict(verdict: Option<&Verdict>) -> String {
    match verdict {
        None => "passes".to_owned(),
        Some(verdict) => rejection(verdict.code, &verdict.failure()),
    }
}

fn rejection(code: Code, reasons: &str) -> String {
    match code {
        Code::Unschedulable => format!("rejects: {reasons}"),
        code => format!("rejects ({code}): {reasons}"),
    }
}

fn score(score: Option<&PluginScore>) -> String {
    match score {
        None => "none".to_owned(),
        Some(score) => format!("{}, normalized {}, weight {}", score.raw, score.normalized, score.weight),
    }
}
