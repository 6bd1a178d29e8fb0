//! The scores behind decisions.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use schedc_core::erased::AnyScheduler;
use schedc_core::explain::NodeExplanation;
use schedc_core::model::{Pod, Uid};
use schedc_core::profile::ProfileInfo;
use schedc_core::scheduler::Outcome;
use schedc_report::{Candidate, Decision, PluginScore};

/// Maximum number of evaluations in a simulation. An evaluation of one node for one pod takes about a microsecond.
const MAX_EVALUATIONS: usize = 10_000_000;

/// For each decision, the scores of the chosen node and of the best other node.
#[derive(Default)]
pub(crate) struct Decisions {
    /// Feasible nodes of attempts whose outcome is not known, by the pod's uid.
    open: HashMap<Uid, Vec<NodeExplanation>>,
    /// Number of evaluations so far.
    evaluations: usize,
    /// Number of attempts without scores, because there were too many evaluations.
    pub(crate) left_out: usize,
    /// Whether there are attempts without scores because their profile calls extenders.
    pub(crate) has_extenders: bool,
    by_pod: HashMap<String, Decision>,
}

impl Decisions {
    /// Returns the decision about the pod with this `namespace/name`; `None` if the pod has no node or the decision has
    /// no scores.
    pub(crate) fn of(&self, pod: &str) -> Option<&Decision> {
        self.by_pod.get(pod)
    }

    /// Evaluates the nodes for a pod that will be attempted.
    pub(super) fn before_attempt(
        &mut self,
        pod: &Arc<Pod>,
        scheduler: &mut dyn AnyScheduler,
        profiles: &[ProfileInfo],
    ) {
        let Some(profile) = scheduler.profile_of(pod) else { return };
        // An explanation would call the extenders once more.
        if profiles.get(profile).is_some_and(|profile| !profile.extenders.is_empty()) {
            self.has_extenders = true;
            return;
        }
        self.evaluations = self.evaluations.saturating_add(scheduler.base().count());
        if self.evaluations > MAX_EVALUATIONS {
            self.left_out += 1;
            return;
        }
        let mut nodes = scheduler.explain(profile, pod, false).nodes;
        nodes.retain(NodeExplanation::is_feasible);
        self.open.insert(pod.uid.clone(), nodes);
    }

    /// If the pod was placed, keeps the scores of the chosen node and of the best other node.
    pub(super) fn after_attempt(&mut self, name: &str, outcome: &Outcome) {
        let Some(nodes) = self.open.remove(&outcome.pod.uid) else { return };
        let Ok(placed) = &outcome.result else { return };
        let Some(chosen) = nodes.iter().find(|node| node.node == *placed.node) else { return };
        let highest = nodes.iter().map(NodeExplanation::total).max();
        let others = nodes.iter().filter(|node| node.node != chosen.node);
        let other = others.min_by_key(|node| (Reverse(node.total()), &node.node));
        let decision = Decision {
            feasible: nodes.len(),
            best: nodes.iter().filter(|node| Some(node.total()) == highest).count(),
            candidates: [("chosen", chosen)]
                .into_iter()
                .chain(other.map(|node| ("best other node", node)))
                .map(candidate)
                .collect(),
        };
        self.by_pod.insert(name.to_owned(), decision);
    }
}

fn candidate((role, node): (&str, &NodeExplanation)) -> Candidate {
    let scores = node.scores.iter().map(|score| PluginScore {
        plugin: score.plugin.to_owned(),
        weight: score.weight,
        normalized: score.normalized,
    });
    Candidate { role: role.to_owned(), node: node.node.clone(), scores: scores.collect() }
}
