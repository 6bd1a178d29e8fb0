//! Effects of disruption budgets on a preemption.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use schedc_core::cache::Base;
use schedc_core::extension_points::{Candidate, PostFilterResult};
use schedc_core::intern::Interner;
use schedc_core::model::{NodeIndex, Object, Pod, PodDisruptionBudget};
use schedc_in_memory::ApiServer;
use schedc_objects::{AnyObject, convert_object};
use serde::Serialize;

use crate::cluster::pod_name;

/// The PodDisruptionBudgets of a cluster, by namespace and name.
#[derive(Clone, Debug, Default)]
pub struct Budgets(BTreeMap<(String, String), Arc<PodDisruptionBudget>>);

/// Budgets that a preemption violates, and pods that budgets protect from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Budgets with more victims than allowed disruptions.
    pub violated: Vec<Violation>,
    /// Pods that stay because of a budget.
    pub protected: Vec<ProtectedPod>,
}

/// A budget with more victims than allowed disruptions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Violation {
    /// The budget: `namespace/name`.
    pub budget: String,
    /// Number of allowed disruptions.
    pub allowed: i32,
    /// Victims that the budget selects: `namespace/name`.
    pub pods: Vec<String>,
}

/// A pod that would be a victim without a budget.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProtectedPod {
    /// The pod: `namespace/name`.
    pub pod: String,
    /// Its node.
    pub node: String,
    /// The budget: `namespace/name`.
    pub budget: String,
}

/// Allowed disruptions of a budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The budget: `namespace/name`.
    pub budget: String,
    /// Number of allowed disruptions.
    pub allowed: i32,
    /// Healthy pods, if the status reports them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub healthy: Option<i32>,
    /// Pods that must be healthy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired: Option<i32>,
    /// Expected pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<i32>,
    /// The reason why pods could not be counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Status {
    /// Returns the status of each budget of a server, ordered by namespace and name.
    pub fn all(server: &ApiServer) -> Vec<Status> {
        server.list("PodDisruptionBudget").filter_map(|object| Status::of(object)).collect()
    }

    fn of(object: &AnyObject) -> Option<Status> {
        let AnyObject::PodDisruptionBudget(budget) = object else { return None };
        let status = budget.status.clone().unwrap_or_default();
        let message = status.conditions.iter().flatten().map(|condition| condition.message.as_str());
        let allowed = status.disruptions_allowed.unwrap_or(0);
        Some(Status {
            budget: format!("{}/{}", object.namespace(), object.name()),
            allowed,
            healthy: status.current_healthy,
            desired: status.desired_healthy,
            expected: status.expected_pods,
            problem: message.filter(|message| allowed == 0 && !message.is_empty()).map(str::to_owned).next(),
        })
    }
}

impl Budgets {
    /// Adds or replaces an object if it is a budget.
    pub fn set(&mut self, object: &AnyObject, interner: &mut Interner) {
        if let AnyObject::PodDisruptionBudget(_) = object
            && let Some(Object::PodDisruptionBudget(budget)) = convert_object(object, interner)
        {
            self.0.insert((object.namespace().to_owned(), object.name().to_owned()), budget);
        }
    }

    /// Removes an object if it is a budget.
    pub fn remove(&mut self, object: &AnyObject) {
        if let AnyObject::PodDisruptionBudget(_) = object {
            self.0.remove(&(object.namespace().to_owned(), object.name().to_owned()));
        }
    }

