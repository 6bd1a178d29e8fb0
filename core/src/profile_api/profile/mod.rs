//! Interface between the generated code of a profile and the framework.

use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;

use crate::model::cache::{Base, Cache, State};
use crate::model::intern::Interner;
use crate::model::node_mask::NodeMask;
use crate::model::node_set::NodeSet;
use crate::model::placement::Placement;
use crate::model::{NodeIndex, Pod, PodSpec};
use crate::plugin_api::client::Client;
use crate::plugin_api::diagnosis::Diagnosis;
use crate::plugin_api::events::EventObject;
use crate::plugin_api::extension_points::{HintError, Preview, QueuedPod, QueueingHint};
use crate::plugin_api::handle::{Handle, WaitingPods};
use crate::plugin_api::incremental::NeedsFullEvaluation;
use crate::plugin_api::status::{Code, Reasons, Status};
use crate::profile_api::costs::Meter;
use crate::profile_api::extenders::Extenders;
use crate::profile_api::hints::PluginEvents;
use crate::profile_api::idle_plugins::IdlePlugins;
use crate::profile_api::leading_filters::LeadingFilters;
use crate::profile_api::plugin_results::NormalizedScores;
use crate::profile_api::plugin_results::scratch::UpdateScratch;

mod access_rule;
mod pre_bind;
mod runs;
mod scores;
mod start_error;

pub use crate::profile_api::profile_info::{Budget, PointInfo, ProfileInfo, ProfileSource, profile_for, profile_named};
pub use access_rule::AccessRule;
pub use pre_bind::{PreBindPlan, reserved_by, try_join};
pub use runs::{PermitRun, PostFilterRun, PreFilterRun, failed, rejected_or_failed};
pub use scores::{PluginScore, ScoreFailure, ScoreRange};
pub use start_error::{StartError, StartErrors, start};

