//! Pods.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{
    ControllerRef, Labels, NodeSelector, NodeSelectorTerm, NonZero, PodAffinity, Resources, Toleration,
    TopologySpreadConstraint, Volume,
};
use crate::intern::Symbol;

/// `metadata.uid`. A pod that is deleted and created again under its name is another pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uid(pub Arc<str>);

/// Transport protocol of a host port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protocol {
    /// TCP, also where nothing is written.
    Tcp,
    /// UDP.
    Udp,
    /// SCTP.
    Sctp,
    /// Another word: a protocol of its own.
    Other(Symbol),
}

/// A port of the node that a container asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostPort {
    /// The address on the node. An empty one is written `0.0.0.0`, which collides with all.
    pub ip: Symbol,
    /// The protocol.
    pub protocol: Protocol,
    /// The port, never 0.
    pub port: i32,
}

/// A preferred term of node affinity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PreferredTerm {
    /// Added to a node's score if the term matches. Terms of weight 0 are left out, but for one that never matches if
    /// there is no other.
    pub weight: i64,
    /// The condition, or what is wrong with it in Kubernetes' words: then scheduling the pod fails with that.
    pub term: Result<NodeSelectorTerm, Arc<str>>,
}

/// What a pod may do to those of lower priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PreemptionPolicy {
    /// Take their place.
    #[default]
    PreemptLowerPriority,
    /// Wait.
    Never,
}

/// A resource claim of a pod: `spec.resourceClaims[]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PodResourceClaim {
    /// What the pod calls it.
    pub name: Symbol,
    /// Where the claim comes from.
    pub source: ClaimSource,
}

/// Where a pod's resource claim comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClaimSource {
    /// `resourceClaimName`: the claim of this name.
    Named(Symbol),
    /// `resourceClaimTemplateName`: a claim that is generated for the pod.
    Generated,
    /// Neither is given.
    Missing,
}

/// What a pod's status says of generated resource claims.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimStatuses {
    /// `status.resourceClaimStatuses`: what the pod calls a claim, and the claim's name if there is one.
    pub generated: Box<[(Symbol, Option<Symbol>)]>,
    /// `status.extendedResourceClaimStatus` as text.
    pub extended: Option<Arc<str>>,
}

/// All of a pod that plugins may look at before it runs: pods of one template share it. The default asks for nothing, and
/// has no container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodSpec {
    /// `metadata.namespace`.
    pub namespace: Symbol,
    /// `metadata.labels`.
    pub labels: Labels,
    /// `spec.schedulerName`.
    pub scheduler_name: Symbol,
    /// `spec.priority`, 0 if there is none.
    pub priority: i32,
    /// `spec.preemptionPolicy`.
    pub preemption_policy: PreemptionPolicy,
    /// `spec.nodeName` as it is written: what the NodeName plugin compares.
    pub node_name: Option<Symbol>,
    /// What must be free on a node, by the spec alone: sum of containers or peak of the init sequence, pod-level
    /// requests in place of it, overhead on top (Kubernetes' `PodRequests`).
    pub requests: Resources,
    /// What NodeResourcesFit scores the pod by: as `requests` without pod-level requests, and with 100m cpu and
    /// 200 MiB for every container that asks for none. Covers all resources.
    pub fit_score_requests: Resources,
    /// What NodeResourcesBalancedAllocation scores the pod by: as `requests`, and with what its status says of a resize.
    pub balance_requests: Resources,
    /// `spec.tolerations`.
    pub tolerations: Box<[Toleration]>,
    /// `spec.nodeSelector`, sorted.
    pub node_selector: Labels,
    /// `requiredDuringSchedulingIgnoredDuringExecution` of node affinity. `None`: not given.
    pub required_node_affinity: Option<NodeSelector>,
    /// What is wrong with terms of that, in Kubernetes' words. Those match nothing, the others hold.
    pub broken_node_affinity: Option<Arc<str>>,
    /// `preferredDuringSchedulingIgnoredDuringExecution` of node affinity.
    pub preferred_node_affinity: Box<[PreferredTerm]>,
    /// Pod affinity and anti-affinity.
    pub affinity: PodAffinity,
    /// `spec.topologySpreadConstraints`.
    pub spread: Box<[TopologySpreadConstraint]>,
    /// The controller that owns it, if it is one of those that default spreading constraints ask.
    pub controller: Option<ControllerRef>,
    /// `spec.volumes`, those that scheduling looks at.
    pub volumes: Box<[Volume]>,
    /// `spec.resourceClaims`.
    pub resource_claims: Box<[PodResourceClaim]>,
    /// Features that its node must have declared, by what its spec uses.
    pub required_features: Box<[Symbol]>,
    /// Host ports of containers and restartable init containers, each once, sorted.
    pub host_ports: Box<[HostPort]>,
    /// Normalised image names (`:latest` where neither tag nor digest is given) of init containers, containers and
    /// image volumes, in this order, repetitions included.
    pub images: Box<[Symbol]>,
    /// Number of containers and init containers.
    pub containers: u32,
    /// `spec.schedulingGates`, by name.
    pub scheduling_gates: Box<[Symbol]>,
}

