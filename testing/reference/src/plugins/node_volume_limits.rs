//! NodeVolumeLimits: limits the number of volumes of a CSI driver on a node.

use std::collections::BTreeMap;

use schedc_core::intern::Symbol;
use schedc_core::model::{CsiNode, Node, Object, Pod, Volume};
use schedc_core::status::Code;

use super::volume_binding::{class, csi_node, named_claim, ownership_error, volume};
use crate::plugin::{Cycle, Plugin, PreFilter, Rejection};

pub(super) struct NodeVolumeLimits;

/// Volumes by driver and by the driver's name for the volume. The name of an unprovisioned volume is derived from its
/// claim.
type Volumes = BTreeMap<(Symbol, String), Symbol>;

impl Plugin for NodeVolumeLimits {
    fn name(&self) -> &'static str {
        "NodeVolumeLimits"
    }

    fn pre_filter(&self, cx: &Cycle<'_>) -> PreFilter {
        let is_counted =
            |volume: &Volume| matches!(volume, Volume::Claim { .. } | Volume::Ephemeral { .. } | Volume::InTree { .. });
        if cx.pod.spec.volumes.iter().any(is_counted) { PreFilter::Ready } else { PreFilter::Skip }
    }

    fn filter(&self, cx: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
        let csi_node = csi_node(cx, node.name);
        let mut new = Volumes::new();
        count(cx, cx.pod, csi_node, true, &mut new)?;
        let limits: BTreeMap<Symbol, i32> = csi_node
            .iter()
            .flat_map(|node| &node.drivers)
            .filter_map(|(name, limit)| Some((*name, (*limit)?)))
            .collect();
        if new.is_empty() || limits.is_empty() {
            return Ok(());
        }
        let mut used = Volumes::new();
        for placed in cx.pods_on(node) {
            count(cx, &placed.pod, csi_node, false, &mut used)?;
        }
        let mut attached = BTreeMap::<Symbol, i64>::new();
        for (volume, driver) in &used {
            new.remove(volume);
            *attached.entry(*driver).or_default() += 1;
        }
        for (volume, driver) in attachments(cx, node) {
            if !used.contains_key(&volume) {
                *attached.entry(driver).or_default() += 1;
            }
        }
        for (driver, limit) in limits {
            let more = new.values().filter(|other| **other == driver).count() as i64;
            if more > 0 && attached.get(&driver).unwrap_or(&0) + more > limit.into() {
                return Err(Rejection::unschedulable("node(s) exceed max volume count"));
            }
        }
        Ok(())
    }
}

/// Collects those volumes of a pod that count towards the limits of drivers, each once.
fn count(
    cx: &Cycle<'_>,
    pod: &Pod,
    csi_node: Option<&CsiNode>,
    is_new: bool,
    out: &mut Volumes,
) -> Result<(), Rejection> {
    let mut put = |driver: Symbol, handle: String| {
        if driver != Symbol::EMPTY && !handle.is_empty() {
            out.insert((driver, handle), driver);
        }
    };
    for used in &pod.spec.volumes {
        let name = match used {
            Volume::InTree { csi } => {
                if csi_node.is_some()
                    && let Some(csi) = csi.as_ref().map_err(|error| Rejection::error(error.to_string()))?
                {
                    put(csi.driver, cx.text(csi.handle).to_owned());
                }
                continue;
            }
            Volume::Claim { claim } | Volume::Ephemeral { claim, .. } => *claim,
            _ => continue,
        };
        if name == Symbol::EMPTY {
            return Err(Rejection::error("PersistentVolumeClaim had no name"));
        }
        let namespace = pod.spec.namespace;
        let Some(claim) = named_claim(cx, namespace, name) else {
            if is_new {
                let (namespace, name) = (cx.text(namespace), cx.text(name));
                let code = Code::UnschedulableAndUnresolvable;
                let text = format!("looking up PVC {namespace}/{name}: persistentvolumeclaim {name:?} not found");
                return Err(Rejection { code, reasons: vec![text] });
            }
            continue;
        };
        if let Volume::Ephemeral { pod: owner, pod_name, .. } = used
            && let Some(error) = ownership_error(cx, claim, owner, *pod_name)
        {
            return Err(Rejection::error(error));
        }
        if let Some(volume) = claim.volume.and_then(|name| volume(cx, name)) {
            let migrated = volume.migration.as_ref().filter(|_| csi_node.is_some());
            let csi = volume.csi.or_else(|| Some(migrated?.volume.as_ref().ok()?.csi));
            if let Some(csi) = csi {
                put(csi.driver, cx.text(csi.handle).to_owned());
            }
        } else if let Some(class) = class(cx, claim.class).filter(|class| !class.migrated || csi_node.is_some())
            && claim.class != Symbol::EMPTY
            && let Some(driver) = class.driver
        {
            put(driver, format!("to be made for {}/{}", cx.text(namespace), cx.text(name)));
        }
    }
    Ok(())
}

/// Returns the attached volumes of a node according to VolumeAttachments.
fn attachments(cx: &Cycle<'_>, node: &Node) -> Volumes {
    let mut attached = Volumes::new();
    for object in cx.cluster.objects.values() {
        if let Object::VolumeAttachment(attachment) = object
            && attachment.node == node.name
            && attachment.driver != Symbol::EMPTY
            && let Some(csi) = attachment.volume.and_then(|name| volume(cx, name)).and_then(|volume| volume.csi)
        {
            attached.insert((attachment.driver, cx.text(csi.handle).to_owned()), attachment.driver);
        }
    }
    attached
}
