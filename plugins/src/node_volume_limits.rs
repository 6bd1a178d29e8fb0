//! NodeVolumeLimits
//!
//! **What it does.** Rejects nodes to which a CSI driver cannot attach as many volumes as the pod needs.
//!
//! **Extension points.** PreFilter (skips for pods with neither claims nor in-tree volumes), Filter.
//!
//! **Arguments.** None.
//!
//! **Upstream.** `plugins/nodevolumelimits` (kube-scheduler 1.36.2).
//!
//! **Differences.** Volumes are counted by events, not for every pod and node: PreFilter determines the full
//! nodes, and Filter looks them up. Filter without PreFilter fails the attempt of a pod with claims or in-tree
//! volumes.

use std::sync::Arc;

use schedc_core::args::NoArgs;
use schedc_core::column::Position;
use schedc_core::extension_points::{FilterPlugin, PreFilterPlugin, PreFilterResult, SkipFrequency};
use schedc_core::incremental::{DependsOn, ExcludedFromSignature, FilterUpdate, Incremental, NeedsFullEvaluation};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::map::Map;
use schedc_core::model::{NodeIndex, Pod, PodSpec, Volume};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::{CompileContext, CycleSlot, View};
use schedc_core::status::{Code, Reasons, Status};
use schedc_core::{Plugin, plugin};
use smallvec::SmallVec;

mod hint;
mod hypothetical_changes;
mod requested_volumes;

use hypothetical_changes::HypotheticalChanges;
use requested_volumes::{Failure, RequestedVolumes};

use crate::indexes::AttachedVolumes;

/// Counts the volumes of CSI drivers.
#[derive(Debug, Default)]
pub struct NodeVolumeLimits;

/// The pod's volumes that can count against limits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeVolumeLimitsPod {
    /// Number of volumes.
    volumes: usize,
    own: ExcludedFromSignature<CountableVolumes>,
}

/// The volumes of the pod. They are excluded from its signature: usually no other pod uses them, but pods with
/// different volumes can share an answer, because only the full nodes matter.
#[derive(Clone, Debug)]
struct CountableVolumes {
    namespace: Symbol,
    volumes: SmallVec<[Volume; 1]>,
}

/// The nodes that cannot attach the pod's volumes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FullNodes {
    /// False in a profile without PreFilter.
    is_prepared: bool,
    /// Whether no driver has a limit on any node, and the pod's volumes can be counted: then no node is full,
    /// regardless of added pods.
    is_unlimited: bool,
    /// The rejected nodes. Has no words if `is_unlimited`, so that copies for hypothetical nodes allocate no memory.
    rejected: NodeMask,
    key: FullNodesKey,
    /// The rejected nodes where volumes cannot be counted, with the reasons.
    failures: Map<NodeIndex, Failure>,
    requested: RequestedVolumes,
    changes: HypotheticalChanges,
}

/// The inputs that determine the full nodes for a plain pod: a pod for which only the limits of its drivers matter.
#[derive(Clone, Debug, Default, PartialEq)]
struct FullNodesKey {
    is_plain: bool,
    slots: usize,
    /// The drivers of the pod's volumes, each with the number of these volumes and the epoch of the driver's full
    /// nodes.
    drivers: SmallVec<[(Symbol, i64, Option<u64>); 2]>,
}

impl FullNodesKey {
    fn of(requested: &RequestedVolumes, index: &AttachedVolumes, slots: usize) -> Self {
        let epoch = |driver, count| index.driver(driver).map_or(Some(0), |nodes| nodes.full_nodes_epoch(count));
        let with_epoch = |&(driver, count)| (driver, count, epoch(driver, count));
        let drivers: SmallVec<[_; 2]> = requested.drivers.iter().map(with_epoch).collect();
        let is_plain = !requested.fails()
            && !index.any_failures()
            && drivers.iter().all(|(.., epoch)| epoch.is_some())
            && requested.volumes.iter().all(|volume| index.users(volume).is_empty());
        FullNodesKey { is_plain, slots, drivers }
    }
}

/// Reason for a rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeLimitRejection {
    /// A driver's limit.
    Limit,
    /// A claim does not exist.
    NoClaim,
    /// Volumes cannot be counted.
    Failure,
    /// The profile has no PreFilter of this plugin.
    NotPrepared,
}

#[plugin]
impl Plugin for NodeVolumeLimits {
    type Columns = Position;
    type Indexes = AttachedVolumes;
    type Pod = NodeVolumeLimitsPod;

