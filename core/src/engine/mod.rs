//! The scheduling cycle of one profile: kube-scheduler's `schedulePod`, with all nodes evaluated.

use std::sync::Arc;

use crate::engine::evaluation::Evaluation;
use crate::engine::hypothetical::HypotheticalNode;
use crate::engine::incremental::{CompiledPod, Signatures, compile};
use crate::engine::node_loops::BestTotal;
use crate::engine::observer::{Observer, Point};
use crate::engine::pre_filtered_pod::PreFilteredPod;
use crate::engine::verdict::Verdict;
use crate::model::cache::Cache;
use crate::model::node_mask::NodeMask;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::diagnosis::Diagnosis;
use crate::plugin_api::handle::Handle;
use crate::plugin_api::status::{Code, Status};
use crate::profile_api::extenders::Extenders;
use crate::profile_api::hints::PluginSet;
use crate::profile_api::plugin_results::UpdateScratch;
use crate::profile_api::post_filter::PostFilterContext;
use crate::profile_api::profile::{PostFilterRun, PreFilterRun, Profile, StartErrors};

pub(crate) mod bundle;
mod cached;
mod cycle_state_owner;
mod decision;
pub mod evaluation;
pub mod explain;
mod feasible;
pub mod hypothetical;
pub(crate) mod incremental;
pub mod node_loops;
pub(crate) mod observer;
pub(crate) mod pre_filtered_pod;
mod reservations;
pub(crate) mod tie_break;
pub mod verdict;

pub use cached::CachedAnswerSummary;
pub(crate) use cycle_state_owner::CycleStateOwner;
pub(crate) use decision::no_nodes;
pub use decision::{Decision, NO_NODES, Unschedulable};
pub(crate) use feasible::excluded_node_reason;
pub(crate) use reservations::ReservationId;
use reservations::Reservations;

/// Time value without a clock: pods that have not started count as started after all others.
pub const UNTIMED: i64 = i64::MAX;

/// One profile in operation: its plugins, and memory for its answers.
pub struct Engine<P: Profile> {
    /// The plugins, shared with binding tasks.
    pub plugins: Arc<P>,
    /// Percentage of feasible nodes that are enough: the profile's, unless a caller needs all nodes.
    pub percentage_of_nodes_to_score: u8,
    /// Data of attempts that are not bound yet.
    pub(crate) reserved: Reservations<P::Reserved>,
    pub(crate) answer: Evaluation<P>,
    pub(crate) next_start: usize,
    /// Whether answers are cached for pods with equal signatures. Results are equal without, but slower.
    pub cache_answers: bool,
    signatures: Signatures<P>,
    /// Scratch for updates of cached answers.
    scratch: UpdateScratch,
    /// Memory of an earlier attempt, for reuse.
    spare: Option<Box<PreFilteredPod<P>>>,
    /// Memory for a list of nodes.
    candidates: Vec<NodeIndex>,
}

/// Result of a scheduling cycle without PostFilter.
enum Choice {
    Node(NodeIndex),
    NoNode(Diagnosis),
    Error(String),
}

/// A pod that PreFilter rejected as a whole.
pub(crate) struct RejectedPod<P: Profile> {
    pub(crate) compiled: Arc<P::Pod>,
    /// `None` if not all PreFilter plugins ran.
    pub(crate) cycle: Option<P::Cycle>,
    pub(crate) pre_filter: PreFilterRun,
    pub(crate) status: Status,
}

