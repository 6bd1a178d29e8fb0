//! Events that change the counted pods or the domains of hard constraints.

use std::borrow::Cow;

use schedc_core::events::{Action, EventObject, EventPod, EventResource};
use schedc_core::extension_points::{EnqueueExtensions, HintContext, HintError, QueueingHint, Registration};
use schedc_core::intern::Symbol;
use schedc_core::model::{InclusionPolicy, LabelSelector, Labels, LabelsExt, Node, Pod, UnsatisfiableAction};
use schedc_core::plugin::IndexView;
use smallvec::SmallVec;

use super::args::TaintsPolicy;
use super::{PodTopologySpread, PodTopologySpreadArgs};

impl EnqueueExtensions for PodTopologySpread {
    const EVENTS: &'static [Registration] = &[
        Registration::hinted(
            EventResource::Pod,
            Action::ADD.or(Action::DELETE).or(Action::UPDATE_POD_LABEL).or(Action::UPDATE_POD_TOLERATION),
        ),
        Registration::hinted(
            EventResource::Node,
            Action::ADD.or(Action::DELETE).or(Action::UPDATE_NODE_LABEL).or(Action::UPDATE_NODE_TAINT),
        ),
    ];

    fn queueing_hint(
        &self,
        args: &PodTopologySpreadArgs,
        cx: HintContext<'_, Self>,
    ) -> Result<QueueingHint, HintError> {
        let HintContext { rejected, object, view } = cx;
        Ok(QueueingHint::queue_if(match object {
            EventObject::Pod(old, new) => {
                let counts = |pod: EventPod<'_>| counts_for(pod, rejected);
                old.is_none_or(counts)
                    && new.is_none_or(counts)
                    && spreads_after_pod(&HardConstraint::of(args, rejected, view)?, rejected, old, new)
            }
            EventObject::Node(old, new) => spreads_after_node(&HardConstraint::of(args, rejected, view)?, old, new),
            _ => true,
        }))
    }
}

/// Returns whether an event of this pod can help the rejected pod: it is the rejected pod itself, or it is on a node
/// and has the same namespace.
fn counts_for(pod: EventPod<'_>, rejected: &Pod) -> bool {
    pod.uid == rejected.uid || (pod.occupies_node() && pod.spec.namespace == rejected.spec.namespace)
}

/// A hard constraint.
struct HardConstraint<'a> {
    /// `None` if no node can have the key, because it is not interned.
    key: Option<Symbol>,
    selector: Option<Cow<'a, LabelSelector>>,
    honors_taints: bool,
}

impl HardConstraint<'_> {
    /// Returns the hard constraints of the pod, or the default ones of the profile.
    fn of<'a>(
        args: &PodTopologySpreadArgs,
        pod: &'a Pod,
        view: IndexView<'_, PodTopologySpread>,
    ) -> Result<SmallVec<[HardConstraint<'a>; 2]>, HintError> {
        if !pod.spec.spread.is_empty() {
            let hard = pod.spec.spread.iter();
            let hard = hard.filter(|own| own.when_unsatisfiable == UnsatisfiableAction::DoNotSchedule);
            return hard
                .map(|own| {
                    let what = "obtaining pod's hard topology spread constraints";
                    let selector = own.selector.as_ref().map_err(|error| HintError(format!("{what}: {error}")))?;
                    Ok(HardConstraint {
                        key: Some(own.topology_key),
                        selector: selector.as_ref().map(Cow::Borrowed),
                        honors_taints: own.node_taints_policy == InclusionPolicy::Honor,
                    })
                })
                .collect();
        }
        let mut hard = args.hard_defaults().peekable();
        if hard.peek().is_none() {
            return Ok(SmallVec::new());
        }
        let selector = view.indexes.2.default_selector(&pod.spec);
        if selector.is_empty() {
            return Ok(SmallVec::new());
        }
        Ok(hard
            .map(|default| HardConstraint {
                key: view.interner().get(default.topology_key),
                selector: Some(Cow::Owned(selector.clone())),
                honors_taints: default.node_taints_policy == TaintsPolicy::Honor,
            })
            .collect())
    }

    fn selects(&self, labels: &Labels) -> bool {
        self.selector.as_ref().is_some_and(|selector| selector.matches(labels))
    }

    fn value(&self, node: &Node) -> Option<Symbol> {
        self.key.and_then(|key| node.labels.value(key))
    }
}

/// Returns whether a change of a pod that can count may make the rejected pod schedulable.
fn spreads_after_pod(
    hard: &[HardConstraint<'_>],
    rejected: &Pod,
    old: Option<EventPod<'_>>,
    new: Option<EventPod<'_>>,
) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => {
            let tolerates_other = new.uid == rejected.uid && old.spec.tolerations != new.spec.tolerations;
            let (before, after) = (&old.spec.labels, &new.spec.labels);
            (tolerates_other && hard.iter().any(|constraint| constraint.honors_taints))
                || hard.iter().any(|constraint| constraint.selects(before) != constraint.selects(after))
        }
        (Some(pod), None) | (None, Some(pod)) => hard.iter().any(|constraint| constraint.selects(&pod.spec.labels)),
        (None, None) => true,
    }
}

/// Returns whether a change of a node may make the rejected pod schedulable. Without constraints, every node
/// matches.
fn spreads_after_node(hard: &[HardConstraint<'_>], old: Option<&Node>, new: Option<&Node>) -> bool {
    let matches = |node: &Node| hard.iter().all(|constraint| constraint.value(node).is_some());
    match (old, new) {
        (Some(old), Some(new)) => {
            let changed = || hard.iter().any(|constraint| constraint.value(old) != constraint.value(new));
            matches(old) != matches(new) || (matches(new) && (changed() || old.taints != new.taints))
        }
        (Some(node), None) | (None, Some(node)) => matches(node),
        (None, None) => true,
    }
}
