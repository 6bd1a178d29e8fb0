//! VolumeRestrictions
//!
//! **What it does.** Rejects nodes where another pod mounts a disk of the pod, unless both mounts are read-only and the
//! type of the disk permits sharing. Rejects all nodes while another pod uses one of the pod's claims with access mode
//! `ReadWriteOncePod`.
//!
//! **Extension points.** PreFilter (rejects a pod with a missing claim; skips a pod without in-line disks if none of
//! its `ReadWriteOncePod` claims is in use), Filter.
//!
//! **Arguments.** None.
//!
//! **Upstream.** `plugins/volumerestrictions` (kube-scheduler 1.36.2).
//!
//! **Differences.** None.

use schedc_core::args::NoArgs;
use schedc_core::extension_points::{FilterPlugin, PreFilterPlugin, PreFilterResult, SkipFrequency};
use schedc_core::incremental::{DependsOn, ExcludedFromSignature, FilterUpdate, Incremental, NeedsFullEvaluation};
use schedc_core::intern::Symbol;
use schedc_core::model::{NodeIndex, Pod, PodSpec, Volume};
use schedc_core::plugin::{CompileContext, CycleSlot, View};
use schedc_core::status::{Code, Reasons, Status};
use schedc_core::{Plugin, plugin};
use smallvec::SmallVec;

mod hint;

use crate::columns::{NodeDisks, is_disk};
use crate::indexes::Volumes;

/// Separates pods that cannot share volumes.
#[derive(Debug, Default)]
pub struct VolumeRestrictions;

/// Volumes of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VolumeRestrictionsPod {
    own: ExcludedFromSignature<PodClaimNames>,
    /// Whether an exclusive claim was in use, or a claim did not exist, when the pod was compiled. Pods that have to
    /// wait for a claim thus have other signatures than pods that do not. PreFilter checks the claims again.
    are_in_use: bool,
    /// Disks that can conflict.
    disks: Box<[Volume]>,
}

/// The claims of a pod. The signature contains only whether they are in use, not their names.
#[derive(Clone, Debug)]
struct PodClaimNames {
    namespace: Symbol,
    /// Names of the claims, in the order of the pod's volumes.
    claims: SmallVec<[Symbol; 2]>,
}

/// The pod's claims that only one pod may use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExclusiveClaims {
    names: Box<[Symbol]>,
    /// Number of uses by other pods; `None` in a profile without PreFilter. As in kube-scheduler, PreFilter counts each
    /// claim that is in use once. AddPod and RemovePod count each volume of the hypothetical pod that names one of
    /// these claims, even if the pod is in another namespace.
    uses: Option<i64>,
}

/// Reason for a rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeConflict {
    /// A conflicting disk on this node.
    Disk,
    /// A claim in use, which rejects all nodes.
    Claim,
    /// The profile has no PreFilter of this plugin.
    NotPrepared,
}

#[plugin]
impl Plugin for VolumeRestrictions {
    type Columns = NodeDisks;
    type Indexes = Volumes;
    type Pod = VolumeRestrictionsPod;

    fn compile(_: &NoArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> VolumeRestrictionsPod {
        if pod.volumes.is_empty() {
            let own = PodClaimNames { namespace: pod.namespace, claims: SmallVec::new() };
            return VolumeRestrictionsPod { own: ExcludedFromSignature(own), are_in_use: false, disks: Box::default() };
        }
        let claims = pod.volumes.iter().filter_map(Volume::named_claim).collect();
        let own = PodClaimNames { namespace: pod.namespace, claims };
        VolumeRestrictionsPod {
            are_in_use: own.exclusive(cx.indexes).map_or(true, |claims| claims.are_in_use()),
            own: ExcludedFromSignature(own),
            disks: pod.volumes.iter().filter(|volume| is_disk(volume)).cloned().collect(),
        }
    }
}

impl PreFilterPlugin for VolumeRestrictions {
    type Cycle = ExclusiveClaims;

    #[inline]
    fn pre_filter(
        &self,
        _: &NoArgs,
        pod: &VolumeRestrictionsPod,
        view: View<'_, Self>,
    ) -> Result<PreFilterResult<ExclusiveClaims>, Status> {
        let claims = match pod.own.claims.is_empty() {
            true => ExclusiveClaims { names: Box::default(), uses: Some(0) },
            false => pod.own.exclusive(view.indexes).map_err(|missing| {
                let name = view.base.interner.resolve(missing);
                Status::unresolvable(format!("persistentvolumeclaim {name:?} not found"))
            })?,
        };
        let skip = pod.disks.is_empty() && !claims.are_in_use();
        Ok(if skip { PreFilterResult::skip(claims) } else { PreFilterResult::ready(claims) })
    }