impl<P: Profile> RejectedPod<P> {
    fn diagnose(&self, cache: &Cache<P::State>) -> Diagnosis {
        let status = &self.status;
        let mut diagnosis = Diagnosis { nodes: cache.base.count(), ..Diagnosis::default() };
        // An unresolvable rejection of a plugin names this plugin; a rejection by the framework names all plugins that
        // restricted the nodes.
        if status.plugin.is_empty() || self.cycle.is_some() {
            diagnosis.unschedulable_plugins.extend(self.pre_filter.narrowed_by());
        }
        diagnosis.add_rejector(status.plugin, status.code);
        if status.code == Code::Unschedulable {
            diagnosis.resolvable.copy_from(cache.base.alive());
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
        let PreFilteredPod { compiled, number, cycle, pre_filter } = attempt;
        let equivalence_class = P::reads_only_node(compiled, cycle).then_some(*number);
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

    /// Makes an engine of existing plugins.
    pub fn from_plugins(plugins: P) -> Self {
        const { assert!(P::PLUGINS.len() <= PluginSet::MAX, "a profile can have 128 plugins") };
        Engine {
            percentage_of_nodes_to_score: plugins.info().percentage_of_nodes_to_score,
            plugins: Arc::new(plugins),
            reserved: Reservations::default(),
            answer: Evaluation::default(),
            next_start: 0,
            cache_answers: true,
            signatures: Signatures::default(),
            scratch: UpdateScratch::default(),
            spare: None,
            candidates: Vec::new(),
        }
    }

    /// Decides about a pod. `now` is the time in nanoseconds since 1970, or [`UNTIMED`]. `draw(n)` picks one of `n`
    /// equally good nodes. For a pod without a feasible node, it returns a number below `usize::MAX`, the seed for
    /// PostFilter plugins.
    pub fn decide(
        &mut self,
        pod: &Arc<Pod>,
        cache: &mut Cache<P::State>,
        now: i64,
        draw: impl FnMut(usize) -> usize,
    ) -> Decision {
        let (decision, held) = self.decide_with_state(pod, cache, now, draw, &mut ());
        self.release(held);
        decision
    }

    /// Decides about a pod, and also returns the owner of the cycle state, for Reserve.
    pub(crate) fn decide_with_state(
        &mut self,
        pod: &Arc<Pod>,
        cache: &mut Cache<P::State>,
        now: i64,
        mut draw: impl FnMut(usize) -> usize,
        observer: &mut impl Observer,
    ) -> (Decision, CycleStateOwner<P>) {
        if cache.base.count() == 0 {
            return (Decision::Unschedulable(Box::new(no_nodes())), CycleStateOwner::Absent);
        }
        let read = self.signatures.read(&*self.plugins, &pod.spec, cache);
        let cache = &*cache;
        let mut started = None;
        if self.can_cache(cache)
            && let Some(decision) = self.decide_from_cache(&read, pod, cache, now, &mut draw, observer, &mut started)
        {
            return (decision, read.signature.map_or(CycleStateOwner::Absent, CycleStateOwner::Cached));
        }
        let mut start = started.unwrap_or_else(|| self.start_observed(&read, cache, observer));
        let decision = self.conclude(pod, &mut start, cache, now, draw, observer);
        match start {
            PreFilterOutcome::PreFiltered(attempt) => (decision, CycleStateOwner::Owned(attempt)),
            PreFilterOutcome::Rejected(_) => (decision, CycleStateOwner::Absent),
        }
    }

    /// Compiles a pod with every plugin.
    pub(crate) fn read(&mut self, pod: &Pod, cache: &mut Cache<P::State>) -> CompiledPod<P> {
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
        let (compiled, number) = (read.compiled.clone(), read.number);
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
                            (reused.compiled, reused.number) = (compiled, number);
                            reused
                        }
                        None => Box::new(PreFilteredPod { compiled, number, cycle, pre_filter: first }),
                    });
                }
            },
        };
        let pre_filter = std::mem::take(pre_filter);
        self.spare = reused;
        PreFilterOutcome::Rejected(Box::new(RejectedPod { compiled, cycle, pre_filter, status }))
    }

    /// Decides after PreFilter.
    pub(crate) fn conclude(
        &mut self,
        pod: &Arc<Pod>,
        start: &mut PreFilterOutcome<P>,
        cache: &Cache<P::State>,
        now: i64,
        mut draw: impl FnMut(usize) -> usize,
        observer: &mut impl Observer,
    ) -> Decision {
        let choice = match start {
            PreFilterOutcome::PreFiltered(attempt) => self.choose(pod, attempt, cache, &mut draw, observer),
            PreFilterOutcome::Rejected(rejected) if rejected.status.code.is_rejected() => {
                Choice::NoNode(rejected.diagnose(cache))
            }
            PreFilterOutcome::Rejected(rejected) => Choice::Error(rejected.status.message()),
        };
        let diagnosis = match choice {
            Choice::Node(node) => return Decision::Node(node),
            Choice::Error(failure) => return Decision::Error(failure),
            Choice::NoNode(diagnosis) => diagnosis,
        };
        let failed = match start {
            PreFilterOutcome::PreFiltered(attempt) => FailedAttempt::of(attempt),
            PreFilterOutcome::Rejected(rejected) => FailedAttempt {
                compiled: &rejected.compiled,
                equivalence_class: None,
                cycle: rejected.cycle.as_ref(),
                pre_filter: &rejected.pre_filter,
            },
        };
        Self::post_filter(&*self.plugins, pod, failed, diagnosis, cache, now, draw, observer)
    }

    /// Runs PostFilter.
    #[expect(clippy::too_many_arguments, reason = "state of the cycle, and the observer")]
    fn post_filter(
        plugins: &P,
        pod: &Arc<Pod>,
        failed: FailedAttempt<'_, P>,
        diagnosis: Diagnosis,
        cache: &Cache<P::State>,
        now: i64,
        mut draw: impl FnMut(usize) -> usize,
        observer: &mut impl Observer,
    ) -> Decision {
        let draws = !plugins.info().plugins("post-filter").is_empty();
        let seed = if draws { draw(usize::MAX) as u64 } else { 0 };
        let FailedAttempt { compiled, equivalence_class, cycle, pre_filter } = failed;
        let diagnosed = &diagnosis;
        let cx = PostFilterContext {
            profile: plugins,
            pod,
            compiled,
            cycle,
            equivalence_class,
            pre_filter,
            cache,
            diagnosis: diagnosed,
            now,
            seed,
        };
        let mut run = PostFilterRun::default();
        observer.point_started(Point::PostFilter);
        plugins.post_filter(&mut run, cx);
        let found = run.finish();
        if let Some(found) = &found {
            observer.point_ended(Point::PostFilter, found.status.code);
        }
        Decision::Unschedulable(Box::new(Unschedulable::new(diagnosis, found)))
    }

    fn choose(
        &mut self,
        pod: &Arc<Pod>,
        attempt: &mut PreFilteredPod<P>,
        cache: &Cache<P::State>,
        draw: &mut impl FnMut(usize) -> usize,
        observer: &mut impl Observer,
    ) -> Choice {
        if let Some(node) = self.nominated_node(pod, attempt, cache) {
            return Choice::Node(node);
        }
        if P::Extenders::NONE
            && let Some(&[node]) = attempt.pre_filter.nodes().or_else(|| self.likely(attempt, cache))
            && cache.base.alive().contains(node)
        {
            return Self::choose_single_node(pod, attempt, cache, node);
        }
        observer.point_started(Point::Filter);
        let found = self.find_feasible(pod, attempt, cache);
        observer.point_ended(Point::Filter, Self::filtered(&found, &self.answer.feasible));
        if let Err(failure) = found {
            return Choice::Error(failure);
        }
        let rejected = match self.filter_with_extenders(pod, cache, observer) {
            Ok(rejected) => rejected,
            Err(failure) => return Choice::Error(failure),
        };
        match self.answer.feasible.count() {
            0 => Choice::NoNode(Self::diagnose(pod, attempt, cache, rejected)),
            // With a single feasible node kube-scheduler does not score.
            1 => match self.answer.feasible.iter().next() {
                Some(node) => Choice::Node(node),
                None => Choice::Error("a feasible node disappeared".into()),
            },
            _ => match self.prioritize(attempt, cache, observer) {
                Ok(best) => {
                    let best = match P::Extenders::NONE {
                        true => best,
                        false => {
                            self.answer.add_extender_scores(self.plugins.extenders(), pod, &cache.base, best, observer)
                        }
                    };
                    match self.answer.kth_best(best, draw(best.ties)) {
                        Some(node) => Choice::Node(node),
                        None => Choice::Error("the draw is beyond the number of best nodes".into()),
                    }
                }
                Err(status) => Choice::Error(status.message()),
            },
        }
    }

    /// Returns the code of Filter for all nodes together.
    fn filtered(found: &Result<(), String>, feasible: &NodeMask) -> Code {
        match found {
            Ok(()) if feasible.is_empty() => Code::Unschedulable,
            Ok(()) => Code::Success,
            Err(_) => Code::Error,
        }
    }

    /// Runs PreScore and Score.
    fn prioritize(
        &mut self,
        attempt: &PreFilteredPod<P>,
        cache: &Cache<P::State>,
        observer: &mut impl Observer,
    ) -> Result<BestTotal, Status> {
        observer.point_started(Point::Score);
        let best = self.answer.prioritize(&*self.plugins, &attempt.compiled, &attempt.cycle, cache);
        observer.point_ended(Point::Score, best.as_ref().map_or_else(|status| status.code, |_| Code::Success));
        best
    }

    /// Evaluates a pod on a node with hypothetical pods, as autoscalers do.
    ///
    /// # Errors
    /// The rejection of the first plugin that rejects the node or the pod as a whole.
    pub fn run_filter_plugins(
        &self,
        pod: &Arc<Pod>,
        cache: &mut Cache<P::State>,
        node: NodeIndex,
        change: impl FnOnce(&mut HypotheticalNode<'_, P>),
    ) -> Result<(), Verdict> {
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
