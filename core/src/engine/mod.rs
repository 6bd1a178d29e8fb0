//! The scheduling cycle of one profile: kube-scheduler's `schedulePod`. By default, it evaluates all nodes.

use std::sync::Arc;

use crate::engine::evaluation::Evaluation;
use crate::engine::hypothetical::HypotheticalNode;
use crate::engine::incremental::sample::{self, Sampler};
use crate::engine::incremental::{CompiledPod, Signatures, compile};
use crate::engine::observer::{Observer, Point};
use crate::engine::pre_filtered_pod::PreFilteredPod;
use crate::engine::verdict::Verdict;
use crate::model::cache::Cache;
use crate::model::cache_size::CacheSize;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::diagnosis::Diagnosis;
use crate::plugin_api::handle::Handle;
use crate::plugin_api::status::{Code, Status};
use crate::profile_api::hints::PluginSet;
use crate::profile_api::plugin_results::UpdateScratch;
use crate::profile_api::profile::{PreFilterRun, Profile, StartErrors};

pub(crate) mod bundle;
mod cached;
mod common_verdicts;
mod cycle_state_owner;
mod decision;
mod evaluated;
pub mod evaluation;
pub mod explain;
mod full_evaluation;
pub mod hypothetical;
pub(crate) mod incremental;
pub mod node_loops;
pub(crate) mod observer;
mod phases;
mod pinned;
pub(crate) mod pre_filtered_pod;
mod rejections;
mod reservations;
mod scheduling_cycle;
pub(crate) mod tie_break;
pub mod verdict;

pub use cached::CachedAnswerSummary;
use common_verdicts::CommonVerdicts;
pub(crate) use cycle_state_owner::CycleStateOwner;
pub(crate) use decision::no_nodes;
pub use decision::{Decision, NO_NODES, Unschedulable};
use phases::Choice;
use pinned::PinnedTemplates;
pub(crate) use rejections::excluded_node_reason;
pub(crate) use reservations::ReservationId;
use reservations::Reservations;
pub(crate) use scheduling_cycle::{CycleInputs, SchedulingCycle};

/// Value of `now` for callers without a clock. Pods without a start time count as started at `now`. With this value,
/// they count as started after all others.
pub const UNTIMED: i64 = i64::MAX;

/// One profile in operation: its plugins, and memory for its answers.
pub struct Engine<P: Profile> {
    /// The plugins, shared with binding tasks.
    pub plugins: Arc<P>,
    /// Percentage of the candidate nodes: the search ends when that many, and at least 100, are feasible. 0 is
    /// kube-scheduler's adaptive rule. The value is the profile's, or 100 if a caller needs all nodes.
    pub percentage_of_nodes_to_score: u8,
    /// Data of Reserve plugins, for pods that are not bound yet.
    pub(crate) reserved: Reservations<P::Reserved>,
    /// Feasible nodes, scores and totals of the last full evaluation.
    pub(crate) evaluation: Evaluation<P>,
    /// Position in the candidate nodes at which the next search for a percentage of nodes starts: kube-scheduler's
    /// `nextStartNodeIndex`.
    pub(crate) next_start: usize,
    /// Whether answers are cached for pods with equal signatures. Without cached answers, decisions are the same, but
    /// slower.
    pub cache_answers: bool,
    signatures: Signatures<P>,
    pinned: PinnedTemplates<P>,
    common_verdicts: CommonVerdicts<P>,
    /// Scratch for updates of cached answers.
    scratch: UpdateScratch,
    /// Memory of an earlier attempt, for reuse.
    spare: Option<Box<PreFilteredPod<P>>>,
    /// Memory for the list of candidate nodes in a search that may end early.
    candidates: Vec<NodeIndex>,
    sampler: Sampler,
}

/// A pod that PreFilter rejected for all nodes, or for which PreFilter failed.
pub(crate) struct RejectedPod<P: Profile> {
    pub(crate) compiled: Arc<P::Pod>,
    /// `None` if not all PreFilter plugins ran.
    pub(crate) cycle: Option<P::Cycle>,
    pub(crate) pre_filter: PreFilterRun,
    pub(crate) status: Status,
}

