//! The scheduling cycle of one profile: kube-scheduler's `schedulePod`, every node considered.

use std::sync::Arc;

use crate::answer::Answer;
use crate::cache::Cache;
use crate::diagnosis::Diagnosis;
use crate::extension_points::{Candidate, Nomination, PostFilterContext, PostFilterResult};
use crate::handle::Handle;
use crate::imagined::{Imagined, verdicts};
use crate::map::Map;
use crate::model::{NodeIndex, Pod, Uid};
use crate::passes;
use crate::profile::{PostFilterRun, PreFilterRun, Profile, StartError};
use crate::status::{Code, Status};

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// The pod goes to this node.
    Node(NodeIndex),
    /// The pod fits nowhere.
    Unschedulable(Box<Unschedulable>),
    /// Something broke.
    Error(String),
}

/// A pod that fits nowhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Unschedulable {
    /// The text of the pod's condition.
    pub message: String,
    /// Why.
    pub diagnosis: Diagnosis,
    /// What PostFilter plugins found; none if there was nobody to ask.
    pub post_filter: Option<PostFilterResult>,
}

impl Unschedulable {
    fn new(mut diagnosis: Diagnosis, post_filter: Option<PostFilterResult>) -> Self {
        diagnosis.post_filter = post_filter.as_ref().map(|found| found.status.message()).unwrap_or_default();
        Unschedulable { message: diagnosis.message(), diagnosis, post_filter }
    }
    /// What PostFilter removes.
    pub fn victims(&self) -> &[Uid] {
        self.post_filter.as_ref().map(|found| found.victims.as_slice()).unwrap_or_default()
    }

    /// The nodes among which PostFilter chose.
    pub fn candidates(&self) -> &[Candidate] {
        self.post_filter.as_ref().map(|found| found.candidates.as_slice()).unwrap_or_default()
    }

    /// What becomes of the pod's nomination. Without a PostFilter plugin, there is nobody to keep it.
    pub fn nomination(&self) -> Nomination {
        self.post_filter.as_ref().map_or(Nomination::Clear, |found| found.nomination)
    }
}

/// The time where nobody has a clock: what has not started yet starts later than everything that has.
pub const UNTIMED: i64 = i64::MAX;

/// kube-scheduler's words for a cluster without nodes.
pub const NO_NODES: &str = "no nodes available to schedule pods";

/// A pod fits nowhere where there is nothing, and there is nothing to diagnose.
pub(crate) fn no_nodes() -> Unschedulable {
    Unschedulable { message: NO_NODES.into(), diagnosis: Diagnosis::default(), post_filter: None }
}

/// One profile at work: its plugins, and room for its answers.
pub struct Engine<P: Profile> {
    /// The plugins, shared with binding tasks.
    pub plugins: Arc<P>,
    /// What attempts own that are not bound yet.
    pub(crate) reserved: Map<Uid, Arc<P::Reserved>>,
    pub(crate) answer: Answer<P>,
    pub(crate) next_start: usize,
}

/// What comes of a cycle without PostFilter.
enum Choice {
    Node(NodeIndex),
    Nowhere(Diagnosis),
    Error(String),
}

/// A pod on its way through a cycle.
pub(crate) struct Attempt<P: Profile> {
    pub(crate) compiled: P::Pod,
    pub(crate) cycle: P::Cycle,
    pub(crate) pre_filter: PreFilterRun,
}

/// A pod that PreFilter did not let come to the nodes.
pub(crate) struct Rejected<P: Profile> {
    pub(crate) compiled: P::Pod,
    /// None if PreFilter plugins did not all run.
    pub(crate) cycle: Option<P::Cycle>,
    pub(crate) pre_filter: PreFilterRun,
    pub(crate) status: Status,
}

