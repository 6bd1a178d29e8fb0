//! The choice of the nodes to empty.
//!
//! All nodes of a set are cordoned before the first eviction, so no pod moves twice, and the number of evictions is the
//! number of pods on the nodes, without pods that stay. Among all sets of a size, the nodes with the fewest pods to
//! evict therefore need the fewest evictions. Small clusters try every set. In other clusters, a binary search finds how many
//! of the nodes with the fewest pods can be emptied together. Further nodes are then added one by one.

use std::collections::HashSet;

use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_core::erased::AnyBundle;
use schedc_core::profile::StartErrors;
use schedc_in_memory::server::Key;
use schedc_objects::AnyObject;

use super::fragmentation::Gauge;
use super::{Action, Emptying, Plan, Question, bound};
use crate::drain::eviction::{Treatment, replacement, treatment};
use crate::drain::orders::orders;
use crate::drain::{BlockedNode, Obstacle, Permissions, Step, cordon, empty, is_cordoned, name, set_unschedulable};
use crate::enforced::EnforcedResources;
use crate::trial::{self, Trial};

/// Every set is tried in clusters with at most this many candidates, and at most this many objects.
const MAX_EXHAUSTIVE: (usize, usize) = (6, 500);
/// Maximum work of the search, in evictions. The creation of a cluster for each tried order counts too.
const MAX_WORK: usize = 60_000;
/// Number of objects whose creation counts as much as one eviction.
const OBJECTS_PER_EVICTION: usize = 20;

/// A node whose pods may all be evicted, except for those that stay on any node, such as pods of DaemonSets.
struct Candidate {
    node: String,
    /// The pods on the node, also those that stay.
    pods: Vec<Key>,
    /// Number of pods to evict.
    evictions: usize,
}

/// A set of nodes that was emptied.
struct Success {
    nodes: Vec<String>,
    steps: Vec<Step>,
    trial: Trial,
}

/// Tries sets of nodes.
struct Search<'a> {
    bundle: &'a AnyBundle,
    options: &'a trial::Options,
    permissions: Permissions,
    /// Objects of the cluster before any eviction.
    start: Vec<AnyObject>,
    /// Number of sets tried.
    tried: usize,
    /// Work so far; see [`MAX_WORK`].
    work: usize,
}

pub(super) fn plan(
    bundle: &AnyBundle,
    objects: &[AnyObject],
    question: &Question<'_>,
    options: &trial::Options,
) -> Result<Plan, StartErrors> {
    let mut trial = Trial::new(bundle, objects.to_vec(), options)?;
    let gauge = Gauge::new(&mut trial, question.gpus);
    let before = gauge.as_ref().map(|gauge| gauge.measure(&mut trial));
    let (candidates, blocked) = candidates(&trial, question);
    let was_cordoned: HashSet<String> =
        trial.node_names().into_iter().filter(|node| is_cordoned(&trial, node)).collect();
    let movable: HashSet<(String, String)> = candidates
        .iter()
        .flat_map(|candidate| &candidate.pods)
        .filter(|key| {
            trial.pod(key).is_some_and(|pod| matches!(treatment(pod, question.permissions), Treatment::Moves))
        })
        // A pod without a controller is not created again, so it needs no room on other nodes.
        .filter(|key| trial.pod(key).is_some_and(|pod| replacement(pod).is_some()))
        .map(|key| (key.namespace.to_string(), key.name.to_string()))
        .collect();
    let names: HashSet<&str> = candidates.iter().map(|candidate| candidate.node.as_str()).collect();
    let enforced = EnforcedResources::of(&options.routes, pods_of(objects), objects);
    let at_most = bound::at_most(&mut trial, &names, &movable, enforced);
    let permissions = question.permissions;
    let mut search = Search { bundle, options, permissions, start: trial.objects(), tried: 0, work: 0 };
    let is_small = candidates.len() <= MAX_EXHAUSTIVE.0 && search.start.len() <= MAX_EXHAUSTIVE.1;
    let found = match is_small {
        true => search.every_set(&candidates, at_most)?,
        false => search.large_set(&candidates, at_most)?,
    };
    let Success { nodes, steps, mut trial } = match found {
        Some(found) => found,
        None => Success { nodes: Vec::new(), steps: Vec::new(), trial },
    };
    let evictions_of = |node: &String| candidates.iter().find(|c| c.node == *node).map_or(0, |c| c.evictions);
    let fewest_evictions: usize = candidates.iter().take(nodes.len()).map(|candidate| candidate.evictions).sum();
    let optimal = is_small || (nodes.len() == at_most && steps.len() == fewest_evictions);
    // The cordons end with the plan: fragmentation is measured with usable nodes and placed pending pods.
    for node in nodes.iter().filter(|node| !was_cordoned.contains(*node)) {
        set_unschedulable(&mut trial, node, false);
    }
    trial.settle();
    let gpus = gauge.zip(before).map(|(gauge, before)| gauge.change(before, &mut trial));
    let (already_empty, emptied): (Vec<String>, Vec<String>) =
        nodes.into_iter().partition(|node| evictions_of(node) == 0);
    let evictions = steps.len();
    let cordons = emptied.iter().chain(&already_empty).map(|node| Action::Cordon { node: node.clone() });
    // Cordons prevent replacements of evicted pods on these nodes. Without an eviction, there are no replacements.
    let cordons = cordons.filter(|_| evictions > 0);
    let actions = cordons.chain(steps.into_iter().map(Action::from)).collect();
    let emptying = Emptying { emptied, already_empty, blocked, at_most, optimal, tried: search.tried };
    Ok(Plan { actions, evictions, emptying: Some(emptying), room: None, gpus })
}