impl<P: Profile> RejectedPod<P> {
    fn diagnosis(&self, cache: &Cache<P::State>) -> Diagnosis {
        let status = &self.status;
        let mut diagnosis = Diagnosis { nodes: cache.base.count(), ..Diagnosis::default() };
        // A plugin's unresolvable rejection ends PreFilter, so there is no cycle state; only this plugin is named.
        // Other rejections, including those by the framework, also name the plugins that restricted the nodes.
        if status.plugin.is_empty() || self.cycle.is_some() {
            diagnosis.unschedulable_plugins.extend(self.pre_filter.narrowed_by());
        }
        diagnosis.add_rejector(status.plugin, status.code);
        if status.code == Code::Unschedulable {
            diagnosis.resolvable = Arc::new(cache.base.alive().clone());
        }
        diagnosis.pre_filter = Some(status.clone());
        diagnosis
    }
}

/// State of a failed attempt, for PostFilter.
struct FailedAttempt<'a, P: Profile> {
    compiled: &'a Arc<P::Pod>,
    equivalence_class: Option<u64>,
    cycle: Option<&'a P::Cycle>,
    pre_filter: &'a PreFilterRun,
}

impl<'a, P: Profile> FailedAttempt<'a, P> {
    fn of(attempt: &'a PreFilteredPod<P>) -> Self {
        let PreFilteredPod { compiled, signature_number, cycle, pre_filter } = attempt;
        let equivalence_class = signature_number.filter(|_| P::reads_only_node(compiled, cycle));
        FailedAttempt { compiled, equivalence_class, cycle: Some(cycle), pre_filter }
    }
}

/// Outcome of PreFilter.
pub(crate) enum PreFilterOutcome<P: Profile> {
    PreFiltered(Box<PreFilteredPod<P>>),
    Rejected(Box<RejectedPod<P>>),
}

impl<P: Profile> Engine<P> {
    /// Creates the profile's plugins.
    ///
    /// # Errors
    /// The failures of all plugins.
    pub fn new(handle: &Handle) -> Result<Self, StartErrors> {
        P::new(handle).map(Self::from_plugins)
    }

    /// Makes an engine from existing plugins.
    pub fn from_plugins(plugins: P) -> Self {
        const { assert!(P::PLUGINS.len() <= PluginSet::MAX, "a profile can have at most 128 plugins") };
        Engine {
            percentage_of_nodes_to_score: plugins.info().percentage_of_nodes_to_score,
            plugins: Arc::new(plugins),
            reserved: Reservations::default(),
            evaluation: Evaluation::default(),
            next_start: 0,
            cache_answers: true,
            signatures: Signatures::default(),
            pinned: PinnedTemplates::default(),
            common_verdicts: CommonVerdicts::default(),
            scratch: UpdateScratch::default(),
            spare: None,
            candidates: Vec::new(),
            sampler: Sampler::default(),
        }
    }

    /// Returns the sizes of the caches.
    pub(crate) fn cache_sizes(&self) -> [CacheSize; 3] {
        self.signatures.cache_sizes()
    }

    /// Decides about a pod. `now` is the time in nanoseconds since 1970, or [`UNTIMED`]. `draw(n)` picks one of `n`
    /// equally good nodes. For a pod without a feasible node, `draw(usize::MAX)` returns the seed for PostFilter
    /// plugins.
    pub fn decide(
        &mut self,
        pod: &Arc<Pod>,
        cache: &mut Cache<P::State>,
        now: i64,
        draw: impl FnMut(usize) -> usize,
    ) -> Decision {
        let inputs = CycleInputs { now, lists_preemption_candidates: true, draw };
        let (decision, owner) = self.decide_with_state(pod, cache, inputs, &mut ());
        self.release(owner);
        decision
    }