impl<P: Profile> Rejected<P> {
    fn diagnose(&self, cache: &Cache<P::State>) -> Diagnosis {
        let status = &self.status;
        let mut diagnosis = Diagnosis { nodes: cache.base.count(), ..Diagnosis::default() };
        // A plugin's rejection for good is its own; with the framework's, all that narrowed have to do.
        if status.plugin.is_empty() || self.cycle.is_some() {
            diagnosis.unschedulable_plugins.extend(self.pre_filter.narrowed_by());
        }
        if !status.plugin.is_empty() {
            diagnosis.unschedulable_plugins.insert(status.plugin);
        }
        if status.code == Code::Unschedulable {
            diagnosis.resolvable.copy_from(cache.base.alive());
        }
        diagnosis.pre_filter = Some(status.clone());
        diagnosis
    }
}

/// What PreFilter leaves to do.
pub(crate) enum Start<P: Profile> {
    Attempt(Attempt<P>),
    Rejected(Rejected<P>),
}

impl<P: Profile> Attempt<P> {
    /// The node with further pods on it.
    fn with_pods<'a>(&'a mut self, pods: &[Arc<Pod>], cache: &'a Cache<P::State>, node: NodeIndex) -> Imagined<'a, P> {
        let mut imagined = Imagined::new(&self.compiled, &mut self.cycle, cache, node);
        pods.iter().for_each(|pod| imagined.add_pod(pod));
        imagined
    }
}

impl<P: Profile> Engine<P> {
    /// Makes the profile's plugins.
    ///
    /// # Errors
    /// All plugins that failed.
    pub fn new(handle: &Handle) -> Result<Self, Vec<StartError>> {
        Ok(Engine {
            plugins: Arc::new(P::new(handle)?),
            reserved: Map::default(),
            answer: Answer::default(),
            next_start: 0,
        })
    }

    pub(crate) fn compile(pod: &Pod, cache: &mut Cache<P::State>) -> P::Pod {
        P::compile(&pod.spec, &mut cache.base.interner, &mut cache.state)
    }

    /// Decides where a pod goes. `now` is the time in nanoseconds since 1970, or [`UNTIMED`]. `draw(n)` picks one of `n` equally good nodes;
    /// for a pod that fits nowhere, a number below `usize::MAX` that seeds what PostFilter plugins draw.
    pub fn decide(
        &mut self,
        pod: &Arc<Pod>,
        cache: &mut Cache<P::State>,
        now: i64,
        draw: impl FnMut(usize) -> usize,
    ) -> Decision {
        self.decide_with_state(pod, cache, now, draw).0
    }

    /// Also returns the cycle state, for Reserve.
    pub(crate) fn decide_with_state(
        &mut self,
        pod: &Arc<Pod>,
        cache: &mut Cache<P::State>,
        now: i64,
        draw: impl FnMut(usize) -> usize,
    ) -> (Decision, Option<P::Cycle>) {
        if cache.base.count() == 0 {
            return (Decision::Unschedulable(Box::new(no_nodes())), None);
        }
        let mut start = self.start(pod, cache);
        let decision = self.conclude(pod, &mut start, cache, now, draw);
        let cycle = match start {
            Start::Attempt(attempt) => Some(attempt.cycle),
            Start::Rejected(_) => None,
        };
        (decision, cycle)
    }

    /// Runs PreFilter.
    pub(crate) fn start(&self, pod: &Pod, cache: &mut Cache<P::State>) -> Start<P> {
        let compiled = Self::compile(pod, cache);
        let mut pre_filter = PreFilterRun::default();
        match self.plugins.pre_filter(&compiled, cache, &mut pre_filter) {
            Err(status) => Start::Rejected(Rejected { compiled, cycle: None, pre_filter, status }),
            Ok(cycle) => match pre_filter.rejected().cloned() {
                Some(status) => Start::Rejected(Rejected { compiled, cycle: Some(cycle), pre_filter, status }),
                None => Start::Attempt(Attempt { compiled, cycle, pre_filter }),
            },
        }
    }

