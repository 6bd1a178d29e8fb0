//! The plugin [`PodsPerNamespace`] in several variants, of which all but [`Sound`] have a bug, and two other plugins
//! with one bug each. `PodsPerNamespace` allows at most one pod of a namespace on a node, and three in the cluster. Its
//! three tickets limit the pods that are bound at the same time.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use schedc_core::args::{Args, NoArgs};
use schedc_core::column::{Index, NodeInfo, Position};
use schedc_core::events::{Action, EventResource};
use schedc_core::extension_points::{
    EnqueueExtensions, FilterPlugin, Placement, PostBindPlugin, PreFilterPlugin, PreFilterResult, PreScorePlugin,
    Registration, ReservePlugin, ScoreError, ScorePlugin, rerun_pre_filter,
};
use schedc_core::handle::Handle;
use schedc_core::incremental::{DependsOn, FilterUpdate, Incremental, NeedsFullEvaluation, ScoreUpdate};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{NodeIndex, Pod, PodSpec};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::{CompileContext, CycleSlot, Refs, View};
use schedc_core::status::{Code, Reasons, Status};
use schedc_core::{Plugin, SimpleFilter, plugin};

const SOUND: u8 = 0;
const FORGETS: u8 = 1;
const MISSES: u8 = 2;
const LEAKS: u8 = 3;
const STALE: u8 = 4;
const DRIFTS: u8 = 5;
const FROZEN: u8 = 6;
const EXPIRED: u8 = 7;
const FAILS: u8 = 8;

pub type Sound = PodsPerNamespace<SOUND>;
pub type Forgets = PodsPerNamespace<FORGETS>;
pub type Misses = PodsPerNamespace<MISSES>;
pub type Leaks = PodsPerNamespace<LEAKS>;
pub type Stale = PodsPerNamespace<STALE>;
pub type Drifts = PodsPerNamespace<DRIFTS>;
pub type Frozen = PodsPerNamespace<FROZEN>;
pub type Expired = PodsPerNamespace<EXPIRED>;
pub type Fails = PodsPerNamespace<FAILS>;

pub type SoundCounts = Counts<SOUND>;
pub type ForgetsCounts = Counts<FORGETS>;
pub type MissesCounts = Counts<MISSES>;
pub type LeaksCounts = Counts<LEAKS>;
pub type StaleCounts = Counts<STALE>;
pub type DriftsCounts = Counts<DRIFTS>;
pub type FrozenCounts = Counts<FROZEN>;
pub type ExpiredCounts = Counts<EXPIRED>;
pub type FailsCounts = Counts<FAILS>;

/// Number of pods with a node, by namespace.
#[derive(Default)]
pub struct Counts<const BUG: u8>(BTreeMap<Symbol, usize>);

impl<const BUG: u8> Index for Counts<BUG> {
    fn add_pod(&mut self, _: NodeIndex, pod: &Pod) {
        *self.0.entry(pod.spec.namespace).or_default() += 1;
    }
    fn remove_pod(&mut self, _: NodeIndex, pod: &Pod) {
        if BUG != DRIFTS {
            *self.0.entry(pod.spec.namespace).or_default() -= 1;
        }
    }
}

pub struct PodsPerNamespace<const BUG: u8> {
    tickets: Mutex<usize>,
}

impl<const BUG: u8> PodsPerNamespace<BUG> {
    const TICKETS: usize = 3;

