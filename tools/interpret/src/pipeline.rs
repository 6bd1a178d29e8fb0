//! Implements `Profile` for a profile that was loaded at run time. Each function loops over the steps of its extension
//! point. Generated code has no such loop, but one call after the other.

use futures_util::future::try_join_all;
use schedc_core::cache::{Base, Cache};
use schedc_core::client::Client;
use schedc_core::events::EventObject;
use schedc_core::extenders::NoExtenders;
use schedc_core::extension_points::{
    BindResult, HintError, Placement, PostFilterContext, Preview, QueueSortPlugin, QueuedPod, QueueingHint,
};
use schedc_core::handle::{Handle, WaitingPods};
use schedc_core::hints::PluginEvents;
use schedc_core::idle_plugins::IdlePlugins;
use schedc_core::intern::Interner;
use schedc_core::model::{self, NodeIndex, PodSpec};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::CycleSlot;
use schedc_core::profile::{
    Budget, PermitRun, PluginScore, PostFilterRun, PreBindPlan, PreFilterRun, Profile, ProfileInfo, ScoreFailure,
    ScoreRange, StartErrors, failed, rejected_or_failed,
};
use schedc_core::status::{Code, Reasons, Status};
use schedc_plugins::PrioritySort;

use crate::cached_results::CachedResults;
use crate::cycle_state::{Cycle, Extents, Pod, Raw, Rejection, Reserved, Score};
use crate::erased::{AllColumns, AnyValue, InTreeColumns};
use crate::plugins::{self, Columns};
use crate::state::State;
use crate::steps::{Pipeline, ScoreStep, Steps};

impl ScoreStep {
    pub(crate) fn normalized(&self, extents: &Extents, at: usize, raw: i64) -> i64 {
        self.normalize.as_ref().map_or(raw, |plugin| plugin.normalize(extents.0[at], raw))
    }
}

/// Returns the verdicts about a node, one for each step of Filter that the pod does not skip.
fn filter_verdicts<'a>(
    pod: &'a Pod,
    cycle: &'a Cycle,
    columns: &'a Columns<'_>,
    index: usize,
) -> impl Iterator<Item = Result<(), Rejection>> + 'a {
    pod.steps.filter.iter().enumerate().filter(|(_, step)| !cycle.skips(step.position)).map(move |(at, step)| {
        let verdict = step.plugin.filter(pod.value(step.position), cycle.state(step.position), columns, index);
        verdict.map_err(|code| Rejection { step: at, plugin: step.name, code })
    })
}

impl Profile for Pipeline {
    const INFO: ProfileInfo = ProfileInfo {
        name: "empty",
        source: "",
        scheduler_name: "",
        percentage_of_nodes_to_score: 100,
        pod_initial_backoff_seconds: 1,
        pod_max_backoff_seconds: 10,
        budget: Budget::NONE,
        points: &[],
        extenders: &[],
        args: &[],
    };
    const PLUGINS: &'static [PluginEvents] = &[];
    type State = State;
    type Pod = Pod;
    type Cycle = Cycle;
    type Score = Score;
    type Columns<'a> = Columns<'a>;
    type Raw = Raw;
    type Extents = Extents;
    type Rejection = Rejection;
    type Reserved = Reserved;
    type Extenders = NoExtenders;
    type PluginResults = CachedResults;

