//! Histories: lists of small steps, each of which is valid after any other steps. Therefore a history
//! without some of its steps is a history, too.

use std::fmt;

use schedc_core::model::Kind;

use crate::plugin_fault::PlannedFault;

/// A step of a history.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Add or update a node.
    Node(NodeSpec),
    /// Delete a node.
    DeleteNode(u8),
    /// Create a pod, unless one with its name exists.
    Pod(PodSpec),
    /// Change a pod.
    ChangePod(u8, PodChange),
    /// Delete a pod. A pod on a node is removed after its grace period.
    DeletePod(u8),
    /// Let a running pod succeed.
    FinishPod(u8),
    /// Bind a pod to a node as another scheduler.
    BindElsewhere(u8, u8),
    /// Set a pod's nominated node as another component.
    Nominate(u8, Option<u8>),
    /// Add or update a disruption budget for the pods of a group, with the number of allowed disruptions.
    Budget(u8, u8),
    /// Delete a disruption budget.
    DeleteBudget(u8),
    /// Create a claim, unless one with its name exists.
    Claim(u8, Storage),
    /// Delete a claim, unless a pod uses it.
    DeleteClaim(u8),
    /// Create a volume in a zone, unless one with its name exists. A released volume is replaced.
    Volume(u8, u8),
    /// Publish a generation of the devices of a node.
    Slices(SliceSpec),
    /// Delete a generation of the devices of a node.
    DeleteSlices(u8, u8),
    /// Create a resource claim, unless one with its name exists.
    ResourceClaim(u8, DeviceRequest),
    /// Delete a resource claim.
    DeleteResourceClaim(u8),
    /// Let the controllers do all pending work.
    Controllers,

    /// Deliver a number of changes of a stream.
    Deliver(Stream, u8),
    /// Deliver the last change again.
    Repeat(Stream),
    /// Break a watch: undelivered changes are lost.
    Break(Stream),
    /// Merge the undelivered changes of each object into its last one, if the object still exists.
    Merge(Stream),
    /// List a stream again.
    List(Stream),
    /// Respond to the pending request at this index, modulo the number of pending requests.
    Answer(u8, Answer),

    /// Let the scheduler pop a pod and decide.
    Schedule,
    /// Advance the time, in milliseconds.
    Pass(u32),
    /// Allow the pod at this index of the pods that wait in Permit, modulo their number.
    Allow(u8),
    /// Reject the pod at this index of the pods that wait in Permit, modulo their number.
    Reject(u8),
    /// Activate a pod, as a plugin can.
    Activate(u8),
    /// Stop the scheduler and start another one. Pending requests are executed if true.
    Restart(bool),
    /// Settle the simulation, and check the invariants of the idle state.
    Settle,
}

/// The response to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// Success.
    Done,
    /// The request is executed and its response lost: the caller times out.
    Lost,
    /// The request is lost: the caller times out.
    TimeOut,
    /// Not executed: conflict.
    Conflict,
    /// Not executed: another error of the server.
    Refused,
}

/// A watched stream of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    /// Nodes.
    Nodes,
    /// Pods.
    Pods,
    /// Disruption budgets.
    Budgets,
    /// Volumes.
    Volumes,
    /// Claims.
    Claims,
    /// Storage classes.
    Classes,
    /// Device classes.
    DeviceClasses,
    /// Slices of devices.
    Slices,
    /// Resource claims.
    ResourceClaims,
}

impl Stream {
    /// All streams.
    pub const ALL: [Stream; 9] = [
        Stream::Nodes,
        Stream::Pods,
        Stream::Budgets,
        Stream::Volumes,
        Stream::Claims,
        Stream::Classes,
        Stream::DeviceClasses,
        Stream::Slices,
        Stream::ResourceClaims,
    ];

    /// Returns the kind of its objects in the model. For nodes and pods, which have no kind in the model, the result
    /// has no meaning.
    pub(crate) const fn model_kind(self) -> Kind {
        match self {
            Stream::Nodes | Stream::Pods | Stream::Budgets => Kind::PodDisruptionBudget,
            Stream::Volumes => Kind::PersistentVolume,
            Stream::Claims => Kind::PersistentVolumeClaim,
            Stream::Classes => Kind::StorageClass,
            Stream::DeviceClasses => Kind::DeviceClass,
            Stream::Slices => Kind::ResourceSlice,
            Stream::ResourceClaims => Kind::ResourceClaim,
        }
    }

    /// Returns the kind of its objects.
    pub const fn kind(self) -> &'static str {
        match self {
            Stream::Nodes => "Node",
            Stream::Pods => "Pod",
            Stream::Budgets => "PodDisruptionBudget",
            Stream::Volumes => "PersistentVolume",
            Stream::Claims => "PersistentVolumeClaim",
            Stream::Classes => "StorageClass",
            Stream::DeviceClasses => "DeviceClass",
            Stream::Slices => "ResourceSlice",
            Stream::ResourceClaims => "ResourceClaim",
        }
    }
}

