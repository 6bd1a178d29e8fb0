//! Resource requests of a pod, summed as kube-scheduler does (`PodRequests` and its options).

#[cfg(feature = "manifests")]
use k8s_openapi::api::core::v1::ResourceRequirements;
use k8s_openapi::api::core::v1::{Container, Pod};
use schedc_core::intern::Interner;
use schedc_core::model::{NonZero, PodUsage, Resources};
use schedc_core::quantity::Quantity;

use super::amounts::{Amounts, ResourceList};

/// Default cpu request of a container, for scoring.
const DEFAULT_MILLI_CPU: i64 = 100;
/// Default memory request of a container in bytes, for scoring.
const DEFAULT_MEMORY: i64 = 200 << 20;

/// Resource requests of a pod, one sum for each purpose.
pub(super) struct Requests {
    /// Amounts that must be free on a node, computed from the pod's spec without its status.
    pub(super) by_spec: Resources,
    /// Amounts for NodeResourcesFit's Score: containers only, with defaults for missing requests.
    pub(super) fit_score: Resources,
    /// Amounts that the pod uses on its node (`PodInfo.CalculateResource`). The amounts in its status count too,
    /// because they differ from the spec during a resize.
    pub(super) usage: PodUsage,
}

impl Requests {
    /// Sums up the requests of a pod. For a pod without pod-level requests and resizes, `usage` needs no separate sums.
    pub(super) fn new(pod: &Pod, interner: &mut Interner) -> Requests {
        let by_spec = Rules::default().requests(pod);
        let by_containers = Rules { ignore_pod_level: true, defaults: defaults(true, true), ..Rules::default() };
        let fit_score = by_containers.requests(pod);
        let usage = if pod_level_requests(pod).is_none() && !may_be_resized(pod) {
            usage(&by_spec, &fit_score, interner)
        } else {
            usage_by_status(pod, interner)
        };
        Requests { by_spec: by_spec.to_resources(interner), fit_score: fit_score.to_resources(interner), usage }
    }
}

fn usage_by_status(pod: &Pod, interner: &mut Interner) -> PodUsage {
    let rules = Rules { by_status: true, ..Rules::default() };
    let requests = rules.requests(pod);
    let pod_level = pod_level_requests(pod).is_some();
    let missing = |name| !pod_level || requests.get(name).is_none();
    let rules = Rules { defaults: defaults(missing("cpu"), missing("memory")), ..rules };
    usage(&requests, &rules.requests(pod), interner)
}

fn usage(requests: &Amounts<'_>, non_zero: &Amounts<'_>, interner: &mut Interner) -> PodUsage {
    PodUsage {
        requests: requests.to_resources(interner),
        non_zero: NonZero {
            milli_cpu: non_zero.get("cpu").unwrap_or_default().milli_value(),
            memory: non_zero.get("memory").unwrap_or_default().value(),
        },
    }
}

/// Returns whether the status has actual resources of a container, which differ from the spec during a resize.
fn may_be_resized(pod: &Pod) -> bool {
    let status = pod.status.as_ref();
    let containers = status.and_then(|status| status.container_statuses.as_ref());
    let init_containers = status.and_then(|status| status.init_container_statuses.as_ref());
    containers.into_iter().chain(init_containers).flatten().any(|status| status.resources.is_some())
}

fn defaults<'a>(cpu: bool, memory: bool) -> Amounts<'a> {
    let mut defaults = Amounts::default();
    if cpu {
        defaults.set("cpu", Quantity::from_milli(DEFAULT_MILLI_CPU));
    }
    if memory {
        defaults.set("memory", Quantity::from_units(DEFAULT_MEMORY));
    }
    defaults
}

/// Kubernetes' `PodResourcesOptions`.
#[derive(Default)]
struct Rules<'a> {
    /// Whether actual and allocated resources in the status count too.
    by_status: bool,
    /// Whether `spec.resources` is ignored.
    ignore_pod_level: bool,
    /// Requests for the resources that a container does not list.
    defaults: Amounts<'a>,
}

