//! The seam between generated code and the framework: a profile is what the generator writes, a bundle is all profiles
//! of a binary.

use std::future::Future;
use std::hash::Hash;

use crate::cache::{Base, Cache, State};
use crate::client::Client;
use crate::costs::Meter;
use crate::events::EventObject;
use crate::extenders::Extenders;
use crate::extension_points::{HintError, Placement, PostFilterContext, QueuedPod, QueueingHint};
use crate::handle::{Handle, WaitingPods};
use crate::hints::PluginEvents;
use crate::idle_plugins::IdlePlugins;
use crate::incremental::PluginResults;
use crate::intern::Interner;
use crate::model::{CustomKind, NodeIndex, Pod, PodSpec};
use crate::node_mask::NodeMask;
use crate::originals::RequiredOriginals;
use crate::status::{Code, Reasons, Status};

mod access_rule;
mod pre_bind;
mod runs;
mod scores;
mod start_error;

pub use access_rule::AccessRule;
pub use pre_bind::{PreBindPlan, reserved_by, try_join};
pub use runs::{PermitRun, PostFilterRun, PreFilterRun, failed, rejected_or_failed};
pub use scores::{PluginScore, ScoreFailure, ScoreRange};
pub use start_error::{StartError, StartErrors, start};

/// What is compiled in, for people: the effective plugins at each extension point.
#[derive(Clone, Copy, Debug)]
pub struct ProfileInfo {
    /// The profile's name: the stem of its file.
    pub name: &'static str,
    /// The file it was made from, as it was named to the generator.
    pub source: &'static str,
    /// The pods that it serves, by `spec.schedulerName`.
    pub scheduler_name: &'static str,
    /// How many nodes of a hundred are looked for before scoring; 0 is kube-scheduler's adaptive rule.
    pub percentage_of_nodes_to_score: u8,
    /// Seconds that a pod waits after its first failure.
    pub pod_initial_backoff_seconds: u64,
    /// Seconds that a pod waits at most.
    pub pod_max_backoff_seconds: u64,
    /// What it may cost.
    pub budget: Budget,
    /// Extension points in the order in which they run, each with its plugins in order; without empty ones.
    pub points: &'static [PointInfo],
    /// The arguments that it gives to plugins, by their names, as JSON; the fields are called as in profiles.
    pub args: &'static [(&'static str, &'static str)],
    /// Its extenders in the order in which they are asked, as JSON; the fields are called as in profiles.
    pub extenders: &'static [&'static str],
}

/// What a profile may cost, as it says itself. `None`: it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Nanoseconds that all Filter and Score plugins take for a node, where every node is asked.
    pub nanoseconds_per_node: Option<u64>,
    /// Bytes of the profile's columns for a node.
    pub bytes_per_node: Option<u64>,
    /// Bytes of the executable.
    pub binary_size: Option<u64>,
}

impl Budget {
    /// No limits.
    pub const NONE: Budget = Budget { nanoseconds_per_node: None, bytes_per_node: None, binary_size: None };
}

/// The text of a profile that is compiled in, and of the catalogs that it names.
///
/// Lines are without their ends; a text that ends with a line end has an empty last line.
#[derive(Clone, Copy, Debug)]
pub struct ProfileSource {
    /// The file, as in [`ProfileInfo::source`].
    pub path: &'static str,
    /// The lines of the profile.
    pub lines: &'static [&'static str],
    /// The catalogs of plugin crates: each crate as the profile names it, and the lines of its catalog.
    pub catalogs: &'static [(&'static str, &'static [&'static str])],
}

/// The plugins at one extension point.
#[derive(Clone, Copy, Debug)]
pub struct PointInfo {
    /// The extension point as it is written in profiles.
    pub point: &'static str,
    /// The plugins, in order, with their weights at `score`.
    pub plugins: &'static [(&'static str, Option<i64>)],
}

impl ProfileInfo {
    /// The plugins at an extension point.
    pub fn plugins(&self, point: &str) -> &'static [(&'static str, Option<i64>)] {
        self.points.iter().find(|p| p.point == point).map_or(&[], |p| p.plugins)
    }
}

