//! The disruption controller, which updates the status of disruption budgets.
//!
//! A budget's status is computed from its pods and their controllers (`pkg/controller/disruption`), unless its manifest
//! has a status. There are no kubelets here that report readiness. Therefore a pod without the condition `Ready` is
//! healthy if it has a node and has not finished. As in the real controller, a pod with this condition is healthy if
//! the condition is true, even if the pod has finished. A pod that is being deleted is not healthy. A status of a
//! manifest is kept until the budget's spec changes; later changes of the number of healthy pods are added to it.

mod counts;
mod label_index;
mod scale;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::policy::v1::{PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schedc_core::intern::Interner;
use schedc_core::model::{self, LabelSelector, Labels, Object};
use schedc_objects::{AnyObject, convert_object, is_finished};

use super::update;
use crate::server::{ApiServer, Change, ChangeKind, Key, time};
use counts::BudgetCounts;
use label_index::{Label, LabelIndex};
use scale::Owner;

/// Type of a budget's condition.
const DISRUPTION_ALLOWED: &str = "DisruptionAllowed";
/// Reason of the condition: a disruption is allowed.
const SUFFICIENT_PODS: &str = "SufficientPods";
/// Reason of the condition: no disruption is allowed.
const INSUFFICIENT_PODS: &str = "InsufficientPods";
/// Reason of the condition: the pods cannot be counted.
const SYNC_FAILED: &str = "SyncFailed";
/// Message of a budget with pods that have no controller.
const UNMANAGED: &str =
    "pods without a controller do not count as expected; set `minAvailable` to a number to count them";

#[derive(Clone, Debug, Default)]
pub(super) struct Disruption {
    interner: Interner,
    /// The namespaces that have budgets.
    namespaces: BTreeMap<Arc<str>, Namespace>,
    /// Budgets whose status may have changed.
    queue: BTreeSet<(Arc<str>, Arc<str>)>,
}

#[derive(Clone, Debug, Default)]
struct Namespace {
    budgets: BTreeMap<Arc<str>, Budget>,
    index: LabelIndex,
}

/// A budget and its pods.
#[derive(Clone, Debug)]
struct Budget {
    spec: PodDisruptionBudgetSpec,
    /// The budget with its selector.
    converted: Arc<model::PodDisruptionBudget>,
    /// A label of all its pods, if its selector has `matchLabels`.
    required: Option<Label>,
    members: Members,
    source: Source,
    /// The last known status of the budget. If a change has a different status, a user wrote it.
    status: Option<PodDisruptionBudgetStatus>,
}

/// The pods that a budget selects.
#[derive(Clone, Debug, Default)]
struct Members {
    pods: BTreeMap<Arc<str>, Member>,
    /// Number of healthy members.
    healthy: i32,
    /// Controllers of the members, with the number of members of each.
    owners: BTreeMap<Owner, usize>,
}

/// A pod of a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Member {
    is_healthy: bool,
    owner: Option<Owner>,
}

/// Origin of a budget's status.
#[derive(Clone, Debug, PartialEq)]
enum Source {
    /// Computed by the controller.
    Computed,
    /// Written in the manifest, at a time when `healthy` pods of the budget were healthy.
    Given { status: PodDisruptionBudgetStatus, healthy: i32 },
}

impl Disruption {
    /// Records a change of an object.
    pub(super) fn observe(&mut self, server: &ApiServer, change: &Change) {
        let is_gone = change.kind == ChangeKind::Deleted;
        match &*change.object {
            AnyObject::Pod(pod) => self.observe_pod(pod, &change.object, is_gone),
            AnyObject::PodDisruptionBudget(budget) => self.observe_budget(server, budget, &change.object, is_gone),
            AnyObject::ReplicaSet(_)
            | AnyObject::StatefulSet(_)
            | AnyObject::ReplicationController(_)
            | AnyObject::Deployment(_) => {
                let namespace: Arc<str> = change.object.namespace().into();
                let (kind, name) = (change.object.kind(), change.object.name());
                let depends = |budget: &Budget| budget.members.owners.keys().any(|owner| owner.depends_on(kind, name));
                let budgets = self.namespaces.get(&namespace).into_iter().flat_map(|namespace| &namespace.budgets);
                let budgets = budgets.filter(|(_, budget)| depends(budget));
                self.queue.extend(budgets.map(|(name, _)| (namespace.clone(), name.clone())));
            }
            _ => {}
        }
    }