    fn compile(_: &NoArgs, pod: &PodSpec, _: CompileContext<'_, Self>) -> NodeVolumeLimitsPod {
        if pod.volumes.is_empty() {
            let own = CountableVolumes { namespace: pod.namespace, volumes: SmallVec::new() };
            return NodeVolumeLimitsPod { volumes: 0, own: ExcludedFromSignature(own) };
        }
        let may_count = |volume: &&Volume| volume.claim().is_some() || matches!(volume, Volume::InTree { .. });
        let volumes: SmallVec<[Volume; 1]> = pod.volumes.iter().filter(may_count).cloned().collect();
        NodeVolumeLimitsPod {
            volumes: volumes.len(),
            own: ExcludedFromSignature(CountableVolumes { namespace: pod.namespace, volumes }),
        }
    }
}

impl PreFilterPlugin for NodeVolumeLimits {
    type Cycle = FullNodes;

    #[inline]
    fn pre_filter(
        &self,
        _: &NoArgs,
        pod: &NodeVolumeLimitsPod,
        view: View<'_, Self>,
    ) -> Result<PreFilterResult<FullNodes>, Status> {
        if pod.volumes == 0 {
            return Ok(PreFilterResult::skip(FullNodes::default()));
        }
        Ok(PreFilterResult::ready(FullNodes::new(pod, view)))
    }

    fn add_pod(_: &NodeVolumeLimitsPod, nodes: &mut FullNodes, other: &Pod, view: View<'_, Self>, node: NodeIndex) {
        if nodes.changes.change(node, other, 1, &nodes.requested, view) {
            nodes.evaluate(node, view);
        }
    }

    fn remove_pod(_: &NodeVolumeLimitsPod, nodes: &mut FullNodes, other: &Pod, view: View<'_, Self>, node: NodeIndex) {
        if nodes.changes.change(node, other, -1, &nodes.requested, view) {
            nodes.evaluate(node, view);
        }
    }
}

impl FullNodes {
    /// Determines the nodes that cannot attach the volumes of a pod.
    fn new(pod: &NodeVolumeLimitsPod, view: View<'_, NodeVolumeLimits>) -> Self {
        let requested = RequestedVolumes::read(&pod.own, view.indexes, &view.base.interner);
        let mut nodes = FullNodes { is_prepared: true, requested, ..FullNodes::default() };
        nodes.evaluate_all(view);
        nodes
    }

    /// Evaluates all nodes without hypothetical pods.
    fn evaluate_all(&mut self, view: View<'_, NodeVolumeLimits>) {
        let index = view.indexes;
        self.is_unlimited = self.requested.is_unlimited(index);
        self.failures.clear();
        self.rejected.clear();
        if !self.is_unlimited {
            self.rejected.resize(view.base.infos().len());
        }
        self.key = FullNodesKey::of(&self.requested, index, view.base.infos().len());
        if self.requested.fails() {
            view.base.alive().iter().for_each(|node| self.evaluate(node, view));
            return;
        }
        for &(driver, count) in &self.requested.drivers {
            if let Some(nodes) = index.driver(driver) {
                nodes.add_full_nodes(count, &mut self.rejected);
            }
        }
        // Nodes whose pods already use some of the volumes need less capacity.
        for at in 0..self.requested.volumes.len() {
            index.users(&self.requested.volumes[at]).iter().for_each(|&node| self.evaluate(node, view));
        }
        if index.any_failures() && !self.requested.volumes.is_empty() {
            index.nodes_with_failures().for_each(|node| self.evaluate(node, view));
        }
    }

    /// Evaluates one node with its hypothetical pods.
    fn evaluate(&mut self, node: NodeIndex, view: View<'_, NodeVolumeLimits>) {
        let failure = self.failure(node, view);
        if failure.is_none() && !self.is_full(node, view.indexes) {
            if self.rejected.contains(node) {
                self.rejected.remove(node);
            }
            self.failures.remove(&node);
            return;
        }
        self.rejected.extend([node]);
        match failure {
            Some(failure) => drop(self.failures.insert(node, failure)),
            None => drop(self.failures.remove(&node)),
        }
    }

    /// Returns why the volumes of the pod, or of pods on the node, cannot be counted.
    fn failure(&self, node: NodeIndex, view: View<'_, NodeVolumeLimits>) -> Option<Failure> {
        if let Some(failure) = self.requested.failure(view.indexes.has_csi_node(node)) {
            return Some(failure.clone());
        }
        let counts = !self.requested.volumes.is_empty() && view.indexes.is_limited(node);
        if counts { self.changes.failure(node, view) } else { None }
    }

    /// Returns whether a driver cannot attach all new volumes.
    fn is_full(&self, node: NodeIndex, index: &AttachedVolumes) -> bool {
        self.requested.drivers.iter().any(|&(driver, _)| {
            let Some(nodes) = index.driver(driver) else { return false };
            let Some(limit) = nodes.limit(node) else { return false };
            let of_driver = self.requested.volumes.iter().filter(|volume| volume.driver() == driver);
            // A volume that a pod of the node uses is already attached. As in kube-scheduler, a volume that is attached
            // and not used by a pod counts twice: as attached and as new.
            let new = of_driver.filter(|volume| self.changes.uses(node, volume, index) == 0).count() as i64;
            new > 0 && nodes.attached(node) + self.changes.attached(node, driver, index) + new > limit
        })
    }
}

