//! The seam between generated code and the framework: a profile is what the generator writes, a bundle is all profiles
//! of a binary.

use std::future::Future;
use std::hash::Hash;

use crate::cache::{Base, Cache, State};
use crate::extension_points::{
    MAX_NODE_SCORE, Nomination, Placement, PostFilterContext, PostFilterResult, PreFilter, QueuedPod, ScoreError,
};
use crate::handle::{Client, Handle, WaitingPods};
use crate::intern::{Interner, Symbol};
use crate::mask::Mask;
use crate::model::{NodeIndex, Pod, PodSpec};
use crate::plugin::{Plugin, Slot};
use crate::status::{Code, Reasons, Status};

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
    /// Extension points in the order in which they run, each with its plugins in order; without empty ones.
    pub points: &'static [PointInfo],
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

/// A plugin could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartError {
    /// The plugin.
    pub plugin: &'static str,
    /// Why.
    pub reason: String,
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "plugin {} cannot start: {}", self.plugin, self.reason)
    }
}

/// Makes a plugin, or takes down why it cannot be made.
pub fn start<P: Plugin>(args: &'static P::Args, handle: &Handle, errors: &mut Vec<StartError>) -> Option<P> {
    P::new(args, handle).map_err(|reason| errors.push(StartError { plugin: P::NAME, reason })).ok()
}

/// A score failed in a loop: small, so that the loop stays small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreFailure {
    /// The plugin.
    pub plugin: &'static str,
    /// What is wrong.
    pub error: ScoreError,
}

/// What one plugin says of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PluginScore {
    /// The plugin.
    pub plugin: &'static str,
    /// As its Score returned it; 0 if the node takes no part ([`IGNORED`](crate::extension_points::NormalizeScore::IGNORED)).
    pub raw: i64,
    /// Within 0..=100.
    pub normalized: i64,
    /// The profile's weight.
    pub weight: i64,
}

impl PluginScore {
    /// What it adds to the node's total.
    pub fn weighted(&self) -> i64 {
        self.normalized.wrapping_mul(self.weight)
    }
}

/// One profile, compiled. All calls of plugins are in here, in the profile's order; all loops and bookkeeping are in the
/// framework.
pub trait Profile: Sized + Send + Sync + 'static {
    /// What it consists of.
    const INFO: ProfileInfo;
    /// Columns and indexes.
    type State: State;
    /// All that the profile's plugins read of a pod: its signature.
    type Pod: Eq + Hash + Send + Sync + 'static;
    /// Filter states, a slot for each plugin that has one.
    type Cycle: Clone + Send + Sync + 'static;
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

    /// Makes every plugin.
    ///
    /// # Errors
    /// All plugins that failed, not the first alone.
    fn new(handle: &Handle) -> Result<Self, Vec<StartError>>;
    /// Closes every plugin.
    fn close(&self);

    /// Reads a pod with every plugin.
    fn compile(pod: &PodSpec, interner: &mut Interner, state: &mut Self::State) -> Self::Pod;

    /// Runs PreEnqueue.
    ///
    /// # Errors
    /// The first plugin that holds the pod.
    fn pre_enqueue(&self, pod: &Pod, interner: &Interner) -> Result<(), Status>;
    /// QueueSort.
    fn less(a: &QueuedPod, b: &QueuedPod) -> bool;

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

    /// The columns of the cluster's nodes.
    fn columns<'a>(state: &'a Self::State, base: &'a Base) -> Self::Columns<'a>;
    /// The same columns, cut to one length, so that a loop checks an index once and not for every column.
    fn aligned<'a>(columns: Self::Columns<'a>) -> Self::Columns<'a>;
    /// The columns of a node that exists in thought, which is at index 0 then.
    fn hypothetical_columns<'a>(node: &'a <Self::State as State>::Hypothetical, index: NodeIndex) -> Self::Columns<'a>;

    /// Whether every filter that can have nothing to say about a pod has nothing to say about this one.
    fn filters_idle(pod: &Self::Pod, cycle: &Self::Cycle) -> bool;
    /// Runs Filter on the node at `index` of the columns. `IDLE`: `filters_idle` is known to hold.
    ///
    /// # Errors
    /// The first plugin that rejects it.
    fn filter<const IDLE: bool>(
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
        feasible: &Mask,
    ) -> Result<Self::Score, Status>;
    /// The range of the scores that need no normalising.
    fn range(extents: &Self::Extents) -> ScoreRange;
    /// For how many nodes there is room.
    fn slots(raw: &Self::Raw) -> usize;
    /// Makes room for the raw scores of so many nodes.
    fn resize(raw: &mut Self::Raw, nodes: usize);
    /// Whether every plugin that may skip Score does.
    fn scores_idle(score: &Self::Score) -> bool;
    /// Runs Score on the node at `index` of the columns, and takes the raw scores down. `IDLE`: `scores_idle` is known to
    /// hold.
    ///
    /// # Errors
    /// A plugin's Score failed.
    fn score<const IDLE: bool>(
        pod: &Self::Pod,
        score: &Self::Score,
        columns: Self::Columns<'_>,
        index: usize,
        raw: &mut Self::Raw,
        extents: &mut Self::Extents,
    ) -> Result<(), ScoreFailure>;
    /// The node's total: every score normalised, checked and weighted. `IDLE` as for `score`.
    fn total<const IDLE: bool>(
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
    /// Runs PreBind, Bind and PostBind.
    ///
    /// # Errors
    /// The plugin that failed.
    fn bind<C: Client>(
        &self,
        client: &C,
        placement: &Placement,
        reserved: &Self::Reserved,
    ) -> impl Future<Output = Result<(), Status>> + Send;
}