    /// Decides after PreFilter.
    pub(crate) fn conclude(
        &mut self,
        pod: &Arc<Pod>,
        start: &mut Start<P>,
        cache: &Cache<P::State>,
        now: i64,
        mut draw: impl FnMut(usize) -> usize,
    ) -> Decision {
        let choice = match start {
            Start::Attempt(attempt) => self.choose(pod, attempt, cache, &mut draw),
            Start::Rejected(rejected) if rejected.status.code.is_rejected() => {
                Choice::Nowhere(rejected.diagnose(cache))
            }
            Start::Rejected(rejected) => Choice::Error(rejected.status.message()),
        };
        let diagnosis = match choice {
            Choice::Node(node) => return Decision::Node(node),
            Choice::Error(failure) => return Decision::Error(failure),
            Choice::Nowhere(diagnosis) => diagnosis,
        };
        let (compiled, cycle, pre_filter) = match start {
            Start::Attempt(attempt) => (&attempt.compiled, Some(&attempt.cycle), &attempt.pre_filter),
            Start::Rejected(rejected) => (&rejected.compiled, rejected.cycle.as_ref(), &rejected.pre_filter),
        };
        let draws = !P::INFO.plugins("post-filter").is_empty();
        let seed = if draws { draw(usize::MAX) as u64 } else { 0 };
        let profile = &*self.plugins;
        let cx =
            PostFilterContext { profile, pod, compiled, cycle, pre_filter, cache, diagnosis: &diagnosis, now, seed };
        let mut run = PostFilterRun::default();
        self.plugins.post_filter(&mut run, cx);
        Decision::Unschedulable(Box::new(Unschedulable::new(diagnosis, run.finish())))
    }

    fn choose(
        &mut self,
        pod: &Arc<Pod>,
        attempt: &mut Attempt<P>,
        cache: &Cache<P::State>,
        draw: &mut impl FnMut(usize) -> usize,
    ) -> Choice {
        if let Some(node) = Self::nominated_node(pod, attempt, cache) {
            return Choice::Node(node);
        }
        if let Err(failure) = self.find_feasible(pod, attempt, cache) {
            return Choice::Error(failure);
        }
        match self.answer.feasible.count() {
            0 => Choice::Nowhere(Self::diagnose(pod, attempt, cache)),
            // With a single feasible node kube-scheduler does not score.
            1 => match self.answer.feasible.iter().next() {
                Some(node) => Choice::Node(node),
                None => Choice::Error("a feasible node disappeared".into()),
            },
            _ => match self.answer.prioritize(&*self.plugins, &attempt.compiled, &attempt.cycle, cache) {
                Ok(best) => match self.answer.kth_best(best, draw(best.ties)) {
                    Some(node) => Choice::Node(node),
                    None => Choice::Error("the draw is beyond the number of best nodes".into()),
                },
                Err(status) => Choice::Error(status.message()),
            },
        }
    }

