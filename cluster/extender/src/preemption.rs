//! Victims that an extender returns: `convertToVictims` and the checks of `callExtenders`.

use std::sync::Arc;

use schedc_core::cache::Base;
use schedc_core::extension_points::Candidate;
use schedc_core::model::Pod;

use crate::answer::{Preempted, Victims};

/// Returns the candidates that a response contains, with the victims that it selects. A node without victims is skipped
/// if the extender is ignorable, and an error otherwise.
///
/// kube-scheduler accepts any node and any pods on it. Here, nodes must be candidates, and victims must have a lower
/// priority than the preemptor. An extender may choose other victims, but not relax the rules.
pub(crate) fn validate_victims(
    answer: Preempted,
    pod: &Pod,
    base: &Base,
    candidates: &[Candidate],
    ignorable: bool,
) -> Result<Vec<Candidate>, String> {
    let mut answered = answer.victims.unwrap_or_default();
    let mut left = Vec::new();
    for candidate in candidates {
        let name = base.name(candidate.node);
        let Some(Victims { pods, violations }) = answered.remove(name).map(Option::unwrap_or_default) else { continue };
        let uids = pods.into_iter().flatten().map(|victim| victim.unwrap_or_default().uid.unwrap_or_default());
        let victims: Vec<Arc<Pod>> =
            uids.map(|uid| victim(&uid, pod, base, candidate)).collect::<Result<_, String>>()?;
        match victims.is_empty() {
            false => left.push(Candidate {
                node: candidate.node,
                victims: victims.into(),
                violations: violations.and_then(|violations| usize::try_from(violations).ok()).unwrap_or(0),
                best: false,
            }),
            true if ignorable => {
                tracing::debug!(v = 2, node = name, "Skipping a node on which an extender selected no victims")
            }
            true => return Err(format!("expected at least one victim pod on node {name:?}")),
        }
    }
    match answered.keys().next() {
        Some(name) => Err(format!("the extender returned victims on node {name:?}, which was not in the request")),
        None => Ok(left),
    }
}

fn victim(uid: &str, pod: &Pod, base: &Base, candidate: &Candidate) -> Result<Arc<Pod>, String> {
    let node = base.name(candidate.node);
    let mut pods = base.infos().get(candidate.node.get()).into_iter().flat_map(|info| &info.pods);
    let victim = pods
        .find(|pod| *pod.uid.0 == *uid)
        .ok_or_else(|| format!("victim with uid {uid:?} is not on node {node:?}"))?;
    if victim.spec.priority >= pod.spec.priority {
        let (victim, pod) = (victim.namespaced_name(), pod.namespaced_name());
        return Err(format!("victim {victim} on node {node:?} does not have a lower priority than {pod}"));
    }
    Ok(victim.clone())
}