/// One profile. It contains all calls of plugins, in the profile's order; loops and bookkeeping are in the framework.
///
/// Generated code implements it, and so does the interpreter of profiles. The interpreter overrides `info` and
/// `plugins`, because its values are not constants.
pub trait Profile: Sized + Send + Sync + 'static {
    /// Plugins and settings of the value that [`Profile::new`] makes.
    const INFO: ProfileInfo;
    /// Its plugins, each once, with their events. A [`PluginSet`](crate::hints::PluginSet) refers to plugins by their
    /// places in this list.
    const PLUGINS: &'static [PluginEvents];
    /// The columns that its kernels read, each with its bytes for a node, without the memory that an entry points to.
    const COLUMNS: &'static [(&'static str, usize)] = &[];
    /// Columns and indexes.
    type State: State;
    /// All that the profile's plugins read of a pod: its signature.
    type Pod: Eq + Hash + Send + Sync + 'static;
    /// Filter states, one slot for each plugin that has one.
    type Cycle: Clone + PartialEq + Send + Sync + 'static;
    /// Score states, one slot for each plugin that has one.
    type Score: Send + Sync + 'static;
    /// The columns that this profile's kernels read.
    type Columns<'a>: Copy;
    /// Raw scores of a cycle.
    type Raw: Default + Send;
    /// Extents of the raw scores that are normalised.
    type Extents: Copy + Default + Send;
    /// The plugin that rejected a node, and the reason.
    type Rejection: Copy;
    /// Data from Reserve plugins.
    type Reserved: Send + Sync + 'static;
    /// Its extenders; [`NoExtenders`](crate::extenders::NoExtenders) if the profile has none.
    type Extenders: Extenders;
    /// Plugin results in a cached answer; [`Uncached`](crate::incremental::Uncached) if answers are not cached.
    type PluginResults: PluginResults<Self>;

    /// Creates every plugin.
    ///
    /// # Errors
    /// The failures of all plugins.
    fn new(handle: &Handle) -> Result<Self, StartErrors>;
    /// Closes every plugin.
    fn close(&self);
    /// Returns the extenders.
    fn extenders(&self) -> &Self::Extenders;
    /// Returns plugins and settings of this profile.
    fn info(&self) -> &'static ProfileInfo {
        const { &Self::INFO }
    }
    /// Returns the plugins of this profile, as in [`Profile::PLUGINS`].
    fn plugins(&self) -> &'static [PluginEvents] {
        Self::PLUGINS
    }

    /// Compiles a pod with every plugin.
    fn compile(&self, pod: &PodSpec, interner: &mut Interner, state: &mut Self::State) -> Self::Pod;
    /// Returns a number that grows when compiled pods become invalid
    /// ([`Incremental::compile_epoch`](crate::incremental::Incremental::compile_epoch)).
    /// `None`: a compiled pod serves one attempt only.
    fn compile_epoch(&self, state: &Self::State) -> Option<u64>;

    /// Returns the plugins whose compiled forms of two pods differ. For debug builds.
    fn differing_plugins(_a: &Self::Pod, _b: &Self::Pod) -> Vec<&'static str> {
        Vec::new()
    }

    /// Runs PreEnqueue.
    ///
    /// # Errors
    /// The status of the first plugin that holds the pod.
    fn pre_enqueue(&self, pod: &Pod, cache: &Cache<Self::State>) -> Result<(), Status>;
    /// Calls the hint of the plugin at a place of [`Profile::plugins`] for an event.
    /// [`hints::InterestedPlugins`](crate::hints::InterestedPlugins) has the places of the plugins with a hint for it.
    ///
    /// # Errors
    /// The hint fails.
    fn queueing_hint(
        &self,
        plugin: usize,
        pod: &Pod,
        object: EventObject<'_>,
        cache: &Cache<Self::State>,
    ) -> Result<QueueingHint, HintError>;
    /// Returns whether `a` precedes `b`, by QueueSort.
    fn less(a: &QueuedPod, b: &QueuedPod) -> bool;
    /// Returns a pod's timestamp in the queue's order.
    fn timestamp(&self, pod: &Pod, timestamp: i64, cache: &Cache<Self::State>) -> i64;

    /// Runs PreFilter. Stores candidate nodes and resolvable rejections in `run`.
    ///
    /// # Errors
    /// The pod is rejected as a whole, or a plugin failed.
    fn pre_filter(
        &self,
        pod: &Self::Pod,
        cache: &Cache<Self::State>,
        run: &mut PreFilterRun,
    ) -> Result<Self::Cycle, Status>;
    /// Returns a discarded state to the plugins, which may reuse its memory.
    fn recycle_cycle(&self, cycle: Self::Cycle);

    /// Returns whether Filter reads only the node and the pod, according to the
    /// [promises](crate::incremental::Incremental::filter_depends_on) of the plugins that do not skip.
    fn reads_only_node(_pod: &Self::Pod, _cycle: &Self::Cycle) -> bool {
        false
    }
    /// Returns whether no filter can return an error. The remaining filters of a rejected node then need not run.
    fn cannot_fail(_cycle: &Self::Cycle) -> bool {
        false
    }

    /// Returns whether no change of the cluster can affect this state, according to the same promises. PreFilter then
    /// has this result for all pods with this compiled form.
    fn is_constant(_pod: &Self::Pod, _cycle: &Self::Cycle) -> bool {
        false
    }

    /// Returns the first filters in the order, as long as their verdict on a node depends on the pod and the node
    /// alone. By default, there are none.
    fn leading_filters(_pod: &Self::Pod, _cycle: &Self::Cycle) -> LeadingFilters {
        LeadingFilters::default()
    }
    /// Returns whether all of these filters read equal values of two pods. Filters that skip do not count.
    fn have_equal_inputs(_filters: LeadingFilters, _a: &Self::Pod, _b: &Self::Pod) -> bool {
        false
    }
    /// Returns the rejection that the filter at a place in the order returns for every node, if it rejects all nodes
    /// alike ([`Incremental::uniform_rejection`](crate::incremental::Incremental::uniform_rejection)).
    fn uniform_rejection(_place: u32, _pod: &Self::Pod, _cycle: &Self::Cycle) -> Option<Self::Rejection> {
        None
    }

    /// Returns the columns of the cluster's nodes.
    fn columns<'a>(state: &'a Self::State, base: &'a Base) -> Self::Columns<'a>;
    /// Returns the same columns, cut to one length. A loop then checks an index once, not once for each column.
    fn aligned<'a>(columns: Self::Columns<'a>) -> Self::Columns<'a>;
    /// Returns the columns of a hypothetical node, which has index 0.
    fn hypothetical_columns<'a>(
        node: &'a <Self::State as State>::Hypothetical<'_>,
        index: NodeIndex,
    ) -> Self::Columns<'a>;

    /// Returns the filters that are idle for a pod.
    fn idle_filters(pod: &Self::Pod, cycle: &Self::Cycle) -> IdlePlugins;
    /// Runs Filter on the node at `index` of the columns. `IDLE`: the value of `idle_filters`, or a lower one.
    ///
    /// # Errors
    /// The rejection of the first plugin that rejects the node.
    fn filter<const IDLE: u8>(
        pod: &Self::Pod,
        cycle: &Self::Cycle,
        columns: Self::Columns<'_>,
        index: usize,
    ) -> Result<(), Self::Rejection>;
    /// Runs every plugin's Filter, even after a rejection.
    fn filter_all(
        pod: &Self::Pod,
        cycle: &Self::Cycle,
        columns: Self::Columns<'_>,
        index: usize,
        reject: &mut impl FnMut(Self::Rejection),
    );
    /// Returns the code of a rejection.
    fn code(rejection: &Self::Rejection) -> Code;
    /// Returns the plugin that made a rejection.
    fn rejector(rejection: &Self::Rejection) -> &'static str;
    /// Returns the place of the filter that made a rejection, in the order of the filters.
    fn place(_rejection: &Self::Rejection) -> u32 {
        0
    }
    /// Returns the place of the filter that made a rejection, and
    /// [`Incremental::reasons_key`](crate::incremental::Incremental::reasons_key).
    fn reasons_key(_rejection: &Self::Rejection) -> Option<(u32, u32)> {
        None
    }
    /// Writes the reasons of a rejection.
    fn explain(
        pod: &Self::Pod,
        cycle: &Self::Cycle,
        columns: Self::Columns<'_>,
        index: usize,
        rejection: Self::Rejection,
        out: &mut Reasons<'_>,
    );

    /// Adds a pod to a node hypothetically, in the states of PreFilter plugins that do not skip.
    fn add_pod(pod: &Self::Pod, cycle: &mut Self::Cycle, other: &Pod, cache: &Cache<Self::State>, node: NodeIndex);
    /// Removes a pod from a node hypothetically, in the states of PreFilter plugins that do not skip.
    fn remove_pod(pod: &Self::Pod, cycle: &mut Self::Cycle, other: &Pod, cache: &Cache<Self::State>, node: NodeIndex);

    /// Runs PostFilter.
    fn post_filter(&self, run: &mut PostFilterRun, cx: PostFilterContext<'_, Self>);

    /// Runs PreScore.
    ///
    /// # Errors
    /// A plugin failed.
    fn pre_score(
        &self,
        pod: &Self::Pod,
        cycle: &Self::Cycle,
        cache: &Cache<Self::State>,
        feasible: &NodeMask,
    ) -> Result<Self::Score, Status>;
    /// Returns a discarded state to the plugins, which may reuse its memory.
    fn recycle_score(&self, score: Self::Score);
    /// Returns the range of the scores that are not normalised.
    fn range(extents: &Self::Extents) -> ScoreRange;
    /// Returns the number of nodes for which `raw` has slots.
    fn slots(raw: &Self::Raw) -> usize;
    /// Resizes the raw scores to this number of nodes.
    fn resize(raw: &mut Self::Raw, nodes: usize);
    /// Returns the Scores that are idle for a pod.
    fn idle_scores(score: &Self::Score) -> IdlePlugins;
    /// Runs Score on the node at `index` of the columns, and stores the raw scores. `IDLE`: the value of `idle_scores`,
    /// or a lower one.
    ///
    /// # Errors
    /// A plugin's Score failed.
    fn score<const IDLE: u8>(
        pod: &Self::Pod,
        score: &Self::Score,
        columns: Self::Columns<'_>,
        index: usize,
        raw: &mut Self::Raw,
        extents: &mut Self::Extents,
    ) -> Result<(), ScoreFailure>;
    /// Returns the node's total of all scores, normalised, checked and weighted. `IDLE` as for `score`.
    fn total<const IDLE: u8>(
        pod: &Self::Pod,
        score: &Self::Score,
        raw: &Self::Raw,
        extents: &Self::Extents,
        index: usize,
        range: &mut ScoreRange,
    ) -> i64;
    /// Returns the parts of the total, in the profile's order, without plugins that skip.
    fn scores(
        pod: &Self::Pod,
        score: &Self::Score,
        raw: &Self::Raw,
        extents: &Self::Extents,
        columns: Self::Columns<'_>,
        index: usize,
    ) -> Vec<PluginScore>;

    /// Runs Reserve. If a plugin fails, Unreserve runs for all plugins.
    ///
    /// # Errors
    /// The status of the plugin that failed.
    fn reserve(
        &self,
        cycle: &Self::Cycle,
        cache: &Cache<Self::State>,
        placement: &Placement,
    ) -> Result<Self::Reserved, Status>;
    /// Returns the reservations that Reserve would make on a node, by plugin, for reports.
    fn previews(&self, _cycle: &Self::Cycle, _cache: &Cache<Self::State>, _placement: &Placement) -> Vec<Preview> {
        Vec::new()
    }
    /// Runs Unreserve, in reverse order.
    fn unreserve(&self, placement: &Placement, reserved: &Self::Reserved);
    /// Runs Permit.
    ///
    /// # Errors
    /// The status of the plugin that rejected the pod, or failed.
    fn permit(&self, placement: &Placement, waiting: &mut WaitingPods<'_>, run: &mut PermitRun) -> Result<(), Status>;
    /// Runs PreBindPreFlight, to find the PreBind plugins that have work for the pod.
    ///
    /// # Errors
    /// The status of the plugin that failed.
    fn pre_bind_pre_flight(&self, placement: &Placement, reserved: &Self::Reserved) -> Result<PreBindPlan, Status>;
    /// Runs PreBind as planned: one plugin after the other, or concurrently where plugins allow it. The first failure
    /// ends it.
    ///
    /// # Errors
    /// The status of the plugin that failed.
    fn pre_bind<C: Client>(
        &self,
        client: &C,
        placement: &Placement,
        reserved: &Self::Reserved,
        plan: PreBindPlan,
    ) -> impl Future<Output = Result<(), Status>> + Send;
    /// Runs Bind, up to the first plugin that does not skip.
    ///
    /// # Errors
    /// The status of the plugin that failed; code `Skip` if all skip.
    fn bind<C: Client>(&self, client: &C, placement: &Placement) -> impl Future<Output = Result<(), Status>> + Send;
    /// Runs PostBind.
    fn post_bind(&self, placement: &Placement);

    /// Passes the work of each plugin to the meter: PreFilter and PreScore for the pod, Filter and Score for all nodes.
    /// A Filter or Score that is skipped or idle for the pod is left out.
    ///
    /// # Errors
    /// PreFilter or PreScore rejects this pod or fails.
    fn costs(&self, _pod: &Self::Pod, _cache: &Cache<Self::State>, _meter: &mut impl Meter) -> Result<(), Status> {
        Ok(())
    }
}

/// Input of a PostFilter plugin: the failed attempt, and the profile for hypothetical evaluations.
pub struct PostFilterContext<'a, P: Profile> {
    /// The profile's plugins.
    pub profile: &'a P,
    /// The pod.
    pub pod: &'a Arc<Pod>,
    /// All that the profile reads of the pod.
    pub compiled: &'a P::Pod,
    /// The cycle state; `None` if PreFilter rejected the pod without a state.
    pub cycle: Option<&'a P::Cycle>,
    /// Number of the pod's equivalence class, never reused while the profile runs. For all pods of a class, Filter has
    /// the same result on a hypothetical node, until the node or its pods change. `None`: Filter may depend on more
    /// than the node and its pods.
    pub equivalence_class: Option<u64>,
    /// Results of the PreFilter plugins.
    pub pre_filter: &'a PreFilterRun,
    /// The cluster.
    pub cache: &'a Cache<P::State>,
    /// The reasons why no node is feasible.
    pub diagnosis: &'a Diagnosis,
    /// Time in nanoseconds since 1970; `i64::MAX` for callers without a clock.
    pub now: i64,
    /// Whether [`PostFilterResult::candidates`](crate::extension_points::PostFilterResult::candidates) lists all
    /// candidates. A list costs time in proportion to its length.
    pub lists_preemption_candidates: bool,
    /// Random seed of this attempt, for a plugin's own [`Random`](crate::random::Random).
    pub seed: u64,
}