/// All profiles of a binary. Generated: one match.
pub trait Bundle: Sized + Send + 'static {
    /// The profiles, in order.
    const PROFILES: &'static [ProfileInfo];
    /// Columns and indexes of all of them.
    type State: State;

    /// Makes every plugin of every profile.
    ///
    /// # Errors
    /// All plugins that failed.
    fn new(handle: &Handle) -> Result<Self, Vec<StartError>>;
    /// The order of the queue, which all profiles share.
    fn less(a: &QueuedPod, b: &QueuedPod) -> bool;
    /// Does something with the profile at an index of `PROFILES`.
    fn with<V: Visitor<Self::State>>(&mut self, profile: usize, visitor: V) -> V::Output;
}

/// Something to do with a profile whose type is not known where it is asked for.
pub trait Visitor<S: State> {
    /// What comes of it.
    type Output;
    /// Does it.
    fn visit<P: Profile<State = S>>(self, engine: &mut crate::engine::Engine<P>) -> Self::Output;
}

/// What PreFilter plugins say together.
#[derive(Debug, Default)]
pub struct PreFilterRun {
    nodes: Option<Mask>,
    unknown_nodes: Vec<Symbol>,
    narrowed_by: Vec<&'static str>,
    rejected: Option<Status>,
    skipped: Vec<&'static str>,
    answered: Vec<&'static str>,
}

impl PreFilterRun {
    /// Takes one plugin's answer in.
    ///
    /// # Errors
    /// The run ends here.
    pub fn take<C>(&mut self, plugin: &'static str, answer: Result<PreFilter<C>, Status>) -> Result<Slot<C>, Status> {
        self.answered.push(plugin);
        let answer = answer.map_err(|status| rejected_or_failed("PreFilter plugin", plugin, status))?;
        if answer.slot.skip {
            self.skipped.push(plugin);
            return Ok(answer.slot);
        }
        if let Some(status) = answer.rejected {
            self.rejected = Some(status.with_plugin(plugin));
            return Ok(answer.slot);
        }
        if let Some(nodes) = answer.nodes {
            self.narrowed_by.push(plugin);
            match &mut self.nodes {
                Some(kept) => {
                    kept.intersect(&nodes);
                    self.unknown_nodes.retain(|name| answer.unknown_nodes.contains(name));
                    // A name is a name: that a node of it does not exist is told node by node.
                    if kept.is_empty() && self.unknown_nodes.is_empty() {
                        return Err(self.nothing_left());
                    }
                }
                none => {
                    *none = Some(nodes);
                    self.unknown_nodes = answer.unknown_nodes;
                }
            }
        }
        Ok(answer.slot)
    }

