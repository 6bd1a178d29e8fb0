//! VolumeZone
//!
//! **What it does.** Rejects nodes with zone or region labels that differ from those of the volumes of the pod's
//! claims. A node without such labels passes.
//!
//! **Extension points.** PreFilter (skips if no volume has such a label), Filter.
//!
//! **Arguments.** None.
//!
//! **Upstream.** `plugins/volumezone` (kube-scheduler 1.36.2).
//!
//! **Differences.** Filter without PreFilter fails the attempt of a pod with claims; in kube-scheduler, it
//! reads the volumes for every node.

use std::sync::Arc;

use schedc_core::args::NoArgs;
use schedc_core::extension_points::{FilterPlugin, PreFilterPlugin, PreFilterResult, SkipFrequency};
use schedc_core::incremental::{DependsOn, ExcludedFromSignature, Incremental};
use schedc_core::intern::Symbol;
use schedc_core::model::{LabelsExt, PodSpec, Volume, ZoneLabel};
use schedc_core::plugin::{CompileContext, View};
use schedc_core::status::{Code, Reasons, Status};
use schedc_core::{Plugin, plugin};
use smallvec::SmallVec;

mod hint;

use crate::columns::NodeLabels;
use crate::indexes::Volumes;

/// Compares the zones of volumes and nodes.
#[derive(Debug, Default)]
pub struct VolumeZone;

/// The claims in a pod, without those of generic ephemeral volumes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VolumeZonePod {
    own: ExcludedFromSignature<NamedClaims>,
    /// The zones of the claims' volumes when the pod was compiled. Pods with volumes in different zones thus have
    /// different signatures. PreFilter reads the zones again.
    zones: Box<[ZoneLabel]>,
    /// The zone and region labels. A node without any of them passes.
    labels: [Symbol; 4],
}

#[derive(Clone, Debug)]
struct NamedClaims {
    namespace: Symbol,
    claims: SmallVec<[Symbol; 2]>,
}

/// The zones of a pod's volumes, if PreFilter has run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VolumeZones(Option<Arc<[ZoneLabel]>>);

/// Reason for a rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneMismatch {
    /// A zone or region differs from that of a volume.
    Node,
    /// The profile has no PreFilter of this plugin.
    NotPrepared,
}

const LABELS: [&str; 4] = [
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
];

#[plugin]
impl Plugin for VolumeZone {
    type Columns = NodeLabels;
    type Indexes = Volumes;
    type Pod = VolumeZonePod;

    fn compile(_: &NoArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> VolumeZonePod {
        if pod.volumes.is_empty() {
            let own = NamedClaims { namespace: pod.namespace, claims: SmallVec::new() };
            return VolumeZonePod {
                own: ExcludedFromSignature(own),
                zones: Box::default(),
                labels: [Symbol::EMPTY; 4],
            };
        }
        let claims: SmallVec<[Symbol; 2]> = pod.volumes.iter().filter_map(Volume::named_claim).collect();
        let volumes = claims.iter().filter_map(|&claim| {
            let claim = cx.indexes.claim(pod.namespace, claim)?;
            cx.indexes.volume(claim.volume?)
        });
        VolumeZonePod {
            // Without claims, the labels are not read.
            labels: LABELS.map(|label| if claims.is_empty() { Symbol::EMPTY } else { cx.interner.intern(label) }),
            zones: volumes.flat_map(|volume| &volume.zones).cloned().collect(),
            own: ExcludedFromSignature(NamedClaims { namespace: pod.namespace, claims }),
        }
    }
}

impl PreFilterPlugin for VolumeZone {
    type Cycle = VolumeZones;

