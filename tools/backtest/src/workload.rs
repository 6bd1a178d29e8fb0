//! Pods and other changes of a cluster over time, independent of scheduling decisions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_core::intern::Interner;
use schedc_core::model::Resources;
use schedc_in_memory::server::Key;
use schedc_objects::{AnyObject, convert_pod};

/// Maximum number of different requests for which the usable free amount of a resource is computed. These are the most
/// frequent ones.
pub(crate) const MAX_SHAPES: usize = 64;

/// A workload.
#[derive(Debug, Default)]
pub struct Workload {
    /// Start, in nanoseconds since 1970. 0 if the workload has no absolute times; then all times are since the start.
    pub start: i64,
    /// End.
    pub end: i64,
    /// Objects that exist at the start, except for pods.
    pub objects: Vec<AnyObject>,
    /// All pods.
    pub pods: Vec<WorkloadPod>,
    /// Changes in the order of time.
    pub events: Vec<Event>,
    /// Facts that the assumptions of a simulation mention.
    pub facts: Facts,
    /// Resources that pods request, each with a position in [`Shape::requests`].
    pub resources: Vec<String>,
    /// The most frequent requests of pods, for each resource. Pods that belong to their node do not count.
    pub shapes: Vec<Shape>,
    pub(crate) templates: Vec<Template>,
}

/// Index into [`Workload::pods`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodId(pub u32);

/// Index of a pod template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TemplateId(pub(crate) u32);

/// All parts of a pod except its identity and its node, together with its resource requests.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) pod: ApiPod,
    priority: i32,
    owner: Owner,
    /// Requests in the order of [`Workload::resources`].
    requests: Arc<[i64]>,
}

/// A pod.
#[derive(Clone, Debug)]
pub struct WorkloadPod {
    /// Its specification at its arrival.
    pub template: TemplateId,
    /// `namespace/name`.
    pub name: Arc<str>,
    /// Uid.
    pub uid: Arc<str>,
    /// Creation time as recorded, in nanoseconds as in [`Workload::start`].
    pub created: i64,
    /// Node that it has at its arrival.
    pub node: Option<Arc<str>>,
    /// Node that the recorded scheduler chose.
    pub recorded_node: Option<Arc<str>>,
    /// When it ends.
    pub lifetime: Lifetime,
    /// Whether a profile would place its replacement. The simulation creates no replacements for pods of other
    /// schedulers.
    pub is_served: bool,
}

/// When a pod ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// After the end of the workload.
    #[default]
    Unlimited,
    /// This many nanoseconds after its binding.
    Runs(i64),
    /// At this time, whether it has a node or not.
    Until(i64),
}

/// Owner of a pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Owner {
    /// No controller replaces the pod.
    #[default]
    None,
    /// A Job, which starts the work again.
    Job,
    /// A DaemonSet or a node: the pod belongs to its node.
    Node,
    /// Any other controller, such as a ReplicaSet.
    Controller,
}

/// A change at a time.
#[derive(Debug)]
pub struct Event {
    /// Time in nanoseconds as in [`Workload::start`].
    pub at: i64,
    /// The change.
    pub change: Change,
}

/// A change.
#[derive(Debug)]
pub enum Change {
    /// The pod is created.
    Arrive(PodId),
    /// The pod gets other labels or another spec.
    Update(PodId, TemplateId),
    /// Another object is created or changed.
    Set(Box<AnyObject>),
    /// Another object is deleted.
    Delete(Key),
}

/// Requests of a pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Amounts, in the order of [`Workload::resources`].
    pub requests: Vec<i64>,
    /// Number of pods with these requests.
    pub pods: u64,
}

/// Facts about a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Pods that a scheduler of the recording preempted.
    pub preempted: u64,
    /// Pods whose node was removed before they ended in the recording.
    pub evicted: u64,
    /// Pods that were first seen with a node, after the start.
    pub with_node: u64,
    /// Pods that were first recorded without a node, and whose scheduler no profile replaces.
    pub other_schedulers: u64,
    /// Gaps and restarts of the recorder.
    pub gaps: u64,
    /// Places at which a file of the recording is cut off.
    pub cut: Vec<String>,
    /// Number of lines by kind, for the kinds that no plugin reads.
    pub ignored: BTreeMap<String, u64>,
    /// Whether the workload comes from a trace instead of a recording.
    pub is_trace: bool,
}

impl Workload {
    /// Returns the pod as it is created, with this uid.
    pub fn pod(&self, id: PodId, template: TemplateId, uid: &str) -> ApiPod {
        let key = &self.pods[id.0 as usize].name;
        let mut pod = self.templates[template.0 as usize].pod.clone();
        let (namespace, name) = key.split_once('/').unwrap_or(("default", key));
        pod.metadata.namespace = Some(namespace.to_owned());
        pod.metadata.name = Some(name.to_owned());
        pod.metadata.uid = Some(uid.to_owned());
        pod
    }

    /// Returns the priority of a pod.
    pub fn priority(&self, id: PodId) -> i32 {
        self.template_of(id).priority
    }

    /// Returns the owner of a pod.
    pub fn owner(&self, id: PodId) -> Owner {
        self.template_of(id).owner
    }

    /// Returns the requests of pods of a template, in the order of [`Workload::resources`].
    pub fn requests(&self, template: TemplateId) -> Arc<[i64]> {
        self.templates[template.0 as usize].requests.clone()
    }

    fn template_of(&self, id: PodId) -> &Template {
        &self.templates[self.pods[id.0 as usize].template.0 as usize]
    }