    /// Returns the effects of the budgets on the result of PostFilter.
    ///
    /// A pod on the chosen node is protected if its budget allows no more disruptions and a more important pod is
    /// a victim. On another candidate node, the victims whose budgets would be violated are protected if the node would
    /// be the better candidate without budgets.
    pub fn effects(&self, preemptor: &Pod, result: &PostFilterResult, base: &Base) -> Effects {
        let Some(chosen) = result.nominated().filter(|_| !self.0.is_empty()) else { return Effects::default() };
        let violated = self.violated(chosen, base);
        let mut protected = self.protected_pods(chosen, preemptor, base);
        let others = result.candidates.iter().filter(|other| {
            other.node != chosen.node && other.violations > chosen.violations && harm(other) < harm(chosen)
        });
        for other in others {
            let node = base.name(other.node);
            for Violation { budget, pods, .. } in self.violated(other, base) {
                protected.extend(pods.into_iter().map(|pod| ProtectedPod {
                    pod,
                    node: node.to_owned(),
                    budget: budget.clone(),
                }));
            }
        }
        protected.sort_unstable();
        Effects { violated, protected }
    }

    /// Returns whether all of these pods may be evicted.
    pub(crate) fn allow(&self, pods: &[Arc<Pod>]) -> bool {
        self.0.values().all(|budget| {
            let count = pods.iter().filter(|pod| budget.protects(pod)).count();
            i32::try_from(count).is_ok_and(|count| count == 0 || count <= budget.disruptions_allowed)
        })
    }

    fn violated(&self, candidate: &Candidate, base: &Base) -> Vec<Violation> {
        let violated = self.0.iter().filter_map(|(name, budget)| {
            let pods: Vec<_> = candidate.to_be_removed().filter(|pod| budget.protects(pod)).collect();
            let removed = i32::try_from(pods.len()).unwrap_or(i32::MAX);
            (removed > budget.disruptions_allowed).then(|| Violation {
                budget: full_name(name),
                allowed: budget.disruptions_allowed,
                pods: pods.into_iter().map(|pod| pod_name(pod, &base.interner)).collect(),
            })
        });
        violated.collect()
    }

    /// Returns the pods that stay on a candidate node although a more important pod is a victim.
    fn protected_pods(&self, candidate: &Candidate, preemptor: &Pod, base: &Base) -> Vec<ProtectedPod> {
        let Some(most_important) = candidate.to_be_removed().map(|pod| importance(pod)).min() else {
            return Vec::new();
        };
        let stays = |pod: &&Arc<Pod>| {
            pod.spec.priority < preemptor.spec.priority
                && importance(pod) > most_important
                && candidate.victims.iter().all(|victim| victim.uid != pod.uid)
        };
        let mut protected = Vec::new();
        for pod in node_pods(candidate.node, base).iter().filter(stays) {
            let exhausted = self.0.iter().find(|(_, budget)| {
                let removed = candidate.to_be_removed().filter(|victim| budget.protects(victim)).count();
                budget.protects(pod) && i32::try_from(removed).unwrap_or(i32::MAX) >= budget.disruptions_allowed
            });
            if let Some((name, _)) = exhausted {
                let (pod, node) = (pod_name(pod, &base.interner), base.name(candidate.node).to_owned());
                protected.push(ProtectedPod { pod, node, budget: full_name(name) });
            }
        }
        protected
    }
}

fn node_pods(node: NodeIndex, base: &Base) -> &[Arc<Pod>] {
    base.infos().get(node.get()).map_or(&[], |info| &info.pods)
}

/// Returns a key that is smaller for more important pods. As in kube-scheduler, a pod with a higher priority is more
/// important; among equal priorities, a pod that started earlier.
fn importance(pod: &Pod) -> (Reverse<i32>, i64) {
    (Reverse(pod.spec.priority), pod.started.unwrap_or(i64::MAX))
}

/// Returns the key that orders candidates with equal budget violations, the best candidate first: highest priority of
/// the victims, sum of their priorities, number of victims.
fn harm(candidate: &Candidate) -> (Option<i32>, i64, usize) {
    let priorities = || candidate.victims.iter().map(|pod| pod.spec.priority);
    // As in kube-scheduler, the offset makes each term nonnegative: a victim with a negative priority must not improve
    // the sum.
    let sum = priorities().map(|priority| i64::from(priority) + i64::from(i32::MAX) + 1).sum();
    (priorities().max(), sum, candidate.victims.len())
}

fn full_name((namespace, name): &(String, String)) -> String {
    format!("{namespace}/{name}")
}
