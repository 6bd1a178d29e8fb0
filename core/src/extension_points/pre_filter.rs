//! PreFilter: reads the cluster once before nodes are filtered.

use smallvec::SmallVec;

use super::SkipFrequency;
use crate::cache::Base;
use crate::incremental::{FilterUpdate, NeedsFullEvaluation};
use crate::intern::Symbol;
use crate::model::{NodeIndex, Pod};
use crate::plugin::{CycleSlot, Plugin, View};
use crate::status::Status;

/// What a PreFilter found.
#[derive(Clone, Debug)]
pub struct PreFilterResult<C> {
    /// The state that Filter gets, and whether Filter runs.
    pub slot: CycleSlot<C>,
    /// What it means for all nodes at once.
    pub candidates: CandidateNodes,
}

/// Which nodes a PreFilter leaves to Filter.
#[derive(Clone, Debug)]
pub enum CandidateNodes {
    /// All.
    All,
    /// The only ones that can be feasible.
    Only {
        /// In any order.
        nodes: SmallVec<[NodeIndex; 4]>,
        /// Names besides that are those of no node: kube-scheduler's set is one of names.
        unknown: Vec<Symbol>,
    },
    /// All, but Filter of this plugin will reject all nodes but these. So they need not be asked about unless somebody wants
    /// to know why. In any order, each once; to be told where they are few.
    Likely(SmallVec<[NodeIndex; 4]>),
    /// None, a verdict on the pod as a whole. `Unschedulable`: removing pods may change it, so the other PreFilters still
    /// run, but no Filter.
    None(Status),
}

impl<C> PreFilterResult<C> {
    /// Filter runs with this state.
    #[inline]
    pub fn ready(state: C) -> Self {
        PreFilterResult { slot: CycleSlot::ready(state), candidates: CandidateNodes::All }
    }
    /// Filter is left out.
    #[inline]
    pub fn skip(state: C) -> Self {
        PreFilterResult { slot: CycleSlot::skip(state), candidates: CandidateNodes::All }
    }
    /// The pod is rejected as a whole; removing pods may help, and `state` serves to find out.
    pub fn reject(state: C, status: Status) -> Self {
        PreFilterResult { slot: CycleSlot::ready(state), candidates: CandidateNodes::None(status) }
    }
    /// Filter will reject all nodes but these.
    pub fn likely(self, nodes: impl IntoIterator<Item = NodeIndex>) -> Self {
        PreFilterResult { candidates: CandidateNodes::Likely(nodes.into_iter().collect()), ..self }
    }
    /// Only these nodes can be feasible.
    pub fn only(self, nodes: impl IntoIterator<Item = NodeIndex>) -> Self {
        PreFilterResult {
            candidates: CandidateNodes::Only { nodes: nodes.into_iter().collect(), unknown: Vec::new() },
            ..self
        }
    }
    /// Only nodes of these names can be feasible.
    pub fn only_named(self, names: impl IntoIterator<Item = Symbol>, base: &Base) -> Self {
        let (mut nodes, mut unknown) = (SmallVec::new(), Vec::new());
        for name in names {
            match base.node(name) {
                Some(node) => nodes.push(node),
                None => unknown.push(name),
            }
        }
        PreFilterResult { candidates: CandidateNodes::Only { nodes, unknown }, ..self }
    }
}

/// Prepares Filter, or rejects the pod before any node is looked at.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `pre-filter`",
    note = "a profile or the plugin's catalog entry lists it there; it must implement `schedc_core::extension_points::PreFilterPlugin`"
)]
pub trait PreFilterPlugin: Plugin {
    /// What Filter gets. A plugin that also filters has the same type there.
    type Cycle: Clone + PartialEq + Send + Sync + 'static;

    /// How often `pre_filter` skips.
    const SKIPS: SkipFrequency = SkipFrequency::Sometimes;

    /// Whether `pre_filter` reads the pod alone: then a state that it made holds as long as there are equal pods. `add_pod`
    /// and `remove_pod` may not read more than the two pods either.
    const READS_ONLY_POD: bool = false;

