//! The plugin trait.

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Node, Pod};
use schedc_core::status::Code;

use crate::args::Args;
use crate::cluster::{Cluster, PlacedPod};

/// A pod, and everything that a plugin can read.
#[derive(Clone, Copy)]
pub(crate) struct Cycle<'a> {
    pub(crate) pod: &'a Pod,
    pub(crate) cluster: &'a Cluster,
    pub(crate) names: &'a Interner,
    pub(crate) args: &'a Args,
}

impl<'a> Cycle<'a> {
    pub(crate) fn text(&self, symbol: Symbol) -> &'a str {
        self.names.resolve(symbol)
    }
    pub(crate) fn pods_on(&self, node: &Node) -> impl Iterator<Item = &'a PlacedPod> {
        self.cluster.pods_on(node)
    }
}

/// Returns the other pods that are nominated for a node, and have at least the priority of the evaluated pod.
pub(crate) fn stronger_nominated(cx: &Cycle<'_>, node: &Node) -> Vec<PlacedPod> {
    let is_stronger = |other: &&PlacedPod| {
        other.node == node.name && other.pod.uid != cx.pod.uid && other.pod.spec.priority >= cx.pod.spec.priority
    };
    cx.cluster.nominated.iter().filter(is_stronger).cloned().collect()
}

/// Rejection by a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) code: Code,
    pub(crate) reasons: Vec<String>,
}

impl Rejection {
    /// Returns a rejection that preemption may resolve.
    pub(crate) fn unschedulable(reason: impl Into<String>) -> Rejection {
        Rejection { code: Code::Unschedulable, reasons: vec![reason.into()] }
    }
    /// Returns a rejection that preemption cannot resolve.
    pub(crate) fn unresolvable(reason: impl Into<String>) -> Rejection {
        Rejection { code: Code::UnschedulableAndUnresolvable, reasons: vec![reason.into()] }
    }
    /// Returns an error.
    pub(crate) fn error(reason: impl Into<String>) -> Rejection {
        Rejection { code: Code::Error, reasons: vec![reason.into()] }
    }
}

/// Result of PreFilter.
pub(crate) enum PreFilter {
    /// Filter runs.
    Ready,
    /// Filter is skipped.
    Skip,
    /// Only these nodes are candidates.
    Only(Vec<Symbol>),
    /// The pod is rejected.
    Reject(Rejection),
}

/// A plugin. Extension points without an implementation do nothing.
pub(crate) trait Plugin: Sync {
    fn name(&self) -> &'static str;
    fn pre_filter(&self, _: &Cycle<'_>) -> PreFilter {
        PreFilter::Ready
    }
    fn filter(&self, _: &Cycle<'_>, _: &Node) -> Result<(), Rejection> {
        Ok(())
    }
    /// Returns whether Score runs for this pod.
    fn pre_score(&self, _: &Cycle<'_>, _feasible: &[&Node]) -> Result<bool, String> {
        Ok(true)
    }
    fn score(&self, _: &Cycle<'_>, _feasible: &[&Node], _: &Node) -> Result<i64, String> {
        Ok(0)
    }
    /// Normalizes the scores of the feasible nodes to 0..=100.
    fn normalize(&self, _: &Cycle<'_>, _feasible: &[&Node], raw: &[i64]) -> Vec<i64> {
        raw.to_vec()
    }
}

/// Returns percentages of the highest score, rounded down; with `reverse`, their differences from 100.
pub(crate) fn percent_of_highest(raw: &[i64], reverse: bool) -> Vec<i64> {
    let highest = raw.iter().copied().max().unwrap_or(0).max(0);
    raw.iter()
        .map(|score| match (highest, reverse) {
            (0, true) => 100,
            (0, false) => *score,
            (_, true) => 100 - 100 * score / highest,
            (_, false) => 100 * score / highest,
        })
        .collect()
}
