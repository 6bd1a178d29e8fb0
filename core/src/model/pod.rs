//! Pods.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{
    ControllerRef, Labels, NodeSelectorTerm, NonZero, PodAffinity, RequiredNodeAffinity, Resources, Toleration,
    TopologySpreadConstraint, Volume,
};
use crate::model::intern::Symbol;
use crate::model::symbols::Symbols;

/// `metadata.uid`. A pod that is deleted and created again with the same name is another pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uid(pub Arc<str>);

/// Transport protocol of a host port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Symbols)]
pub enum Protocol {
    /// TCP, which is the default.
    Tcp,
    /// UDP.
    Udp,
    /// SCTP.
    Sctp,
    /// Any other value: a separate protocol.
    Other(Symbol),
}

/// A port of the node that a container requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Symbols)]
pub struct HostPort {
    /// The address on the node. An empty one is stored as `0.0.0.0`, which conflicts with all addresses.
    pub ip: Symbol,
    /// The protocol.
    pub protocol: Protocol,
    /// The port, never 0.
    pub port: i32,
}

/// A preferred term of node affinity. Empty terms and terms of weight 0 are left out. If no term is left, one that
/// never matches replaces them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct PreferredTerm {
    /// Weight that is added to a node's score if the term matches.
    pub weight: i64,
    /// The condition, or its error in Kubernetes' words. With an error, every scheduling attempt of the pod fails.
    pub term: Result<NodeSelectorTerm, Arc<str>>,
}

/// Whether a pod may preempt pods of lower priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PreemptionPolicy {
    /// The pod may preempt.
    #[default]
    PreemptLowerPriority,
    /// The pod may not preempt.
    Never,
}

/// A resource claim of a pod: `spec.resourceClaims[]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct PodResourceClaim {
    /// Name of the claim in the pod.
    pub name: Symbol,
    /// Source of the claim.
    pub source: ClaimSource,
}

/// Source of a pod's resource claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Symbols)]
pub enum ClaimSource {
    /// `resourceClaimName`: the claim of this name.
    Named(Symbol),
    /// `resourceClaimTemplateName`: a claim that is generated for the pod.
    Generated,
    /// Neither is set.
    Missing,
}

/// Generated resource claims in a pod's status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Symbols)]
pub struct ClaimStatuses {
    /// `status.resourceClaimStatuses`: a claim's name in the pod's spec, and the name of the ResourceClaim. `None`: the
    /// pod does not need it.
    pub generated: Box<[(Symbol, Option<Symbol>)]>,
    /// `status.extendedResourceClaimStatus` as text.
    pub extended: Option<Arc<str>>,
}

/// A container's request for an extended resource that devices may back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct ContainerDeviceRequest {
    /// The extended resource.
    pub resource: Symbol,
    /// Requested number, not 0.
    pub count: i64,
    /// Index of the container among init containers and containers.
    pub container: u32,
    /// Name of the container.
    pub container_name: Symbol,
    /// Whether the container ends before the next one starts: an init container that does not restart.
    pub is_short_lived: bool,
    /// Name of the request in the claim for extended resources: `container-I-request-J`, where J is the place of the
    /// resource among all resources that the container requests, sorted by name.
    pub name: Symbol,
}