    /// Creates a profile without plugins. [`Interpretation::load`](crate::Interpretation::load) loads others.
    fn new(_: &Handle) -> Result<Self, StartErrors> {
        Ok(Pipeline::of(Steps::none(const { &Self::INFO })))
    }
    fn close(&self) {
        self.steps.plugins.iter().for_each(|plugin| plugin.erased.close());
    }
    fn extenders(&self) -> &NoExtenders {
        &NoExtenders
    }
    fn info(&self) -> &'static ProfileInfo {
        self.steps.info
    }
    fn plugins(&self) -> &'static [PluginEvents] {
        self.steps.events
    }

    fn compile(&self, pod: &PodSpec, interner: &mut Interner, state: &mut State) -> Pod {
        let values = self.steps.plugins.iter().map(|plugin| plugin.erased.compile(pod, interner, state));
        Pod { values: values.collect(), steps: self.steps.clone() }
    }
    fn compile_epoch(&self, state: &State) -> Option<u64> {
        self.steps.plugins.iter().map(|plugin| plugin.erased.compile_epoch(state)).sum()
    }

    fn pre_enqueue(&self, pod: &model::Pod, cache: &Cache<State>) -> Result<(), Status> {
        self.steps
            .pre_enqueue
            .iter()
            .try_for_each(|step| step.plugin.pre_enqueue(pod, cache).map_err(|status| status.with_plugin(step.name)))
    }
    fn queueing_hint(
        &self,
        plugin: usize,
        pod: &model::Pod,
        object: EventObject<'_>,
        cache: &Cache<State>,
    ) -> Result<QueueingHint, HintError> {
        let hints = self.steps.plugins.get(plugin).and_then(|plugin| plugin.hints.as_ref());
        hints.map_or(Ok(QueueingHint::Queue), |plugin| plugin.hint(pod, object, cache))
    }
    /// Compares two pods with PrioritySort, the only in-tree queue-sort plugin.
    fn less(a: &QueuedPod, b: &QueuedPod) -> bool {
        PrioritySort::less(&schedc_core::args::NoArgs, a, b)
    }
    fn timestamp(&self, pod: &model::Pod, timestamp: i64, cache: &Cache<State>) -> i64 {
        let sort = self.steps.queue_sort.first();
        sort.map_or(timestamp, |step| step.plugin.timestamp(pod, timestamp, cache))
    }

    fn pre_filter(&self, pod: &Pod, cache: &Cache<State>, run: &mut PreFilterRun) -> Result<Cycle, Status> {
        let mut cycle: Vec<_> = self.steps.plugins.iter().map(|_| None).collect();
        for step in &self.steps.pre_filter {
            cycle[step.position] = Some(run.take(step.name, step.plugin.pre_filter(pod.value(step.position), cache))?);
        }
        Ok(Cycle(cycle))
    }
    fn recycle_cycle(&self, mut cycle: Cycle) {
        for step in &self.steps.pre_filter {
            if let Some(slot) = cycle.0[step.position].take() {
                step.plugin.recycle(slot.state);
            }
        }
    }

    fn columns<'a>(state: &'a State, base: &'a Base) -> Columns<'a> {
        InTreeColumns::columns(state, base)
    }
    fn aligned<'a>(columns: Self::Columns<'a>) -> Self::Columns<'a> {
        InTreeColumns::aligned(columns)
    }
    fn hypothetical_columns<'a>(
        node: &'a <State as schedc_core::cache::State>::Hypothetical<'_>,
        index: NodeIndex,
    ) -> Columns<'a> {
        InTreeColumns::hypothetical_columns(node, index)
    }

    fn idle_filters(_: &Pod, _: &Cycle) -> IdlePlugins {
        IdlePlugins::Unknown
    }
    fn filter<const IDLE: u8>(pod: &Pod, cycle: &Cycle, columns: Columns<'_>, index: usize) -> Result<(), Rejection> {
        filter_verdicts(pod, cycle, &columns, index).collect()
    }
    fn filter_all(pod: &Pod, cycle: &Cycle, columns: Columns<'_>, index: usize, reject: &mut impl FnMut(Rejection)) {
        filter_verdicts(pod, cycle, &columns, index).filter_map(Result::err).for_each(reject);
    }
    fn code(rejection: &Rejection) -> Code {
        rejection.code
    }
    fn rejector(rejection: &Rejection) -> &'static str {
        rejection.plugin
    }
    fn explain(
        pod: &Pod,
        cycle: &Cycle,
        columns: Columns<'_>,
        index: usize,
        rejection: Rejection,
        out: &mut Reasons<'_>,
    ) {
        let step = &pod.steps.filter[rejection.step];
        step.plugin.explain(pod.value(step.position), cycle.state(step.position), &columns, index, out);
    }

    fn add_pod(pod: &Pod, cycle: &mut Cycle, other: &model::Pod, cache: &Cache<State>, node: NodeIndex) {
        for step in &pod.steps.pre_filter {
            if let Some(state) = cycle.0[step.position].as_mut().and_then(CycleSlot::get_mut) {
                step.plugin.add_pod(pod.value(step.position), state.value_mut(), other, cache, node);
            }
        }
    }
    fn remove_pod(pod: &Pod, cycle: &mut Cycle, other: &model::Pod, cache: &Cache<State>, node: NodeIndex) {
        for step in &pod.steps.pre_filter {
            if let Some(state) = cycle.0[step.position].as_mut().and_then(CycleSlot::get_mut) {
                step.plugin.remove_pod(pod.value(step.position), state.value_mut(), other, cache, node);
            }
        }
    }

    fn post_filter(&self, run: &mut PostFilterRun, cx: PostFilterContext<'_, Self>) {
        for step in &self.steps.post_filter {
            if run.take(step.name, step.plugin.post_filter(PostFilterContext { ..cx })) {
                return;
            }
        }
    }

    fn pre_score(&self, pod: &Pod, _: &Cycle, cache: &Cache<State>, feasible: &NodeMask) -> Result<Score, Status> {
        let mut score: Vec<_> = self.steps.plugins.iter().map(|_| None).collect();
        for step in &self.steps.pre_score {
            let slot = step.plugin.pre_score(pod.value(step.position), cache, feasible);
            score[step.position] = Some(slot.map_err(|status| failed("PreScore plugin", step.name, status))?);
        }
        for step in &self.steps.score {
            if let Some(plugin) = &step.prepare {
                score[step.position] = Some(CycleSlot::ready(plugin.prepare(pod.value(step.position), cache)));
            }
        }
        Ok(Score(score))
    }
    fn recycle_score(&self, mut score: Score) {
        for step in &self.steps.pre_score {
            if let Some(slot) = score.0[step.position].take() {
                step.plugin.recycle(slot.state);
            }
        }
        for step in &self.steps.score {
            if let (Some(plugin), Some(slot)) = (&step.prepare, score.0[step.position].take()) {
                plugin.recycle(slot.state);
            }
        }
    }
    fn range(_: &Extents) -> ScoreRange {
        ScoreRange::default()
    }
    fn slots(raw: &Raw) -> usize {
        raw.slots
    }
    fn resize(raw: &mut Raw, nodes: usize) {
        raw.slots = nodes;
    }
    fn idle_scores(_: &Score) -> IdlePlugins {
        IdlePlugins::Unknown
    }
    fn score<const IDLE: u8>(
        pod: &Pod,
        score: &Score,
        columns: Columns<'_>,
        index: usize,
        raw: &mut Raw,
        extents: &mut Extents,
    ) -> Result<(), ScoreFailure> {
        let steps = &pod.steps.score;
        let node = raw.node_mut(index, steps.len());
        for (at, step) in steps.iter().enumerate().filter(|(_, step)| !score.skips(step.position)) {
            let value = step.score.score(pod.value(step.position), score.state(step.position), &columns, index);
            let value = value.map_err(|error| ScoreFailure { plugin: step.name, error })?;
            if let Some(plugin) = &step.normalize {
                plugin.include(&mut extents.0[at], value);
            }
            node[at] = value;
        }
        Ok(())
    }
    fn total<const IDLE: u8>(
        pod: &Pod,
        score: &Score,
        raw: &Raw,
        extents: &Extents,
        index: usize,
        range: &mut ScoreRange,
    ) -> i64 {
        let steps = &pod.steps.score;
        let node = raw.node(index, steps.len());
        let mut total: i64 = 0;
        for (at, step) in steps.iter().enumerate().filter(|(_, step)| !score.skips(step.position)) {
            let value = range.check(step.normalized(extents, at, node[at]));
            total = total.wrapping_add(value.wrapping_mul(step.weight));
        }
        total
    }
    fn scores(
        pod: &Pod,
        score: &Score,
        raw: &Raw,
        extents: &Extents,
        _: Columns<'_>,
        index: usize,
    ) -> Vec<PluginScore> {
        let steps = &pod.steps.score;
        let node = raw.node(index, steps.len());
        let scored = steps.iter().enumerate().filter(|(_, step)| !score.skips(step.position));
        let scores = scored.map(|(at, step)| PluginScore {
            plugin: step.name,
            raw: node[at],
            normalized: step.normalized(extents, at, node[at]),
            weight: step.weight,
        });
        scores.collect()
    }

    fn reserve(&self, _: &Cycle, cache: &Cache<State>, placement: &Placement) -> Result<Reserved, Status> {
        let mut reserved = Reserved(self.steps.plugins.iter().map(|_| None).collect());
        for step in &self.steps.reserve {
            match step.plugin.reserve(placement, cache) {
                Ok(value) => reserved.0[step.position] = Some(value),
                Err(status) => {
                    self.unreserve(placement, &reserved);
                    return Err(rejected_or_failed("Reserve plugin", step.name, status));
                }
            }
        }
        // A plugin whose PreBind is in the profile, but whose Reserve is not, gets the default state.
        for step in &self.steps.pre_bind {
            if self.steps.reserve.iter().all(|other| other.position != step.position) {
                reserved.0[step.position] = Some(step.plugin.default_reserved());
            }
        }
        Ok(reserved)
    }
    fn previews(&self, _: &Cycle, cache: &Cache<State>, placement: &Placement) -> Vec<Preview> {
        self.steps.reserve.iter().filter_map(|step| step.plugin.preview(placement, cache)).collect()
    }
    fn unreserve(&self, placement: &Placement, reserved: &Reserved) {
        for step in self.steps.reserve.iter().rev() {
            step.plugin.unreserve(placement, reserved.0[step.position].as_deref());
        }
    }
    /// Permits every pod: no in-tree plugin has Permit.
    fn permit(&self, _: &Placement, _: &mut WaitingPods<'_>, _: &mut PermitRun) -> Result<(), Status> {
        Ok(())
    }
    fn pre_bind_pre_flight(&self, placement: &Placement, reserved: &Reserved) -> Result<PreBindPlan, Status> {
        let mut plan = PreBindPlan::default();
        for (at, step) in self.steps.pre_bind.iter().enumerate() {
            let reserved = reserved.of(step.name, step.position)?;
            plan.take(at, step.name, step.plugin.pre_flight(placement, reserved))?;
        }
        Ok(plan)
    }
    async fn pre_bind<C: Client>(
        &self,
        client: &C,
        placement: &Placement,
        reserved: &Reserved,
        plan: PreBindPlan,
    ) -> Result<(), Status> {
        for group in plan.groups() {
            let running = group.iter().map(|at| {
                let step = &self.steps.pre_bind[at];
                async move {
                    let reserved = reserved.of(step.name, step.position)?;
                    let plugin: &AnyValue = &*self.steps.plugins[step.position].erased;
                    let done = plugins::pre_bind(plugin, client, placement, reserved).await;
                    done.map_err(|status| rejected_or_failed("PreBind plugin", step.name, status))
                }
            });
            try_join_all(running).await?;
        }
        Ok(())
    }
    async fn bind<C: Client>(&self, client: &C, placement: &Placement) -> Result<(), Status> {
        for step in &self.steps.bind {
            let plugin: &AnyValue = &*step.plugin;
            let bound = plugins::bind(plugin, client, placement).await;
            if bound.map_err(|status| rejected_or_failed("Bind plugin", step.name, status))? == BindResult::Done {
                return Ok(());
            }
        }
        Err(Status::new(Code::Skip, ""))
    }
    /// Does nothing: no in-tree plugin has PostBind.
    fn post_bind(&self, _: &Placement) {}
}