    /// Asks whether a pod could run on a node with other pods on it than there are: what an autoscaler simulates.
    ///
    /// # Errors
    /// The first plugin that rejects the node, or the pod as a whole.
    pub fn run_filter_plugins(
        &self,
        pod: &Arc<Pod>,
        cache: &mut Cache<P::State>,
        node: NodeIndex,
        imagine: impl FnOnce(&mut Imagined<'_, P>),
    ) -> Result<(), Verdict> {
        let compiled = Self::compile(pod, cache);
        let mut run = PreFilterRun::default();
        let mut cycle = self.plugins.pre_filter(&compiled, cache, &mut run).map_err(Verdict::from)?;
        if let Some(status) = run.rejected() {
            return Err(status.clone().into());
        }
        if run.nodes().is_some_and(|nodes| !nodes.contains(node)) {
            return Err(Status::unresolvable(left_out(&run.narrowed_by())).into());
        }
        let mut imagined = Imagined::new(&compiled, &mut cycle, cache, node);
        imagine(&mut imagined);
        imagined.verdicts(false).pop().map_or(Ok(()), Err)
    }

    /// The node that room was made on for this pod, if the pod fits there: kube-scheduler's `evaluateNominatedNode`.
    pub(crate) fn nominated_node(
        pod: &Arc<Pod>,
        attempt: &mut Attempt<P>,
        cache: &Cache<P::State>,
    ) -> Option<NodeIndex> {
        let node = cache.base.node(pod.nominated_node?)?;
        Self::admits(pod, attempt, cache, node).is_ok().then_some(node)
    }

    /// Fills `self.answer.feasible` with what PreFilter leaves. Returns their number.
    fn start_from_candidates(&mut self, attempt: &Attempt<P>, cache: &Cache<P::State>) -> usize {
        self.answer.feasible.copy_from(cache.base.alive());
        if let Some(nodes) = attempt.pre_filter.nodes() {
            self.answer.feasible.intersect(nodes);
        }
        self.answer.feasible.count()
    }

    /// Fills `self.answer.feasible`: kube-scheduler's `findNodesThatPassFilters`.
    fn find_feasible(
        &mut self,
        pod: &Arc<Pod>,
        attempt: &mut Attempt<P>,
        cache: &Cache<P::State>,
    ) -> Result<(), String> {
        let candidates = self.start_from_candidates(attempt, cache);
        let wanted = nodes_to_find(P::INFO.percentage_of_nodes_to_score, candidates);
        if wanted < candidates {
            return self.find_some(pod, attempt, cache, wanted);
        }
        let columns = P::columns(&cache.state, &cache.base);
        let failed = passes::filter::<P>(&attempt.compiled, &attempt.cycle, columns, &mut self.answer.feasible);
        if failed.is_some() {
            // Once more with nominated pods: one may keep this pod from the node before the plugin that fails is asked.
            self.start_from_candidates(attempt, cache);
            return self.find_some(pod, attempt, cache, candidates);
        }
        for (node, nominated) in cache.nominated_before(pod) {
            if !self.answer.feasible.contains(node) {
                continue;
            }
            if let Err(rejection) = Self::admits_with(&nominated, attempt, cache, node) {
                if P::code(&rejection) == Code::Error {
                    return Err(Self::failure(pod, attempt, cache, node));
                }
                self.answer.feasible.remove(node);
            }
        }
        Ok(())
    }

    /// Stops at `wanted` feasible nodes, and goes on from there for the next pod.
    fn find_some(
        &mut self,
        pod: &Arc<Pod>,
        attempt: &mut Attempt<P>,
        cache: &Cache<P::State>,
        wanted: usize,
    ) -> Result<(), String> {
        let candidates: Vec<NodeIndex> = self.answer.feasible.iter().collect();
        let (mut found, mut seen) = (0, 0);
        self.answer.feasible.words_mut().fill(0);
        for at in 0..candidates.len() {
            let node = candidates[(self.next_start + at) % candidates.len()];
            seen += 1;
            match Self::admits(pod, attempt, cache, node) {
                Ok(()) => {
                    self.answer.feasible.insert(node);
                    found += 1;
                    if found == wanted {
                        break;
                    }
                }
                Err(rejection) if P::code(&rejection) == Code::Error => {
                    return Err(Self::failure(pod, attempt, cache, node));
                }
                Err(_) => {}
            }
        }
        self.next_start = (self.next_start + seen) % cache.base.count();
        Ok(())
    }

    /// Filter on one node, with and without the pods nominated for it: `RunFilterPluginsWithNominatedPods`.
    pub(crate) fn admits(
        pod: &Arc<Pod>,
        attempt: &mut Attempt<P>,
        cache: &Cache<P::State>,
        node: NodeIndex,
    ) -> Result<(), P::Rejection> {
        let nominated = cache.nominated_on(node, pod);
        if !nominated.is_empty() {
            Self::admits_with(&nominated, attempt, cache, node)?;
        }
        let columns = P::columns(&cache.state, &cache.base);
        P::filter::<false>(&attempt.compiled, &attempt.cycle, columns, node.get())
    }

    fn admits_with(
        nominated: &[Arc<Pod>],
        attempt: &mut Attempt<P>,
        cache: &Cache<P::State>,
        node: NodeIndex,
    ) -> Result<(), P::Rejection> {
        attempt.with_pods(nominated, cache, node).filter()
    }

    /// The verdict on one node in words; none if it passes. With `all`, those of every plugin that would reject it.
    pub(crate) fn verdicts(
        pod: &Arc<Pod>,
        attempt: &mut Attempt<P>,
        cache: &Cache<P::State>,
        node: NodeIndex,
        all: bool,
    ) -> Vec<Verdict> {
        let nominated = cache.nominated_on(node, pod);
        if !nominated.is_empty() {
            let verdicts = attempt.with_pods(&nominated, cache, node).verdicts(all);
            if !verdicts.is_empty() {
                return verdicts;
            }
        }
        let columns = P::columns(&cache.state, &cache.base);
        verdicts::<P>(&attempt.compiled, &attempt.cycle, cache, columns, node.get(), all)
    }

    fn failure(pod: &Arc<Pod>, attempt: &mut Attempt<P>, cache: &Cache<P::State>, node: NodeIndex) -> String {
        match Self::verdicts(pod, attempt, cache, node, false).pop() {
            Some(verdict) => verdict.failure(),
            None => "a filter plugin failed".into(),
        }
    }

    /// Asks every node for its reasons. Only now are words made.
    fn diagnose(pod: &Arc<Pod>, attempt: &mut Attempt<P>, cache: &Cache<P::State>) -> Diagnosis {
        let mut diagnosis = Diagnosis { nodes: cache.base.count(), ..Diagnosis::default() };
        diagnosis.resolvable.resize(cache.base.infos().len());
        let narrowed_by = attempt.pre_filter.narrowed_by();
        diagnosis.unschedulable_plugins.extend(&narrowed_by);
        let narrowed = attempt.pre_filter.nodes().cloned();
        for node in cache.base.alive().iter() {
            if narrowed.as_ref().is_some_and(|nodes| !nodes.contains(node)) {
                *diagnosis.reasons.entry(left_out(&narrowed_by)).or_default() += 1;
                continue;
            }
            for verdict in Self::verdicts(pod, attempt, cache, node, false) {
                if verdict.code != Code::UnschedulableAndUnresolvable {
                    diagnosis.resolvable.insert(node);
                }
                diagnosis.unschedulable_plugins.insert(verdict.plugin);
                for reason in verdict.reasons {
                    *diagnosis.reasons.entry(reason).or_default() += 1;
                }
            }
        }
        diagnosis
    }
}

/// What one plugin says against a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether removing pods may help.
    pub code: Code,
    /// The plugin.
    pub plugin: &'static str,
    /// Why.
    pub reasons: Vec<String>,
}