    fn observe_pod(&mut self, pod: &Pod, object: &AnyObject, is_gone: bool) {
        let Some((name, _)) = self.namespaces.get_key_value(object.namespace()) else { return };
        let namespace = name.clone();
        let labels = labels(pod, &mut self.interner);
        let Some(Namespace { budgets, index }) = self.namespaces.get_mut(&namespace) else { return };
        for name in index.set_pod(object.name(), (!is_gone).then(|| labels.clone())) {
            let Some(budget) = budgets.get_mut(&name) else { continue };
            let member = Member::of(pod, &labels, budget.converted.selector.as_ref()).filter(|_| !is_gone);
            if budget.members.set(object.name(), member) {
                self.queue.insert((namespace.clone(), name));
            }
        }
    }

    /// Removes pods and budgets that no longer exist.
    pub(super) fn remove_deleted(&mut self, server: &ApiServer) {
        for (namespace, Namespace { budgets, index }) in &mut self.namespaces {
            let exists = |kind, name: &Arc<str>| server.get(&Key::new(kind, namespace.clone(), name.clone())).is_some();
            for (name, budget) in budgets.extract_if(.., |name, _| !exists("PodDisruptionBudget", name)) {
                index.remove_budget(&name, budget.required);
            }
            let pods: Vec<_> = index.pods(None).into_iter().filter(|name| !exists("Pod", name)).cloned().collect();
            for pod in pods {
                for name in index.set_pod(&pod, None) {
                    if budgets.get_mut(&name).is_some_and(|budget| budget.members.set(&pod, None)) {
                        self.queue.insert((namespace.clone(), name));
                    }
                }
            }
        }
        self.namespaces.retain(|_, namespace| !namespace.budgets.is_empty());
    }

    fn observe_budget(&mut self, server: &ApiServer, budget: &PodDisruptionBudget, object: &AnyObject, is_gone: bool) {
        let (namespace, name): (Arc<str>, Arc<str>) = (object.namespace().into(), object.name().into());
        if !self.namespaces.contains_key(&namespace) {
            let mut index = LabelIndex::default();
            for object in server.list_in("Pod", &namespace) {
                if let AnyObject::Pod(pod) = &**object {
                    index.set_pod(object.name(), Some(labels(pod, &mut self.interner)));
                }
            }
            self.namespaces.insert(namespace.clone(), Namespace { index, ..Namespace::default() });
        }
        let Some(Namespace { budgets, index }) = self.namespaces.get_mut(&namespace) else { return };
        let known = budgets.remove(&name);
        if let Some(known) = &known {
            index.remove_budget(&name, known.required);
        }
        if is_gone {
            if budgets.is_empty() {
                self.namespaces.remove(&namespace);
            }
            return;
        }
        let Some(Object::PodDisruptionBudget(converted)) = convert_object(object, &mut self.interner) else { return };
        let spec = budget.spec.clone().unwrap_or_default();
        let (members, source) = match known {
            None => (None, None),
            Some(known) => {
                let members = (known.converted.selector == converted.selector).then_some(known.members);
                // A status of the manifest is outdated once the spec has changed.
                let source = if known.spec == spec { known.source } else { Source::Computed };
                (members, (known.status == budget.status).then_some(source))
            }
        };
        let required = spec.selector.as_ref().and_then(|selector| selector.match_labels.as_ref()?.first_key_value());
        let required = required.map(|(key, value)| (self.interner.intern(key), self.interner.intern(value)));
        index.add_budget(&name, required);
        let members = members.unwrap_or_else(|| {
            members_of(converted.selector.as_ref(), index.pods(required), &namespace, server, &mut self.interner)
        });
        let source =
            source.unwrap_or_else(|| match budget.status.as_ref().filter(|status| is_given_budget_status(status)) {
                Some(status) => Source::Given { status: status.clone(), healthy: members.healthy },
                None => Source::Computed,
            });
        let status = budget.status.clone();
        budgets.insert(name.clone(), Budget { spec, converted, required, members, source, status });
        self.queue.insert((namespace, name));
    }