    /// Decides about a pod, and also returns the owner of the cycle state, for Reserve.
    pub(crate) fn decide_with_state(
        &mut self,
        pod: &Arc<Pod>,
        cache: &mut Cache<P::State>,
        inputs: CycleInputs<impl FnMut(usize) -> usize>,
        observer: &mut impl Observer,
    ) -> (Decision, CycleStateOwner<P>) {
        let CycleInputs { now, lists_preemption_candidates, mut draw } = inputs;
        if cache.base.count() == 0 {
            return (Decision::Unschedulable(Box::new(no_nodes())), CycleStateOwner::Absent);
        }
        cache.base.begin_attempt(pod);
        let is_sample = self.sampler.start();
        let cycle = SchedulingCycle {
            pod,
            cache: &*cache,
            now,
            lists_preemption_candidates,
            draw: &mut draw,
            observer: &mut *observer,
        };
        // Samples skip the latest answer: `decide_compiled` compares them.
        if !is_sample && let Some((decision, signature)) = self.decide_from_latest(cycle) {
            return (decision, CycleStateOwner::Cached(signature));
        }
        if let Some(decided) = self.decide_on_pinned_node(pod, cache) {
            return decided;
        }
        self.decide_compiled(pod, cache, CycleInputs { now, lists_preemption_candidates, draw }, observer)
    }

    /// Decides about a pod without the latest answer. Compiles the pod, unless a compiled pod with the same spec can be
    /// used again.
    #[inline(never)]
    fn decide_compiled(
        &mut self,
        pod: &Arc<Pod>,
        cache: &mut Cache<P::State>,
        inputs: CycleInputs<impl FnMut(usize) -> usize>,
        observer: &mut impl Observer,
    ) -> (Decision, CycleStateOwner<P>) {
        let CycleInputs { now, lists_preemption_candidates, mut draw } = inputs;
        let read = self.signatures.read(&*self.plugins, &pod.spec, cache);
        if self.sampler.is_due() {
            self.compare_compiled(&read, pod, cache);
        }
        let cache = &*cache;
        let cycle =
            SchedulingCycle { pod, cache, now, lists_preemption_candidates, draw: &mut draw, observer: &mut *observer };
        let mut start = match self.decide_from_cache(&read, cycle) {
            Ok((decision, signature)) => return (decision, CycleStateOwner::Cached(signature)),
            Err(Some(start)) => start,
            Err(None) => self.start_observed(&read, cache, observer),
        };
        let cycle = SchedulingCycle { pod, cache, now, lists_preemption_candidates, draw, observer };
        let decision = self.conclude(&mut start, cycle);
        match start {
            PreFilterOutcome::PreFiltered(attempt) => (decision, CycleStateOwner::Owned(attempt)),
            PreFilterOutcome::Rejected(_) => (decision, CycleStateOwner::Absent),
        }
    }

    /// Compares a compiled pod from the cache with a new compilation.
    fn compare_compiled(&self, read: &CompiledPod<P>, pod: &Arc<Pod>, cache: &mut Cache<P::State>) {
        let compiled = compile(&*self.plugins, &pod.spec, cache);
        if compiled != *read.compiled {
            let plugins = P::differing_plugins(&compiled, &read.compiled);
            sample::fail_compiled(&*self.plugins, pod, &plugins);
        }
    }

    /// Begins an attempt: compiles a pod with every plugin, unless a compiled pod with the same spec can be used again.
    pub(crate) fn read(&mut self, pod: &Arc<Pod>, cache: &mut Cache<P::State>) -> CompiledPod<P> {
        cache.base.begin_attempt(pod);
        self.signatures.read(&*self.plugins, &pod.spec, cache)
    }

