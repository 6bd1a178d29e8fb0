//! Histories: lists of small steps, each of which means something whatever comes before it. So a history from which steps
//! are taken out is a history.

use std::fmt;

use schedc_core::model::Kind;

use crate::plugin_fault::PlannedFault;

/// One thing that happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A node comes, or changes.
    Node(NodeSpec),
    /// A node goes.
    DeleteNode(u8),
    /// A pod is created, unless there is one of its name.
    Pod(PodSpec),
    /// A pod changes.
    ChangePod(u8, PodChange),
    /// A pod is deleted; one that has a node takes its time.
    DeletePod(u8),
    /// A pod succeeds, if it runs.
    FinishPod(u8),
    /// Another scheduler binds a pod to a node.
    BindElsewhere(u8, u8),
    /// Somebody writes a pod's nominated node.
    Nominate(u8, Option<u8>),
    /// A disruption budget for the pods of a group comes, or changes.
    Budget(u8, u8),
    /// It goes.
    DeleteBudget(u8),
    /// A claim for storage comes, unless there is one of its name.
    Claim(u8, Storage),
    /// It goes, if no pod uses it.
    DeleteClaim(u8),
    /// A volume comes, in a zone, unless there is one of its name.
    Volume(u8, u8),
    /// Controllers do what there is to do.
    Controllers,

    /// The scheduler hears of so many changes of a stream.
    Deliver(Stream, u8),
    /// It hears of the last one again.
    Repeat(Stream),
    /// A watch breaks: what it has not heard of, it will not hear of.
    Break(Stream),
    /// Of several changes of an object, it will hear of the last one only.
    Merge(Stream),
    /// It lists again what it watches.
    List(Stream),
    /// A request is answered: the one in this place of those that wait, counted around.
    Answer(u8, Answer),

    /// The scheduler takes a pod and decides.
    Schedule,
    /// Time passes, in milliseconds.
    Pass(u32),
    /// Plugins let a pod go that waits in Permit, counted around.
    Allow(u8),
    /// One of them rejects it.
    Reject(u8),
    /// A plugin activates a pod.
    Activate(u8),
    /// The scheduler stops, and another one starts. Whether requests that were under way arrive.
    Restart(bool),
    /// Everything calms down, and everything that must hold then is looked at.
    Settle,
}

/// How a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// As it should be.
    Done,
    /// It is done, and the answer is lost: whoever asked waits until it has no patience left.
    Lost,
    /// It is not done, and whoever asked waits in vain.
    TimeOut,
    /// It is not done: there is a conflict.
    Conflict,
    /// It is not done: the server has other troubles.
    Refused,
}

/// What is watched by itself.
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
}

impl Stream {
    /// All of them.
    pub const ALL: [Stream; 6] =
        [Stream::Nodes, Stream::Pods, Stream::Budgets, Stream::Volumes, Stream::Claims, Stream::Classes];

    /// The kind of its objects, which are neither nodes nor pods.
    pub(crate) const fn model_kind(self) -> Kind {
        match self {
            Stream::Nodes | Stream::Pods | Stream::Budgets => Kind::PodDisruptionBudget,
            Stream::Volumes => Kind::PersistentVolume,
            Stream::Claims => Kind::PersistentVolumeClaim,
            Stream::Classes => Kind::StorageClass,
        }
    }

    /// The kind of its objects.
    pub const fn kind(self) -> &'static str {
        match self {
            Stream::Nodes => "Node",
            Stream::Pods => "Pod",
            Stream::Budgets => "PodDisruptionBudget",
            Stream::Volumes => "PersistentVolume",
            Stream::Claims => "PersistentVolumeClaim",
            Stream::Classes => "StorageClass",
        }
    }
}

/// Where a claim's storage comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A volume that exists.
    Static,
    /// One that is made for it.
    Provisioned,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSpec {
    /// `n0`, `n1`, ...
    pub id: u8,
    /// Its zone: `z0`, ...
    pub zone: u8,
    /// Its cores, in thousandths.
    pub milli_cpu: u16,
    /// How many pods it can run.
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
    /// `p0`, `p1`, ...
    pub id: u8,
    /// Its priority.
    pub priority: i16,
    /// Whether it does not preempt others.
    pub never_preempts: bool,
    /// What it asks for, in thousandths of a core.
    pub milli_cpu: u16,
    /// Its group: a label.
    pub group: u8,
    /// Whether it asks for `disk: ssd`.
    pub ssd: bool,
    /// Whether it tolerates the taint.
    pub tolerant: bool,
    /// A host port.
    pub port: Option<u16>,
    /// Whether it does not go to where its group is.
    pub anti_affinity: bool,
    /// Whether its group is spread over zones.
    pub spread: bool,
    /// Whether it goes to a zone where its group is, if there is any.
    pub affinity: bool,
    /// Whether it has a scheduling gate.
    pub gated: bool,
    /// A claim that it mounts.
    pub claim: Option<u8>,
    /// Whether it is another scheduler's.
    pub foreign: bool,
    /// The seconds that it is granted to end.
    pub grace: u8,
    /// What plugins do to it.
    pub planned_faults: Vec<PlannedFault>,
}

