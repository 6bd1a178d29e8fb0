//! Implementations of an evaluation, for the benchmarks.

use std::path::Path;
use std::sync::Arc;

use schedc::pipelines::state::State;
use schedc_codegen::Options;
use schedc_core::cache::Cache;
use schedc_core::evaluation::Evaluation;
use schedc_core::handle::Handle;
use schedc_core::model::{NodeIndex, PodSpec};
use schedc_core::node_loops::BestTotal;
use schedc_core::profile::{PreFilterRun, Profile};
use schedc_interpret::{Interpretation, Pipeline};

use super::by_hand::{self, Evaluate};
use super::{cluster, pods};

/// Nodes and their pods.
pub(crate) type Cluster = Cache<State>;

/// An implementation that finds the best node for a pod.
pub(crate) trait Implementation {
    /// Evaluates the compiled pod of a kind, from PreFilter to the totals.
    fn pass(&mut self, kind: usize, cluster: &Cluster) -> BestTotal;
    /// Returns the totals of the feasible nodes of the last pass.
    fn totals(&self) -> Vec<(NodeIndex, i64)>;
}

/// A profile's plugins, generated or interpreted.
struct Plugins<P: Profile> {
    plugins: Arc<P>,
    pods: Vec<P::Pod>,
    answer: Evaluation<P>,
}

impl<P: Profile> Plugins<P> {
    fn new(plugins: Arc<P>, pods: &[PodSpec], cluster: &mut Cache<P::State>) -> Self {
        let compile = |pod| plugins.compile(pod, &mut cluster.base.interner, &mut cluster.state);
        Plugins { pods: pods.iter().map(compile).collect(), plugins, answer: Evaluation::default() }
    }

    fn pass(&mut self, kind: usize, cluster: &Cache<P::State>) -> BestTotal {
        let pod = &self.pods[kind];
        let mut run = PreFilterRun::default();
        let cycle = self.plugins.pre_filter(pod, cluster, &mut run).expect("no plugin rejects the pod");
        self.answer.evaluate(&*self.plugins, pod, &cycle, cluster).expect("no plugin fails")
    }

    fn totals(&self) -> Vec<(NodeIndex, i64)> {
        self.answer.feasible.iter().filter_map(|node| Some((node, self.answer.total(node)?))).collect()
    }
}

/// The generated pipeline.
pub(super) struct Generated<P: Profile>(Plugins<P>);

impl<P: Profile<State = State>> Generated<P> {
    pub(super) fn new(pods: &[PodSpec], cluster: &mut Cluster) -> Self {
        let plugins = P::new(&Handle::default()).unwrap_or_else(|errors| panic!("{errors:?}"));
        Generated(Plugins::new(Arc::new(plugins), pods, cluster))
    }
}

impl<P: Profile<State = State>> Implementation for Generated<P> {
    fn pass(&mut self, kind: usize, cluster: &Cluster) -> BestTotal {
        self.0.pass(kind, cluster)
    }
    fn totals(&self) -> Vec<(NodeIndex, i64)> {
        self.0.totals()
    }
}

/// The loops written by hand.
pub(super) struct ByHand {
    evaluate: Evaluate,
    pods: Vec<by_hand::Pod>,
    answer: by_hand::EvaluationScratch,
}

impl ByHand {
    pub(super) fn new(evaluate: Evaluate, pods: &[PodSpec], cluster: &mut Cluster) -> Self {
        let pods = pods.iter().map(|pod| by_hand::Pod::new(pod, &mut cluster.base.interner)).collect();
        ByHand { evaluate, pods, answer: by_hand::EvaluationScratch::default() }
    }
}

impl Implementation for ByHand {
    fn pass(&mut self, kind: usize, cluster: &Cluster) -> BestTotal {
        (self.evaluate)(&self.pods[kind], cluster, &mut self.answer).expect("scores are within their range")
    }

    fn totals(&self) -> Vec<(NodeIndex, i64)> {
        self.answer.feasible.iter().map(|node| (node, self.answer.total(node))).collect()
    }
}

/// The interpreted profile: the same plugins behind trait objects. Its state has the columns of all plugins, so it needs
/// its own copy of the cluster.
pub(super) struct Interpreted {
    plugins: Plugins<Pipeline>,
    cluster: Cache<<Pipeline as Profile>::State>,
}

impl Interpreted {
    /// Interprets profiles/`profile`.toml.
    pub(super) fn new(profile: &str, nodes: usize) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let file = folder.join(format!("../profiles/{profile}.toml"));
        let interpretation = Interpretation::load(&[file], &Options { manifest_dir: folder.to_owned() });
        let interpretation = interpretation.unwrap_or_else(|error| panic!("{error}"));
        let mut bundle = interpretation.start(&Handle::default()).unwrap_or_else(|errors| panic!("{errors:?}"));
        let plugins = bundle.engine(0).expect("a profile was read").plugins.clone();
        let mut cluster = cluster(nodes);
        let pods = pods(&mut cluster.base.interner);
        Interpreted { plugins: Plugins::new(plugins, &pods, &mut cluster), cluster }
    }
}

impl Implementation for Interpreted {
    fn pass(&mut self, kind: usize, _: &Cluster) -> BestTotal {
        self.plugins.pass(kind, &self.cluster)
    }
    fn totals(&self) -> Vec<(NodeIndex, i64)> {
        self.plugins.totals()
    }
}