    fn nothing_left(&mut self) -> Status {
        self.narrowed_by.sort_unstable();
        let plugins = self.narrowed_by.join(" ");
        Status::unresolvable(format!("node(s) didn't satisfy plugin(s) [{plugins}] simultaneously"))
    }

    /// The only nodes that can be feasible, if there are less than all.
    pub fn nodes(&self) -> Option<&Mask> {
        self.nodes.as_ref()
    }
    /// Names that plugins gave besides, of nodes that do not exist.
    pub fn unknown_nodes(&self) -> &[Symbol] {
        &self.unknown_nodes
    }
    /// The plugins that left nodes out, sorted.
    pub fn narrowed_by(&self) -> Vec<&'static str> {
        let mut plugins = self.narrowed_by.clone();
        plugins.sort_unstable();
        plugins
    }
    /// A rejection of the pod as a whole that removing pods may change.
    pub fn rejected(&self) -> Option<&Status> {
        self.rejected.as_ref()
    }
    /// Whether a plugin's PreFilter ran: those after a rejection for good do not.
    pub fn ran(&self, plugin: &str) -> bool {
        self.answered.contains(&plugin)
    }
    /// The plugins whose Filter is left out.
    pub fn skipped(&self) -> &[&'static str] {
        &self.skipped
    }
}

/// What PostFilter plugins say together: kube-scheduler's `RunPostFilterPlugins`.
#[derive(Debug, Default)]
pub struct PostFilterRun {
    result: Option<PostFilterResult>,
    reasons: Vec<String>,
    rejector: &'static str,
    done: bool,
}

impl PostFilterRun {
    /// Takes one plugin's answer in. True: no further plugin runs.
    pub fn take(&mut self, plugin: &'static str, mut answer: PostFilterResult) -> bool {
        answer.status.plugin = plugin;
        match answer.status.code {
            Code::Unschedulable | Code::Pending => {
                self.reasons.extend(answer.status.reasons.iter().cloned());
                if self.rejector.is_empty() {
                    self.rejector = plugin;
                }
                if answer.nomination != Nomination::Keep || self.result.is_none() {
                    self.result = Some(answer);
                }
            }
            code => {
                if !matches!(code, Code::Success | Code::UnschedulableAndUnresolvable) {
                    // What a plugin that broke had in mind does not count.
                    answer.nomination = Nomination::Keep;
                    answer.victims.clear();
                    answer.candidates.clear();
                }
                self.result = Some(answer);
                self.done = true;
            }
        }
        self.done
    }

    /// The outcome; none if no plugin ran.
    pub fn finish(self) -> Option<PostFilterResult> {
        let mut result = self.result?;
        if !self.done {
            result.status = Status { code: Code::Unschedulable, plugin: self.rejector, reasons: self.reasons };
        }
        Some(result)
    }
}

/// What Permit plugins say together: those that make the pod wait, and for how long.
#[derive(Debug, Default)]
pub struct PermitRun {
    /// Plugin and the longest wait, in nanoseconds.
    pub waits: Vec<(&'static str, i64)>,
}

impl PermitRun {
    /// A wait is cut to 15 minutes, as kube-scheduler does.
    const LONGEST: std::time::Duration = std::time::Duration::from_secs(15 * 60);

