//! The same plugins composed at run time, as kube-scheduler's framework composes its own: plugins are made by name from
//! a registry, sit behind trait objects, keep their state of a cycle in a map by name, and have their weights in another.
//! What kube-scheduler does in parallel is done one after the other.

mod object;
mod registry;

use std::any::Any;

use schedc_core::extension_points::MAX_NODE_SCORE;
use schedc_core::map::{Map, Set};
use schedc_core::mask::Mask;
use schedc_core::model::{NodeIndex, PodSpec};
use schedc_core::status::{Code, Status};
use schedc_plugins::{NodeResourcesFitArgs, ScoringStrategy, ScoringStrategyType};

use super::way::Cluster;
use object::{Filter, PreFilter, PreScore, Score};
use registry::{Points, registry};

/// A profile, as it is when it is read at run time.
pub(crate) struct Config {
    /// Plugins in order, with their weights.
    plugins: &'static [(&'static str, i64)],
    node_resources_fit: &'static NodeResourcesFitArgs,
}

/// What profiles/`profile`.toml says.
pub(crate) fn config(profile: &str) -> Config {
    const DEFAULT: &[(&str, i64)] = &[
        ("NodeUnschedulable", 1),
        ("NodeName", 1),
        ("TaintToleration", 3),
        ("NodeAffinity", 2),
        ("NodePorts", 1),
        ("NodeResourcesFit", 1),
        ("NodeResourcesBalancedAllocation", 1),
        ("ImageLocality", 1),
    ];
    let strategy = match profile {
        "binpack" => ScoringStrategyType::MostAllocated,
        _ => ScoringStrategyType::LeastAllocated,
    };
    let defaults = NodeResourcesFitArgs::DEFAULT;
    let args = NodeResourcesFitArgs {
        scoring_strategy: ScoringStrategy { r#type: strategy, ..defaults.scoring_strategy },
        ..defaults
    };
    Config {
        plugins: if profile == "edge" { &DEFAULT[..6] } else { DEFAULT },
        node_resources_fit: Box::leak(Box::new(args)),
    }
}

/// What plugins leave for later extension points of the same cycle.
#[derive(Default)]
pub(crate) struct CycleState {
    data: Map<&'static str, Box<dyn Any>>,
    skip_filter: Set<&'static str>,
    skip_score: Set<&'static str>,
}

impl CycleState {
    fn read<T: 'static>(&self, key: &'static str) -> &T {
        let data = self.data.get(key).and_then(|data| data.downcast_ref());
        data.expect("the plugin has left its state")
    }
}

/// What a node's total consists of.
pub(crate) struct NodeScores {
    pub(crate) node: NodeIndex,
    /// Plugin and weighted score.
    pub(crate) scores: Vec<(&'static str, i64)>,
    pub(crate) total: i64,
}

/// The plugins of a profile, for one pod.
pub(crate) struct Framework {
    pre_filters: Vec<Box<dyn PreFilter>>,
    filters: Vec<Box<dyn Filter>>,
    pre_scores: Vec<Box<dyn PreScore>>,
    scores: Vec<Box<dyn Score>>,
    weights: Map<&'static str, i64>,
}

impl Framework {
    pub(crate) fn new(config: &Config, pod: &PodSpec, cluster: &mut Cluster) -> Framework {
        let registry = registry();
        let mut framework = Framework {
            pre_filters: Vec::new(),
            filters: Vec::new(),
            pre_scores: Vec::new(),
            scores: Vec::new(),
            weights: Map::default(),
        };
        for (name, weight) in config.plugins {
            let Points { pre_filter, filter, pre_score, score } = registry[name](config, pod, cluster);
            framework.pre_filters.extend(pre_filter);
            framework.filters.extend(filter);
            framework.pre_scores.extend(pre_score);
            framework.scores.extend(score);
            framework.weights.insert(name, *weight);
        }
        framework
    }

    /// From PreFilter to the totals.
    ///
    /// # Errors
    /// A plugin failed, or rejects the pod as a whole.
    pub(crate) fn schedule(&self, cluster: &Cluster) -> Result<Vec<NodeScores>, Status> {
        let mut state = CycleState::default();
        for plugin in &self.pre_filters {
            if plugin.pre_filter(&mut state, cluster)? {
                state.skip_filter.insert(plugin.name());
            }
        }
        let mut feasible = Vec::new();
        let mut rejected: Map<NodeIndex, Status> = Map::default();
        for node in cluster.base.alive().iter() {
            match self.run_filters(&state, cluster, node) {
                None => feasible.push(node),
                Some(status) if status.code == Code::Error => return Err(status),
                Some(status) => {
                    rejected.insert(node, status);
                }
            }
        }
        let mask: Mask = feasible.iter().copied().collect();
        for plugin in &self.pre_scores {
            if plugin.pre_score(&mut state, cluster, &mask)? {
                state.skip_score.insert(plugin.name());
            }
        }
        self.run_scores(&state, cluster, &feasible)
    }

    fn run_filters(&self, state: &CycleState, cluster: &Cluster, node: NodeIndex) -> Option<Status> {
        for plugin in &self.filters {
            if state.skip_filter.contains(plugin.name()) {
                continue;
            }
            if let Some(status) = plugin.filter(state, cluster, node) {
                return Some(status.with_plugin(plugin.name()));
            }
        }
        None
    }

    fn run_scores(
        &self,
        state: &CycleState,
        cluster: &Cluster,
        feasible: &[NodeIndex],
    ) -> Result<Vec<NodeScores>, Status> {
        let plugins = self.scores.iter().map(|plugin| &**plugin);
        let plugins: Vec<_> = plugins.filter(|plugin| !state.skip_score.contains(plugin.name())).collect();
        let mut raw: Map<&str, Vec<i64>> =
            plugins.iter().map(|plugin| (plugin.name(), vec![0; feasible.len()])).collect();
        for (at, &node) in feasible.iter().enumerate() {
            for plugin in &plugins {
                let score = plugin.score(state, cluster, node)?;
                if let Some(scores) = raw.get_mut(plugin.name()) {
                    scores[at] = score;
                }
            }
        }
        for plugin in &plugins {
            if let Some(scores) = raw.get_mut(plugin.name()) {
                plugin.normalize(scores);
            }
        }
        feasible.iter().enumerate().map(|(at, &node)| self.weigh(node, at, &plugins, &raw)).collect()
    }

    fn weigh(
        &self,
        node: NodeIndex,
        at: usize,
        plugins: &[&dyn Score],
        normalized: &Map<&str, Vec<i64>>,
    ) -> Result<NodeScores, Status> {
        let mut scores = Vec::with_capacity(plugins.len());
        let mut total = 0_i64;
        for plugin in plugins {
            let score = normalized[plugin.name()][at];
            if !(0..=MAX_NODE_SCORE).contains(&score) {
                return Err(Status::error(format!("plugin {:?} returns an invalid score {score}", plugin.name())));
            }
            let weighted = score.wrapping_mul(self.weights[plugin.name()]);
            scores.push((plugin.name(), weighted));
            total = total.wrapping_add(weighted);
        }
        Ok(NodeScores { node, scores, total })
    }
}
