//! The ways to schedule a pod, as the benchmarks call them.

use schedc::pipelines::state::State;
use schedc_core::answer::Answer;
use schedc_core::cache::Cache;
use schedc_core::handle::Handle;
use schedc_core::model::{NodeIndex, PodSpec};
use schedc_core::passes::Best;
use schedc_core::profile::{PreFilterRun, Profile};

use super::by_hand::{self, Evaluate};
use super::trait_objects::{Config, Framework, NodeScores};

/// Nodes and the pods on them.
pub(crate) type Cluster = Cache<State>;

/// A way to find the best node for a pod.
pub(crate) trait Way {
    /// Everything from PreFilter to the totals, for the pod of a kind that was compiled before.
    fn pass(&mut self, kind: usize, cluster: &Cluster) -> Best;
    /// The total of every feasible node of the last pass.
    fn totals(&self) -> Vec<(NodeIndex, i64)>;
}

/// The generated pipeline.
pub(super) struct Generated<P: Profile> {
    plugins: P,
    pods: Vec<P::Pod>,
    answer: Answer<P>,
}

impl<P: Profile<State = State>> Generated<P> {
    pub(super) fn new(pods: &[PodSpec], cluster: &mut Cluster) -> Self {
        let compile = |pod| P::compile(pod, &mut cluster.base.interner, &mut cluster.state);
        Generated {
            plugins: P::new(&Handle::default()).unwrap_or_else(|errors| panic!("{errors:?}")),
            pods: pods.iter().map(compile).collect(),
            answer: Answer::default(),
        }
    }
}

impl<P: Profile<State = State>> Way for Generated<P> {
    fn pass(&mut self, kind: usize, cluster: &Cluster) -> Best {
        let pod = &self.pods[kind];
        let mut run = PreFilterRun::default();
        let cycle = self.plugins.pre_filter(pod, cluster, &mut run).expect("no plugin rejects the pod");
        self.answer.evaluate(&self.plugins, pod, &cycle, cluster).expect("no plugin fails")
    }

    fn totals(&self) -> Vec<(NodeIndex, i64)> {
        self.answer.feasible.iter().filter_map(|node| Some((node, self.answer.total(node)?))).collect()
    }
}

/// A loop written by hand.
pub(super) struct ByHand {
    evaluate: Evaluate,
    pods: Vec<by_hand::Pod>,
    answer: by_hand::Answer,
}

impl ByHand {
    pub(super) fn new(evaluate: Evaluate, pods: &[PodSpec], cluster: &mut Cluster) -> Self {
        let pods = pods.iter().map(|pod| by_hand::Pod::new(pod, &mut cluster.base.interner)).collect();
        ByHand { evaluate, pods, answer: by_hand::Answer::default() }
    }
}

impl Way for ByHand {
    fn pass(&mut self, kind: usize, cluster: &Cluster) -> Best {
        (self.evaluate)(&self.pods[kind], cluster, &mut self.answer).expect("scores are within their range")
    }

    fn totals(&self) -> Vec<(NodeIndex, i64)> {
        self.answer.feasible.iter().map(|node| (node, self.answer.total(node))).collect()
    }
}

/// Plugins behind trait objects.
pub(super) struct TraitObjects {
    /// One for each pod: a pod's object knows the pod compiled.
    frameworks: Vec<Framework>,
    scores: Vec<NodeScores>,
}

impl TraitObjects {
    pub(super) fn new(config: Config, pods: &[PodSpec], cluster: &mut Cluster) -> Self {
        TraitObjects {
            frameworks: pods.iter().map(|pod| Framework::new(&config, pod, cluster)).collect(),
            scores: Vec::new(),
        }
    }
}

impl Way for TraitObjects {
    fn pass(&mut self, kind: usize, cluster: &Cluster) -> Best {
        let scores = self.frameworks[kind].schedule(cluster).expect("no plugin fails");
        let total = scores.iter().map(|node| node.total).max().unwrap_or(i64::MIN);
        let ties = scores.iter().filter(|node| node.total == total).count();
        self.scores = scores;
        Best { total, ties }
    }

    fn totals(&self) -> Vec<(NodeIndex, i64)> {
        let total = |node: &NodeScores| node.scores.iter().map(|score| score.1).sum();
        self.scores.iter().map(|node| (node.node, total(node))).collect()
    }
}