    /// Takes one plugin's answer in.
    ///
    /// # Errors
    /// The pod is rejected.
    pub fn take(&mut self, plugin: &'static str, answer: crate::extension_points::Permit) -> Result<(), Status> {
        use crate::extension_points::Permit;
        match answer {
            Permit::Allow => Ok(()),
            Permit::Wait(patience) => {
                self.waits.push((plugin, patience.min(Self::LONGEST).as_nanos() as i64));
                Ok(())
            }
            Permit::Reject(status) => Err(rejected_or_failed("Permit plugin", plugin, status)),
        }
    }
}

/// Watches over normalised scores: one comparison a score in the loop, the search for the culprit only if it fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScoreRange {
    highest: u64,
}

impl ScoreRange {
    /// Passes a score through.
    #[inline(always)]
    pub fn check(&mut self, score: i64) -> i64 {
        // A negative score is a very high one without its sign.
        self.highest = self.highest.max(score as u64);
        score
    }
    /// Whether all scores were within 0..=100.
    pub fn holds(&self) -> bool {
        self.highest <= MAX_NODE_SCORE as u64
    }
}

/// A plugin's answer other than success, as kube-scheduler passes it on: a rejection with its own words, anything else as
/// an error that names the plugin. `what` is the extension point in kube-scheduler's words, such as `Reserve plugin`.
pub fn rejected_or_failed(what: &str, plugin: &'static str, status: Status) -> Status {
    if status.code.is_rejected() { status.with_plugin(plugin) } else { failed(what, plugin, status) }
}

/// The same where a plugin cannot reject: any answer other than success is an error.
pub fn failed(what: &str, plugin: &'static str, status: Status) -> Status {
    Status::error(format!("running {what} {plugin:?}: {}", status.message())).with_plugin(plugin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_plugin_may_name_nodes_that_do_not_exist_two_must_agree() {
        let only = |nodes: &[u32]| Ok(PreFilter::ready(()).only(nodes.iter().map(|&node| NodeIndex(node))));
        let mut run = PreFilterRun::default();
        assert!(run.take("A", only(&[])).is_ok(), "told node by node");
        let mut run = PreFilterRun::default();
        assert!(run.take("B", only(&[1, 2])).is_ok());
        let nothing_left = run.take("A", only(&[3])).map_err(|status| status.message());
        assert_eq!(nothing_left, Err("node(s) didn't satisfy plugin(s) [A B] simultaneously".to_string()));
        let (mut interner, base) = (Interner::default(), Base::default());
        let ghost = interner.intern("ghost");
        let named = |node: u32| {
            let nodes = PreFilter::ready(()).only([NodeIndex(node)]);
            Ok(PreFilter { nodes: nodes.nodes, ..PreFilter::ready(()).only_named([ghost], &base) })
        };
        let mut run = PreFilterRun::default();
        assert!(run.take("B", named(1)).is_ok());
        assert!(run.take("A", named(3)).is_ok(), "they agree in a node that does not exist");
        assert_eq!(run.unknown_nodes(), [ghost]);
    }

    #[test]
    fn post_filter_can_ask_which_pre_filters_ran() {
        let mut run = PreFilterRun::default();
        assert!(run.take("Skips", Ok(PreFilter::skip(()))).is_ok());
        assert!(run.take("Rejects", Err::<PreFilter<()>, _>(Status::unresolvable("no"))).is_err());
        assert_eq!(["Skips", "Rejects", "Late"].map(|plugin| run.ran(plugin)), [true, true, false]);
    }

    #[test]
    fn a_broken_post_filter_nominates_nothing() {
        let mut run = PostFilterRun::default();
        let mut answer = PostFilterResult::nominate(NodeIndex(1), Vec::new());
        answer.status = Status::error("out of order");
        assert!(run.take("Breaks", answer), "no further plugin runs");
        let result = run.finish().expect("a plugin answered");
        assert_eq!((result.nomination, result.status.plugin), (Nomination::Keep, "Breaks"));
    }
}
