//! Result of each plugin alone, to find the plugins that a change affects.

use std::collections::BTreeMap;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Node, Pod};

use crate::args::Args;
use crate::cluster::Cluster;
use crate::plugin::{Cycle, PreFilter, Rejection, stronger_nominated};
use crate::plugins;

/// Result of one plugin for a pod, as if all nodes were feasible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginEvaluation {
    /// Name of the plugin.
    pub plugin: &'static str,
    /// The only candidate nodes, or the reasons of a rejection by PreFilter. `None`: Filter runs on all nodes, or is
    /// skipped.
    pub pre_filter: Option<String>,
    /// Reasons for rejections by node; feasible nodes are missing.
    pub rejections: BTreeMap<Symbol, Vec<String>>,
    /// Scores by node, if the plugin has any.
    pub scores: BTreeMap<Symbol, i64>,
}

/// Evaluates all plugins for a pod.
pub fn evaluate_plugins(args: &Args, cluster: &Cluster, names: &Interner, pod: &Pod) -> Vec<PluginEvaluation> {
    let cx = Cycle { pod, cluster, names, args };
    plugins::all()
        .map(|plugin| {
            let mut evaluation = PluginEvaluation {
                plugin: plugin.name(),
                pre_filter: None,
                rejections: BTreeMap::new(),
                scores: BTreeMap::new(),
            };
            let nodes: Vec<&Node> = cluster.nodes.values().map(|node| &**node).collect();
            let mut runs_filter = false;
            evaluation.pre_filter = match plugin.pre_filter(&cx) {
                PreFilter::Skip => None,
                PreFilter::Ready => {
                    runs_filter = true;
                    None
                }
                PreFilter::Only(names) => {
                    runs_filter = true;
                    Some(format!("only {names:?}"))
                }
                PreFilter::Reject(Rejection { reasons, .. }) => Some(reasons.join(", ")),
            };
            for node in nodes.iter().filter(|_| runs_filter) {
                let nominated = cluster.with(stronger_nominated(&cx, node).into_iter());
                let verdict = plugin.filter(&Cycle { cluster: &nominated, ..cx }, node);
                if let Err(Rejection { mut reasons, .. }) = verdict.and_then(|()| plugin.filter(&cx, node)) {
                    reasons.sort();
                    evaluation.rejections.insert(node.name, reasons);
                }
            }
            if plugin.pre_score(&cx, &nodes) == Ok(true) {
                let score = |node: &&Node| Some((node.name, plugin.score(&cx, &nodes, node).ok()?));
                evaluation.scores = nodes.iter().filter_map(score).collect();
            }
            evaluation
        })
        .collect()
}

impl PluginEvaluation {
    /// Returns whether both results are equal, without regard to `node`.
    pub fn equals_except_on(&self, other: &PluginEvaluation, node: Symbol) -> bool {
        let rejections = |evaluation: &PluginEvaluation| -> Vec<_> {
            evaluation.rejections.clone().into_iter().filter(|(name, _)| *name != node).collect()
        };
        let scores = |evaluation: &PluginEvaluation| -> Vec<_> {
            evaluation.scores.iter().filter(|(name, _)| **name != node).map(|(name, score)| (*name, *score)).collect()
        };
        self.pre_filter == other.pre_filter && rejections(self) == rejections(other) && scores(self) == scores(other)
    }
    /// Returns whether the plugin rejects a node, or gives it a score other than 0.
    pub fn concerns(&self, node: Symbol) -> bool {
        self.rejections.contains_key(&node) || self.scores.get(&node).is_some_and(|score| *score != 0)
    }
}
