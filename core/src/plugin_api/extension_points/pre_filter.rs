//! PreFilter: reads the cluster once before nodes are filtered.

use smallvec::SmallVec;

use crate::model::cache::Base;
use crate::model::intern::Symbol;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::incremental::{FilterUpdate, NeedsFullEvaluation};
use crate::plugin_api::plugin::{CycleSlot, Plugin, View};
use crate::plugin_api::status::Status;

/// Result of a PreFilter.
#[derive(Clone, Debug)]
pub struct PreFilterResult<C> {
    /// The state for Filter, and whether Filter runs.
    pub slot: CycleSlot<C>,
    /// The nodes that remain for Filter.
    pub candidates: CandidateNodes,
}

/// The nodes that a PreFilter leaves to Filter.
#[derive(Clone, Debug)]
pub enum CandidateNodes {
    /// All nodes.
    All,
    /// Only these nodes can be feasible.
    Only {
        /// The nodes, in any order.
        nodes: SmallVec<[NodeIndex; 4]>,
        /// Names of nodes that do not exist. In kube-scheduler, `PreFilterResult` is a set of names, and the sets of
        /// all plugins are intersected. The pod is rejected as a whole only if no name is left, so these names count.
        unknown: Vec<Symbol>,
    },
    /// All nodes are candidates, but this plugin's Filter will reject all except these. The rejected nodes are
    /// evaluated only if the reasons are needed. Each node occurs once, in any order. Use this if the list is short.
    Predicted(SmallVec<[NodeIndex; 4]>),
    /// Only the node that the required node affinity of the pod names; its terms are
    /// [withheld](crate::model::RequiredNodeAffinity::are_withheld).
    Pinned,
    /// No node: the pod as a whole is rejected. With the code `Unschedulable`, removing pods may help. Therefore the
    /// other PreFilters still run, for preemption, but no Filter runs.
    None(Status),
}

impl<C> PreFilterResult<C> {
    /// Makes a result with which Filter runs.
    #[inline]
    pub fn ready(state: C) -> Self {
        PreFilterResult { slot: CycleSlot::ready(state), candidates: CandidateNodes::All }
    }
    /// Makes a result with which Filter is skipped.
    #[inline]
    pub fn skip(state: C) -> Self {
        PreFilterResult { slot: CycleSlot::skip(state), candidates: CandidateNodes::All }
    }
    /// Rejects the pod as a whole. Removing pods may help; preemption evaluates nodes with `state`.
    pub fn reject(state: C, status: Status) -> Self {
        PreFilterResult { slot: CycleSlot::ready(state), candidates: CandidateNodes::None(status) }
    }
    /// Declares that Filter will reject all nodes except these.
    pub fn predicted(self, nodes: impl IntoIterator<Item = NodeIndex>) -> Self {
        PreFilterResult { candidates: CandidateNodes::Predicted(nodes.into_iter().collect()), ..self }
    }
    /// Declares that only these nodes can be feasible.
    pub fn only(self, nodes: impl IntoIterator<Item = NodeIndex>) -> Self {
        PreFilterResult {
            candidates: CandidateNodes::Only { nodes: nodes.into_iter().collect(), unknown: Vec::new() },
            ..self
        }
    }
    /// Declares that only the node that the required node affinity of the pod names can be feasible. The plugin does not
    /// know it, because the terms are [withheld](crate::model::RequiredNodeAffinity::are_withheld).
    pub fn only_pinned(self) -> Self {
        PreFilterResult { candidates: CandidateNodes::Pinned, ..self }
    }
    /// Declares that only nodes with these names can be feasible.
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

/// Prepares Filter, or rejects the pod before any node is evaluated.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `pre-filter`",
    note = "possible causes: a profile uses the plugin at this extension point, the plugin's catalog entry lists it, or another plugin reads its state with `StateOf`; remedy: implement `schedc_core::extension_points::PreFilterPlugin`"
)]
pub trait PreFilterPlugin: Plugin {
    /// State for Filter: [`FilterPlugin::Cycle`](super::FilterPlugin::Cycle) of a plugin that also filters.
    type Cycle: Clone + PartialEq + Send + Sync + 'static;

    /// Reads the pod and the cluster.
    ///
    /// # Errors
    /// `UnschedulableAndUnresolvable` rejects the pod at once. `Unschedulable` does so, too: preemption cannot evaluate
    /// nodes without a state of this plugin. To allow preemption, return [`PreFilterResult::reject`] with a state. Any
    /// other code fails the attempt.
    fn pre_filter(
        &self,
        args: &Self::Args,
        pod: &Self::Pod,
        view: View<'_, Self>,
    ) -> Result<PreFilterResult<Self::Cycle>, Status>;

    /// Takes a discarded state of `pre_filter`, to reuse its memory.
    fn recycle(&self, _cycle: Self::Cycle) {}

    /// Updates the state as if the pod `other` were added to a node. `remove_pod` must undo this exactly, and vice
    /// versa.
    fn add_pod(_pod: &Self::Pod, _cycle: &mut Self::Cycle, _other: &Pod, _view: View<'_, Self>, _node: NodeIndex) {}

    /// Updates the state as if the pod `other` were removed from a node.
    fn remove_pod(_pod: &Self::Pod, _cycle: &mut Self::Cycle, _other: &Pod, _view: View<'_, Self>, _node: NodeIndex) {}
}

/// Runs the default of [`Incremental::update_filter`], for plugins whose own update handles only some pods.
///
/// # Errors
/// As for [`Incremental::update_filter`].
///
/// [`Incremental::update_filter`]: crate::incremental::Incremental::update_filter
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