    /// Frees the strings of pods and budgets that are gone.
    pub(super) fn free_unused_strings(&mut self) {
        let Disruption { interner, namespaces, .. } = self;
        let budgets = namespaces.values().flat_map(|namespace| namespace.budgets.values());
        let budgets = budgets.map(|budget| Object::PodDisruptionBudget(budget.converted.clone()));
        interner.free_all_except(budgets, namespaces.values().flat_map(|namespace| namespace.index.symbols()));
    }

    /// Updates the status of the next budget in the queue. Returns `false` if the queue is empty.
    pub(super) fn sync_one(&mut self, server: &mut ApiServer, now: i64) -> bool {
        let Some((namespace, name)) = self.queue.pop_first() else { return false };
        let key = Key { kind: "PodDisruptionBudget", namespace: namespace.clone(), name: name.clone() };
        let budget = self.namespaces.get_mut(&namespace).and_then(|namespace| namespace.budgets.get_mut(&name));
        let (Some(budget), Some(object)) = (budget, server.get(&key).cloned()) else { return true };
        let AnyObject::PodDisruptionBudget(old) = &*object else { return true };
        let status = budget.status(old, server, &namespace, now);
        if old.status.as_ref() != Some(&status) {
            let mut new = old.clone();
            new.status = Some(status.clone());
            budget.status = Some(status);
            update(server, AnyObject::PodDisruptionBudget(new));
        }
        true
    }
}

impl Members {
    /// Records the current state of a pod; `None`: it is not a member. Returns whether the state has changed.
    fn set(&mut self, name: &str, member: Option<Member>) -> bool {
        if self.pods.get(name) == member.as_ref() {
            return false;
        }
        if let Some(Member { is_healthy, owner }) = &member {
            self.healthy += i32::from(*is_healthy);
            owner.iter().for_each(|owner| *self.owners.entry(owner.clone()).or_default() += 1);
        }
        let before = match member {
            Some(member) => self.pods.insert(name.into(), member),
            None => self.pods.remove(name),
        };
        if let Some(Member { is_healthy, owner }) = before {
            self.healthy -= i32::from(is_healthy);
            if let Some(owner) = owner
                && let Some(count) = self.owners.get_mut(&owner)
            {
                *count -= 1;
                if *count == 0 {
                    self.owners.remove(&owner);
                }
            }
        }
        true
    }
}

impl Member {
    /// Converts a pod to a member of a budget with this selector. `None`: the selector does not match.
    fn of(pod: &Pod, labels: &Labels, selector: Option<&LabelSelector>) -> Option<Member> {
        selector
            .is_some_and(|selector| selector.matches(labels))
            .then(|| Member { is_healthy: is_healthy(pod), owner: Owner::of(&pod.metadata) })
    }
}

/// Returns the members of a budget with this selector among these pods.
fn members_of(
    selector: Option<&LabelSelector>,
    pods: Vec<&Arc<str>>,
    namespace: &str,
    server: &ApiServer,
    interner: &mut Interner,
) -> Members {
    let mut members = Members::default();
    for name in pods {
        let Some(AnyObject::Pod(pod)) = server.get(&Key::pod(namespace, name.clone())).map(|object| &**object) else {
            continue;
        };
        if let Some(member) = Member::of(pod, &labels(pod, interner), selector) {
            members.set(name, Some(member));
        }
    }
    members
}

impl Budget {
    /// Returns the current status of a budget.
    fn status(
        &self,
        budget: &PodDisruptionBudget,
        server: &ApiServer,
        namespace: &str,
        now: i64,
    ) -> PodDisruptionBudgetStatus {
        let old = budget.status.clone().unwrap_or_default();
        if let Source::Given { status, healthy } = &self.source {
            return adjusted_status(status, self.members.healthy - healthy, old);
        }
        let Members { pods, healthy, owners } = &self.members;
        let count = i32::try_from(pods.len()).unwrap_or(i32::MAX);
        let numbers = BudgetCounts::of(&self.spec, count, *healthy, || {
            scale::total(owners.keys(), namespace, server).map_err(|owner| {
                let pod = pods.iter().find(|(_, member)| member.owner.as_ref() == Some(owner));
                owner.reason(pod.map_or("", |(name, _)| name))
            })
        });
        let generation = budget.metadata.generation;
        match numbers {
            Ok(BudgetCounts { expected, desired, healthy, allowed }) => {
                let reason = if allowed > 0 { SUFFICIENT_PODS } else { INSUFFICIENT_PODS };
                // The real controller writes an event instead, and leaves the message empty.
                let is_short = allowed == 0 && pods.values().any(|member| member.owner.is_none());
                let message = if is_short && BudgetCounts::need_scale(&self.spec) { UNMANAGED } else { "" };
                PodDisruptionBudgetStatus {
                    conditions: Some(vec![Condition {
                        observed_generation: generation,
                        ..condition(&old, allowed > 0, reason, message.to_owned(), now)
                    }]),
                    current_healthy: Some(healthy),
                    desired_healthy: Some(desired),
                    disrupted_pods: None,
                    disruptions_allowed: Some(allowed),
                    expected_pods: Some(expected),
                    observed_generation: generation,
                }
            }
            // If the pods cannot be counted, no disruption is allowed (`failSafe`).
            Err(message) => PodDisruptionBudgetStatus {
                conditions: Some(vec![condition(&old, false, SYNC_FAILED, message, now)]),
                disruptions_allowed: Some(0),
                ..old
            },
        }
    }
}

