//! Events after which a node may satisfy required affinity or anti-affinity.

use schedc_core::events::{Action, EventObject, EventPod, EventResource};
use schedc_core::extension_points::{EnqueueExtensions, HintContext, HintError, QueueingHint, Registration};
use schedc_core::intern::Symbol;
use schedc_core::model::{LabelsExt, Node, Pod, PodAffinityTerm};

use super::{InterPodAffinity, InterPodAffinityArgs};

impl EnqueueExtensions for InterPodAffinity {
    const EVENTS: &'static [Registration] = &[
        Registration::hinted(EventResource::Pod, Action::ADD.or(Action::DELETE).or(Action::UPDATE_POD_LABEL)),
        Registration::hinted(EventResource::Node, Action::ADD.or(Action::UPDATE_NODE_LABEL)),
    ];

    fn queueing_hint(&self, _: &InterPodAffinityArgs, cx: HintContext<'_, Self>) -> Result<QueueingHint, HintError> {
        let HintContext { rejected, object, .. } = cx;
        Ok(QueueingHint::queue_if(match object {
            EventObject::Pod(old, new) => pod_event_helps(rejected, old, new)?,
            EventObject::Node(old, Some(new)) => node_event_helps(rejected, old, new)?,
            _ => true,
        }))
    }
}

/// Returns whether a change of a pod may make the rejected pod schedulable.
fn pod_event_helps(rejected: &Pod, old: Option<EventPod<'_>>, new: Option<EventPod<'_>>) -> Result<bool, HintError> {
    if old.is_some() && new.is_some_and(|new| new.uid == rejected.uid) {
        return Ok(true);
    }
    if [old, new].into_iter().flatten().any(|pod| !pod.occupies_node()) {
        return Ok(false);
    }
    let (required_affinity, required_anti_affinity) = (required_affinity(rejected)?, required_anti_affinity(rejected)?);
    Ok(match (old, new) {
        (Some(old), Some(new)) => {
            (!all_match(required_affinity, &old) && all_match(required_affinity, &new))
                || (all_match(required_anti_affinity, &old) && !all_match(required_anti_affinity, &new))
        }
        (None, Some(new)) => all_match(required_affinity, &new),
        (Some(old), None) => {
            all_match(required_anti_affinity, &old) || all_match(self::required_anti_affinity(&old)?, rejected)
        }
        (None, None) => true,
    })
}

/// Returns whether a change of a node may make the rejected pod schedulable.
fn node_event_helps(rejected: &Pod, old: Option<&Node>, new: &Node) -> Result<bool, HintError> {
    // The domains before and after. Before: `None` if the node did not exist, `Some(None)` if it had no domain.
    let domains = |term: &PodAffinityTerm| -> (Option<Option<Symbol>>, Option<Symbol>) {
        let domain = |node: &Node| node.labels.value(term.topology_key);
        (old.map(domain), domain(new))
    };
    let joins =
        required_affinity(rejected)?.iter().map(domains).any(|(old, new)| new.is_some() && old.flatten() != new);
    let leaves = |(old, new): (Option<Option<Symbol>>, _)| match old {
        // A new node has no pods.
        None => true,
        Some(old) => old.is_some() && old != new,
    };
    Ok(joins || required_anti_affinity(rejected)?.iter().map(domains).any(leaves))
}

/// Returns the terms of required affinity.
fn required_affinity(pod: &Pod) -> Result<&[PodAffinityTerm], HintError> {
    match &pod.spec.affinity.broken_required {
        Some(error) => Err(HintError(error.to_string())),
        None => Ok(&pod.spec.affinity.required),
    }
}

/// Returns the terms of required anti-affinity.
fn required_anti_affinity(pod: &Pod) -> Result<&[PodAffinityTerm], HintError> {
    match &pod.spec.affinity.broken_anti_required {
        Some(error) => Err(HintError(error.to_string())),
        None => Ok(&pod.spec.affinity.anti_required),
    }
}

/// Returns whether a pod matches every term; false without terms (`podMatchesAllAffinityTerms`). As in
/// kube-scheduler, namespace selectors are applied to an empty label set.
fn all_match(terms: &[PodAffinityTerm], pod: &Pod) -> bool {
    !terms.is_empty() && terms.iter().all(|term| term.matches(pod.spec.namespace, &pod.spec.labels, &[]))
}
