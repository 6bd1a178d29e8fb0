//! NodeVolumeLimits
//!
//! **What it does.** Rejects nodes to which a CSI driver cannot attach as many volumes as the pod needs.
//!
//! **Extension points.** PreFilter (skips for pods without claims and in-tree volumes), Filter.
//!
//! **Arguments.** None.
//!
//! **Upstream.** `plugins/nodevolumelimits` (kube-scheduler 1.36.2).
//!
//! **Differences.** Volumes are counted as events come, not for every pod and node, so that PreFilter finds the nodes that
//! are full and Filter looks them up. Filter without PreFilter fails the attempt of a pod with such volumes.

use std::sync::Arc;

use schedc_core::args::NoArgs;
use schedc_core::column::Position;
use schedc_core::extension_points::{FilterPlugin, PreFilter, PreFilterPlugin, Skips, pre_filter_again};
use schedc_core::handle::Handle;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::kept::{Anew, Verdicts};
use schedc_core::map::Map;
use schedc_core::mask::Mask;
use schedc_core::model::{NodeIndex, Pod, PodSpec, Volume};
use schedc_core::plugin::{Compile, Plugin, Slot, View};
use schedc_core::status::{Code, Reasons, Status};

mod changes;
mod hint;
mod wanted;

use changes::Changes;
use wanted::{Failure, Wanted};

use crate::indexes::AttachedVolumes;

/// Counts the volumes of CSI drivers.
#[derive(Debug)]
pub struct NodeVolumeLimits;

/// The pod's volumes that may count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeVolumeLimitsPod {
    namespace: Symbol,
    volumes: Box<[Volume]>,
}

/// The nodes that cannot take the pod's volumes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FullNodes {
    /// False in a profile without PreFilter.
    is_prepared: bool,
    rejected: Mask,
    /// Of those, the nodes for which it could not be told, and why.
    failures: Map<NodeIndex, Failure>,
    wanted: Wanted,
    changes: Changes,
}

/// Why a node is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// A driver's limit.
    Limit,
    /// A claim does not exist.
    NoClaim,
    /// Volumes cannot be counted.
    Failure,
    /// The profile has no PreFilter of this plugin.
    NotPrepared,
}

impl Plugin for NodeVolumeLimits {
    const NAME: &'static str = "NodeVolumeLimits";
    type Args = NoArgs;
    type Columns = Position;
    type Indexes = AttachedVolumes;
    type Reads = ();
    type Pod = NodeVolumeLimitsPod;

    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(NodeVolumeLimits)
    }

    fn compile(_: &NoArgs, pod: &PodSpec, _: Compile<'_, Self>) -> NodeVolumeLimitsPod {
        let may_count = |volume: &&Volume| volume.claim().is_some() || matches!(volume, Volume::InTree { .. });
        NodeVolumeLimitsPod {
            namespace: pod.namespace,
            volumes: pod.volumes.iter().filter(may_count).cloned().collect(),
        }
    }

    fn compile_epoch(_: &AttachedVolumes) -> Option<u64> {
        Some(0)
    }
}

impl PreFilterPlugin for NodeVolumeLimits {
    type Cycle = FullNodes;
    const SKIPS: Skips = Skips::Usually;

    fn pre_filter(
        &self,
        _: &NoArgs,
        pod: &NodeVolumeLimitsPod,
        view: View<'_, Self>,
    ) -> Result<PreFilter<FullNodes>, Status> {
        if pod.volumes.is_empty() {
            return Ok(PreFilter::skip(FullNodes::default()));
        }
        let index = view.indexes;
        let wanted = Wanted::read(pod, index, &view.base.interner);
        let mut nodes = FullNodes { is_prepared: true, wanted, ..FullNodes::default() };
        nodes.rejected.resize(view.base.infos().len());
        if nodes.wanted.fails() {
            view.base.alive().iter().for_each(|node| nodes.judge(node, view));
        } else if !nodes.wanted.volumes.is_empty() {
            index.nodes_with_failures().for_each(|node| nodes.judge(node, view));
            for (driver, count) in &nodes.wanted.drivers.clone() {
                let without_room = index.driver(*driver).into_iter().flat_map(|nodes| nodes.nodes_without_room(*count));
                without_room.for_each(|node| nodes.judge(node, view));
            }
        }
        Ok(PreFilter::ready(nodes))
    }

    fn update(
        &self,
        args: &NoArgs,
        pod: &NodeVolumeLimitsPod,
        slot: &mut Slot<FullNodes>,
        view: View<'_, Self>,
        verdicts: &mut Verdicts<'_>,
    ) -> Result<(), Anew> {
        if pod.volumes.is_empty() { Ok(()) } else { pre_filter_again(self, args, pod, slot, view, verdicts) }
    }