impl Verdict {
    /// The text of an attempt that this error ends.
    pub fn failure(&self) -> String {
        format!("running {:?} filter plugin: {}", self.plugin, self.reasons.join(", "))
    }
}

impl From<Status> for Verdict {
    fn from(status: Status) -> Self {
        Verdict { code: status.code, plugin: status.plugin, reasons: status.reasons }
    }
}

/// The reason of a node that PreFilter left out.
pub(crate) fn left_out(plugins: &[&str]) -> String {
    format!("node(s) didn't satisfy plugin(s) [{}]", plugins.join(" "))
}

/// kube-scheduler's `numFeasibleNodesToFind`: how many feasible nodes are enough.
fn nodes_to_find(percentage: u8, nodes: usize) -> usize {
    const ALWAYS: usize = 100;
    const LOWEST_PERCENTAGE: usize = 5;
    if nodes < ALWAYS {
        return nodes;
    }
    let percentage = match percentage {
        0 => 50_usize.saturating_sub(nodes / 125).max(LOWEST_PERCENTAGE),
        given => given.into(),
    };
    (nodes * percentage / 100).max(ALWAYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_adaptive_rule_looks_at_fewer_nodes_of_larger_clusters() {
        for (percentage, nodes, wanted) in [
            (0, 99, 99),
            (0, 100, 100),
            (0, 1000, 420),
            (0, 5000, 500),
            (0, 50_000, 2500),
            (30, 1000, 300),
            (1, 1000, 100),
            (100, 5000, 5000),
        ] {
            assert_eq!(nodes_to_find(percentage, nodes), wanted, "{percentage} % of {nodes}");
        }
    }
}
