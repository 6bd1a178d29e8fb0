//! NodeAffinity
//!
//! **What it does.** Rejects nodes that do not match the pod's `nodeSelector` and required node affinity.
//! Scores nodes by the weights of the matching preferred terms. A profile can add node affinity to every pod.
//!
//! **Extension points.** PreFilter (skips without requirements; restricts the nodes if all terms name nodes),
//! Filter, PreScore (skips without preferred terms), Score, NormalizeScore.
//!
//! **Arguments.** [`NodeAffinityArgs`].
//!
//! **Upstream.** `plugins/nodeaffinity` (kube-scheduler 1.36.2).
//!
//! **Differences.** None.

use std::sync::Arc;

use schedc_core::events::{Action, EventObject, EventResource};
use schedc_core::extension_points::{
    EnqueueExtensions, Extent, FilterPlugin, HintContext, HintError, NormalizeScore, PreFilterPlugin, PreFilterResult,
    PreScorePlugin, QueueingHint, Registration, ScoreError, ScorePlugin, default_normalize,
};
use schedc_core::handle::Handle;
use schedc_core::incremental::{DependsOn, Incremental};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{
    Labels, LabelsExt, Node, NodeSelector, NodeSelectorTerm, PodSpec, PreferredTerm, label_integer,
};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::{CompileContext, CycleSlot, View};
use schedc_core::status::{Code, Reasons, Status};
use schedc_core::{Plugin, plugin};
use smallvec::SmallVec;

mod args;

pub use args::{
    AddedAffinity, NodeAffinityArgs, NodeFieldOperator, NodeFieldRequirement, NodeLabelOperator, NodeLabelRequirement,
    NodeTerm, PreferredNodeTerm,
};

use crate::columns::NodeLabels;

/// Matches nodes by labels and names.
#[derive(Debug)]
pub struct NodeAffinity;

/// The requirements of a pod and of the profile for a node's labels and name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeAffinityPod {
    /// The profile's required terms.
    added: Option<NodeSelector>,
    /// The pod's `nodeSelector`.
    selector: Labels,
    /// The pod's required terms.
    required: Option<NodeSelector>,
    /// Whether `required` is absent because it consists of a node's name, which only PreFilter enforces.
    is_pinned: bool,
    /// The preferred terms of the profile and of the pod, with their weights.
    preferred: Box<[(i64, NodeSelectorTerm)]>,
    /// The error in the pod's preferred terms, if any.
    broken: Option<Arc<str>>,
}

/// The requirements that a node does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The profile's required terms.
    Added,
    /// The pod's requirements.
    Pod,
}

#[plugin]
impl Plugin for NodeAffinity {
    type Args = NodeAffinityArgs;
    type Columns = NodeLabels;
    type Pod = NodeAffinityPod;

    fn new(args: &'static NodeAffinityArgs, _: &Handle) -> Result<Self, String> {
        args.check()?;
        Ok(NodeAffinity)
    }

    fn compile(args: &NodeAffinityArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> NodeAffinityPod {
        let (added, selector) = (args.required(cx.interner), pod.node_selector.clone());
        let is_pinned = pod.required_node_affinity.are_withheld();
        let required = if is_pinned { None } else { pod.required_node_affinity.get().cloned() };
        let mut preferred = args.preferred(cx.interner);
        if preferred.is_empty() && pod.preferred_node_affinity.is_empty() {
            return NodeAffinityPod { added, selector, required, is_pinned, preferred: Box::default(), broken: None };
        }
        preferred.extend(pod.preferred_node_affinity.iter().cloned());
        let broken = preferred.iter().find_map(|term| term.term.as_ref().err().cloned());
        NodeAffinityPod {
            added,
            selector,
            required,
            is_pinned,
            preferred: preferred
                .into_iter()
                .filter_map(|PreferredTerm { weight, term }| Some((weight, term.ok()?)))
                .collect(),
            broken,
        }
    }
}

impl PreFilterPlugin for NodeAffinity {
    type Cycle = ();

    fn pre_filter(
        &self,
        _: &NodeAffinityArgs,
        pod: &NodeAffinityPod,
        view: View<'_, Self>,
    ) -> Result<PreFilterResult<()>, Status> {
        if pod.is_pinned {
            return Ok(PreFilterResult::ready(()).only_pinned());
        }
        if pod.added.is_none() && pod.selector.is_empty() && pod.required.is_none() {
            return Ok(PreFilterResult::skip(()));
        }
        let Some(names) = pod.required.as_ref().and_then(named_nodes) else { return Ok(PreFilterResult::ready(())) };
        if names.is_empty() {
            return Err(Status::unresolvable("pod affinity terms conflict"));
        }
        Ok(PreFilterResult::ready(()).only_named(names, view.base))
    }
}

impl FilterPlugin for NodeAffinity {
    type Cycle = ();
    type Rejection = Mismatch;