/// Storage of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// An existing volume.
    Static,
    /// A provisioned volume.
    Provisioned,
}

/// Devices of a node. Their kind depends on the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceSpec {
    /// The node.
    pub node: u8,
    /// Generation.
    pub generation: u8,
    /// Whether the devices have a taint.
    pub tainted: bool,
}

/// A request for devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceRequest {
    /// One device.
    One,
    /// Two devices.
    Two,
    /// A part of a device that several claims share.
    Share,
}

impl DeviceRequest {
    /// All requests.
    pub const ALL: [DeviceRequest; 3] = [DeviceRequest::One, DeviceRequest::Two, DeviceRequest::Share];
}

/// Devices that a pod claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodDevices {
    /// A separate claim, generated from a template.
    Own(DeviceRequest),
    /// A claim that several pods may name.
    Named(u8),
    /// An amount of an extended resource. The class of all devices backs the resource.
    Extended(ExtendedResource, u8),
}

/// An extended resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtendedResource {
    /// The resource that the device class names. Some nodes also have it in their allocatable resources.
    Explicit,
    /// The resource that each class has implicitly.
    Implicit,
}

impl ExtendedResource {
    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            ExtendedResource::Explicit => "example.com/device",
            ExtendedResource::Implicit => "deviceclass.resource.kubernetes.io/devices",
        }
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSpec {
    /// Index: `n0`, `n1`, ...
    pub id: u8,
    /// Zone: `z0`, ...
    pub zone: u8,
    /// CPU in millicores.
    pub milli_cpu: u16,
    /// Maximum number of pods.
    pub pods: u8,
    /// Whether it has the label `disk: ssd`.
    pub ssd: bool,
    /// Whether it is tainted.
    pub tainted: bool,
    /// Whether it is cordoned.
    pub cordoned: bool,
}

/// A pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodSpec {
    /// Index: `p0`, `p1`, ...
    pub id: u8,
    /// Priority.
    pub priority: i16,
    /// Whether it has preemption policy `Never`.
    pub never_preempts: bool,
    /// Requested CPU in millicores.
    pub milli_cpu: u16,
    /// Group: a label.
    pub group: u8,
    /// Whether it selects nodes with `disk: ssd`.
    pub ssd: bool,
    /// Whether it tolerates the taint.
    pub tolerant: bool,
    /// A host port.
    pub port: Option<u16>,
    /// Whether it has anti-affinity to its group on a node.
    pub anti_affinity: bool,
    /// Whether its group is spread over zones.
    pub spread: bool,
    /// Whether it has affinity to its group in a zone.
    pub affinity: bool,
    /// Whether it has a scheduling gate.
    pub gated: bool,
    /// Claim that it mounts.
    pub claim: Option<u8>,
    /// Devices that it claims.
    pub devices: Option<PodDevices>,
    /// Whether it belongs to another scheduler.
    pub foreign: bool,
    /// Grace period, in seconds.
    pub grace: u8,
    /// Faults of plugins for this pod.
    pub planned_faults: Vec<PlannedFault>,
}

/// A change of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodChange {
    /// Remove its gate.
    Ungate,
    /// Change its group.
    Group(u8),
    /// Add a toleration of the taint.
    Tolerate,
    /// Change its request, in millicores.
    Resize(u16),
    /// Add an annotation, which scheduling ignores.
    Annotate,
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stream::Nodes => "nodes",
            Stream::Pods => "pods",
            Stream::Budgets => "budgets",
            Stream::Volumes => "volumes",
            Stream::Claims => "claims",
            Stream::Classes => "storage classes",
            Stream::DeviceClasses => "device classes",
            Stream::Slices => "slices",
            Stream::ResourceClaims => "resource claims",
        })
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Answer::Done => "done",
            Answer::Lost => "done, response lost",
            Answer::TimeOut => "not done, no response",
            Answer::Conflict => "conflict",
            Answer::Refused => "refused",
        })
    }
}

impl fmt::Display for NodeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NodeSpec { id, zone, milli_cpu, pods, ssd, tainted, cordoned } = self;
        write!(f, "n{id}: zone z{zone}, {milli_cpu}m cpu, {pods} pods")?;
        flags(f, &[(*ssd, "ssd"), (*tainted, "tainted"), (*cordoned, "cordoned")])
    }
}