impl PodSpec {
    /// Whether it has volumes by claim, or resource claims.
    pub fn has_claims(&self) -> bool {
        !self.resource_claims.is_empty() || self.volumes.iter().any(|volume| volume.claim().is_some())
    }
}

impl Hash for PodSpec {
    /// Takes in what templates differ by. The rest follows from that, or is the same in most of them.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.namespace, self.priority, self.node_name, self.containers).hash(state);
        (self.requests.milli_cpu, self.requests.memory, &self.requests.scalars).hash(state);
        (&self.labels, &self.tolerations, &self.node_selector).hash(state);
        (&self.required_node_affinity, &self.preferred_node_affinity, &self.spread).hash(state);
        let PodAffinity { required, anti_required, preferred, anti_preferred, .. } = &self.affinity;
        if !self.affinity.is_empty() {
            (required, anti_required, preferred, anti_preferred).hash(state);
        }
        (&self.controller, &self.volumes, &self.resource_claims).hash(state);
        (&self.host_ports, &self.images, &self.scheduling_gates).hash(state);
    }
}

/// A pod: who it is, what it asks for, and where it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pod {
    /// `metadata.uid`.
    pub uid: Uid,
    /// `metadata.namespace`, to be read by people and servers; plugins compare that of the spec.
    pub namespace: Arc<str>,
    /// `metadata.name`.
    pub name: Arc<str>,
    /// The rest of it.
    pub spec: Arc<PodSpec>,
    /// What it takes of its node while it runs: as `spec.requests`, and with what its status says of a resize.
    pub usage: Arc<PodUsage>,
    /// What its status says of generated resource claims, if it says anything.
    pub claim_statuses: Option<Arc<ClaimStatuses>>,
    /// The node that an earlier preemption has made room on: `status.nominatedNodeName`.
    pub nominated_node: Option<Symbol>,
    /// Whether it is being deleted because a scheduler preempted it: its condition `DisruptionTarget` says so.
    pub preempted: bool,
    /// Whether it has a deletion timestamp.
    pub deleting: bool,
    /// `metadata.creationTimestamp` in nanoseconds since 1970.
    pub created: Option<i64>,
    /// `status.startTime` in nanoseconds since 1970.
    pub started: Option<i64>,
}

impl Pod {
    /// `namespace/name`, for people.
    pub fn namespaced_name(&self) -> impl fmt::Display + '_ {
        fmt::from_fn(|f| write!(f, "{}/{}", self.namespace, self.name))
    }
}

/// What a running pod takes of its node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct PodUsage {
    /// Counted against the node's allocatable.
    pub requests: Resources,
    /// Counted for scoring.
    pub non_zero: NonZero,
}