    /// Whether what Filter says of a node, with whatever pods come to it and leave it in thought, is a matter of that node,
    /// those pods and what makes the pod equal to others, given a state that `pre_filter` made. Then it holds for all equal
    /// pods of which the same can be said, until something happens to the node.
    #[inline]
    fn reads_only_node(_pod: &Self::Pod, _state: &Self::Cycle) -> bool {
        Self::READS_ONLY_POD
    }

    /// Looks at the pod and the cluster.
    ///
    /// # Errors
    /// `UnschedulableAndUnresolvable` rejects the pod at once, and so does `Unschedulable`, for want of a state: see
    /// [`PreFilterResult::reject`]. Anything else fails the attempt.
    fn pre_filter(
        &self,
        args: &Self::Args,
        pod: &Self::Pod,
        view: View<'_, Self>,
    ) -> Result<PreFilterResult<Self::Cycle>, Status>;

    /// Whether nothing that happens to the cluster can change a state that `pre_filter` made for such a pod, or one of Filter's
    /// verdicts, but those on nodes whose columns changed: `update` is not called then. Most pods have no volumes, say. Unless
    /// a plugin says otherwise, that is so if it reads the pod alone.
    #[inline(always)]
    fn needs_no_update(_pod: &Self::Pod, _slot: &CycleSlot<Self::Cycle>) -> bool {
        Self::READS_ONLY_POD
    }

    /// Brings the state that `pre_filter` made for an equal pod, which may be another one in what is
    /// [`ExcludedFromSignature`](crate::incremental::ExcludedFromSignature), up to date, to what `pre_filter` would make now, and says on
    /// which nodes Filter's verdict may be another one, besides those whose columns changed. It is called only for states
    /// that came without a narrowing of nodes and without a rejection.
    ///
    /// Unless a plugin says otherwise, `pre_filter` runs again, and Filter on every node if the state differs; nothing is
    /// done if it reads the pod alone.
    ///
    /// # Errors
    /// It cannot: the pod is evaluated anew. So it must be if PreFilter would narrow, reject, fail, or skip where it did not
    /// skip, or the other way round.
    fn update(
        &self,
        args: &Self::Args,
        pod: &Self::Pod,
        slot: &mut CycleSlot<Self::Cycle>,
        view: View<'_, Self>,
        verdicts: &mut FilterUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        if Self::READS_ONLY_POD { Ok(()) } else { rerun_pre_filter(self, args, pod, slot, view, verdicts) }
    }

    /// Nobody needs a state any more that `pre_filter` made. A plugin may keep what it has of memory for the next one.
    fn recycle(&self, _cycle: Self::Cycle) {}

    /// A pod comes to a node, in thought. `remove_pod` must undo it exactly, and the other way round.
    fn add_pod(_pod: &Self::Pod, _cycle: &mut Self::Cycle, _other: &Pod, _view: View<'_, Self>, _node: NodeIndex) {}

    /// A pod leaves a node, in thought.
    fn remove_pod(_pod: &Self::Pod, _cycle: &mut Self::Cycle, _other: &Pod, _view: View<'_, Self>, _node: NodeIndex) {}
}

/// What [`PreFilterPlugin::update`] does unless a plugin says otherwise, for plugins that say otherwise of some pods only.
///
/// # Errors
/// As there.
pub fn rerun_pre_filter<P: PreFilterPlugin>(
    plugin: &P,
    args: &P::Args,
    pod: &P::Pod,
    slot: &mut CycleSlot<P::Cycle>,
    view: View<'_, P>,
    verdicts: &mut FilterUpdate<'_>,
) -> Result<(), NeedsFullEvaluation> {
    let Ok(PreFilterResult { slot: new, candidates: CandidateNodes::All }) = plugin.pre_filter(args, pod, view) else {
        return Err(NeedsFullEvaluation);
    };
    if new.skip != slot.skip {
        return Err(NeedsFullEvaluation);
    }
    if new.state != slot.state {
        verdicts.reevaluate_all();
    }
    plugin.recycle(std::mem::replace(slot, new).state);
    Ok(())
}