/// How a pod changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodChange {
    /// Its gate is opened.
    Ungate,
    /// It is in another group.
    Group(u8),
    /// It tolerates the taint from now on.
    Tolerate,
    /// It asks for less, or more, in thousandths of a core.
    Resize(u16),
    /// Nothing that matters.
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
        })
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Answer::Done => "done",
            Answer::Lost => "done, and the answer is lost",
            Answer::TimeOut => "not done, and no answer",
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
        write!(f, "p{id}: priority {priority}, {milli_cpu}m cpu, group g{group}, {grace}s to end")?;
        if let Some(port) = self.port {
            write!(f, ", port {port}")?;
        }
        if let Some(claim) = self.claim {
            write!(f, ", claim c{claim}")?;
        }
        flags(
            f,
            &[
                (self.never_preempts, "does not preempt"),
                (self.ssd, "wants ssd"),
                (self.tolerant, "tolerates the taint"),
                (self.anti_affinity, "apart from its group"),
                (self.spread, "spread over zones"),
                (self.affinity, "in a zone of its group"),
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

impl fmt::Display for PodChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PodChange::Ungate => f.write_str("loses its gate"),
            PodChange::Group(group) => write!(f, "moves to group g{group}"),
            PodChange::Tolerate => f.write_str("tolerates the taint from now on"),
            PodChange::Resize(milli_cpu) => write!(f, "asks for {milli_cpu}m cpu from now on"),
            PodChange::Annotate => f.write_str("gets an annotation"),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Node(node) => write!(f, "node {node}"),
            Step::DeleteNode(node) => write!(f, "node n{node} goes"),
            Step::Pod(pod) => write!(f, "pod {pod}"),
            Step::ChangePod(pod, change) => write!(f, "pod p{pod} {change}"),
            Step::DeletePod(pod) => write!(f, "pod p{pod} is deleted"),
            Step::FinishPod(pod) => write!(f, "pod p{pod} succeeds, if it runs"),
            Step::BindElsewhere(pod, node) => write!(f, "another scheduler binds pod p{pod} to n{node}"),
            Step::Nominate(pod, Some(node)) => write!(f, "somebody nominates n{node} for pod p{pod}"),
            Step::Nominate(pod, None) => write!(f, "somebody clears the nomination of pod p{pod}"),
            Step::Budget(group, available) => write!(f, "budget of group g{group}: {available} pods may go"),
            Step::DeleteBudget(group) => write!(f, "budget of group g{group} goes"),
            Step::Claim(claim, Storage::Static) => write!(f, "claim c{claim} on a volume that exists"),
            Step::Claim(claim, Storage::Provisioned) => write!(f, "claim c{claim} on a volume to be made"),
            Step::DeleteClaim(claim) => write!(f, "claim c{claim} goes"),
            Step::Volume(volume, zone) => write!(f, "volume v{volume} in zone z{zone}"),
            Step::Controllers => write!(f, "controllers work"),
            Step::Deliver(stream, n) => write!(f, "watch: {n} changes of {stream}"),
            Step::Repeat(stream) => write!(f, "watch: the last change of {stream} again"),
            Step::Break(stream) => write!(f, "watch: {stream} break off"),
            Step::Merge(stream) => write!(f, "watch: of the changes of each of {stream}, the last one counts"),
            Step::List(stream) => write!(f, "watch: {stream} are listed"),
            Step::Answer(at, answer) => write!(f, "request {at}: {answer}"),
            Step::Schedule => f.write_str("schedule"),
            Step::Pass(milliseconds) => write!(f, "{milliseconds} ms pass"),
            Step::Allow(at) => write!(f, "waiting pod {at} is allowed"),
            Step::Reject(at) => write!(f, "waiting pod {at} is rejected"),
            Step::Activate(pod) => write!(f, "pod p{pod} is activated"),
            Step::Restart(true) => f.write_str("the scheduler restarts, requests arrive"),
            Step::Restart(false) => f.write_str("the scheduler restarts, requests are lost"),
            Step::Settle => f.write_str("all settles"),
        }
    }
}
