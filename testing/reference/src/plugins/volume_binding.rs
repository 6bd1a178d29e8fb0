//! VolumeBinding: requires that the pod's volumes are accessible from the node, or can be bound or provisioned there.

use std::collections::BTreeSet;

use schedc_core::intern::Symbol;
use schedc_core::model::{
    CsiNode, Kind, Node, NodeSelector, Object, PersistentVolume, PersistentVolumeClaim, StorageClass, Uid, Volume,
};
use schedc_core::quantity::Quantity;
use schedc_core::status::Code;

use crate::matching::{any_term_matches, selects};
use crate::plugin::{Cycle, Plugin, PreFilter, Rejection};

pub(super) struct VolumeBinding;

impl Plugin for VolumeBinding {
    fn name(&self) -> &'static str {
        "VolumeBinding"
    }

    fn pre_filter(&self, cx: &Cycle<'_>) -> PreFilter {
        match claims(cx) {
            Err(rejection) => PreFilter::Reject(rejection),
            Ok(None) => PreFilter::Skip,
            Ok(Some(_)) => PreFilter::Ready,
        }
    }

    fn filter(&self, cx: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
        let Some(claims) = claims(cx)? else { return Ok(()) };
        let mut reasons = Vec::new();
        reasons.extend(bound_volumes_fit(cx, &claims.bound, node)?);
        reasons.extend(unbound_claims_fit(cx, &claims.unbound, node)?);
        let code = Code::UnschedulableAndUnresolvable;
        let reasons: Vec<String> = reasons.into_iter().map(str::to_owned).collect();
        if reasons.is_empty() { Ok(()) } else { Err(Rejection { code, reasons }) }
    }

    fn pre_score(&self, _: &Cycle<'_>, _: &[&Node]) -> Result<bool, String> {
        Ok(false)
    }
}

/// Returns a claim by namespace and name.
pub(super) fn named_claim<'a>(cx: &Cycle<'a>, namespace: Symbol, name: Symbol) -> Option<&'a PersistentVolumeClaim> {
    match cx.cluster.object(Kind::PersistentVolumeClaim, namespace, name)? {
        Object::PersistentVolumeClaim(claim) => Some(claim),
        _ => None,
    }
}

/// Returns a claim in the pod's namespace.
pub(super) fn claim<'a>(cx: &Cycle<'a>, name: Symbol) -> Option<&'a PersistentVolumeClaim> {
    named_claim(cx, cx.pod.spec.namespace, name)
}

pub(super) fn volume<'a>(cx: &Cycle<'a>, name: Symbol) -> Option<&'a PersistentVolume> {
    match cx.cluster.object(Kind::PersistentVolume, Symbol::EMPTY, name)? {
        Object::PersistentVolume(volume) => Some(volume),
        _ => None,
    }
}

pub(super) fn class<'a>(cx: &Cycle<'a>, name: Symbol) -> Option<&'a StorageClass> {
    match cx.cluster.object(Kind::StorageClass, Symbol::EMPTY, name)? {
        Object::StorageClass(class) => Some(class),
        _ => None,
    }
}

pub(super) fn csi_node<'a>(cx: &Cycle<'a>, name: Symbol) -> Option<&'a CsiNode> {
    match cx.cluster.object(Kind::CsiNode, Symbol::EMPTY, name)? {
        Object::CsiNode(node) => Some(node),
        _ => None,
    }
}

/// Returns an error if the claim of a generic ephemeral volume belongs to another pod.
pub(super) fn ownership_error(
    cx: &Cycle<'_>,
    claim: &PersistentVolumeClaim,
    pod: &Uid,
    name: Symbol,
) -> Option<String> {
    let (namespace, claim_name, name) = (cx.text(claim.namespace), cx.text(claim.name), cx.text(name));
    (claim.controller.as_ref() != Some(pod))
        .then(|| format!("PVC {namespace}/{claim_name} was not created for pod {namespace}/{name} (pod is not owner)"))
}

/// Claims of a pod.
struct Claims<'a> {
    bound: Vec<&'a PersistentVolumeClaim>,
    /// Claims with delayed binding.
    unbound: Vec<&'a PersistentVolumeClaim>,
}

