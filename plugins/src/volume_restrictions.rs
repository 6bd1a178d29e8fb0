//! VolumeRestrictions
//!
//! **What it does.** Rejects nodes where a disk of the pod is mounted by another pod, and all nodes while another pod uses
//! a claim of the pod that only one pod may use (`ReadWriteOncePod`).
//!
//! **Extension points.** PreFilter (rejects a pod whose claim does not exist; skips without such disks, if no claim is
//! taken), Filter.
//!
//! **Arguments.** None.
//!
//! **Upstream.** `plugins/volumerestrictions` (kube-scheduler 1.36.2).
//!
//! **Differences.** None.

use schedc_core::args::NoArgs;
use schedc_core::extension_points::{FilterPlugin, PreFilter, PreFilterPlugin, Skips, pre_filter_again};
use schedc_core::handle::Handle;
use schedc_core::intern::Symbol;
use schedc_core::kept::{Anew, Verdicts};
use schedc_core::model::{NodeIndex, Pod, PodSpec, Volume};
use schedc_core::plugin::{Compile, Plugin, Slot, View};
use schedc_core::status::{Code, Reasons, Status};

mod hint;

use crate::columns::{NodeDisks, is_disk};
use crate::indexes::Volumes;

/// Keeps pods from sharing what cannot be shared.
#[derive(Debug)]
pub struct VolumeRestrictions;

/// What a pod mounts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VolumeRestrictionsPod {
    namespace: Symbol,
    /// The claims that it names, in order.
    claims: Box<[Symbol]>,
    /// Disks that exclude each other.
    disks: Box<[Volume]>,
}

/// The pod's claims that only one pod may use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExclusiveClaims {
    names: Box<[Symbol]>,
    /// How often they are in use; `None` in a profile without PreFilter. kube-scheduler's arithmetic: a claim in use
    /// counts once to begin with, then every volume of a pod that comes or goes in thought, in any namespace.
    uses: Option<i64>,
}

/// What is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// A disk, on this node.
    Disk,
    /// A claim, for all nodes.
    Claim,
    /// The profile has no PreFilter of this plugin.
    NotPrepared,
}

impl Plugin for VolumeRestrictions {
    const NAME: &'static str = "VolumeRestrictions";
    type Args = NoArgs;
    type Columns = NodeDisks;
    type Indexes = Volumes;
    type Reads = ();
    type Pod = VolumeRestrictionsPod;

    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(VolumeRestrictions)
    }

    fn compile(_: &NoArgs, pod: &PodSpec, _: Compile<'_, Self>) -> VolumeRestrictionsPod {
        VolumeRestrictionsPod {
            namespace: pod.namespace,
            claims: pod.volumes.iter().filter_map(Volume::named_claim).collect(),
            disks: pod.volumes.iter().filter(|volume| is_disk(volume)).cloned().collect(),
        }
    }

    fn compile_epoch(_: &Volumes) -> Option<u64> {
        Some(0)
    }
}

impl PreFilterPlugin for VolumeRestrictions {
    type Cycle = ExclusiveClaims;
    const SKIPS: Skips = Skips::Usually;

    fn pre_filter(
        &self,
        _: &NoArgs,
        pod: &VolumeRestrictionsPod,
        view: View<'_, Self>,
    ) -> Result<PreFilter<ExclusiveClaims>, Status> {
        let volumes = view.indexes;
        let mut names = Vec::new();
        for &name in &pod.claims {
            let Some(claim) = volumes.claim(pod.namespace, name) else {
                let name = view.base.interner.resolve(name);
                return Err(Status::unresolvable(format!("persistentvolumeclaim {name:?} not found")));
            };
            if claim.is_exclusive() && !names.contains(&name) {
                names.push(name);
            }
        }
        let uses = names.iter().filter(|&&name| volumes.references(pod.namespace, name) > 0).count() as i64;
        let skip = pod.disks.is_empty() && uses == 0;
        let claims = ExclusiveClaims { names: names.into(), uses: Some(uses) };
        Ok(if skip { PreFilter::skip(claims) } else { PreFilter::ready(claims) })
    }

    fn update(
        &self,
        args: &NoArgs,
        pod: &VolumeRestrictionsPod,
        slot: &mut Slot<ExclusiveClaims>,
        view: View<'_, Self>,
        verdicts: &mut Verdicts<'_>,
    ) -> Result<(), Anew> {
        if pod.claims.is_empty() { Ok(()) } else { pre_filter_again(self, args, pod, slot, view, verdicts) }
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

impl ExclusiveClaims {
    fn uses_by(&self, other: &Pod) -> i64 {
        let claims = other.spec.volumes.iter().filter_map(Volume::named_claim);
        claims.filter(|claim| self.names.contains(claim)).count() as i64
    }
}

impl FilterPlugin for VolumeRestrictions {
    type Cycle = ExclusiveClaims;
    type Rejection = Taken;

    #[inline(always)]
    fn filter(
        _: &NoArgs,
        pod: &VolumeRestrictionsPod,
        claims: &ExclusiveClaims,
        node: &NodeDisks,
    ) -> Result<(), Taken> {
        if pod.disks.iter().any(|disk| node.conflicts(disk)) {
            return Err(Taken::Disk);
        }
        match claims.uses {
            Some(..=0) => Ok(()),
            Some(_) => Err(Taken::Claim),
            None => Err(Taken::NotPrepared),
        }
    }

    fn code(taken: &Taken) -> Code {
        match taken {
            Taken::Disk | Taken::Claim => Code::Unschedulable,
            Taken::NotPrepared => Code::Error,
        }
    }

    fn explain(
        _: &NoArgs,
        _: &VolumeRestrictionsPod,
        _: &ExclusiveClaims,
        _: &NodeDisks,
        taken: Taken,
        out: &mut Reasons<'_>,
    ) {
        out.push(match taken {
            Taken::Disk => "node(s) had no available disk",
            Taken::Claim => {
                "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
            }
            Taken::NotPrepared => "cannot read \"PreFilterVolumeRestrictions\" from cycleState",
        });
    }
}