impl fmt::Display for PodSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PodSpec { id, priority, milli_cpu, group, grace, .. } = self;
        write!(f, "p{id}: priority {priority}, {milli_cpu}m cpu, group g{group}, grace period {grace}s")?;
        if let Some(port) = self.port {
            write!(f, ", port {port}")?;
        }
        if let Some(claim) = self.claim {
            write!(f, ", claim c{claim}")?;
        }
        match self.devices {
            Some(PodDevices::Own(request)) => write!(f, ", {request}")?,
            Some(PodDevices::Named(claim)) => write!(f, ", resource claim r{claim}")?,
            Some(PodDevices::Extended(resource, count)) => write!(f, ", {count} {}", resource.name())?,
            None => {}
        }
        flags(
            f,
            &[
                (self.never_preempts, "does not preempt"),
                (self.ssd, "selects ssd"),
                (self.tolerant, "tolerates the taint"),
                (self.anti_affinity, "anti-affinity to its group on a node"),
                (self.spread, "spread over zones"),
                (self.affinity, "affinity to its group in a zone"),
                (self.gated, "gated"),
                (self.foreign, "of another scheduler"),
            ],
        )?;
        self.planned_faults.iter().try_for_each(|planned| write!(f, ", {planned}"))
    }
}

fn flags(f: &mut fmt::Formatter<'_>, flags: &[(bool, &str)]) -> fmt::Result {
    flags.iter().filter(|(is_set, _)| *is_set).try_for_each(|(_, flag)| write!(f, ", {flag}"))
}

impl fmt::Display for DeviceRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceRequest::One => "one device",
            DeviceRequest::Two => "two devices",
            DeviceRequest::Share => "a part of a device",
        })
    }
}

impl fmt::Display for PodChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PodChange::Ungate => f.write_str("loses its gate"),
            PodChange::Group(group) => write!(f, "moves to group g{group}"),
            PodChange::Tolerate => f.write_str("gets a toleration of the taint"),
            PodChange::Resize(milli_cpu) => write!(f, "changes its request to {milli_cpu}m cpu"),
            PodChange::Annotate => f.write_str("gets an annotation"),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Node(node) => write!(f, "node {node}"),
            Step::DeleteNode(node) => write!(f, "node n{node} is deleted"),
            Step::Pod(pod) => write!(f, "pod {pod}"),
            Step::ChangePod(pod, change) => write!(f, "pod p{pod} {change}"),
            Step::DeletePod(pod) => write!(f, "pod p{pod} is deleted"),
            Step::FinishPod(pod) => write!(f, "pod p{pod} succeeds, if it runs"),
            Step::BindElsewhere(pod, node) => write!(f, "another scheduler binds pod p{pod} to n{node}"),
            Step::Nominate(pod, Some(node)) => write!(f, "another component nominates n{node} for pod p{pod}"),
            Step::Nominate(pod, None) => write!(f, "another component clears the nomination of pod p{pod}"),
            Step::Budget(group, available) => write!(f, "budget of group g{group}: {available} disruptions allowed"),
            Step::DeleteBudget(group) => write!(f, "budget of group g{group} is deleted"),
            Step::Claim(claim, Storage::Static) => write!(f, "claim c{claim} on an existing volume"),
            Step::Claim(claim, Storage::Provisioned) => write!(f, "claim c{claim} on a provisioned volume"),
            Step::DeleteClaim(claim) => write!(f, "claim c{claim} is deleted"),
            Step::Volume(volume, zone) => write!(f, "volume v{volume} in zone z{zone}"),
            Step::Slices(SliceSpec { node, generation, tainted }) => {
                write!(f, "devices of n{node}, generation {generation}")?;
                flags(f, &[(*tainted, "tainted")])
            }
            Step::DeleteSlices(node, generation) => {
                write!(f, "devices of n{node}, generation {generation}, are deleted")
            }
            Step::ResourceClaim(claim, request) => write!(f, "resource claim r{claim}: {request}"),
            Step::DeleteResourceClaim(claim) => write!(f, "resource claim r{claim} is deleted"),
            Step::Controllers => write!(f, "controllers work"),
            Step::Deliver(stream, n) => write!(f, "watch: {n} changes of {stream}"),
            Step::Repeat(stream) => write!(f, "watch: the last change of {stream} again"),
            Step::Break(stream) => write!(f, "watch of {stream} breaks"),
            Step::Merge(stream) => write!(f, "watch: merge the changes of {stream}"),
            Step::List(stream) => write!(f, "watch: {stream} are listed"),
            Step::Answer(at, answer) => write!(f, "request {at}: {answer}"),
            Step::Schedule => f.write_str("schedule"),
            Step::Pass(milliseconds) => write!(f, "{milliseconds} ms pass"),
            Step::Allow(at) => write!(f, "waiting pod {at} is allowed"),
            Step::Reject(at) => write!(f, "waiting pod {at} is rejected"),
            Step::Activate(pod) => write!(f, "pod p{pod} is activated"),
            Step::Restart(true) => f.write_str("the scheduler restarts, requests arrive"),
            Step::Restart(false) => f.write_str("the scheduler restarts, requests are lost"),
            Step::Settle => f.write_str("settle"),
        }
    }
}
