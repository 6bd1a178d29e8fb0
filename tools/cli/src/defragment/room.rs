//! Moves that make room for given pods.
//!
//! The pods are created one by one. For a pod that waits, the scheduler's own preemption names nodes and their victims,
//! as if the pod had the highest priority. Instead of a preemption, the victims are moved: the node is cordoned, the
//! victims are evicted in the order of their importance, and the node is uncordoned before the pod is created.

use std::cmp::Reverse;
use std::collections::HashSet;

use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_core::engine::Decision;
use schedc_core::erased::AnyBundle;
use schedc_core::profile::StartErrors;
use schedc_in_memory::server::Key;
use schedc_objects::AnyObject;

use super::fragmentation::Gauge;
use super::{Action, Plan, Question, Room, WaitingPod};
use crate::drain::eviction::{Treatment, priority, treatment};
use crate::drain::{cordon, evict, is_cordoned, name, set_unschedulable};
use crate::trial::{self, Trial, TrialState};
use crate::workloads::NewPod;

/// Limit on the work for a pod: the number of objects in all clusters that are created after its failed attempts.
const MAX_WORK: usize = 200_000;
/// Minimum and maximum number of attempts for a pod; [`MAX_WORK`] sets the number between them.
const ATTEMPTS: (usize, usize) = (4, 48);
/// Maximum number of pods per node that are tried alone: only the one pod moves.
const MAX_SINGLE_MOVES: usize = 4;

/// Evictions on one node.
struct Moves {
    node: String,
    pods: Vec<Key>,
    /// The highest priority of the pods.
    priority: i32,
}

pub(super) fn plan(
    bundle: &AnyBundle,
    objects: &[AnyObject],
    new: Vec<NewPod>,
    question: &Question<'_>,
    options: &trial::Options,
) -> Result<Plan, StartErrors> {
    let mut trial = Trial::new(bundle, objects.to_vec(), options)?;
    let gauge = Gauge::new(&mut trial, question.gpus);
    let before = gauge.as_ref().map(|gauge| gauge.measure(&mut trial));
    let mut plan = Plan::default();
    let mut room = Room::default();
    // Names of the created pods, which later moves leave on their nodes.
    let mut created: HashSet<String> = HashSet::new();
    for NewPod { mut pod, before } in new {
        trial.add(before);
        // The plan moves pods; it does not preempt them.
        pod.spec.get_or_insert_default().preemption_policy = Some("Never".to_owned());
        let Some(key) = trial.add([pod.clone().into()]).pop() else { continue };
        trial.run();
        let rejection = match trial.state(&key) {
            TrialState::Running(node) => {
                created.insert(name(&key));
                plan.actions.push(Action::Create { pod: name(&key), node });
                room.placed += 1;
                continue;
            }
            TrialState::Waiting(rejection) => rejection,
            TrialState::Gone => continue,
        };
        trial.delete(&key);
        trial.run();
        let start = trial.objects();
        let tries = (MAX_WORK / start.len().max(1)).clamp(ATTEMPTS.0, ATTEMPTS.1);
        let mut found = None;
        for moves in possible_moves(&mut trial, &pod, &created, question).into_iter().take(tries) {
            room.tried += 1;
            if let Some(actions) = attempt(&mut trial, &pod, &moves) {
                found = Some(actions);
                break;
            }
            trial = Trial::new(bundle, start.clone(), options)?;
        }
        match found {
            Some(actions) => {
                if let Some(Action::Create { pod, .. }) = actions.last() {
                    created.insert(pod.clone());
                }
                plan.actions.extend(actions);
                room.placed += 1;
            }
            None => room.waiting.push(WaitingPod { pod: name(&key), rejection }),
        }
    }
    plan.evictions = plan.actions.iter().filter(|action| matches!(action, Action::Evict { .. })).count();
    plan.gpus = gauge.zip(before).map(|(gauge, before)| gauge.change(before, &mut trial));
    Ok(Plan { room: Some(room), ..plan })
}

/// Returns the evictions that may make room for a pod, the fewest first.
fn possible_moves(trial: &mut Trial, pod: &ApiPod, created: &HashSet<String>, question: &Question<'_>) -> Vec<Moves> {
    let mut important = pod.clone();
    let spec = important.spec.get_or_insert_default();
    (spec.priority, spec.preemption_policy) = (Some(i32::MAX), None);
    let Some(Decision::Unschedulable(unschedulable)) = trial.explain(&important).map(|found| found.decision) else {
        return Vec::new();
    };
    let candidates = unschedulable.post_filter.map(|found| found.candidates).unwrap_or_default();
    let base = trial.base();
    let mut lists: Vec<(String, Vec<Key>)> = Vec::new();
    let key = |pod: &schedc_core::model::Pod| Key::pod(&*pod.namespace, &*pod.name);
    for candidate in &candidates {
        let node = base.name(candidate.node);
        if !question.nodes.is_empty() && !question.nodes.iter().any(|wanted| wanted == node) {
            continue;
        }
        let victims: Vec<Key> = candidate.to_be_removed().map(|pod| key(pod)).collect();
        if victims.len() > 1 {
            // Preemption spares important pods, although moving one of them might be enough.
            let mut single_pods: Vec<_> = base.infos()[candidate.node.get()].pods.iter().collect();
            single_pods.sort_by(|a, b| (a.spec.priority, &a.name).cmp(&(b.spec.priority, &b.name)));
            lists.extend(single_pods.into_iter().take(MAX_SINGLE_MOVES).map(|pod| (node.to_owned(), vec![key(pod)])));
        }
        lists.push((node.to_owned(), victims));
    }
    let mut moves = Vec::new();
    for (node, mut pods) in lists {
        let is_movable = |key: &Key| {
            trial.pod(key).is_some_and(|pod| matches!(treatment(pod, question.permissions), Treatment::Moves))
        };
        if pods.is_empty() || !pods.iter().all(|key| is_movable(key) && !created.contains(&name(key))) {
            continue;
        }
        let priority_of = |key: &Key| trial.pod(key).map_or(0, priority);
        pods.sort_by_key(|key| (Reverse(priority_of(key)), name(key)));
        let priority = pods.iter().map(priority_of).max().unwrap_or(0);
        moves.push(Moves { node, pods, priority });
    }
    moves.sort_by(|a, b| (a.pods.len(), a.priority, &a.node).cmp(&(b.pods.len(), b.priority, &b.node)));
    moves
}

/// Moves pods and creates `pod`. Returns `None` if an eviction is not possible or `pod` still waits; the trial then
/// contains a part of the moves.
fn attempt(trial: &mut Trial, pod: &ApiPod, moves: &Moves) -> Option<Vec<Action>> {
    let Moves { node, pods, .. } = moves;
    let was_cordoned = is_cordoned(trial, node);
    let mut actions = vec![Action::Cordon { node: node.clone() }];
    cordon(trial, std::slice::from_ref(node));
    for key in pods {
        actions.push(evict(trial, node, key).ok()?.into());
    }
    set_unschedulable(trial, node, was_cordoned);
    actions.push(Action::Uncordon { node: node.clone() });
    let key = trial.add([pod.clone().into()]).pop()?;
    trial.run();
    let TrialState::Running(node) = trial.state(&key) else { return None };
    actions.push(Action::Create { pod: name(&key), node });
    Some(actions)
}
