//! State of a pod's claims, before nodes are evaluated.

use std::sync::Arc;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{PersistentVolume, PersistentVolumeClaim, StorageClass};
use schedc_core::plugin::View;
use schedc_core::quantity::Quantity;
use schedc_core::status::Status;
use smallvec::SmallVec;

use super::assume_cache::AssumeCache;
use super::label_indexed_list::{LabelIndexedList, required_label, selector_required_label};
use super::pod_volumes::{Bound, BoundVolumes, PodVolumes, Provision, Selected, Unbound};
use super::{PodClaim, PodClaims, VolumeBinding};
use crate::indexes::Volumes;

type Claim = Arc<PersistentVolumeClaim>;

/// Reads the claims, as PreFilter does. The set of feasible nodes is not computed here.
///
/// # Errors
/// A claim does not exist, cannot be used, is unbound with immediate binding, or its class has no binding mode.
pub(super) fn look_up(
    pod: &PodClaims,
    view: View<'_, VolumeBinding>,
    assumed: &AssumeCache,
) -> Result<PodVolumes, Status> {
    let interner = &view.base.interner;
    let volumes = view.indexes;
    let mut claims = SmallVec::<[&Claim; 4]>::new();
    for claim in &pod.claims {
        claims.push(usable(pod, claim, volumes, interner).map_err(Status::unresolvable)?);
    }
    let mut bound = BoundVolumes::new();
    let mut unbound = Vec::new();
    let mut is_immediate = false;
    for claim in claims {
        if claim.is_bound() {
            bound.extend(bound_volume(claim, assumed, view));
            continue;
        }
        match volumes.class(claim.class).map(|class| (class, class.wait_for_first_consumer)) {
            Some((class, Some(true))) if claim.volume.is_none() => unbound.push((assumed.claim(claim).clone(), class)),
            Some((class, None)) => {
                let name = interner.resolve(class.name);
                return Err(Status::error(format!("VolumeBindingMode not set for StorageClass {name:?}")));
            }
            _ => is_immediate = true,
        }
    }
    if is_immediate {
        return Err(Status::unresolvable("pod has unbound immediate PersistentVolumeClaims"));
    }
    Ok(pod_volumes(bound, unbound, assumed, view))
}

/// Returns a claim of the pod, or the reason why the pod cannot use it (`podHasPVCs`).
fn usable<'a>(
    pod: &PodClaims,
    wanted: &PodClaim,
    volumes: &'a Volumes,
    interner: &Interner,
) -> Result<&'a Claim, String> {
    let name = interner.resolve(wanted.name);
    let Some(claim) = volumes.claim(pod.namespace, wanted.name) else {
        return Err(match wanted.owner {
            Some(_) => {
                format!("waiting for ephemeral volume controller to create the persistentvolumeclaim {name:?}")
            }
            None => format!("persistentvolumeclaim {name:?} not found"),
        });
    };
    if claim.lost {
        let volume = interner.resolve(claim.volume.unwrap_or(Symbol::EMPTY));
        return Err(format!("persistentvolumeclaim {name:?} bound to non-existent persistentvolume {volume:?}"));
    }
    if claim.deleting {
        return Err(format!("persistentvolumeclaim {name:?} is being deleted"));
    }
    match &wanted.owner {
        Some((uid, pod_name)) if claim.controller.as_ref() != Some(uid) => {
            let namespace = interner.resolve(pod.namespace);
            let pod = interner.resolve(*pod_name);
            Err(format!("PVC {namespace}/{name} was not created for pod {namespace}/{pod} (pod is not owner)"))
        }
        _ => Ok(claim),
    }
}

/// Returns the volume of a bound claim, unless every node can access it.
fn bound_volume(claim: &Claim, assumed: &AssumeCache, view: View<'_, VolumeBinding>) -> Option<Bound> {
    let Some(volume) = claim.volume.and_then(|name| view.indexes.volume(name)) else { return Some(Bound::Missing) };
    let volume = assumed.volume(volume);
    let migration = volume.migration.as_ref();
    let migrated = migration.and_then(|migration| Some((migration, view.indexes.migrated(migration.plugin)?)));
    let is_anywhere = volume.node_affinity.is_none()
        && migrated
            .is_none_or(|(migration, _)| migration.volume.as_ref().is_ok_and(|volume| volume.node_affinity.is_none()));
    (!is_anywhere).then(|| Bound::Volume {
        volume: volume.clone(),
        migrated: migrated.map(|(_, nodes)| nodes.clone()).unwrap_or_default(),
    })
}