    fn add_pod(_: &NodeVolumeLimitsPod, nodes: &mut FullNodes, other: &Pod, view: View<'_, Self>, node: NodeIndex) {
        if nodes.changes.add(node, other, &nodes.wanted, view) {
            nodes.judge(node, view);
        }
    }

    fn remove_pod(_: &NodeVolumeLimitsPod, nodes: &mut FullNodes, other: &Pod, view: View<'_, Self>, node: NodeIndex) {
        if nodes.changes.remove(node, other, &nodes.wanted, view) {
            nodes.judge(node, view);
        }
    }
}

impl FullNodes {
    /// Decides about one node, with the pods that it has in thought.
    fn judge(&mut self, node: NodeIndex, view: View<'_, NodeVolumeLimits>) {
        let failure = self.failure(node, view);
        if failure.is_none() && !self.is_full(node, view.indexes) {
            self.rejected.remove(node);
            self.failures.remove(&node);
            return;
        }
        self.rejected.insert(node);
        match failure {
            Some(failure) => drop(self.failures.insert(node, failure)),
            None => drop(self.failures.remove(&node)),
        }
    }

    /// Why the volumes of the pod, or else of pods on the node, cannot be counted.
    fn failure(&self, node: NodeIndex, view: View<'_, NodeVolumeLimits>) -> Option<Failure> {
        if let Some(failure) = self.wanted.failure(view.indexes.has_csi_node(node)) {
            return Some(failure.clone());
        }
        let counts = !self.wanted.volumes.is_empty() && view.indexes.is_limited(node);
        if counts { self.changes.failure(node, view) } else { None }
    }

    /// Whether a driver cannot attach all new volumes.
    fn is_full(&self, node: NodeIndex, index: &AttachedVolumes) -> bool {
        self.wanted.drivers.iter().any(|&(driver, _)| {
            let Some(nodes) = index.driver(driver) else { return false };
            let Some(limit) = nodes.limit(node) else { return false };
            let of_driver = self.wanted.volumes.iter().filter(|volume| volume.driver() == driver);
            // One that a pod of the node uses is there already; one that is only attached counts twice, as there.
            let new = of_driver.filter(|volume| self.changes.uses(node, volume, index) == 0).count() as i64;
            new > 0 && nodes.attached(node) + self.changes.attached(node, driver, index) + new > limit
        })
    }
}

impl FilterPlugin for NodeVolumeLimits {
    type Cycle = FullNodes;
    type Rejection = NoRoom;

    #[inline(always)]
    fn filter(_: &NoArgs, pod: &NodeVolumeLimitsPod, nodes: &FullNodes, node: NodeIndex) -> Result<(), NoRoom> {
        if nodes.rejected.contains(node) {
            return Err(nodes.why(node));
        }
        if nodes.is_prepared || pod.volumes.is_empty() { Ok(()) } else { Err(NoRoom::NotPrepared) }
    }

    fn code(reason: &NoRoom) -> Code {
        match reason {
            NoRoom::Limit => Code::Unschedulable,
            NoRoom::NoClaim => Code::UnschedulableAndUnresolvable,
            NoRoom::Failure | NoRoom::NotPrepared => Code::Error,
        }
    }

    fn explain(
        _: &NoArgs,
        _: &NodeVolumeLimitsPod,
        nodes: &FullNodes,
        node: NodeIndex,
        reason: NoRoom,
        out: &mut Reasons<'_>,
    ) {
        match (reason, nodes.failures.get(&node)) {
            (NoRoom::NotPrepared, _) => {
                out.push("the profile has no PreFilter of NodeVolumeLimits, which counts the pod's volumes");
            }
            (_, Some(failure)) => out.push(&*failure.text),
            (_, None) => out.push("node(s) exceed max volume count"),
        }
    }
}

impl FullNodes {
    fn why(&self, node: NodeIndex) -> NoRoom {
        match self.failures.get(&node) {
            None => NoRoom::Limit,
            Some(Failure { unresolvable: true, .. }) => NoRoom::NoClaim,
            Some(_) => NoRoom::Failure,
        }
    }
}

/// Why a generic ephemeral volume's claim is not the pod's own (`VolumeIsForPod`).
fn not_owner(interner: &Interner, namespace: Symbol, claim: Symbol, pod_name: Symbol) -> Arc<str> {
    let [namespace, claim, pod] = [namespace, claim, pod_name].map(|symbol| interner.resolve(symbol));
    format!("PVC {namespace}/{claim} was not created for pod {namespace}/{pod} (pod is not owner)").into()
}

const NO_NAME: &str = "PersistentVolumeClaim had no name";