    #[inline(always)]
    fn filter(_: &NodeAffinityArgs, pod: &NodeAffinityPod, _: &(), node: &NodeLabels) -> Result<(), Mismatch> {
        if pod.added.as_ref().is_some_and(|added| !node.matches(added)) {
            return Err(Mismatch::Added);
        }
        if node.matches_pod(&pod.selector, pod.required.as_ref()) { Ok(()) } else { Err(Mismatch::Pod) }
    }

    fn code(_: &Mismatch) -> Code {
        Code::UnschedulableAndUnresolvable
    }

    fn explain(
        _: &NodeAffinityArgs,
        _: &NodeAffinityPod,
        _: &(),
        _: &NodeLabels,
        mismatch: Mismatch,
        out: &mut Reasons<'_>,
    ) {
        out.push(match mismatch {
            Mismatch::Added => "node(s) didn't match scheduler-enforced node affinity",
            Mismatch::Pod => "node(s) didn't match Pod's node affinity/selector",
        });
    }
}

impl PreScorePlugin for NodeAffinity {
    type Cycle = ();

    fn pre_score(
        &self,
        _: &NodeAffinityArgs,
        pod: &NodeAffinityPod,
        _: View<'_, Self>,
        _: &NodeMask,
    ) -> Result<CycleSlot<()>, Status> {
        match &pod.broken {
            Some(error) => Err(Status::error(error.to_string())),
            None if pod.preferred.is_empty() => Ok(CycleSlot::skip(())),
            None => Ok(CycleSlot::ready(())),
        }
    }
}

impl ScorePlugin for NodeAffinity {
    type Cycle = ();

    /// Returns the sum of the weights of the preferred terms that the node matches.
    #[inline(always)]
    fn score(_: &NodeAffinityArgs, pod: &NodeAffinityPod, _: &(), node: &NodeLabels) -> Result<i64, ScoreError> {
        Ok(pod.preferred.iter().filter(|(_, term)| node.matches_term(term)).map(|(weight, _)| weight).sum())
    }
}

impl NormalizeScore for NodeAffinity {
    const USES_MIN: bool = false;

    #[inline(always)]
    fn normalize(_: &NodeAffinityArgs, extent: Extent, raw: i64) -> i64 {
        default_normalize(extent, false, raw)
    }
}

impl Incremental for NodeAffinity {
    const FILTER_CAN_FAIL: bool = false;

    #[inline]
    fn reasons_key(rejection: &Mismatch) -> Option<u32> {
        Some(*rejection as u32)
    }

    #[inline]
    fn filter_depends_on(_: &NodeAffinityPod, _: &()) -> DependsOn {
        DependsOn::Node
    }

    #[inline]
    fn score_depends_on(_: &NodeAffinityPod) -> DependsOn {
        DependsOn::Node
    }
}

impl EnqueueExtensions for NodeAffinity {
    const EVENTS: &'static [Registration] =
        &[Registration::hinted(EventResource::Node, Action::ADD.or(Action::UPDATE_NODE_LABEL))];

    fn queueing_hint(&self, args: &NodeAffinityArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let HintContext { rejected, object, view } = cx;
        let EventObject::Node(old, Some(new)) = object else { return Ok(QueueingHint::Queue) };
        let matches = |node: &Node| match_pod(&rejected.spec, node, view.interner());
        // As in kube-scheduler, the old node is not compared with the profile's terms.
        let queue = args.matches(new, view.interner())
            && matches(new)?
            && match old {
                Some(old) => !matches(old)?,
                None => true,
            };
        Ok(QueueingHint::queue_if(queue))
    }
}

/// Returns whether a node matches the requirements of a pod. Returns an error if the node has the labels of the
/// `nodeSelector`, matches no required term, and a term is invalid.
fn match_pod(pod: &PodSpec, node: &Node, interner: &Interner) -> Result<bool, HintError> {
    // This reads the node's labels instead of its column, which would have to be built for every rejected pod.
    let integer = |key: Symbol| label_integer(interner, node.labels.value(key)?);
    let has_labels = pod.node_selector.iter().all(|label| node.labels.contains(label));
    let is_required = |required: &NodeSelector| required.matches(node.name, &node.labels, integer);
    let matches = has_labels && pod.required_node_affinity.get().is_none_or(is_required);
    match &pod.broken_node_affinity {
        Some(error) if !matches && has_labels => Err(HintError(error.to_string())),
        _ => Ok(matches),
    }
}

/// Returns the nodes that the terms name; `None` if a term names no node. Terms with two different names match no node,
/// and are omitted.
fn named_nodes(selector: &NodeSelector) -> Option<SmallVec<[Symbol; 4]>> {
    let mut names = SmallVec::new();
    for term in selector.terms.iter() {
        let mut wanted = term.match_fields.iter().filter(|field| !field.negated).map(|field| field.name);
        let name = wanted.next()?;
        if wanted.all(|other| other == name) {
            names.push(name);
        }
    }
    (!selector.terms.is_empty()).then_some(names)
}

#[cfg(test)]
mod tests;
