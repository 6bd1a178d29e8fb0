//! VolumeBinding
//!
//! **What it does.** Rejects nodes that cannot access the volumes of the pod's claims. For claims that wait
//! for their first consumer, rejects nodes where a claim can neither be bound to a volume nor be provisioned.
//! Reserve assumes the bindings of a placed pod, so later pods do not use the same volumes.
//!
//! **Extension points.** PreFilter (skips without claims), Filter, PreScore (always skips), Score (always 0),
//! Reserve, PreBind (skips if all claims are bound; otherwise writes the selected bindings, and waits until
//! all claims are bound).
//!
//! **Arguments.** [`VolumeBindingArgs`].
//!
//! **Upstream.** `plugins/volumebinding` (kube-scheduler 1.36.2), with the feature gate StorageCapacityScoring off.
//!
//! **Differences.** Of volumes of equal size, the first by name is selected; in kube-scheduler, any of them.
//! Unreserve keeps the assumptions of other pods. PreBind reads an object before it writes it. It writes only
//! if the object is unchanged since the decision, and does not have the new value yet. Then it receives
//! updates of the objects instead of reading a cache. The node affinity of volumes that are provisioned
//! during the wait is not translated to CSI before it is compared with the node. In a cluster without volumes,
//! such as a `MinimalCluster`, PreBind does nothing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schedc_core::client::Client;
use schedc_core::column::Position;
use schedc_core::extension_points::{
    FilterPlugin, Placement, PreBindPlugin, PreFilterPlugin, PreFilterResult, PreFlightResult, PreScorePlugin,
    ReservePlugin, ScoreError, ScorePlugin, SkipFrequency,
};
use schedc_core::handle::{Handle, PluginCacheSize};
use schedc_core::incremental::{DependsOn, ExcludedFromSignature, FilterUpdate, Incremental, NeedsFullEvaluation};
use schedc_core::intern::Symbol;
use schedc_core::model::{NodeIndex, PersistentVolume, PersistentVolumeClaim, PodSpec, Uid, Volume};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::{CompileContext, CycleSlot, View};
use schedc_core::scratch::Scratch;
use schedc_core::status::{Code, Reasons, Status};
use schedc_core::{Plugin, plugin};
use smallvec::SmallVec;

mod args;
mod assume_cache;
mod binding;
mod binding_plan;
mod binding_wait;
mod claims;
mod claims_fingerprint;
mod hint;
mod label_indexed_list;
mod node_affinity_cache;
mod pod_volumes;

pub use args::VolumeBindingArgs;
use assume_cache::AssumeCache;
use binding_plan::BindingPlan;
use claims_fingerprint::ClaimsFingerprint;
use node_affinity_cache::NodeAffinityCache;
use pod_volumes::ClaimBinding;
pub use pod_volumes::{Conflicts, PodVolumes, VolumeRejection};

use crate::columns::NodeLabels;
use crate::indexes::Volumes;

/// The label with a node's name.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// Finds nodes for the pod's claims, and volumes for its unbound claims.
#[derive(Debug)]
pub struct VolumeBinding {
    assumed: Mutex<AssumeCache>,
    affinity_cache: Scratch<NodeAffinityCache>,
    affinity_cache_size: Arc<PluginCacheSize>,
}

impl VolumeBinding {
    fn assumed(&self) -> MutexGuard<'_, AssumeCache> {
        // Every change of assumptions replaces whole entries, so a panic leaves no partial change.
        self.assumed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state of a pod's claims for Filter.
    fn look_up(&self, pod: &VolumeBindingPod, view: View<'_, Self>) -> Result<PodVolumes, Status> {
        let volumes = claims::look_up(&pod.own, view, &self.assumed())?;
        Ok(volumes.for_filter(view.base.alive(), |affinity| {
            let mut cache = self.affinity_cache.lock();
            let nodes = cache.nodes(affinity, view);
            self.affinity_cache_size.set(cache.len());
            nodes
        }))
    }
}

/// The claims of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VolumeBindingPod {
    has_claims: bool,
    /// Fingerprint of the claims' state when the pod was compiled.
    fingerprint: ClaimsFingerprint,
    own: ExcludedFromSignature<PodClaims>,
}

/// The claims of the pod. They are excluded from its signature: usually no other pod uses them, but pods with volumes
/// that restrict nodes in the same way can share an answer.
#[derive(Clone, Debug)]
struct PodClaims {
    namespace: Symbol,
    claims: SmallVec<[PodClaim; 1]>,
}

/// A claim of a pod.
#[derive(Clone, Debug)]
struct PodClaim {
    name: Symbol,
    /// Uid and name of the pod, if the claim is generated for the pod.
    owner: Option<(Uid, Symbol)>,
}