/// Groups the pod's claims. `None`: it has no claims.
fn claims<'a>(cx: &Cycle<'a>) -> Result<Option<Claims<'a>>, Rejection> {
    let mut all = Vec::new();
    for used in &cx.pod.spec.volumes {
        let (name, owner) = match used {
            Volume::Claim { claim } => (*claim, None),
            Volume::Ephemeral { claim, pod, pod_name } => (*claim, Some((pod, *pod_name))),
            _ => continue,
        };
        let text = cx.text(name);
        let Some(claim) = claim(cx, name) else {
            return Err(Rejection::unresolvable(match owner {
                Some(_) => {
                    format!("waiting for ephemeral volume controller to create the persistentvolumeclaim {text:?}")
                }
                None => format!("persistentvolumeclaim {text:?} not found"),
            }));
        };
        if claim.lost {
            let volume = claim.volume.map_or("", |volume| cx.text(volume));
            let reason = format!("persistentvolumeclaim {text:?} bound to non-existent persistentvolume {volume:?}");
            return Err(Rejection::unresolvable(reason));
        }
        if claim.deleting {
            return Err(Rejection::unresolvable(format!("persistentvolumeclaim {text:?} is being deleted")));
        }
        if let Some(error) = owner.and_then(|(owner, name)| ownership_error(cx, claim, owner, name)) {
            return Err(Rejection::unresolvable(error));
        }
        all.push(claim);
    }
    if all.is_empty() {
        return Ok(None);
    }
    let mut claims = Claims { bound: Vec::new(), unbound: Vec::new() };
    let mut has_unbound_immediate = false;
    for claim in all {
        if claim.volume.is_some() && claim.bind_completed {
            claims.bound.push(claim);
            continue;
        }
        let waits = match class(cx, claim.class).filter(|_| claim.class != Symbol::EMPTY) {
            None => false,
            Some(class) => class.wait_for_first_consumer.ok_or_else(|| {
                Rejection::error(format!("VolumeBindingMode not set for StorageClass {:?}", cx.text(class.name)))
            })?,
        };
        match waits && claim.volume.is_none() {
            true => claims.unbound.push(claim),
            false => has_unbound_immediate = true,
        }
    }
    if has_unbound_immediate {
        return Err(Rejection::unresolvable("pod has unbound immediate PersistentVolumeClaims"));
    }
    Ok(Some(claims))
}

fn admits(cx: &Cycle<'_>, affinity: Option<&NodeSelector>, node: &Node) -> bool {
    affinity.is_none_or(|affinity| any_term_matches(affinity, node, cx.names))
}

fn bound_volumes_fit(
    cx: &Cycle<'_>,
    claims: &[&PersistentVolumeClaim],
    node: &Node,
) -> Result<Option<&'static str>, Rejection> {
    for claim in claims {
        let Some(volume) = claim.volume.and_then(|name| volume(cx, name)) else {
            return Ok(Some("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"));
        };
        let on_node = |plugin| csi_node(cx, node.name).is_some_and(|csi| csi.migrated_plugins.contains(&plugin));
        let affinity = match &volume.migration {
            Some(migration) if on_node(migration.plugin) => match &migration.volume {
                Ok(migrated) => migrated.node_affinity.as_ref(),
                Err(error) => return Err(Rejection::error(format!("could not translate pv: {error}"))),
            },
            _ => volume.node_affinity.as_ref(),
        };
        if !admits(cx, affinity, node) {
            return Ok(Some("node(s) didn't match PersistentVolume's node affinity"));
        }
    }
    Ok(None)
}

const NO_VOLUME: &str = "node(s) didn't find available persistent volumes to bind";

