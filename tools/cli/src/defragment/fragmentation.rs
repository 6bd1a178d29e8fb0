//! GPU fragmentation: the measure of Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with
//! Fragmentation Gradient Descent" (USENIX ATC 2023).
//!
//! The measure asks how many free GPUs a typical pod cannot use. Each resource is measured separately. The target workload
//! is the set of kinds of pods in the cluster, each with its popularity. Pods of a kind have equal requests and select the
//! same nodes. For a kind on a node, the fragments are:
//!
//! - all free GPUs, if the pod requests no GPU, or cannot run on the node;
//! - otherwise, in the paper, the free shares of GPUs that are smaller than the pod's share. Here, there are none,
//!   because extended resources count whole GPUs.
//!
//! The fragmentation of a node is the sum over the kinds, weighted by popularity. The fragmentation of a cluster is the
//! sum over its nodes. The profile of a pod decides whether the pod can run on a node.

use std::collections::{BTreeMap, HashMap, HashSet};

use k8s_openapi::api::core::v1::{Affinity, Container, NodeAffinity, Pod as ApiPod, PodSpec, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_core::column::NodeInfo;
use schedc_core::intern::{Interner, Symbol};
use schedc_objects::{convert_pod, is_finished};
use serde::Serialize;

use super::GpuChange;
use crate::drain::eviction::{Permissions, Treatment, treatment};
use crate::resource_amounts::amounts;
use crate::trial::Trial;

/// Maximum number of kinds of pods in the target workload. The most popular kinds are used.
const MAX_TASKS: usize = 50;

/// GPU fragmentation of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Fragmentation {
    /// Number of free GPUs.
    pub free: f64,
    /// Number of free GPUs that a pod of the target workload cannot use, on average.
    pub fragmented: f64,
    /// The part of `fragmented` due to pods that request no GPU.
    pub no_request: f64,
    /// The part of `fragmented` due to pods that cannot run on the node of the GPU.
    pub cannot_run: f64,
}

/// A kind of pod of the target workload.
struct Task {
    pod: ApiPod,
    /// Share of the pods of this kind.
    popularity: f64,
    /// Requested GPUs of each resource.
    gpus: Vec<f64>,
}

/// Measures the fragmentation for one target workload.
pub(super) struct Gauge {
    resources: Vec<String>,
    tasks: Vec<Task>,
    /// Share of the pods of the cluster whose kind is in `tasks`.
    coverage: f64,
}

/// The reason why a free GPU is a fragment for a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    NoRequest,
    CannotRun,
}

/// Returns the number of free GPUs of a node that are fragments for a pod, with the cause; `None` if the pod can use them.
/// GPUs of extended resources are whole: a free one is large enough.
fn fragments(free: f64, requested: f64, can_run: bool) -> Option<(Cause, f64)> {
    if requested <= 0.0 {
        Some((Cause::NoRequest, free))
    } else if !can_run {
        Some((Cause::CannotRun, free))
    } else {
        None
    }
}

impl Gauge {
    /// Takes the pods of the cluster as the target workload. Returns `None` if no node has GPUs.
    pub(super) fn new(trial: &mut Trial, resources: &[String]) -> Option<Self> {
        let known = extended_resources(trial);
        let resources: Vec<String> = match resources.is_empty() {
            true => known.into_iter().filter(|name| name.ends_with("/gpu")).collect(),
            false => resources.iter().filter(|name| known.contains(*name)).cloned().collect(),
        };
        if resources.is_empty() {
            return None;
        }
        let mut kinds: HashMap<String, (usize, ApiPod)> = HashMap::new();
        let mut pods = 0;
        for pod in trial.pods().filter(|pod| is_task(pod)).map(representative) {
            pods += 1;
            // Serialisation cannot fail, because all maps in a pod have text keys.
            let kind = serde_json::to_string(&pod).unwrap_or_default();
            kinds.entry(kind).or_insert((0, pod)).0 += 1;
        }
        let mut kinds: Vec<(String, (usize, ApiPod))> = kinds.into_iter().collect();
        kinds.sort_by(|(a, (a_count, _)), (b, (b_count, _))| b_count.cmp(a_count).then_with(|| a.cmp(b)));
        kinds.truncate(MAX_TASKS);
        let counted: usize = kinds.iter().map(|(_, (count, _))| count).sum();
        let task = |(_, (count, pod)): (String, (usize, ApiPod))| Task {
            popularity: count as f64 / counted as f64,
            gpus: requested_gpus(&pod, &resources),
            pod,
        };
        let tasks = kinds.into_iter().map(task).collect();
        let coverage = if pods == 0 { 1.0 } else { counted as f64 / pods as f64 };
        Some(Gauge { resources, tasks, coverage })
    }