impl PodClaims {
    fn new(pod: &PodSpec) -> Self {
        if pod.volumes.is_empty() {
            return PodClaims { namespace: pod.namespace, claims: SmallVec::new() };
        }
        let claims = pod.volumes.iter().filter_map(|volume| match volume {
            Volume::Claim { claim } => Some(PodClaim { name: *claim, owner: None }),
            Volume::Ephemeral { claim, pod, pod_name } => {
                Some(PodClaim { name: *claim, owner: Some((pod.clone(), *pod_name)) })
            }
            _ => None,
        });
        PodClaims { namespace: pod.namespace, claims: claims.collect() }
    }
}

/// The assumed bindings of a placed pod's claims; empty without unbound claims.
#[derive(Debug, Default)]
pub struct ReservedVolumes(Option<Box<Assumptions>>);

#[derive(Debug)]
struct Assumptions {
    volumes: Vec<Arc<PersistentVolume>>,
    claims: Vec<Arc<PersistentVolumeClaim>>,
    /// The writes of PreBind.
    plan: BindingPlan,
}

#[plugin]
impl Plugin for VolumeBinding {
    type Args = VolumeBindingArgs;
    type Columns = (NodeLabels, Position);
    type Indexes = Volumes;
    type Pod = VolumeBindingPod;

    fn new(_: &'static VolumeBindingArgs, handle: &Handle) -> Result<Self, String> {
        Ok(VolumeBinding {
            assumed: Mutex::default(),
            affinity_cache: Scratch::default(),
            affinity_cache_size: handle.register_cache("volume_node_affinities", node_affinity_cache::LIMIT),
        })
    }

    fn compile(_: &VolumeBindingArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> VolumeBindingPod {
        let own = PodClaims::new(pod);
        let has_claims = !own.claims.is_empty();
        let fingerprint = match has_claims {
            true => ClaimsFingerprint::of(&own, cx.indexes, cx.interner.intern(HOSTNAME)),
            false => ClaimsFingerprint::default(),
        };
        VolumeBindingPod { has_claims, fingerprint, own: ExcludedFromSignature(own) }
    }
}

impl PreFilterPlugin for VolumeBinding {
    type Cycle = PodVolumes;

    #[inline]
    fn pre_filter(
        &self,
        _: &VolumeBindingArgs,
        pod: &VolumeBindingPod,
        view: View<'_, Self>,
    ) -> Result<PreFilterResult<PodVolumes>, Status> {
        if !pod.has_claims {
            return Ok(PreFilterResult::skip(PodVolumes::default()));
        }
        self.look_up(pod, view).map(PreFilterResult::ready)
    }
}

impl FilterPlugin for VolumeBinding {
    type Cycle = PodVolumes;
    type Rejection = VolumeRejection;

    #[inline(always)]
    fn filter(
        _: &VolumeBindingArgs,
        _: &VolumeBindingPod,
        cycle: &PodVolumes,
        (labels, position): (&NodeLabels, NodeIndex),
    ) -> Result<(), VolumeRejection> {
        if cycle.fit_node(position) { Ok(()) } else { cycle.check(labels, position, &mut |_| {}) }
    }

    fn code(unfit: &VolumeRejection) -> Code {
        match unfit {
            VolumeRejection::Conflicts(_) => Code::UnschedulableAndUnresolvable,
            VolumeRejection::Untranslatable(_) | VolumeRejection::InvalidSelector | VolumeRejection::NotPrepared => {
                Code::Error
            }
        }
    }

    fn explain(
        _: &VolumeBindingArgs,
        _: &VolumeBindingPod,
        cycle: &PodVolumes,
        _: (&NodeLabels, NodeIndex),
        unfit: VolumeRejection,
        out: &mut Reasons<'_>,
    ) {
        cycle.explain(unfit, out);
    }
}

impl PreScorePlugin for VolumeBinding {
    type Cycle = ();

    fn pre_score(
        &self,
        _: &VolumeBindingArgs,
        _: &VolumeBindingPod,
        _: View<'_, Self>,
        _: &NodeMask,
    ) -> Result<CycleSlot<()>, Status> {
        Ok(CycleSlot::skip(()))
    }
}

impl ScorePlugin for VolumeBinding {
    type Cycle = ();

    #[inline(always)]
    fn score(
        _: &VolumeBindingArgs,
        _: &VolumeBindingPod,
        _: &(),
        _: (&NodeLabels, NodeIndex),
    ) -> Result<i64, ScoreError> {
        Ok(0)
    }
}

impl Incremental for VolumeBinding {
    const SKIPS: SkipFrequency = SkipFrequency::Usually;

    #[inline]
    fn reasons_key(rejection: &VolumeRejection) -> Option<u32> {
        match rejection {
            VolumeRejection::Conflicts(conflicts) => Some(conflicts.bits()),
            _ => None,
        }
    }

    #[inline]
    fn compile_epoch(_: &Volumes) -> Option<u64> {
        Some(0)
    }

