//! VolumeZone: requires the zone and region labels of the pod's volumes on the node.

use schedc_core::intern::Symbol;
use schedc_core::model::{Node, Volume, ZoneLabel};

use super::volume_binding::{claim, class, volume};
use crate::matching::{label, label_by_name};
use crate::plugin::{Cycle, Plugin, PreFilter, Rejection};

pub(super) struct VolumeZone;

const LABELS: [&str; 4] = [
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
];

impl Plugin for VolumeZone {
    fn name(&self) -> &'static str {
        "VolumeZone"
    }

    fn pre_filter(&self, cx: &Cycle<'_>) -> PreFilter {
        match zones(cx) {
            Err(error) => PreFilter::Reject(Rejection::unresolvable(error)),
            Ok(zones) if zones.is_empty() => PreFilter::Skip,
            Ok(_) => PreFilter::Ready,
        }
    }

    fn filter(&self, cx: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
        if LABELS.iter().all(|key| label_by_name(&node.labels, key, cx.names).is_none()) {
            return Ok(());
        }
        for zone in zones(cx).map_err(Rejection::unresolvable)? {
            let value = label(&node.labels, zone.key).or_else(|| label(&node.labels, zone.successor));
            if !value.is_some_and(|value| zone.values.contains(&value)) {
                return Err(Rejection::unresolvable("node(s) had no available volume zone"));
            }
        }
        Ok(())
    }
}

/// Returns the zone labels of the pod's volumes.
fn zones<'a>(cx: &Cycle<'a>) -> Result<Vec<&'a ZoneLabel>, String> {
    let mut zones = Vec::new();
    for used in &cx.pod.spec.volumes {
        let Volume::Claim { claim: name } = used else { continue };
        if *name == Symbol::EMPTY {
            return Err("PersistentVolumeClaim had no name".to_owned());
        }
        let claim = claim(cx, *name).ok_or_else(|| format!("persistentvolumeclaim {:?} not found", cx.text(*name)))?;
        if let Some(name) = claim.volume {
            let volume = volume(cx, name).ok_or_else(|| format!("persistentvolume {:?} not found", cx.text(name)))?;
            zones.extend(&volume.zones);
            continue;
        }
        if claim.class == Symbol::EMPTY {
            return Err("PersistentVolumeClaim had no pv name and storageClass name".to_owned());
        }
        let name = cx.text(claim.class);
        let class = class(cx, claim.class).ok_or_else(|| format!("storageclass.storage.k8s.io {name:?} not found"))?;
        match class.wait_for_first_consumer {
            Some(true) => {}
            Some(false) => return Err("PersistentVolume had no name".to_owned()),
            None => return Err(format!("VolumeBindingMode not set for StorageClass {name:?}")),
        }
    }
    Ok(zones)
}