/// All parts of a pod that plugins may read before it runs, shared by pods of one template. The default requests
/// nothing and has no container.
#[derive(Clone, Debug, Default, PartialEq, Eq, Symbols)]
pub struct PodSpec {
    /// `metadata.namespace`.
    pub namespace: Symbol,
    /// `metadata.labels`.
    pub labels: Labels,
    /// `spec.schedulerName`.
    pub scheduler_name: Symbol,
    /// `spec.priority`, 0 if not set.
    pub priority: i32,
    /// `spec.preemptionPolicy`.
    pub preemption_policy: PreemptionPolicy,
    /// `spec.nodeName` as written, for the NodeName plugin.
    pub node_name: Option<Symbol>,
    /// Resources that must be free on a node, computed from the spec alone (Kubernetes' `PodRequests`): the larger of
    /// the sum of containers and the peak of the init sequence. Pod-level requests replace this amount; the overhead is
    /// added.
    pub requests: Resources,
    /// Requests that NodeResourcesFit scores: as `requests`, but without pod-level requests, and with 100m cpu and 200
    /// MiB for every container without a request. In contrast to [`PodUsage::non_zero`], it has all resources.
    pub fit_score_requests: Resources,
    /// Requests that NodeResourcesBalancedAllocation scores: as `requests`, but including an in-place resize in the
    /// pod's status.
    pub balance_requests: Resources,
    /// `spec.tolerations`.
    pub tolerations: Box<[Toleration]>,
    /// `spec.nodeSelector`, sorted.
    pub node_selector: Labels,
    /// `requiredDuringSchedulingIgnoredDuringExecution` of node affinity.
    pub required_node_affinity: RequiredNodeAffinity,
    /// Errors of wrong terms of `required_node_affinity`, in Kubernetes' words. Wrong terms match nothing; the others
    /// apply.
    pub broken_node_affinity: Option<Arc<str>>,
    /// `preferredDuringSchedulingIgnoredDuringExecution` of node affinity.
    pub preferred_node_affinity: Box<[PreferredTerm]>,
    /// Pod affinity and anti-affinity.
    pub affinity: PodAffinity,
    /// `spec.topologySpreadConstraints`.
    pub spread: Box<[TopologySpreadConstraint]>,
    /// The controller that owns it, if default spreading constraints use its kind.
    pub controller: Option<ControllerRef>,
    /// The volumes of `spec.volumes` that scheduling reads, in order.
    pub volumes: Box<[Volume]>,
    /// `spec.resourceClaims`.
    pub resource_claims: Box<[PodResourceClaim]>,
    /// Requests for extended resources that devices may back, sorted by resource name as text, then by container.
    pub device_requests: Box<[ContainerDeviceRequest]>,
    /// Features that its node must declare, derived from the spec.
    pub required_features: Box<[Symbol]>,
    /// Host ports of containers and restartable init containers, each once, sorted.
    pub host_ports: Box<[HostPort]>,
    /// Normalised image names (`:latest` where neither tag nor digest is given) of init containers, containers and
    /// image volumes, in this order, repetitions included.
    pub images: Box<[Symbol]>,
    /// Number of containers including init containers.
    pub containers: u32,
    /// Names of `spec.schedulingGates`.
    pub scheduling_gates: Box<[Symbol]>,
}

impl PodSpec {
    /// Returns whether it has resource claims, or requests resources that device classes can back.
    #[inline]
    pub fn may_use_devices(&self) -> bool {
        !self.resource_claims.is_empty() || !self.requests.scalars.is_empty()
    }

    /// Returns whether the spec names claims, for volumes or devices. Names of claims generated from templates are in the
    /// pod's status, not in its spec.
    pub fn names_claims(&self) -> bool {
        let is_named = |claim: &PodResourceClaim| matches!(claim.source, ClaimSource::Named(_));
        self.resource_claims.iter().any(is_named) || self.volumes.iter().any(|volume| volume.claim().is_some())
    }
}

impl Hash for PodSpec {
    /// Hashes the fields in which templates usually differ. The other fields follow from these, or are the same in most
    /// templates.
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

/// A pod: identity, specification and status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pod {
    /// `metadata.uid`.
    pub uid: Uid,
    /// `metadata.namespace`, for messages and requests; plugins compare the one in the spec.
    pub namespace: Arc<str>,
    /// `metadata.name`.
    pub name: Arc<str>,
    /// The specification.
    pub spec: Arc<PodSpec>,
    /// Resources that it uses on its node: as `spec.requests`, but including an in-place resize in the pod's status.
    pub usage: Arc<PodUsage>,
    /// Generated resource claims in its status, if there are any.
    pub claim_statuses: Option<Arc<ClaimStatuses>>,
    /// The nominated node, for example of an earlier preemption: `status.nominatedNodeName`.
    pub nominated_node: Option<Symbol>,
    /// Whether it is being deleted because a scheduler preempted it, according to its condition `DisruptionTarget`.
    pub preempted: bool,
    /// Whether it has a deletion timestamp.
    pub deleting: bool,
    /// `metadata.creationTimestamp` in nanoseconds since 1970.
    pub created: Option<i64>,
    /// `status.startTime` in nanoseconds since 1970.
    pub started: Option<i64>,
}

impl Pod {
    /// Returns `namespace/name`, for messages.
    pub fn namespaced_name(&self) -> impl fmt::Display + '_ {
        fmt::from_fn(|f| write!(f, "{}/{}", self.namespace, self.name))
    }
}

/// Resources that a running pod uses on its node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Symbols)]
pub struct PodUsage {
    /// Resources that count against the node's allocatable.
    pub requests: Resources,
    /// Resources that count for scoring.
    pub non_zero: NonZero,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_does_not_name_generated_claims() {
        let spec = |source| {
            let claim = PodResourceClaim { name: Symbol::EMPTY, source };
            PodSpec { resource_claims: [claim].into(), ..PodSpec::default() }
        };
        assert!(spec(ClaimSource::Named(Symbol::EMPTY)).names_claims());
        assert!(!spec(ClaimSource::Generated).names_claims());
    }
}