    /// Adds a pod.
    pub fn add_pod(&mut self, pod: WorkloadPod) -> PodId {
        let id = PodId(u32::try_from(self.pods.len()).unwrap_or(u32::MAX));
        self.pods.push(pod);
        id
    }

    /// Adds a template. Its name, uid, node and status are ignored.
    pub(crate) fn add_template(&mut self, mut pod: ApiPod) -> TemplateId {
        let metadata = &mut pod.metadata;
        metadata.deletion_timestamp = None;
        metadata.deletion_grace_period_seconds = None;
        metadata.resource_version = None;
        pod.status = None;
        if let Some(spec) = &mut pod.spec {
            spec.node_name = None;
        }
        let priority = pod.spec.as_ref().and_then(|spec| spec.priority).unwrap_or_default();
        let owner = owner(&pod);
        let id = TemplateId(u32::try_from(self.templates.len()).unwrap_or(u32::MAX));
        self.templates.push(Template { pod, priority, owner, requests: Arc::from([]) });
        id
    }

    /// Sorts the events, and computes the resources, the requests of all pods, and the shapes.
    pub fn finish(&mut self) {
        self.events.sort_by_key(|event| event.at);
        let mut interner = Interner::default();
        let mut names: BTreeSet<String> = BTreeSet::new();
        let requests: Vec<Resources> = self
            .templates
            .iter()
            .map(|template| convert_pod(&template.pod, &mut interner).spec.requests.clone())
            .collect();
        let uses_storage = requests.iter().any(|requests| requests.ephemeral_storage > 0);
        for requests in &requests {
            let requested = requests.scalars.iter().filter(|(_, amount)| *amount > 0);
            names.extend(requested.map(|(name, _)| interner.resolve(*name).to_owned()));
        }
        let storage = uses_storage.then_some("ephemeral-storage");
        self.resources = ["cpu", "memory", "pods"].into_iter().chain(storage).map(str::to_owned).chain(names).collect();
        let mut counts: HashMap<u32, u64> = HashMap::new();
        let is_movable = |pod: &&WorkloadPod| self.templates[pod.template.0 as usize].owner != Owner::Node;
        for pod in self.pods.iter().filter(is_movable) {
            *counts.entry(pod.template.0).or_default() += 1;
        }
        for (template, requests) in self.templates.iter_mut().zip(&requests) {
            template.requests = self.resources.iter().map(|name| amount(requests, name, 1, &interner)).collect();
        }
        let mut shapes: BTreeMap<Vec<i64>, u64> = BTreeMap::new();
        for (id, pods) in counts {
            *shapes.entry(self.templates[id as usize].requests.to_vec()).or_default() += pods;
        }
        let mut shapes: Vec<Shape> = shapes.into_iter().map(|(requests, pods)| Shape { requests, pods }).collect();
        shapes.sort_by(|a, b| b.pods.cmp(&a.pods).then_with(|| a.requests.cmp(&b.requests)));
        self.shapes = most_frequent(shapes, self.resources.len());
    }

    /// Returns the number of nodes at the start.
    pub fn nodes(&self) -> usize {
        let nodes = self.objects.iter().filter(|object| object.kind() == "Node");
        nodes.map(AnyObject::name).collect::<BTreeSet<_>>().len()
    }
}

/// Returns the amount of the resource with this name. For the resource `pods`, this is the parameter `pods`.
pub(crate) fn amount(resources: &Resources, name: &str, pods: i64, interner: &Interner) -> i64 {
    match name {
        "cpu" => resources.milli_cpu,
        "memory" => resources.memory,
        "ephemeral-storage" => resources.ephemeral_storage,
        "pods" => pods,
        name => interner.get(name).and_then(|symbol| resources.scalar(symbol)).unwrap_or(0),
    }
}

/// Returns the shapes that are frequent for at least one resource, in the given order: for each resource, these are the
/// first [`MAX_SHAPES`] of the shapes that request it.
fn most_frequent(shapes: Vec<Shape>, resources: usize) -> Vec<Shape> {
    let mut counts = vec![0; resources];
    let is_frequent = |shape: &Shape| {
        let mut is_frequent = false;
        for (count, amount) in counts.iter_mut().zip(&shape.requests) {
            is_frequent |= *amount > 0 && *count < MAX_SHAPES;
            *count += usize::from(*amount > 0);
        }
        is_frequent
    };
    shapes.into_iter().filter(is_frequent).collect()
}

fn owner(pod: &ApiPod) -> Owner {
    let owners = pod.metadata.owner_references.iter().flatten();
    let Some(controller) = owners.into_iter().find(|owner| owner.controller == Some(true)) else { return Owner::None };
    match controller.kind.as_str() {
        "Job" => Owner::Job,
        "DaemonSet" | "Node" => Owner::Node,
        _ => Owner::Controller,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_resources_keep_their_most_frequent_requests() {
        let shape = |cpu: i64, gpu: i64, pods: u64| Shape { requests: vec![cpu, gpu], pods };
        let mut shapes: Vec<Shape> = (0..100).map(|cpu| shape(cpu + 1, 0, 1000 - cpu as u64)).collect();
        shapes.extend([shape(1, 1, 2), shape(0, 2, 1)]);
        let most_frequent_shapes = most_frequent(shapes, 2);
        assert_eq!(most_frequent_shapes.len(), MAX_SHAPES + 2);
        assert_eq!(most_frequent_shapes[MAX_SHAPES..], [shape(1, 1, 2), shape(0, 2, 1)]);
    }
}