    #[inline]
    fn pre_filter(
        &self,
        _: &NoArgs,
        pod: &VolumeZonePod,
        view: View<'_, Self>,
    ) -> Result<PreFilterResult<VolumeZones>, Status> {
        if pod.own.claims.is_empty() {
            return Ok(PreFilterResult::skip(VolumeZones(Some(Arc::default()))));
        }
        let zones = pod.own.zones(view)?;
        let is_anywhere = zones.is_empty();
        // The default value of `Arc<[T]>` is the only empty slice without an allocation.
        let zones = VolumeZones(Some(if is_anywhere { Arc::default() } else { zones.into() }));
        Ok(if is_anywhere { PreFilterResult::skip(zones) } else { PreFilterResult::ready(zones) })
    }
}

/// Returns the name of a claim's volume; `None` for a claim that waits for its first consumer.
fn bound_volume(namespace: Symbol, claim: Symbol, view: View<'_, VolumeZone>) -> Result<Option<Symbol>, String> {
    let interner = &view.base.interner;
    if claim == Symbol::EMPTY {
        return Err("PersistentVolumeClaim had no name".into());
    }
    let Some(claim) = view.indexes.claim(namespace, claim) else {
        return Err(format!("persistentvolumeclaim {:?} not found", interner.resolve(claim)));
    };
    if claim.volume.is_some() {
        return Ok(claim.volume);
    }
    if claim.class == Symbol::EMPTY {
        return Err("PersistentVolumeClaim had no pv name and storageClass name".into());
    }
    let name = interner.resolve(claim.class);
    let Some(class) = view.indexes.class(claim.class) else {
        return Err(format!("storageclass.storage.k8s.io {name:?} not found"));
    };
    match class.wait_for_first_consumer {
        Some(true) => Ok(None),
        Some(false) => Err("PersistentVolume had no name".into()),
        None => Err(format!("VolumeBindingMode not set for StorageClass {name:?}")),
    }
}

impl NamedClaims {
    /// Returns the zones of the claims' volumes.
    fn zones(&self, view: View<'_, VolumeZone>) -> Result<Vec<ZoneLabel>, Status> {
        let NamedClaims { namespace, claims } = self;
        let mut zones = Vec::new();
        for &claim in claims {
            let volume = bound_volume(*namespace, claim, view).map_err(Status::unresolvable)?;
            if let Some(name) = volume {
                let Some(volume) = view.indexes.volume(name) else {
                    let name = view.base.interner.resolve(name);
                    return Err(Status::unresolvable(format!("persistentvolume {name:?} not found")));
                };
                zones.extend(volume.zones.iter().cloned());
            }
        }
        Ok(zones)
    }
}

impl FilterPlugin for VolumeZone {
    type Cycle = VolumeZones;
    type Rejection = ZoneMismatch;

    #[inline(always)]
    fn filter(_: &NoArgs, pod: &VolumeZonePod, zones: &VolumeZones, node: &NodeLabels) -> Result<(), ZoneMismatch> {
        let Some(zones) = &zones.0 else {
            return if pod.own.claims.is_empty() { Ok(()) } else { Err(ZoneMismatch::NotPrepared) };
        };
        let is_in = |zone: &ZoneLabel| {
            let value = node.labels.value(zone.key).or_else(|| node.labels.value(zone.successor));
            value.is_some_and(|value| zone.values.contains(&value))
        };
        let has_zone = || pod.labels.iter().any(|label| node.labels.value(*label).is_some());
        if zones.iter().all(is_in) || !has_zone() { Ok(()) } else { Err(ZoneMismatch::Node) }
    }

    fn code(mismatch: &ZoneMismatch) -> Code {
        match mismatch {
            ZoneMismatch::Node => Code::UnschedulableAndUnresolvable,
            ZoneMismatch::NotPrepared => Code::Error,
        }
    }

    fn explain(
        _: &NoArgs,
        _: &VolumeZonePod,
        _: &VolumeZones,
        _: &NodeLabels,
        mismatch: ZoneMismatch,
        out: &mut Reasons<'_>,
    ) {
        out.push(match mismatch {
            ZoneMismatch::Node => "node(s) had no available volume zone",
            ZoneMismatch::NotPrepared => "the profile has no PreFilter of VolumeZone, which finds the pod's volumes",
        });
    }
}

impl Incremental for VolumeZone {
    const SKIPS: SkipFrequency = SkipFrequency::Usually;
    const FILTER_CAN_FAIL: bool = false;

    #[inline]
    fn reasons_key(rejection: &ZoneMismatch) -> Option<u32> {
        Some(*rejection as u32)
    }

    #[inline]
    fn compile_epoch(_: &Volumes) -> Option<u64> {
        Some(0)
    }

    #[inline]
    fn filter_depends_on(pod: &VolumeZonePod, zones: &VolumeZones) -> DependsOn {
        match zones.0.as_deref() {
            Some([]) if pod.own.claims.is_empty() => DependsOn::Node,
            Some(zones) if *zones == *pod.zones => DependsOn::NodeUntilUpdate,
            _ => DependsOn::Cluster,
        }
    }
}
