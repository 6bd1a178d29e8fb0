//! Which pods go for another, by an extender's word: `convertToVictims` and the checks of `callExtenders`.

use std::sync::Arc;

use schedc_core::cache::Base;
use schedc_core::extension_points::Candidate;
use schedc_core::model::Pod;

use crate::answer::{Preempted, Victims};

/// The candidates that an answer leaves, with its victims. An extender that may be ignored may name nodes without victims:
/// they are left out.
///
/// kube-scheduler takes any node and any pods on it. Here the nodes have to be among the candidates, and the pods of lower
/// priority than the one that they go for: an extender may have another idea of which are to go, and not of which may.
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
            true if ignorable => tracing::debug!(v = 2, node = name, "Extender names no victims on a node: left out"),
            true => return Err(format!("expected at least one victim pod on node {name:?}")),
        }
    }
    match answered.keys().next() {
        Some(name) => Err(format!("room is to be made on node {name:?}, which the extender was not asked about")),
        None => Ok(left),
    }
}

fn victim(uid: &str, pod: &Pod, base: &Base, candidate: &Candidate) -> Result<Arc<Pod>, String> {
    let node = base.name(candidate.node);
    let mut pods = base.infos().get(candidate.node.get()).into_iter().flat_map(|info| &info.pods);
    let victim = pods
        .find(|pod| *pod.uid.0 == *uid)
        .ok_or_else(|| format!("a pod with uid {uid:?} is to go from node {node:?}, and is not there"))?;
    if victim.spec.priority >= pod.spec.priority {
        let (victim, pod) = (victim.namespaced_name(), pod.namespaced_name());
        return Err(format!("pod {victim} is to go from node {node:?} for {pod}, which is no more important"));
    }
    Ok(victim.clone())
}