impl<P: Profile> PostFilterContext<'_, P> {
    /// Returns whether a plugin's PreFilter ran in this attempt.
    pub fn ran_pre_filter(&self, plugin: &str) -> bool {
        self.pre_filter.ran(plugin)
    }
}

/// Inputs of an update of a cached answer.
#[doc(hidden)]
pub struct UpdateContext<'a, P: Profile> {
    /// The plugins.
    pub plugins: &'a P,
    /// The pod.
    pub pod: &'a Arc<Pod>,
    /// The compiled pod.
    pub compiled: &'a Arc<P::Pod>,
    /// The cluster.
    pub cache: &'a Cache<P::State>,
}

impl<P: Profile> Clone for UpdateContext<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Profile> Copy for UpdateContext<'_, P> {}

/// Verdicts and raw scores, plugin by plugin. Generated.
#[doc(hidden)]
pub trait PluginResults<P: Profile>: Default + Send {
    /// Whether answers are cached at all.
    const IS_CACHED: bool = true;

    /// Resizes the verdicts to this number of node slots.
    fn resize_filters(&mut self, pod: &P::Pod, cycle: &P::Cycle, slots: usize);

    /// Updates filter states and verdicts after the changes in `work`. `work.verdicts` gets the nodes whose verdict may
    /// have changed.
    ///
    /// # Errors
    /// A plugin's update failed, or a filter failed with an error.
    fn update_filters(
        &mut self,
        cx: &UpdateContext<'_, P>,
        cycle: &mut P::Cycle,
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation>;

    /// Returns the plugins whose cached verdict on a node is a rejection. For debug builds.
    fn rejectors(&self, _pod: &P::Pod, _cycle: &P::Cycle, _node: NodeIndex) -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns the parts of a feasible node's total, each with its plugins. For debug builds.
    fn parts_of_total(&self, _score: &P::Score, _node: NodeIndex, _total: i32) -> Vec<(&'static [&'static str], i64)> {
        Vec::new()
    }