/// Returns the status of a manifest, adjusted by `more`, the change of the number of healthy pods since the status was
/// given.
fn adjusted_status(
    given: &PodDisruptionBudgetStatus,
    more: i32,
    old: PodDisruptionBudgetStatus,
) -> PodDisruptionBudgetStatus {
    if more == 0 {
        return given.clone();
    }
    let allowed = given.disruptions_allowed.unwrap_or(0);
    let healthy = given.current_healthy.unwrap_or(0);
    let surplus = healthy.saturating_sub(given.desired_healthy.unwrap_or(0));
    // If the other numbers contradict the allowed number, or are missing, the allowed number counts as the surplus.
    let surplus = if surplus.max(0) == allowed { surplus } else { allowed };
    PodDisruptionBudgetStatus {
        current_healthy: given.current_healthy.map(|healthy| healthy.saturating_add(more)),
        disruptions_allowed: Some(surplus.saturating_add(more).max(0)),
        desired_healthy: given.desired_healthy,
        expected_pods: given.expected_pods,
        disrupted_pods: given.disrupted_pods.clone(),
        ..old
    }
}

/// Returns whether the status of a budget's manifest holds any information. `kubectl create --dry-run` prints four
/// zeros, which an API server drops.
pub fn is_given_budget_status(status: &PodDisruptionBudgetStatus) -> bool {
    let numbers = [status.current_healthy, status.desired_healthy, status.disruptions_allowed, status.expected_pods];
    let is_empty = numbers.iter().all(Option::is_none) || numbers.iter().all(|number| *number == Some(0));
    let is_observed = status.observed_generation.is_some_and(|generation| generation > 0);
    !is_empty || is_observed || status.disrupted_pods.as_ref().is_some_and(|pods| !pods.is_empty())
}

/// Returns the condition of a budget, with the generation that the old status observed.
fn condition(old: &PodDisruptionBudgetStatus, is_true: bool, reason: &str, message: String, now: i64) -> Condition {
    let status = if is_true { "True" } else { "False" };
    let before = old.conditions.iter().flatten().find(|condition| condition.type_ == DISRUPTION_ALLOWED);
    let unchanged = before.filter(|before| before.status == status);
    Condition {
        last_transition_time: unchanged.map_or_else(|| time(now), |before| before.last_transition_time.clone()),
        message,
        observed_generation: old.observed_generation,
        reason: reason.to_owned(),
        status: status.to_owned(),
        type_: DISRUPTION_ALLOWED.to_owned(),
    }
}

/// Returns whether a pod counts as healthy (`countHealthyPods`), although no kubelet reports readiness.
fn is_healthy(pod: &Pod) -> bool {
    let has_node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).is_some_and(|node| !node.is_empty());
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let ready = conditions.into_iter().find(|condition| condition.type_ == "Ready");
    let is_ready = ready.map_or(has_node && !is_finished(pod), |condition| condition.status == "True");
    is_ready && pod.metadata.deletion_timestamp.is_none()
}

fn labels(pod: &Pod, interner: &mut Interner) -> Labels {
    let labels = pod.metadata.labels.iter().flatten();
    model::labels(labels.map(|(name, value)| (name.as_str(), value.as_str())), interner)
}

#[cfg(test)]
mod tests;
