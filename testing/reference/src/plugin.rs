//! What a plugin can say, and which plugins a profile has.

use std::fmt;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Node, Pod};
use schedc_core::status::Code;

use crate::args::Args;
use crate::cluster::{Cluster, PlacedPod};
use crate::plugins;

/// A pod, and all that a plugin can look at.
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

/// The pods that are nominated for a node and not weaker than the pod.
pub(crate) fn stronger_nominated(cx: &Cycle<'_>, node: &Node) -> Vec<PlacedPod> {
    let is_first = |other: &&PlacedPod| {
        other.node == node.name && other.pod.uid != cx.pod.uid && other.pod.spec.priority >= cx.pod.spec.priority
    };
    cx.cluster.nominated.iter().filter(is_first).cloned().collect()
}

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) code: Code,
    pub(crate) reasons: Vec<String>,
}

impl Rejection {
    /// Without other pods it may be different.
    pub(crate) fn unschedulable(reason: impl Into<String>) -> Rejection {
        Rejection { code: Code::Unschedulable, reasons: vec![reason.into()] }
    }
    /// Without other pods it is the same.
    pub(crate) fn unresolvable(reason: impl Into<String>) -> Rejection {
        Rejection { code: Code::UnschedulableAndUnresolvable, reasons: vec![reason.into()] }
    }
    /// It cannot be told.
    pub(crate) fn error(reason: impl Into<String>) -> Rejection {
        Rejection { code: Code::Error, reasons: vec![reason.into()] }
    }
}

/// What a plugin says before nodes are looked at.
pub(crate) enum PreFilter {
    /// Its Filter has something to say.
    Ready,
    /// Its Filter has nothing to say.
    Skip,
    /// Only nodes of these names.
    Only(Vec<Symbol>),
    /// The pod goes nowhere.
    Reject(Rejection),
}

/// A plugin. What it does not say is left out.
pub(crate) trait Plugin: Sync {
    fn name(&self) -> &'static str;
    fn pre_filter(&self, _: &Cycle<'_>) -> PreFilter {
        PreFilter::Ready
    }
    fn filter(&self, _: &Cycle<'_>, _: &Node) -> Result<(), Rejection> {
        Ok(())
    }
    /// Whether the plugin scores this pod at all.
    fn pre_score(&self, _: &Cycle<'_>, _feasible: &[&Node]) -> Result<bool, String> {
        Ok(true)
    }
    fn score(&self, _: &Cycle<'_>, _feasible: &[&Node], _: &Node) -> Result<i64, String> {
        Ok(0)
    }
    /// The scores of the feasible nodes, brought to 0..=100.
    fn normalize(&self, _: &Cycle<'_>, _feasible: &[&Node], raw: &[i64]) -> Vec<i64> {
        raw.to_vec()
    }
}

/// Whole percent of the highest score; with `reverse`, what is missing from a hundred.
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

/// What a profile consists of.
pub struct Profile {
    pub(crate) pre_filters: Vec<&'static dyn Plugin>,
    pub(crate) filters: Vec<&'static dyn Plugin>,
    pub(crate) scores: Vec<(&'static dyn Plugin, i64)>,
    pub(crate) args: Args,
}

/// A profile has a plugin that is not written down here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPlugin(pub String);

impl fmt::Display for UnknownPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no naive {}", self.0)
    }
}

impl std::error::Error for UnknownPlugin {}

impl Profile {
    /// A profile by the names of its plugins, in their order, and the weights of their scores.
    ///
    /// # Errors
    /// One of them is unknown.
    pub fn new<'n>(
        pre_filters: impl IntoIterator<Item = &'n str>,
        filters: impl IntoIterator<Item = &'n str>,
        scores: impl IntoIterator<Item = (&'n str, i64)>,
        args: Args,
    ) -> Result<Profile, UnknownPlugin> {
        let find = |name: &'n str| plugins::named(name).ok_or_else(|| UnknownPlugin(name.to_owned()));
        let scores = scores.into_iter().map(|(name, weight)| Ok((find(name)?, weight)));
        Ok(Profile {
            pre_filters: pre_filters.into_iter().map(find).collect::<Result<_, _>>()?,
            filters: filters.into_iter().map(find).collect::<Result<_, _>>()?,
            scores: scores.collect::<Result<_, _>>()?,
            args,
        })
    }
}