    /// Returns the nodes of one word of a node mask that pass every filter.
    fn passing(&self, pod: &P::Pod, cycle: &P::Cycle, word: usize) -> u64;

    /// Resizes the scores to this number of node slots.
    fn resize_scores(&mut self, score: &P::Score, slots: usize);

    /// Updates score states, and the raw scores and totals of nodes that plugins report. `work.scores` receives these
    /// nodes.
    ///
    /// # Errors
    /// A plugin's update failed, or a score failed or is out of range.
    fn update_scores(
        &mut self,
        cx: &UpdateContext<'_, P>,
        states: (&P::Cycle, &mut P::Score),
        feasible: &NodeMask,
        totals: &mut [i32],
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation>;

    /// Finds the plugins that are active, not idle, for a compiled pod. Called for a new answer, for new states of
    /// Score, and for another pod with the same signature.
    fn find_active(&mut self, pod: &P::Pod, cycle: &P::Cycle, score: Option<&P::Score>);

    /// Removes all scores.
    fn clear_scores(&mut self);

    /// Removes the scores of nodes that are no longer feasible, also from their totals.
    fn remove_infeasible(
        &mut self,
        score: &P::Score,
        feasible: &NodeMask,
        feasibility_changed: &NodeSet,
        totals: &mut [i32],
    );

    /// Runs Score of every plugin that normalises for the changed and the newly feasible nodes in `work.scores`.
    ///
    /// # Errors
    /// A raw score failed, or is out of range.
    fn score(
        &mut self,
        cx: &UpdateContext<'_, P>,
        score: &P::Score,
        feasible: &NodeMask,
        totals: &mut [i32],
        work: &UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation>;

    /// Normalises changed scores, and adds the differences to totals; `work.scores.retotalled` receives these nodes. Then
    /// runs Score of the other plugins, and sets the totals of the nodes that they score.
    ///
    /// # Errors
    /// A score failed, or is out of range.
    fn total(
        &mut self,
        cx: &UpdateContext<'_, P>,
        score: &P::Score,
        feasible: &NodeMask,
        totals: &mut [i32],
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation>;

    /// Returns the scores of the first plugin that normalises and for which `has_property` returns true.
    fn find_normalized(&mut self, _has_property: impl Fn(&NormalizedScores) -> bool) -> Option<&mut NormalizedScores> {
        None
    }

    /// Returns the size in bytes.
    fn bytes(&self) -> usize;
}
