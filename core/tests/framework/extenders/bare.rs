//! A handwritten profile without plugins, for tests of extenders. A test can set the profile's own answers:
//! `plugin filter N` for the node with index N, and `plugin reserve` and `plugin permit` for pods. Unless such an
//! answer is a rejection or an error, the profile accepts all nodes and pods.

use schedc_core::cache::{Base, Cache};
use schedc_core::client::Client;
use schedc_core::engine::Engine;
use schedc_core::events::EventObject;
use schedc_core::extension_points::{HintError, Placement, PostFilterContext, QueuedPod, QueueingHint};
use schedc_core::handle::{Handle, WaitingPods};
use schedc_core::hints::PluginEvents;
use schedc_core::idle_plugins::IdlePlugins;
use schedc_core::intern::Interner;
use schedc_core::model::{NodeIndex, Pod, PodSpec};
use schedc_core::node_mask::NodeMask;
use schedc_core::profile::{
    Bundle, PermitRun, PluginScore, PostFilterRun, PreBindPlan, PreFilterRun, Profile, ProfileInfo, ScoreFailure,
    ScoreRange, StartErrors, Visitor,
};
use schedc_core::status::{Code, Reasons, Status};

use super::Referee;
use super::scheduler::alone;
use super::scheduler::state::State;
use crate::framework::plugins::stage::{Answer, answer};

type Hypothetical<'a> = <State as schedc_core::cache::State>::Hypothetical<'a>;

/// Name of the plugin in rejections by this profile.
const PLUGIN: &str = "Plugin";

/// The profile.
pub struct Bare(Referee);

impl Profile for Bare {
    const INFO: ProfileInfo = ProfileInfo { name: "bare", points: &[], ..<alone::Pipeline as Profile>::INFO };
    const PLUGINS: &'static [PluginEvents] = &[];
    type State = State;
    type Pod = ();
    type Cycle = ();
    type Score = ();
    type Columns<'a> = ();
    type Raw = Vec<()>;
    type Extents = ();
    type Rejection = &'static str;
    type Reserved = ();
    type Extenders = Referee;
    type PluginResults = schedc_core::incremental::Uncached;

    fn new(_: &Handle) -> Result<Self, StartErrors> {
        Ok(Bare(Referee))
    }
    fn close(&self) {}
    fn extenders(&self) -> &Referee {
        &self.0
    }

    fn compile(&self, _: &PodSpec, _: &mut Interner, _: &mut State) {}
    fn compile_epoch(&self, _: &State) -> Option<u64> {
        Some(0)
    }

    fn pre_enqueue(&self, _: &Pod, _: &Cache<State>) -> Result<(), Status> {
        Ok(())
    }
    fn queueing_hint(
        &self,
        _: usize,
        _: &Pod,
        _: EventObject<'_>,
        _: &Cache<State>,
    ) -> Result<QueueingHint, HintError> {
        Ok(QueueingHint::Skip)
    }
    fn less(_: &QueuedPod, _: &QueuedPod) -> bool {
        false
    }
    fn timestamp(&self, _: &Pod, timestamp: i64, _: &Cache<State>) -> i64 {
        timestamp
    }