impl FilterPlugin for NodeVolumeLimits {
    type Cycle = FullNodes;
    type Rejection = VolumeLimitRejection;

    #[inline(always)]
    fn filter(
        _: &NoArgs,
        pod: &NodeVolumeLimitsPod,
        nodes: &FullNodes,
        node: NodeIndex,
    ) -> Result<(), VolumeLimitRejection> {
        if nodes.rejected.contains(node) {
            return Err(nodes.rejection(node));
        }
        if nodes.is_prepared || pod.volumes == 0 { Ok(()) } else { Err(VolumeLimitRejection::NotPrepared) }
    }

    fn code(reason: &VolumeLimitRejection) -> Code {
        match reason {
            VolumeLimitRejection::Limit => Code::Unschedulable,
            VolumeLimitRejection::NoClaim => Code::UnschedulableAndUnresolvable,
            VolumeLimitRejection::Failure | VolumeLimitRejection::NotPrepared => Code::Error,
        }
    }

    fn explain(
        _: &NoArgs,
        _: &NodeVolumeLimitsPod,
        nodes: &FullNodes,
        node: NodeIndex,
        reason: VolumeLimitRejection,
        out: &mut Reasons<'_>,
    ) {
        match (reason, nodes.failures.get(&node)) {
            (VolumeLimitRejection::NotPrepared, _) => {
                out.push("the profile has no PreFilter of NodeVolumeLimits, which counts the pod's volumes");
            }
            (_, Some(failure)) => out.push(failure.text.to_string()),
            (_, None) => out.push("node(s) exceed max volume count"),
        }
    }
}

impl Incremental for NodeVolumeLimits {
    const SKIPS: SkipFrequency = SkipFrequency::Usually;

    #[inline]
    fn reasons_key(rejection: &VolumeLimitRejection) -> Option<u32> {
        // The texts of other rejections depend on the node.
        matches!(rejection, VolumeLimitRejection::Limit).then_some(0)
    }

    #[inline]
    fn compile_epoch(_: &AttachedVolumes) -> Option<u64> {
        Some(0)
    }

    #[inline]
    fn filter_depends_on(pod: &NodeVolumeLimitsPod, nodes: &FullNodes) -> DependsOn {
        match pod.volumes {
            0 => DependsOn::Node,
            _ if nodes.is_unlimited => DependsOn::NodeUntilUpdate,
            _ => DependsOn::Cluster,
        }
    }

    fn update_filter(
        &self,
        _: &NoArgs,
        pod: &NodeVolumeLimitsPod,
        slot: &mut CycleSlot<FullNodes>,
        view: View<'_, Self>,
        verdicts: &mut FilterUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        let nodes = &mut slot.state;
        let could_fail = !nodes.failures.is_empty();
        nodes.requested = RequestedVolumes::read(&pod.own, view.indexes, &view.base.interner);
        nodes.changes = HypotheticalChanges::default();
        let slots = view.base.infos().len();
        nodes.is_unlimited = nodes.requested.is_unlimited(view.indexes);
        if nodes.key.is_plain && nodes.key == FullNodesKey::of(&nodes.requested, view.indexes, slots) {
            return Ok(());
        }
        nodes.evaluate_all(view);
        // Failures give rejections another code. They are rare, and need a full evaluation.
        if could_fail || !nodes.failures.is_empty() {
            return Err(NeedsFullEvaluation);
        }
        for (word, &alive) in view.base.alive().words().iter().enumerate() {
            let rejected = nodes.rejected.words().get(word).copied().unwrap_or(0);
            verdicts.set_word(word, !0, alive & !rejected);
        }
        Ok(())
    }
}

impl FullNodes {
    fn rejection(&self, node: NodeIndex) -> VolumeLimitRejection {
        match self.failures.get(&node) {
            None => VolumeLimitRejection::Limit,
            Some(Failure { unresolvable: true, .. }) => VolumeLimitRejection::NoClaim,
            Some(_) => VolumeLimitRejection::Failure,
        }
    }
}

/// Returns why the pod does not own the claim of a generic ephemeral volume (`VolumeIsForPod`).
fn not_owner(interner: &Interner, namespace: Symbol, claim: Symbol, pod_name: Symbol) -> Arc<str> {
    let [namespace, claim, pod] = [namespace, claim, pod_name].map(|symbol| interner.resolve(symbol));
    format!("PVC {namespace}/{claim} was not created for pod {namespace}/{pod} (pod is not owner)").into()
}

const NO_NAME: &str = "PersistentVolumeClaim had no name";