/// One profile. All calls of plugins are in here, in the profile's order; all loops and bookkeeping are in the framework.
///
/// Generated code implements it, and so does what reads a profile when the program runs: that one says by `info` and
/// `plugins` what constants cannot say of it.
pub trait Profile: Sized + Send + Sync + 'static {
    /// What [`Profile::new`] makes consists of.
    const INFO: ProfileInfo;
    /// Its plugins, each once, and the events that they wait for. Their places are those of
    /// [`PluginSet`](crate::hints::PluginSet).
    const PLUGINS: &'static [PluginEvents];
    /// The columns that its kernels read, each with its bytes for a node. What an entry points to is not counted.
    const COLUMNS: &'static [(&'static str, usize)] = &[];
    /// Columns and indexes.
    type State: State;
    /// All that the profile's plugins read of a pod: its signature.
    type Pod: Eq + Hash + Send + Sync + 'static;
    /// Filter states, a slot for each plugin that has one.
    type Cycle: Clone + PartialEq + Send + Sync + 'static;
    /// Score states, a slot for each plugin that has one.
    type Score: Send + Sync + 'static;
    /// The columns that this profile's kernels read.
    type Columns<'a>: Copy;
    /// Raw scores of a cycle.
    type Raw: Default + Send;
    /// Extremes of the raw scores that are normalised.
    type Extents: Copy + Default + Send;
    /// Which plugin rejected a node, and why.
    type Rejection: Copy;
    /// What Reserve plugins left.
    type Reserved: Send + Sync + 'static;
    /// Who has a say besides plugins: [`NoExtenders`](crate::extenders::NoExtenders) unless the profile says otherwise.
    type Extenders: Extenders;
    /// The parts of a kept answer: [`Uncached`](crate::incremental::Uncached) if there is none.
    type PluginResults: PluginResults<Self>;

    /// Makes every plugin.
    ///
    /// # Errors
    /// All plugins that failed, not the first alone.
    fn new(handle: &Handle) -> Result<Self, StartErrors>;
    /// Closes every plugin.
    fn close(&self);
    /// The extenders.
    fn extenders(&self) -> &Self::Extenders;
    /// What this one consists of.
    fn info(&self) -> &'static ProfileInfo {
        const { &Self::INFO }
    }
    /// The plugins of this one, as in [`Profile::PLUGINS`].
    fn plugins(&self) -> &'static [PluginEvents] {
        Self::PLUGINS
    }

    /// Reads a pod with every plugin.
    fn compile(&self, pod: &PodSpec, interner: &mut Interner, state: &mut Self::State) -> Self::Pod;
    /// A number that grows when compiled pods do not hold any more ([`compile_epoch`](crate::Plugin::compile_epoch)). `None`: they never hold
    /// for another attempt.
    fn compile_epoch(&self, state: &Self::State) -> Option<u64>;

    /// Runs PreEnqueue.
    ///
    /// # Errors
    /// The first plugin that holds the pod.
    fn pre_enqueue(&self, pod: &Pod, cache: &Cache<Self::State>) -> Result<(), Status>;
    /// What the plugin at a place of [`Profile::plugins`] says of an event that it registered with a hint.
    /// [`hints::InterestedPlugins`](crate::hints::InterestedPlugins) knows which those are.
    ///
    /// # Errors
    /// It cannot tell.
    fn queueing_hint(
        &self,
        plugin: usize,
        pod: &Pod,
        object: EventObject<'_>,
        cache: &Cache<Self::State>,
    ) -> Result<QueueingHint, HintError>;
    /// QueueSort.
    fn less(a: &QueuedPod, b: &QueuedPod) -> bool;
    /// A pod's time in that order.
    fn timestamp(&self, pod: &Pod, timestamp: i64, cache: &Cache<Self::State>) -> i64;

    /// Runs PreFilter. Narrowed nodes and resolvable rejections are left in `run`.
    ///
    /// # Errors
    /// The pod is rejected as a whole, or something broke.
    fn pre_filter(
        &self,
        pod: &Self::Pod,
        cache: &Cache<Self::State>,
        run: &mut PreFilterRun,
    ) -> Result<Self::Cycle, Status>;
    /// The plugins can use the memory of a state again that nobody needs any more.
    fn recycle_cycle(&self, cycle: Self::Cycle);

    /// Whether Filter looks at nothing but the node and the pod, as [`PreFilterPlugin::reads_only_node`] says of the
    /// plugins that do not skip.
    ///
    /// [`PreFilterPlugin::reads_only_node`]: crate::extension_points::PreFilterPlugin::reads_only_node
    fn reads_only_node(_pod: &Self::Pod, _cycle: &Self::Cycle) -> bool {
        false
    }
    /// Whether no filter can fail with an error: then nobody misses the verdicts on nodes that one of them rejects anyway.
    fn cannot_fail(_cycle: &Self::Cycle) -> bool {
        false
    }

    /// The columns of the cluster's nodes.
    fn columns<'a>(state: &'a Self::State, base: &'a Base) -> Self::Columns<'a>;
    /// The same columns, cut to one length, so that a loop checks an index once and not for every column.
    fn aligned<'a>(columns: Self::Columns<'a>) -> Self::Columns<'a>;
    /// The columns of a node that exists in thought, which is at index 0 then.
    fn hypothetical_columns<'a>(
        node: &'a <Self::State as State>::Hypothetical<'_>,
        index: NodeIndex,
    ) -> Self::Columns<'a>;

    /// Which filters have nothing to say about a pod.
    fn idle_filters(pod: &Self::Pod, cycle: &Self::Cycle) -> IdlePlugins;
    /// Runs Filter on the node at `index` of the columns. `IDLE`: what is known of `idle_filters`.
    ///
    /// # Errors
    /// The first plugin that rejects it.
    fn filter<const IDLE: u8>(
        pod: &Self::Pod,
        cycle: &Self::Cycle,
        columns: Self::Columns<'_>,
        index: usize,
    ) -> Result<(), Self::Rejection>;
    /// Every plugin's Filter, not the first rejection alone.
    fn filter_all(
        pod: &Self::Pod,
        cycle: &Self::Cycle,
        columns: Self::Columns<'_>,
        index: usize,
        reject: &mut impl FnMut(Self::Rejection),
    );
    /// The code of a rejection.
    fn code(rejection: &Self::Rejection) -> Code;
    /// The plugin that made a rejection.
    fn rejector(rejection: &Self::Rejection) -> &'static str;
    /// A rejection in words.
    fn explain(
        pod: &Self::Pod,
        cycle: &Self::Cycle,
        columns: Self::Columns<'_>,
        index: usize,
        rejection: Self::Rejection,
        out: &mut Reasons<'_>,
    );

    /// Tells PreFilter plugins that do not skip of a pod that comes to a node in thought.
    fn add_pod(pod: &Self::Pod, cycle: &mut Self::Cycle, other: &Pod, cache: &Cache<Self::State>, node: NodeIndex);
    /// Tells them of a pod that leaves a node in thought.
    fn remove_pod(pod: &Self::Pod, cycle: &mut Self::Cycle, other: &Pod, cache: &Cache<Self::State>, node: NodeIndex);

    /// Runs PostFilter.
    fn post_filter(&self, run: &mut PostFilterRun, cx: PostFilterContext<'_, Self>);

    /// Runs PreScore.
    ///
    /// # Errors
    /// Something broke.
    fn pre_score(
        &self,
        pod: &Self::Pod,
        cycle: &Self::Cycle,
        cache: &Cache<Self::State>,
        feasible: &NodeMask,
    ) -> Result<Self::Score, Status>;
    /// The plugins can use the memory of a state again that nobody needs any more.
    fn recycle_score(&self, score: Self::Score);
    /// The range of the scores that need no normalising.
    fn range(extents: &Self::Extents) -> ScoreRange;
    /// For how many nodes there is room.
    fn slots(raw: &Self::Raw) -> usize;
    /// Makes room for the raw scores of so many nodes.
    fn resize(raw: &mut Self::Raw, nodes: usize);
    /// Which plugins skip Score.
    fn idle_scores(score: &Self::Score) -> IdlePlugins;
    /// Runs Score on the node at `index` of the columns, and takes the raw scores down. `IDLE`: what is known of
    /// `idle_scores`.
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
    /// The node's total: every score normalised, checked and weighted. `IDLE` as for `score`.
    fn total<const IDLE: u8>(
        pod: &Self::Pod,
        score: &Self::Score,
        raw: &Self::Raw,
        extents: &Self::Extents,
        index: usize,
        range: &mut ScoreRange,
    ) -> i64;
    /// The parts of the total, in the profile's order, without plugins that skip.
    fn scores(
        pod: &Self::Pod,
        score: &Self::Score,
        raw: &Self::Raw,
        extents: &Self::Extents,
        columns: Self::Columns<'_>,
        index: usize,
    ) -> Vec<PluginScore>;

    /// Runs Reserve. If a plugin fails, those before it are unreserved, and all others told.
    ///
    /// # Errors
    /// The plugin that failed.
    fn reserve(
        &self,
        cycle: &Self::Cycle,
        cache: &Cache<Self::State>,
        placement: &Placement,
    ) -> Result<Self::Reserved, Status>;
    /// Runs Unreserve, in reverse order.
    fn unreserve(&self, placement: &Placement, reserved: &Self::Reserved);
    /// Runs Permit.
    ///
    /// # Errors
    /// The plugin that rejected the pod, or failed.
    fn permit(&self, placement: &Placement, waiting: &mut WaitingPods<'_>, run: &mut PermitRun) -> Result<(), Status>;
    /// Lets all PreBind plugins look ahead: which of them have something to do?
    ///
    /// # Errors
    /// The plugin that failed.
    fn pre_bind_pre_flight(&self, placement: &Placement, reserved: &Self::Reserved) -> Result<PreBindPlan, Status>;
    /// Runs PreBind as planned: plugins that allow it side by side, else one after the other. The first failure ends it.
    ///
    /// # Errors
    /// The plugin that failed.
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
    /// The plugin that failed; with code `Skip` if all skip.
    fn bind<C: Client>(&self, client: &C, placement: &Placement) -> impl Future<Output = Result<(), Status>> + Send;
    /// Runs PostBind.
    fn post_bind(&self, placement: &Placement);

    /// Hands the work of each plugin to the meter: what it does for a pod before Filter and Score, and what it does for all
    /// nodes. Plugins that have nothing to say about the pod are left out there.
    ///
    /// # Errors
    /// PreFilter or PreScore does not get through with this pod.
    fn costs(&self, _pod: &Self::Pod, _cache: &Cache<Self::State>, _meter: &mut impl Meter) -> Result<(), Status> {
        Ok(())
    }
}

/// The scheduler of pods that name none.
const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// Which of these profiles serves pods of this `spec.schedulerName`; no name is `default-scheduler`.
pub fn profile_for(profiles: &[ProfileInfo], scheduler_name: &str) -> Option<usize> {
    let name = if scheduler_name.is_empty() { DEFAULT_SCHEDULER } else { scheduler_name };
    profiles.iter().position(|profile| profile.scheduler_name == name)
}

/// All profiles of a binary. Generated: one match.
pub trait Bundle: Sized + Send + 'static {
    /// The profiles that [`Bundle::new`] makes, in order.
    const PROFILES: &'static [ProfileInfo];
    /// What they were compiled from, in the same order; empty if that was no profile in TOML.
    const SOURCES: &'static [ProfileSource] = &[];
    /// What tells these profiles from others: a digest of what they were compiled to.
    const HASH: &'static str = "";
    /// The kinds of objects that plugins need to be told about: always nodes and pods. Others are not worth a watch.
    const WATCHES: &'static [&'static str] = &["Node", "Pod"];
    /// Further kinds that plugins declare and need to be told about, each once.
    const KINDS: &'static [CustomKind] = &[];
    /// What plugins do to objects besides watching, each resource once. What the scheduler does itself, such as patches of
    /// the status of pods, is not in it.
    const WRITES: &'static [AccessRule] = &[];
    /// The objects that extenders are sent whole. Whoever drives the scheduler keeps them in
    /// [`Base::originals`].
    const ORIGINALS: RequiredOriginals = RequiredOriginals::NONE;
    /// Columns and indexes of all of them.
    type State: State;

    /// Makes every plugin of every profile.
    ///
    /// # Errors
    /// All plugins that failed.
    fn new(handle: &Handle) -> Result<Self, StartErrors>;
    /// The profiles of this one, in order.
    fn profiles(&self) -> &'static [ProfileInfo] {
        Self::PROFILES
    }
    /// The order of the queue, which all profiles share.
    fn less(a: &QueuedPod, b: &QueuedPod) -> bool;
    /// Does something with the profile at an index of `profiles`.
    fn with<V: Visitor<Self::State>>(&mut self, profile: usize, visitor: V) -> V::Output;
}

/// Something to do with a profile whose type is not known where it is asked for.
pub trait Visitor<S: State> {
    /// What comes of it.
    type Output;
    /// Does it.
    fn visit<P: Profile<State = S>>(self, engine: &mut crate::engine::Engine<P>) -> Self::Output;
}