fn unbound_claims_fit(
    cx: &Cycle<'_>,
    claims: &[&PersistentVolumeClaim],
    node: &Node,
) -> Result<Option<&'static str>, Rejection> {
    let mut to_provision = Vec::new();
    let mut to_match = Vec::new();
    for claim in claims {
        match claim.selected_node {
            Some(selected) if selected != node.name => return Ok(Some(NO_VOLUME)),
            Some(_) => to_provision.push(*claim),
            None => to_match.push(*claim),
        }
    }
    let size = |claim: &PersistentVolumeClaim| claim.request.unwrap_or(Quantity::ZERO);
    to_match.sort_by_key(|claim| size(claim));
    let mut taken = BTreeSet::new();
    for claim in to_match {
        match matching_volume(cx, claim, size(claim), &taken, node)? {
            Some(volume) => drop(taken.insert(volume.name)),
            None => to_provision.push(claim),
        }
    }
    for claim in to_provision {
        let Some(class) = class(cx, claim.class) else { return Ok(Some(NO_VOLUME)) };
        if !class.provisions || !admits(cx, class.allowed_topologies.as_ref(), node) {
            return Ok(Some(NO_VOLUME));
        }
        if !has_capacity(cx, claim, class, node) {
            return Ok(Some("node(s) did not have enough free storage"));
        }
    }
    Ok(None)
}

/// Returns the volume that a claim gets on a node: one that references it, or else the smallest matching one.
fn matching_volume<'a>(
    cx: &Cycle<'a>,
    claim: &PersistentVolumeClaim,
    size: Quantity,
    taken: &BTreeSet<Symbol>,
    node: &Node,
) -> Result<Option<&'a PersistentVolume>, Rejection> {
    let selector = claim.selector.as_ref().map_err(|error| {
        let (namespace, name) = (cx.text(claim.namespace), cx.text(claim.name));
        Rejection::error(format!("error creating internal label selector for claim: {namespace}/{name}: {error}"))
    })?;
    let volumes = cx.cluster.objects.values().filter_map(|object| match object {
        Object::PersistentVolume(volume) => Some(&**volume),
        _ => None,
    });
    let mut volumes: Vec<&PersistentVolume> = volumes
        .filter(|volume| volume.class == claim.class && !taken.contains(&volume.name) && !volume.deleting)
        .filter(|volume| volume.capacity >= size && volume.mode == claim.mode)
        .filter(|volume| volume.attributes_class == claim.attributes_class)
        .collect();
    volumes.sort_by(|a, b| a.capacity.cmp(&b.capacity).then_with(|| cx.text(a.name).cmp(cx.text(b.name))));
    let references_claim = |volume: &PersistentVolume| {
        volume.claim.as_ref().is_some_and(|wanted| {
            (wanted.namespace, wanted.name) == (claim.namespace, claim.name)
                && wanted.uid.as_ref().is_none_or(|uid| *uid == claim.uid)
        })
    };
    let is_reachable = |volume: &PersistentVolume| admits(cx, volume.node_affinity.as_ref(), node);
    if let Some(volume) = volumes.iter().find(|volume| references_claim(volume)) {
        return Ok(is_reachable(volume).then_some(*volume));
    }
    Ok(volumes.into_iter().find(|volume| {
        volume.claim.is_none()
            && volume.available
            && selector.as_ref().is_none_or(|selector| selects(selector, &volume.labels, cx.names))
            && claim.access_modes.iter().all(|mode| volume.access_modes.contains(mode))
            && is_reachable(volume)
    }))
}

/// Returns whether the driver has capacity for a new volume. Without published capacities or a requested size, returns
/// true.
fn has_capacity(cx: &Cycle<'_>, claim: &PersistentVolumeClaim, class: &StorageClass, node: &Node) -> bool {
    let Some(size) = claim.request else { return true };
    let publishes_capacity = match cx.cluster.object(Kind::CsiDriver, Symbol::EMPTY, class.provisioner) {
        Some(Object::CsiDriver(driver)) => driver.storage_capacity,
        _ => false,
    };
    !publishes_capacity
        || cx.cluster.objects.values().any(|object| match object {
            Object::CsiStorageCapacity(capacity) => {
                capacity.class == class.name
                    && capacity.largest_volume.is_some_and(|largest| largest >= size.value())
                    && capacity.node_topology.as_ref().is_some_and(|nodes| selects(nodes, &node.labels, cx.names))
            }
            _ => false,
        })
}