    /// Measures a cluster.
    pub(super) fn measure(&self, trial: &mut Trial) -> Fragmentation {
        let free = self.free(trial);
        let mut total = Fragmentation { free: free.values().flatten().sum(), ..Fragmentation::default() };
        for task in &self.tasks {
            let feasible: HashSet<String> = match task.gpus.iter().any(|requested| *requested > 0.0) {
                true => feasible(trial, &task.pod),
                false => HashSet::new(),
            };
            for (node, free) in &free {
                let can_run = feasible.contains(node);
                for (free, requested) in free.iter().zip(&task.gpus) {
                    let Some((cause, amount)) = fragments(*free, *requested, can_run) else { continue };
                    let amount = task.popularity * amount;
                    total.fragmented += amount;
                    *match cause {
                        Cause::NoRequest => &mut total.no_request,
                        Cause::CannotRun => &mut total.cannot_run,
                    } += amount;
                }
            }
        }
        total
    }

    /// Returns the change since a measurement.
    pub(super) fn change(self, before: Fragmentation, trial: &mut Trial) -> GpuChange {
        let after = self.measure(trial);
        GpuChange { tasks: self.tasks.len(), resources: self.resources, coverage: self.coverage, before, after }
    }

    /// Returns the free GPUs of each resource of each node.
    fn free(&self, trial: &mut Trial) -> BTreeMap<String, Vec<f64>> {
        let base = trial.base();
        let symbols: Vec<_> = self.resources.iter().map(|name| base.interner.get(name)).collect();
        let mut free = BTreeMap::new();
        for info in base.infos() {
            let NodeInfo { node: Some(node), pods } = info else { continue };
            let free_gpus = |symbol: &Option<Symbol>| {
                let Some(symbol) = *symbol else { return 0.0 };
                let used: f64 =
                    pods.iter().filter_map(|pod| pod.usage.requests.scalar(symbol)).map(|gpus| gpus as f64).sum();
                (node.allocatable.scalar(symbol).unwrap_or(0) as f64 - used).max(0.0)
            };
            free.insert(base.interner.resolve(node.name).to_owned(), symbols.iter().map(free_gpus).collect());
        }
        free
    }
}

/// Returns the extended resources of all nodes.
fn extended_resources(trial: &mut Trial) -> Vec<String> {
    let base = trial.base();
    let nodes = base.infos().iter().filter_map(|info| info.node.as_ref());
    let scalars = nodes.flat_map(|node| &node.allocatable.scalars).filter(|(_, amount)| *amount > 0);
    let names: HashSet<&str> = scalars.map(|(name, _)| base.interner.resolve(*name)).collect();
    let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    names.sort_unstable();
    names
}

/// Returns whether a pod belongs to the target workload. Finished pods and pods that stay on their node, such as those of
/// DaemonSets, do not; nor do pods with resource claims, because a claim belongs to one pod.
fn is_task(pod: &ApiPod) -> bool {
    let permissions = Permissions { force: true, delete_empty_dir_data: true };
    let has_claims = pod.spec.as_ref().is_some_and(|spec| spec.resource_claims.iter().flatten().next().is_some());
    !is_finished(pod) && !has_claims && !matches!(treatment(pod, permissions), Treatment::Stays)
}