    fn with_tickets<T>(&self, with: impl FnOnce(&mut usize) -> T) -> T {
        with(&mut self.tickets.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<const BUG: u8> Plugin for PodsPerNamespace<BUG> {
    const NAME: &'static str =
        ["Sound", "Forgets", "Misses", "Leaks", "Stale", "Drifts", "Frozen", "Expired", "Fails"][BUG as usize];
    type Args = NoArgs;
    type Columns = Position;
    type Indexes = Counts<BUG>;
    type Reads = ();
    type Pod = Symbol;
    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(PodsPerNamespace { tickets: Mutex::default() })
    }
    fn compile(_: &NoArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> Symbol {
        // The bug of `EXPIRED`: pods of a namespace with two pods are not restricted.
        let has_two = cx.indexes.0.get(&pod.namespace).is_some_and(|count| *count == 2);
        if BUG == EXPIRED && has_two { Symbol::EMPTY } else { pod.namespace }
    }
}

impl<const BUG: u8> PreFilterPlugin for PodsPerNamespace<BUG> {
    /// Number of pods of the namespace on each node.
    type Cycle = Vec<usize>;

    fn pre_filter(
        &self,
        _: &NoArgs,
        namespace: &Symbol,
        view: View<'_, Self>,
    ) -> Result<PreFilterResult<Vec<usize>>, Status> {
        if view.indexes.0.get(namespace).is_some_and(|count| *count >= 3) {
            return Err(Status::unresolvable("the namespace has three pods"));
        }
        let infos = view.base.infos().iter();
        let count_in_namespace =
            |pods: &[std::sync::Arc<Pod>]| pods.iter().filter(|pod| pod.spec.namespace == *namespace).count();
        Ok(PreFilterResult::ready(infos.map(|info| count_in_namespace(&info.pods)).collect()))
    }
    fn add_pod(namespace: &Symbol, counts: &mut Vec<usize>, other: &Pod, _: View<'_, Self>, node: NodeIndex) {
        counts[node.get()] += usize::from(other.spec.namespace == *namespace);
    }
    fn remove_pod(namespace: &Symbol, counts: &mut Vec<usize>, other: &Pod, _: View<'_, Self>, node: NodeIndex) {
        if BUG != FORGETS {
            counts[node.get()] -= usize::from(other.spec.namespace == *namespace);
        }
    }
}

impl<const BUG: u8> FilterPlugin for PodsPerNamespace<BUG> {
    type Cycle = Vec<usize>;
    type Rejection = ();
    fn filter(_: &NoArgs, _: &Symbol, counts: &Vec<usize>, node: NodeIndex) -> Result<(), ()> {
        if counts.get(node.get()).is_some_and(|count| *count > 0) { Err(()) } else { Ok(()) }
    }
    fn code((): &()) -> Code {
        if BUG == FAILS { Code::Error } else { Code::Unschedulable }
    }
    fn explain(_: &NoArgs, _: &Symbol, _: &Vec<usize>, _: NodeIndex, (): (), out: &mut Reasons<'_>) {
        out.push("node(s) had a pod of the namespace");
    }
}

impl<const BUG: u8> Incremental for PodsPerNamespace<BUG> {
    const FILTER_CAN_FAIL: bool = BUG != FAILS;
    fn filter_depends_on(_: &Self::Pod, _: &<Self as FilterPlugin>::Cycle) -> DependsOn {
        if BUG == FROZEN { DependsOn::Node } else { DependsOn::Cluster }
    }
    fn compile_epoch(_: Refs<'_, Self>) -> Option<u64> {
        Some(0)
    }
    fn update_filter(
        &self,
        args: &Self::Args,
        pod: &Self::Pod,
        slot: &mut CycleSlot<<Self as PreFilterPlugin>::Cycle>,
        view: View<'_, Self>,
        verdicts: &mut FilterUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        if BUG == STALE { Ok(()) } else { rerun_pre_filter(self, args, pod, slot, view, verdicts) }
    }
}

impl<const BUG: u8> EnqueueExtensions for PodsPerNamespace<BUG> {
    const EVENTS: &'static [Registration] = match BUG {
        MISSES => &[Registration::always(EventResource::Node, Action::ADD)],
        _ => &[
            Registration::always(EventResource::Node, Action::ADD),
            Registration::always(EventResource::AssignedPod, Action::DELETE),
        ],
    };
}

impl<const BUG: u8> ReservePlugin for PodsPerNamespace<BUG> {
    type Reserved = ();
    fn reserve(&self, _: &NoArgs, _: &Placement, _: View<'_, Self>) -> Result<(), Status> {
        self.with_tickets(|tickets| {
            *tickets += 1;
            if *tickets > Self::TICKETS { Err(Status::unschedulable("all tickets are out")) } else { Ok(()) }
        })
    }
    fn unreserve(&self, _: &NoArgs, _: &Placement, _: Option<&()>) {
        if BUG != LEAKS {
            self.with_tickets(|tickets| *tickets -= 1);
        }
    }
}

impl<const BUG: u8> PostBindPlugin for PodsPerNamespace<BUG> {
    fn post_bind(&self, _: &NoArgs, _: &Placement) {
        self.with_tickets(|tickets| *tickets -= 1);
    }
}

/// A plugin that prefers nodes with pods, and whose update ignores changes of pods.
pub struct Outdated;

impl Plugin for Outdated {
    const NAME: &'static str = "Outdated";
    type Args = NoArgs;
    type Columns = Position;
    type Indexes = ();
    type Reads = ();
    type Pod = ();
    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(Outdated)
    }
    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

impl PreScorePlugin for Outdated {
    /// Number of pods on each node.
    type Cycle = Vec<usize>;

    fn pre_score(
        &self,
        _: &NoArgs,
        (): &(),
        view: View<'_, Self>,
        _: &NodeMask,
    ) -> Result<CycleSlot<Vec<usize>>, Status> {
        Ok(CycleSlot::ready(view.base.infos().iter().map(|info| info.pods.len()).collect()))
    }
}

impl Incremental for Outdated {
    fn update_score(
        &self,
        _: &NoArgs,
        (): &(),
        _: &mut CycleSlot<Vec<usize>>,
        _: View<'_, Self>,
        _: &mut ScoreUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        Ok(())
    }
}

impl ScorePlugin for Outdated {
    type Cycle = Vec<usize>;

    fn score(_: &NoArgs, (): &(), pods: &Vec<usize>, node: NodeIndex) -> Result<i64, ScoreError> {
        Ok(if pods.get(node.get()).is_some_and(|pods| *pods > 0) { 100 } else { 0 })
    }
}

/// A plugin that panics for a node without pods.
#[derive(Clone, Copy, Args)]
pub struct Panics;

#[plugin]
impl SimpleFilter for Panics {
    type Pod = Symbol;
    fn read(&self, pod: &PodSpec, _: &mut Interner) -> Symbol {
        pod.namespace
    }
    fn filter(&self, namespace: &Symbol, node: &NodeInfo) -> Result<(), &'static str> {
        if node.pods[0].spec.namespace == *namespace { Ok(()) } else { Err("node(s) had pods of another namespace") }
    }
}