impl<'a> Rules<'a> {
    fn requests(&self, pod: &'a Pod) -> Amounts<'a> {
        let mut requests = self.containers(pod);
        if let Some(written) = pod_level_requests(pod).filter(|_| !self.ignore_pod_level) {
            let spec = Amounts::new(Some(written));
            let status = pod.status.as_ref().filter(|_| self.by_status);
            let effective = status.and_then(|status| {
                let actual = status.resources.as_ref()?.requests.as_ref();
                Some(effective(pod, spec.clone(), actual, status.allocated_resources.as_ref()))
            });
            for (name, quantity) in spec.iter().filter(|(name, _)| is_pod_level(name)) {
                let quantity = effective.as_ref().map_or(quantity, |list| list.get(name).unwrap_or_default());
                requests.set(name, quantity);
            }
        }
        requests.add(&Amounts::new(pod.spec.as_ref().and_then(|spec| spec.overhead.as_ref())));
        requests
    }

    fn containers(&self, pod: &'a Pod) -> Amounts<'a> {
        aggregate(pod, |container, keeps_running| self.container(pod, container, keeps_running))
    }

    fn container(&self, pod: &'a Pod, container: &'a Container, keeps_running: bool) -> Amounts<'a> {
        let mut requests = Amounts::new(container.resources.as_ref().and_then(|r| r.requests.as_ref()));
        if self.by_status && keeps_running {
            let status = pod.status.as_ref().and_then(|status| {
                let main = status.container_statuses.iter().flatten();
                // If two statuses have the same name, the last one counts.
                main.chain(status.init_container_statuses.iter().flatten()).rfind(|s| s.name == container.name)
            });
            if let Some((status, actual)) = status.and_then(|s| Some((s, s.resources.as_ref()?))) {
                requests = effective(pod, requests, actual.requests.as_ref(), status.allocated_resources.as_ref());
            }
        }
        requests.fill(&self.defaults);
        requests
    }
}

/// Sums the amounts of a pod's containers. All containers run together with all restartable init containers. Other init
/// containers run one after the other, each together with the restartable ones before it. The result is the maximum
/// amount of each resource at any time.
///
/// `own` returns the amounts of one container. Its second argument is whether the container keeps running, unlike an
/// init container that is not restartable.
fn aggregate<'a>(pod: &'a Pod, own: impl Fn(&'a Container, bool) -> Amounts<'a>) -> Amounts<'a> {
    let Some(spec) = &pod.spec else { return Amounts::default() };
    let mut running = Amounts::default();
    for container in &spec.containers {
        running.add(&own(container, true));
    }
    let mut restartable = Amounts::default();
    let mut peak = Amounts::default();
    for container in spec.init_containers.iter().flatten() {
        let is_restartable = is_restartable(container);
        let mut own = own(container, is_restartable);
        if is_restartable {
            running.add(&own);
            restartable.add(&own);
            peak.raise_to(&restartable);
        } else {
            own.add(&restartable);
            peak.raise_to(&own);
        }
    }
    running.raise_to(&peak);
    running
}

/// Returns the sum of the containers' requests or limits in the manifest (`AggregateContainerRequests`).
#[cfg(feature = "manifests")]
pub(crate) fn container_amounts(
    pod: &Pod,
    list: fn(&ResourceRequirements) -> Option<&ResourceList>,
) -> impl Iterator<Item = (&str, Quantity)> {
    aggregate(pod, |container, _| Amounts::new(container.resources.as_ref().and_then(list))).into_iter()
}

/// Returns the maximum of the desired, actual and allocated resources. If the pod has an infeasible resize, its desired
/// resources (`spec`) are ignored.
fn effective<'a>(
    pod: &Pod,
    spec: Amounts<'a>,
    actual: Option<&'a ResourceList>,
    allocated: Option<&'a ResourceList>,
) -> Amounts<'a> {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let pending = conditions.into_iter().find(|condition| condition.type_ == "PodResizePending");
    let infeasible = pending.is_some_and(|condition| condition.reason.as_deref() == Some("Infeasible"));
    let mut most = if infeasible { Amounts::default() } else { spec };
    most.raise_to(&Amounts::new(actual));
    most.raise_to(&Amounts::new(allocated));
    most
}

/// Returns `spec.resources.requests`, if it has a resource that supports pod-level requests.
fn pod_level_requests(pod: &Pod) -> Option<&ResourceList> {
    let requests = pod.spec.as_ref()?.resources.as_ref()?.requests.as_ref()?;
    requests.keys().any(|name| is_pod_level(name)).then_some(requests)
}

/// Returns whether a resource supports pod-level requests.
pub(crate) fn is_pod_level(name: &str) -> bool {
    name == "cpu" || name == "memory" || name.starts_with("hugepages-")
}

/// Returns whether an init container is restartable (a sidecar).
pub(crate) fn is_restartable(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

#[cfg(test)]
mod tests;