    fn pre_filter(&self, (): &(), _: &Cache<State>, _: &mut PreFilterRun) -> Result<(), Status> {
        Ok(())
    }
    fn recycle_cycle(&self, (): ()) {}
    fn columns(_: &State, _: &Base) {}
    fn aligned<'a>(columns: Self::Columns<'a>) -> Self::Columns<'a> {
        columns
    }
    fn hypothetical_columns(_: &Hypothetical<'_>, _: NodeIndex) {}
    fn idle_filters((): &(), (): &()) -> IdlePlugins {
        IdlePlugins::Unknown
    }
    fn filter<const IDLE: u8>((): &(), (): &(), (): (), node: usize) -> Result<(), &'static str> {
        match answer(&format!("plugin filter {node}"), "") {
            Answer::Reject(reason) => Err(reason),
            _ => Ok(()),
        }
    }
    fn filter_all((): &(), (): &(), (): (), node: usize, reject: &mut impl FnMut(&'static str)) {
        if let Err(reason) = Self::filter::<{ IdlePlugins::Unknown as u8 }>(&(), &(), (), node) {
            reject(reason);
        }
    }
    fn code(_: &&'static str) -> Code {
        Code::Unschedulable
    }
    fn rejector(_: &&'static str) -> &'static str {
        PLUGIN
    }
    fn explain((): &(), (): &(), (): (), _: usize, reason: &'static str, reasons: &mut Reasons<'_>) {
        reasons.push(reason);
    }
    fn add_pod((): &(), (): &mut (), _: &Pod, _: &Cache<State>, _: NodeIndex) {}
    fn remove_pod((): &(), (): &mut (), _: &Pod, _: &Cache<State>, _: NodeIndex) {}
    fn post_filter(&self, _: &mut PostFilterRun, _: PostFilterContext<'_, Self>) {}

    fn pre_score(&self, (): &(), (): &(), _: &Cache<State>, _: &NodeMask) -> Result<(), Status> {
        Ok(())
    }
    fn recycle_score(&self, (): ()) {}
    fn range((): &()) -> ScoreRange {
        ScoreRange::default()
    }
    fn slots(raw: &Vec<()>) -> usize {
        raw.len()
    }
    fn resize(raw: &mut Vec<()>, nodes: usize) {
        raw.resize(nodes, ());
    }
    fn idle_scores((): &()) -> IdlePlugins {
        IdlePlugins::All
    }
    fn score<const IDLE: u8>(
        (): &(),
        (): &(),
        (): (),
        _: usize,
        _: &mut Vec<()>,
        (): &mut (),
    ) -> Result<(), ScoreFailure> {
        Ok(())
    }
    fn total<const IDLE: u8>((): &(), (): &(), _: &Vec<()>, (): &(), _: usize, _: &mut ScoreRange) -> i64 {
        0
    }
    fn scores((): &(), (): &(), _: &Vec<()>, (): &(), (): (), _: usize) -> Vec<PluginScore> {
        Vec::new()
    }

    fn reserve(&self, (): &(), _: &Cache<State>, placement: &Placement) -> Result<(), Status> {
        answer("plugin reserve", &placement.pod.name).status().map_err(|status| status.with_plugin(PLUGIN))
    }
    fn unreserve(&self, _: &Placement, (): &()) {}
    fn permit(&self, placement: &Placement, _: &mut WaitingPods<'_>, _: &mut PermitRun) -> Result<(), Status> {
        answer("plugin permit", &placement.pod.name).status().map_err(|status| status.with_plugin(PLUGIN))
    }
    fn pre_bind_pre_flight(&self, _: &Placement, (): &()) -> Result<PreBindPlan, Status> {
        Ok(PreBindPlan::default())
    }
    async fn pre_bind<C: Client>(&self, _: &C, _: &Placement, (): &(), _: PreBindPlan) -> Result<(), Status> {
        Ok(())
    }
    async fn bind<C: Client>(&self, client: &C, placement: &Placement) -> Result<(), Status> {
        client.bind(placement).await.map_err(Status::error)
    }
    fn post_bind(&self, _: &Placement) {}
}

/// A bundle with three [`Bare`] profiles that are known only at run time: `PROFILES` is empty.
pub struct Repeated([Engine<Bare>; 3]);

impl Bundle for Repeated {
    const PROFILES: &'static [ProfileInfo] = &[];
    type State = State;

    fn new(handle: &Handle) -> Result<Self, StartErrors> {
        Ok(Repeated([Engine::new(handle)?, Engine::new(handle)?, Engine::new(handle)?]))
    }
    fn profiles(&self) -> &'static [ProfileInfo] {
        &[Bare::INFO, Bare::INFO, Bare::INFO]
    }
    fn less(_: &QueuedPod, _: &QueuedPod) -> bool {
        false
    }
    fn with<V: Visitor<State>>(&mut self, profile: usize, visitor: V) -> V::Output {
        visitor.visit(&mut self.0[profile])
    }
}

/// A bundle with one [`Bare`] profile.
pub struct Only(Engine<Bare>);

impl Bundle for Only {
    const PROFILES: &'static [ProfileInfo] = &[Bare::INFO];
    type State = State;

    fn new(handle: &Handle) -> Result<Self, StartErrors> {
        Engine::new(handle).map(Only)
    }
    fn less(_: &QueuedPod, _: &QueuedPod) -> bool {
        false
    }
    fn with<V: Visitor<State>>(&mut self, _: usize, visitor: V) -> V::Output {
        visitor.visit(&mut self.0)
    }
}
