//! Resource requests of the pod.

use std::fmt;

use k8s_openapi::api::core::v1::{PodSpec, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use serde::Serialize;

use super::amount::{amount, text};
use crate::remedies::change::Change;
use crate::remedies::fork::Fork;
use crate::remedies::situation::Situation;

/// Maximum number of containers whose requests are lowered.
const MAX_CONTAINERS: usize = 4;

/// Lowers a request to the highest value with which the pod is schedulable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LowerRequest {
    /// The container; empty for a request of the whole pod.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub container: String,
    /// The resource.
    pub resource: String,
    /// The request.
    pub from: String,
    /// The request afterwards.
    pub to: String,
    /// The request as a number.
    #[serde(skip)]
    amount: i64,
    /// The smallest value that is tried.
    #[serde(skip)]
    smallest: i64,
    /// `amount` minus the request afterwards.
    #[serde(skip)]
    reduction: i64,
}

impl LowerRequest {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        let spec = fork.subject().spec.unwrap_or_default();
        let reasons = situation.reasons("NodeResourcesFit");
        for resource in reasons.into_iter().filter_map(|reason| reason.strip_prefix("Insufficient ")) {
            let pod_level = pod_resources(&spec).and_then(|resources| requested(resources, resource));
            let mut requests: Vec<(&str, i64)> = match pod_level {
                Some(amount) => vec![("", amount)],
                None => container_resources(&spec)
                    .filter_map(|(name, resources)| Some((name, requested(resources, resource)?)))
                    .collect(),
            };
            requests.sort_by_key(|(_, amount)| std::cmp::Reverse(*amount));
            // A request of the whole pod must cover the requests of its containers.
            let in_containers = container_resources(&spec).filter_map(|(_, resources)| requested(resources, resource));
            let smallest = if pod_level.is_some() { in_containers.fold(0, i64::saturating_add).max(1) } else { 1 };
            for (container, amount) in
                requests.into_iter().take(MAX_CONTAINERS).filter(|(_, amount)| *amount > smallest)
            {
                let mut lowered = LowerRequest {
                    container: container.to_owned(),
                    resource: resource.to_owned(),
                    from: text(resource, amount),
                    to: String::new(),
                    amount,
                    smallest,
                    reduction: 0,
                };
                lowered.set_strength(amount - smallest);
                add(lowered);
            }
        }
    }

    fn change(&self, resources: &mut ResourceRequirements) {
        let to = Quantity(self.to.clone());
        if let Some(request) = resources.requests.as_mut().and_then(|requests| requests.get_mut(&self.resource)) {
            *request = to.clone();
        }
        // Only cpu, memory and ephemeral storage may have a limit above the request. Other limits are lowered too.
        if !matches!(self.resource.as_str(), "cpu" | "memory" | "ephemeral-storage")
            && let Some(limit) = resources.limits.as_mut().and_then(|limits| limits.get_mut(&self.resource))
        {
            *limit = to;
        }
    }
}

fn pod_resources(spec: &PodSpec) -> Option<&ResourceRequirements> {
    spec.resources.as_ref()
}

fn container_resources(spec: &PodSpec) -> impl Iterator<Item = (&str, &ResourceRequirements)> {
    let containers = spec.containers.iter().chain(spec.init_containers.iter().flatten());
    containers.filter_map(|container| Some((container.name.as_str(), container.resources.as_ref()?)))
}

fn requested(resources: &ResourceRequirements, resource: &str) -> Option<i64> {
    Some(amount(resource, resources.requests.as_ref()?.get(resource)?))
}

impl Change for LowerRequest {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        let mut pod = fork.subject();
        let spec = pod.spec.get_or_insert_default();
        if self.container.is_empty() {
            spec.resources.iter_mut().for_each(|resources| self.change(resources));
        }
        let containers = spec.containers.iter_mut().chain(spec.init_containers.iter_mut().flatten());
        for container in containers.filter(|container| container.name == self.container) {
            container.resources.iter_mut().for_each(|resources| self.change(resources));
        }
        fork.set(pod);
        true
    }

    fn disturbance(&self) -> u32 {
        // At most 80 for a request that is nearly removed.
        20 + u32::try_from(self.reduction.saturating_mul(60) / self.amount.max(1)).unwrap_or(60)
    }

    fn strengths(&self) -> i64 {
        self.amount - self.smallest
    }

    fn set_strength(&mut self, strength: i64) {
        self.reduction = strength;
        self.to = text(&self.resource, self.amount - strength);
    }
}

impl fmt::Display for LowerRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LowerRequest { container, resource, from, to, .. } = self;
        let owner = if container.is_empty() { "the pod".to_owned() } else { format!("container {container}") };
        write!(f, "lower the {resource} request of {owner} from {from} to {to}")
    }
}