    fn add_pod(_: &VolumeRestrictionsPod, claims: &mut ExclusiveClaims, other: &Pod, _: View<'_, Self>, _: NodeIndex) {
        claims.uses = claims.uses.map(|uses| uses + claims.uses_by(other));
    }

    fn remove_pod(
        _: &VolumeRestrictionsPod,
        claims: &mut ExclusiveClaims,
        other: &Pod,
        _: View<'_, Self>,
        _: NodeIndex,
    ) {
        claims.uses = claims.uses.map(|uses| uses - claims.uses_by(other));
    }
}

impl PodClaimNames {
    /// Returns the claims that only one pod may use.
    ///
    /// # Errors
    /// The first claim that does not exist.
    fn exclusive(&self, volumes: &Volumes) -> Result<ExclusiveClaims, Symbol> {
        let mut names = Vec::new();
        for &name in &self.claims {
            let claim = volumes.claim(self.namespace, name).ok_or(name)?;
            if claim.is_exclusive() && !names.contains(&name) {
                names.push(name);
            }
        }
        let uses = names.iter().filter(|&&name| volumes.references(self.namespace, name) > 0).count() as i64;
        Ok(ExclusiveClaims { names: names.into(), uses: Some(uses) })
    }
}

impl ExclusiveClaims {
    fn are_in_use(&self) -> bool {
        self.uses.is_some_and(|uses| uses > 0)
    }

    fn uses_by(&self, other: &Pod) -> i64 {
        let claims = other.spec.volumes.iter().filter_map(Volume::named_claim);
        claims.filter(|claim| self.names.contains(claim)).count() as i64
    }
}

impl FilterPlugin for VolumeRestrictions {
    type Cycle = ExclusiveClaims;
    type Rejection = VolumeConflict;

    #[inline(always)]
    fn filter(
        _: &NoArgs,
        pod: &VolumeRestrictionsPod,
        claims: &ExclusiveClaims,
        node: &NodeDisks,
    ) -> Result<(), VolumeConflict> {
        if pod.disks.iter().any(|disk| node.conflicts(disk)) {
            return Err(VolumeConflict::Disk);
        }
        match claims.uses {
            Some(..=0) => Ok(()),
            Some(_) => Err(VolumeConflict::Claim),
            None => Err(VolumeConflict::NotPrepared),
        }
    }

    fn code(taken: &VolumeConflict) -> Code {
        match taken {
            VolumeConflict::Disk | VolumeConflict::Claim => Code::Unschedulable,
            VolumeConflict::NotPrepared => Code::Error,
        }
    }

    fn explain(
        _: &NoArgs,
        _: &VolumeRestrictionsPod,
        _: &ExclusiveClaims,
        _: &NodeDisks,
        taken: VolumeConflict,
        out: &mut Reasons<'_>,
    ) {
        out.push(match taken {
            VolumeConflict::Disk => "node(s) had no available disk",
            VolumeConflict::Claim => {
                "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
            }
            VolumeConflict::NotPrepared => "cannot read \"PreFilterVolumeRestrictions\" from cycleState",
        });
    }
}

impl Incremental for VolumeRestrictions {
    const SKIPS: SkipFrequency = SkipFrequency::Usually;
    const FILTER_CAN_FAIL: bool = false;

    #[inline]
    fn reasons_key(rejection: &VolumeConflict) -> Option<u32> {
        Some(*rejection as u32)
    }

    #[inline]
    fn compile_epoch(_: &Volumes) -> Option<u64> {
        Some(0)
    }

    #[inline]
    fn filter_depends_on(pod: &VolumeRestrictionsPod, claims: &ExclusiveClaims) -> DependsOn {
        match (claims.names.is_empty(), pod.own.claims.is_empty()) {
            (true, true) => DependsOn::Node,
            (true, false) => DependsOn::NodeUntilUpdate,
            (false, _) => DependsOn::Cluster,
        }
    }

    fn update_filter(
        &self,
        args: &NoArgs,
        pod: &VolumeRestrictionsPod,
        slot: &mut CycleSlot<ExclusiveClaims>,
        view: View<'_, Self>,
        verdicts: &mut FilterUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        let Ok(PreFilterResult { slot: new, .. }) = self.pre_filter(args, pod, view) else {
            return Err(NeedsFullEvaluation);
        };
        if new.skip != slot.skip {
            return Err(NeedsFullEvaluation);
        }
        if !new.skip && new.state.are_in_use() != slot.state.are_in_use() {
            verdicts.reevaluate_all();
        }
        *slot = new;
        Ok(())
    }
}