    /// Runs PreFilter and notifies the observer.
    fn start_observed(
        &mut self,
        read: &CompiledPod<P>,
        cache: &Cache<P::State>,
        observer: &mut impl Observer,
    ) -> PreFilterOutcome<P> {
        observer.point_started(Point::PreFilter);
        let start = self.start(read, cache);
        observer.point_ended(
            Point::PreFilter,
            match &start {
                PreFilterOutcome::PreFiltered(_) => Code::Success,
                PreFilterOutcome::Rejected(rejected) => rejected.status.code,
            },
        );
        start
    }

    /// Runs PreFilter.
    pub(crate) fn start(&mut self, read: &CompiledPod<P>, cache: &Cache<P::State>) -> PreFilterOutcome<P> {
        let compiled = read.compiled.clone();
        let signature_number = read.signature.map(|_| read.signature_number);
        let (mut reused, mut first) = (self.spare.take(), PreFilterRun::default());
        let pre_filter = reused.as_mut().map_or(&mut first, |reused| &mut reused.pre_filter);
        pre_filter.clear();
        let (cycle, status) = match self.plugins.pre_filter(&compiled, cache, pre_filter) {
            Err(status) => (None, status),
            Ok(cycle) => match pre_filter.rejected().cloned() {
                Some(status) => (Some(cycle), status),
                None => {
                    return PreFilterOutcome::PreFiltered(match reused {
                        // An attempt may be large: its memory is reused in place.
                        Some(mut reused) => {
                            self.plugins.recycle_cycle(std::mem::replace(&mut reused.cycle, cycle));
                            (reused.compiled, reused.signature_number) = (compiled, signature_number);
                            reused
                        }
                        None => Box::new(PreFilteredPod { compiled, signature_number, cycle, pre_filter: first }),
                    });
                }
            },
        };
        let pre_filter = std::mem::take(pre_filter);
        self.spare = reused;
        PreFilterOutcome::Rejected(Box::new(RejectedPod { compiled, cycle, pre_filter, status }))
    }

    /// Decides after PreFilter, by a full evaluation.
    pub(crate) fn conclude(
        &mut self,
        start: &mut PreFilterOutcome<P>,
        mut cycle: SchedulingCycle<'_, P, impl FnMut(usize) -> usize, impl Observer>,
    ) -> Decision {
        match start {
            PreFilterOutcome::PreFiltered(attempt) => match self.evaluate_in_full(attempt, &mut cycle) {
                Ok((choice, mut evaluated)) => cycle.decide(evaluated.plugins(), choice, &mut evaluated),
                Err(failure) => Decision::Error(failure),
            },
            PreFilterOutcome::Rejected(rejected) if rejected.status.code.is_rejected() => {
                cycle.decide(&*self.plugins, Choice::NoNode, &mut **rejected)
            }
            PreFilterOutcome::Rejected(rejected) => Decision::Error(rejected.status.message()),
        }
    }

    /// Evaluates a pod on a node with hypothetical pods, as autoscalers do.
    ///
    /// # Errors
    /// The rejection by the first plugin that rejects this node, or the pod for all nodes. The field `plugin` is empty
    /// if PreFilter excluded the node.
    pub fn run_filter_plugins(
        &self,
        pod: &Arc<Pod>,
        cache: &mut Cache<P::State>,
        node: NodeIndex,
        change: impl FnOnce(&mut HypotheticalNode<'_, P>),
    ) -> Result<(), Verdict> {
        cache.base.begin_attempt(pod);
        let compiled = compile(&*self.plugins, &pod.spec, cache);
        let mut run = PreFilterRun::default();
        let mut cycle = self.plugins.pre_filter(&compiled, cache, &mut run).map_err(Verdict::from)?;
        if let Some(status) = run.rejected() {
            return Err(status.clone().into());
        }
        if run.nodes().is_some_and(|nodes| nodes.binary_search(&node).is_err()) {
            return Err(Status::unresolvable(excluded_node_reason(&run.narrowed_by())).into());
        }
        let mut hypothetical = HypotheticalNode::new(&compiled, &mut cycle, cache, node);
        change(&mut hypothetical);
        hypothetical.verdict().map_or(Ok(()), Err)
    }
}