/// Returns the pod that represents the kind of `pod`. It has the requests of `pod` in one container, and the node
/// constraints of `pod`. In the paper, a task is defined by its resources and the GPU models that it accepts. Volumes,
/// ports, and rules about other pods are left out, because copies of one workload may differ in them. For example, each
/// copy has a separate volume for its service account token.
fn representative(pod: &ApiPod) -> ApiPod {
    let mut interner = Interner::default();
    let requests = convert_pod(pod, &mut interner).usage.requests.clone();
    let requests = amounts(&requests, 0, &interner).into_iter().filter(|(_, amount)| *amount > 0);
    let requests = requests.map(|(resource, amount)| {
        let unit = if resource == "cpu" { "m" } else { "" };
        (resource, Quantity(format!("{amount}{unit}")))
    });
    let spec = pod.spec.clone().unwrap_or_default();
    let node_affinity = spec.affinity.and_then(|affinity| affinity.node_affinity);
    let required = node_affinity.and_then(|affinity| affinity.required_during_scheduling_ignored_during_execution);
    let affinity = required.map(|required| Affinity {
        node_affinity: Some(NodeAffinity {
            required_during_scheduling_ignored_during_execution: Some(required),
            ..NodeAffinity::default()
        }),
        ..Affinity::default()
    });
    let resources = ResourceRequirements { requests: Some(requests.collect()), ..ResourceRequirements::default() };
    let container = Container { name: "task".to_owned(), resources: Some(resources), ..Container::default() };
    ApiPod {
        metadata: ObjectMeta { name: Some("task".to_owned()), ..ObjectMeta::default() },
        spec: Some(PodSpec {
            affinity,
            containers: vec![container],
            node_selector: spec.node_selector.filter(|selector| !selector.is_empty()),
            scheduler_name: spec.scheduler_name,
            tolerations: spec.tolerations.filter(|tolerations| !tolerations.is_empty()),
            ..PodSpec::default()
        }),
        status: None,
    }
}

/// Returns the requested GPUs of each resource.
fn requested_gpus(pod: &ApiPod, resources: &[String]) -> Vec<f64> {
    let mut interner = Interner::default();
    let model = convert_pod(pod, &mut interner);
    let requested =
        |name: &String| interner.get(name).and_then(|symbol| model.usage.requests.scalar(symbol)).unwrap_or(0);
    resources.iter().map(|name| requested(name) as f64).collect()
}

/// Returns the nodes on which a pod can run.
fn feasible(trial: &mut Trial, pod: &ApiPod) -> HashSet<String> {
    let nodes = trial.explain(pod).map(|evaluation| evaluation.nodes).unwrap_or_default();
    nodes.into_iter().filter(|node| node.is_feasible()).map(|node| node.node).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn copies_of_a_workload_are_one_kind() {
        let pod = |name: &str, more: serde_json::Value| -> ApiPod {
            let mut pod = json!({
                "metadata": {"name": name, "namespace": name, "labels": {"pod-template-hash": name}},
                "spec": {
                    "nodeName": name, "nodeSelector": {"gpu-model": "T4"},
                    "volumes": [{"name": format!("kube-api-access-{name}"), "emptyDir": {}}],
                    "containers": [
                        {"name": "a", "resources": {"requests": {"cpu": "500m", "example.com/gpu": "1"}},
                         "volumeMounts": [{"name": format!("kube-api-access-{name}"), "mountPath": "/run"}]},
                        {"name": "b", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}},
                    ],
                },
            });
            let spec = pod["spec"].as_object_mut().unwrap();
            spec.extend(more.as_object().unwrap().clone());
            serde_json::from_value(pod).unwrap()
        };
        let first = representative(&pod("first", json!({})));
        assert_eq!(first, representative(&pod("second", json!({}))));
        assert_ne!(first, representative(&pod("first", json!({"nodeSelector": {"gpu-model": "V100"}}))));
        assert_ne!(first, representative(&pod("first", json!({"tolerations": [{"operator": "Exists"}]}))));
        let requests = first.spec.unwrap().containers.remove(0).resources.unwrap().requests.unwrap();
        let requests: Vec<(&str, &str)> =
            requests.iter().map(|(name, amount)| (name.as_str(), amount.0.as_str())).collect();
        assert_eq!(requests, [("cpu", "1500m"), ("example.com/gpu", "1"), ("memory", "1073741824")]);
    }

    #[test]
    fn free_gpus_are_fragments_for_pods_that_request_none_or_cannot_run() {
        assert_eq!(fragments(2.0, 0.0, true), Some((Cause::NoRequest, 2.0)));
        assert_eq!(fragments(2.0, 4.0, false), Some((Cause::CannotRun, 2.0)));
        assert_eq!(fragments(2.0, 1.0, true), None);
    }
}