fn pods_of(objects: &[AnyObject]) -> impl Iterator<Item = &ApiPod> {
    objects.iter().filter_map(|object| match object {
        AnyObject::Pod(pod) => Some(&**pod),
        _ => None,
    })
}

/// Returns the nodes whose pods may be evicted, those with the fewest evictions first, and the other nodes with their
/// obstacles.
fn candidates(trial: &Trial, question: &Question<'_>) -> (Vec<Candidate>, Vec<BlockedNode>) {
    let mut by_node = trial.pods_by_node();
    let (mut candidates, mut blocked) = (Vec::new(), Vec::new());
    let is_wanted = |node: &str| question.nodes.is_empty() || question.nodes.iter().any(|wanted| wanted == node);
    for node in trial.node_names().into_iter().filter(|node| is_wanted(node)) {
        let pods = by_node.remove(&node).unwrap_or_default();
        let mut obstacles = Vec::new();
        let mut evictions = 0;
        for key in &pods {
            match trial.pod(key).map(|pod| treatment(pod, question.permissions)) {
                Some(Treatment::Moves) => evictions += 1,
                Some(Treatment::Immovable(reason)) => obstacles.push(Obstacle { pod: name(key), reason }),
                Some(Treatment::Stays) | None => {}
            }
        }
        match obstacles.is_empty() {
            true => candidates.push(Candidate { node, pods, evictions }),
            false => blocked.push(BlockedNode { node, obstacles }),
        }
    }
    candidates.sort_by(|a, b| a.evictions.cmp(&b.evictions).then_with(|| a.node.cmp(&b.node)));
    (candidates, blocked)
}

impl Search<'_> {
    /// Tries every set of at most `at_most` nodes until one can be emptied: the largest first and, of equally large sets, the
    /// one with the fewest evictions.
    fn every_set(&mut self, candidates: &[Candidate], at_most: usize) -> Result<Option<Success>, StartErrors> {
        let members = |set: u32| (0..candidates.len()).filter(move |at| set & (1 << at) != 0);
        let mut sets: Vec<u32> = (1..1_u32 << candidates.len()).collect();
        sets.retain(|set| set.count_ones() as usize <= at_most);
        sets.sort_by_key(|set| {
            let evictions: usize = members(*set).map(|at| candidates[at].evictions).sum();
            (std::cmp::Reverse(set.count_ones()), evictions, *set)
        });
        for set in sets {
            let nodes: Vec<&Candidate> = members(set).map(|at| &candidates[at]).collect();
            if let Some(found) = self.set(&nodes, true)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Finds a large set of at most `at_most` nodes, as the module documentation describes. Ends early at [`MAX_WORK`].
    fn large_set(&mut self, candidates: &[Candidate], at_most: usize) -> Result<Option<Success>, StartErrors> {
        let mut best: Option<Success> = None;
        let (mut possible, mut impossible) = (0, at_most.min(candidates.len()) + 1);
        while impossible - possible > 1 && self.work < MAX_WORK {
            let middle = possible + (impossible - possible) / 2;
            let nodes: Vec<&Candidate> = candidates[..middle].iter().collect();
            match self.set(&nodes, false)? {
                Some(found) => (possible, best) = (middle, Some(found)),
                None => impossible = middle,
            }
        }
        let mut chosen: Vec<&Candidate> = candidates[..possible].iter().collect();
        // The candidate at `possible` failed in the binary search.
        for candidate in candidates.iter().skip(possible + 1) {
            if self.work >= MAX_WORK || chosen.len() >= at_most {
                break;
            }
            chosen.push(candidate);
            match self.set(&chosen, false)? {
                Some(found) => best = Some(found),
                None => drop(chosen.pop()),
            }
        }
        Ok(best)
    }

    /// Empties a set of nodes. Tries all orders that [`orders`] returns, or only the order that begins with the
    /// nodes with the most evictions. Returns `None` if no order succeeds.
    fn set(&mut self, nodes: &[&Candidate], all_orders: bool) -> Result<Option<Success>, StartErrors> {
        self.tried += 1;
        let names: Vec<String> = nodes.iter().rev().map(|candidate| candidate.node.clone()).collect();
        let orders = if all_orders { orders(&names).0 } else { vec![names] };
        for order in orders {
            if let Some(found) = self.in_order(nodes, order)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn in_order(&mut self, nodes: &[&Candidate], order: Vec<String>) -> Result<Option<Success>, StartErrors> {
        let mut trial = Trial::new(self.bundle, self.start.clone(), self.options)?;
        self.work += self.start.len() / OBJECTS_PER_EVICTION + 1;
        cordon(&mut trial, &order);
        let mut steps = Vec::new();
        for node in &order {
            let pods = nodes.iter().find(|candidate| candidate.node == *node).map(|candidate| candidate.pods.clone());
            let before = steps.len();
            let obstacles = empty(&mut trial, node, pods.unwrap_or_default(), self.permissions, &mut steps);
            self.work += steps.len() - before + 1;
            if !obstacles.is_empty() {
                return Ok(None);
            }
        }
        Ok(Some(Success { nodes: order, steps, trial }))
    }
}