    #[inline]
    fn filter_depends_on(pod: &VolumeBindingPod, volumes: &PodVolumes) -> DependsOn {
        match pod.has_claims {
            false => DependsOn::Node,
            true if volumes.fit_any_node() => DependsOn::NodeUntilUpdate,
            true => DependsOn::Cluster,
        }
    }

    #[inline]
    fn score_depends_on(_: &VolumeBindingPod) -> DependsOn {
        DependsOn::Node
    }

    fn update_filter(
        &self,
        _: &VolumeBindingArgs,
        pod: &VolumeBindingPod,
        slot: &mut CycleSlot<PodVolumes>,
        view: View<'_, Self>,
        verdicts: &mut FilterUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        let old = std::mem::take(&mut slot.state);
        slot.state = self.look_up(pod, view).map_err(|_| NeedsFullEvaluation)?;
        let alive = view.base.alive();
        match (old.nodes(alive), slot.state.nodes(alive)) {
            (Some(_), Some(_)) if old.fit_any_node() && slot.state.fit_any_node() => {}
            (Some(_), Some(nodes)) => {
                nodes.words().iter().enumerate().for_each(|(word, &passing)| verdicts.set_word(word, !0, passing));
            }
            _ if old != slot.state => verdicts.reevaluate_all(),
            _ => {}
        }
        Ok(())
    }
}

impl VolumeBinding {
    /// Reserves volumes for a pod that may have claims.
    fn reserve_claims(&self, placement: &Placement, view: View<'_, Self>) -> Result<ReservedVolumes, Status> {
        let nothing = ReservedVolumes::default();
        let pod = PodClaims::new(&placement.pod.spec);
        let is_bound =
            |claim: &PodClaim| view.indexes.claim(pod.namespace, claim.name).is_some_and(|claim| claim.is_bound());
        if pod.claims.iter().all(is_bound) {
            return Ok(nothing);
        }
        // Nothing has changed since Filter, so the result is that of Filter. Without this plugin's Filter in the
        // profile, the node may be infeasible; as in kube-scheduler, nothing is assumed then.
        let mut assumed = self.assumed();
        let Ok(volumes) = claims::look_up(&pod, view, &assumed) else { return Ok(nothing) };
        let (labels, position) = view.row(placement.node);
        let mut choices = Vec::new();
        if volumes.check(labels, position, &mut |choice| choices.push(choice)).is_err() {
            return Ok(nothing);
        }
        if choices.is_empty() {
            return Ok(nothing);
        }
        let interner = &view.base.interner;
        let mut plan = BindingPlan::new(placement, labels, interner);
        let (mut assumed_volumes, mut assumed_claims) = (Vec::new(), Vec::new());
        for choice in choices {
            match choice {
                ClaimBinding::Bind { claim, volume } => {
                    plan.bind(volume, claim, interner);
                    assumed_volumes.extend(assumed.bind(view.indexes, volume, claim));
                }
                ClaimBinding::Provision { claim } => {
                    plan.provision(claim, interner);
                    assumed_claims.extend(assumed.provision(view.indexes, claim, labels.name));
                }
            }
        }
        let assumptions = Assumptions { volumes: assumed_volumes, claims: assumed_claims, plan };
        Ok(ReservedVolumes(Some(Box::new(assumptions))))
    }
}

impl ReservePlugin for VolumeBinding {
    type Reserved = ReservedVolumes;

    #[inline]
    fn reserve(
        &self,
        _: &VolumeBindingArgs,
        placement: &Placement,
        view: View<'_, Self>,
    ) -> Result<ReservedVolumes, Status> {
        if placement.pod.spec.volumes.is_empty() {
            return Ok(ReservedVolumes::default());
        }
        self.reserve_claims(placement, view)
    }

    fn unreserve(&self, _: &VolumeBindingArgs, _: &Placement, reserved: Option<&ReservedVolumes>) {
        let Some(ReservedVolumes(Some(reserved))) = reserved else { return };
        let mut assumed = self.assumed();
        reserved.volumes.iter().for_each(|volume| assumed.revert_volume(volume));
        reserved.claims.iter().for_each(|claim| assumed.revert_claim(claim));
    }
}

impl PreBindPlugin for VolumeBinding {
    type Reserved = ReservedVolumes;

    fn pre_bind_pre_flight(
        &self,
        _: &VolumeBindingArgs,
        _: &Placement,
        reserved: &ReservedVolumes,
    ) -> Result<PreFlightResult, Status> {
        Ok(if reserved.0.is_some() { PreFlightResult::RunInParallel } else { PreFlightResult::Skip })
    }

    async fn pre_bind<C: Client>(
        &self,
        args: &VolumeBindingArgs,
        client: &C,
        _: &Placement,
        reserved: &ReservedVolumes,
    ) -> Result<(), Status> {
        let Some(reserved) = &reserved.0 else { return Ok(()) };
        reserved.plan.run(client, args.bind_timeout_seconds).await.map_err(Status::error)
    }
}

#[cfg(test)]
mod tests;