fn pod_volumes(
    bound: BoundVolumes,
    unbound: Vec<(Claim, &Arc<StorageClass>)>,
    assumed: &AssumeCache,
    view: View<'_, VolumeBinding>,
) -> PodVolumes {
    let (mut selected, mut to_match) = (Vec::new(), Vec::new());
    for (claim, class) in unbound {
        let provision = provision(&claim, class, view.indexes);
        match claim.selected_node {
            Some(node) => selected.push(Selected { node, claim, provision }),
            None => to_match.push((claim, provision)),
        }
    }
    to_match.sort_by_key(|(claim, _)| requested(claim));
    let invalid_selector = to_match.iter().find_map(|(claim, _)| {
        let (namespace, name) = (view.base.interner.resolve(claim.namespace), view.base.interner.resolve(claim.name));
        let error = claim.selector.as_ref().err()?;
        Some(format!("error creating internal label selector for claim: {namespace}/{name}: {error}").into())
    });
    let unbound = to_match.into_iter().map(|(claim, provision)| {
        let (own, others) = candidates(&claim, assumed, view);
        Unbound { claim, own, others, provision }
    });
    PodVolumes::new(bound, selected, unbound.collect(), invalid_selector)
}

fn requested(claim: &PersistentVolumeClaim) -> Quantity {
    claim.request.unwrap_or(Quantity::ZERO)
}

/// Returns two lists of volumes that can be bound to the claim, smallest first: the volumes that are reserved for the
/// claim, and unbound volumes (`FindMatchingVolume`). Does not check node affinity.
fn candidates(
    claim: &PersistentVolumeClaim,
    assumed: &AssumeCache,
    view: View<'_, VolumeBinding>,
) -> (Vec<Arc<PersistentVolume>>, LabelIndexedList<Arc<PersistentVolume>>) {
    let request = requested(claim);
    let fits = |volume: &&Arc<PersistentVolume>| {
        volume.capacity >= request
            && volume.mode == claim.mode
            && volume.attributes_class == claim.attributes_class
            && !volume.deleting
    };
    let selects = |volume: &PersistentVolume| match &claim.selector {
        Ok(Some(selector)) => selector.matches(&volume.labels),
        _ => true,
    };
    let (mut own, mut others) = (Vec::new(), Vec::new());
    let claimed = view.indexes.claimed_by(claim.namespace, claim.name).filter(|volume| volume.class == claim.class);
    let volumes = view.indexes.unclaimed(claim.class).chain(claimed).map(|volume| assumed.volume(volume));
    for volume in volumes.filter(fits) {
        if volume.is_for(claim) {
            own.push(volume.clone());
        } else if volume.claim.is_none()
            && volume.available
            && selects(volume)
            && claim.access_modes.iter().all(|mode| volume.access_modes.contains(mode))
        {
            others.push(volume.clone());
        }
    }
    let name = |volume: &PersistentVolume| view.base.interner.resolve(volume.name);
    for list in [&mut own, &mut others] {
        list.sort_by(|a, b| a.capacity.cmp(&b.capacity).then_with(|| name(a).cmp(name(b))));
    }
    (own, LabelIndexedList::new(others, |volume| selector_required_label(volume.node_affinity.as_ref()?)))
}

/// Returns the requirements for provisioning the claim's volume.
fn provision(claim: &PersistentVolumeClaim, class: &Arc<StorageClass>, volumes: &Volumes) -> Provision {
    let is_tracked = volumes.driver(class.provisioner).is_some_and(|driver| driver.storage_capacity);
    let capacity = claim.request.filter(|_| is_tracked).map(|request| {
        let request = request.value();
        let enough =
            volumes.capacities(class.name).filter(|capacity| capacity.largest_volume.is_some_and(|s| s >= request));
        let reachable = enough.filter_map(|capacity| capacity.node_topology.clone()).collect();
        LabelIndexedList::new(reachable, |topology| required_label(&topology.requirements))
    });
    Provision { class: class.clone(), capacity }
}
