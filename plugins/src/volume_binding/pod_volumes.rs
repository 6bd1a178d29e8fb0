//! The pod's volumes on one node: the decision of Filter.

use std::sync::Arc;

use schedc_core::intern::Symbol;
use schedc_core::model::{
    LabelSelector, NodeIndex, NodeSelector, PersistentVolume, PersistentVolumeClaim, StorageClass,
};
use schedc_core::node_mask::NodeMask;
use schedc_core::status::Reasons;
use smallvec::SmallVec;

use super::label_indexed_list::LabelIndexedList;
use crate::columns::NodeLabels;

/// State of the pod's claims, and of the volumes that they can be bound to, for Filter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodVolumes {
    bindings: ClaimBindings,
    /// The nodes that can access all volumes, if they were computed.
    nodes: Option<Arc<NodeMask>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum ClaimBindings {
    /// PreFilter did not run.
    #[default]
    NotPrepared,
    /// Every node fits.
    AnyNode,
    Claims(Arc<Claims>),
}

#[derive(Debug, PartialEq)]
struct Claims {
    /// Volumes of bound claims, in the pod's order, without volumes that every node can access.
    bound: BoundVolumes,
    /// Unbound claims with a volume that is being provisioned for a selected node, in the pod's order.
    selected: Vec<Selected>,
    /// Other unbound claims, smallest first.
    unbound: Vec<Unbound>,
    /// Error in the selector of an unbound claim.
    invalid_selector: Option<Arc<str>>,
}

/// The volumes of bound claims. Most pods have one.
pub(super) type BoundVolumes = SmallVec<[Bound; 1]>;

/// The volume of a bound claim.
#[derive(Debug)]
pub(super) enum Bound {
    /// The volume does not exist.
    Missing,
    /// The volume exists.
    Volume {
        volume: Arc<PersistentVolume>,
        /// The nodes on which the in-tree plugin of the volume is migrated to CSI.
        migrated: NodeMask,
    },
}

/// A claim with a volume that is being provisioned for a selected node.
#[derive(Debug)]
pub(super) struct Selected {
    pub(super) node: Symbol,
    pub(super) claim: Arc<PersistentVolumeClaim>,
    pub(super) provision: Provision,
}

/// An unbound claim.
#[derive(Debug)]
pub(super) struct Unbound {
    pub(super) claim: Arc<PersistentVolumeClaim>,
    /// Volumes that are reserved for the claim. If one of them is free, no other volume is used.
    pub(super) own: Vec<Arc<PersistentVolume>>,
    /// Other volumes that can be bound to it.
    pub(super) others: LabelIndexedList<Arc<PersistentVolume>>,
    pub(super) provision: Provision,
}

// Claims and bound volumes are equal here if they have the same effect on Filter, regardless of their names.

impl PartialEq for Bound {
    fn eq(&self, other: &Bound) -> bool {
        match (self, other) {
            (Bound::Missing, Bound::Missing) => true,
            (Bound::Volume { volume, migrated }, Bound::Volume { volume: other, migrated: also }) => {
                let translated =
                    |volume: &PersistentVolume| volume.migration.as_ref().map(|migration| migration.volume.clone());
                volume.node_affinity == other.node_affinity
                    && migrated == also
                    && (migrated.is_empty() || translated(volume) == translated(other))
            }
            _ => false,
        }
    }
}

impl PartialEq for Selected {
    fn eq(&self, other: &Selected) -> bool {
        self.node == other.node && self.provision == other.provision
    }
}

impl PartialEq for Unbound {
    fn eq(&self, other: &Unbound) -> bool {
        let same = |(volume, other): (&Arc<PersistentVolume>, &Arc<PersistentVolume>)| {
            Arc::ptr_eq(volume, other) || volume == other
        };
        let all_same = |volumes: &[Arc<PersistentVolume>], others: &[Arc<PersistentVolume>]| {
            volumes.len() == others.len() && volumes.iter().zip(others).all(same)
        };
        all_same(&self.own, &other.own)
            && all_same(self.others.items(), other.others.items())
            && self.provision == other.provision
    }
}

/// Requirements for provisioning a volume.
#[derive(Debug, PartialEq)]
pub(super) struct Provision {
    pub(super) class: Arc<StorageClass>,
    /// Topologies where the driver reports enough capacity. `None`: the capacity is not checked.
    pub(super) capacity: Option<LabelIndexedList<LabelSelector>>,
}

/// Reason for a rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeRejection {
    /// The node cannot access all of the pod's volumes.
    Conflicts(Conflicts),
    /// The volume at this position among the bound ones cannot be translated to CSI.
    Untranslatable(u32),
    /// The selector of a claim is invalid.
    InvalidSelector,
    /// The profile has no PreFilter of this plugin.
    NotPrepared,
}

/// Conflicts of the node with the pod's volumes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conflicts {
    /// A bound volume is not accessible.
    pub unreachable: bool,
    /// An unbound claim can neither be bound to a volume nor be provisioned, regardless of capacity.
    pub no_volume: bool,
    /// The capacity is insufficient for provisioning.
    pub no_capacity: bool,
    /// A bound volume does not exist.
    pub missing: bool,
}

/// Binding of an unbound claim.
pub(super) enum ClaimBinding<'a> {
    /// The claim is bound to a volume.
    Bind { claim: &'a PersistentVolumeClaim, volume: &'a PersistentVolume },
    /// A volume is provisioned for the claim.
    Provision { claim: &'a PersistentVolumeClaim },
}

impl PodVolumes {
    pub(super) fn new(
        bound: BoundVolumes,
        selected: Vec<Selected>,
        unbound: Vec<Unbound>,
        invalid_selector: Option<Arc<str>>,
    ) -> Self {
        let bindings = match bound.is_empty() && selected.is_empty() && unbound.is_empty() {
            true => ClaimBindings::AnyNode,
            false => ClaimBindings::Claims(Arc::new(Claims { bound, selected, unbound, invalid_selector })),
        };
        PodVolumes { bindings, nodes: None }
    }

    /// Returns the state for Filter. If every node fits, the state does not contain the claims. `matching_nodes`
    /// returns the nodes that match a node affinity.
    pub(super) fn for_filter(
        self,
        alive: &NodeMask,
        matching_nodes: impl FnMut(&NodeSelector) -> Arc<NodeMask>,
    ) -> Self {
        let ClaimBindings::Claims(claims) = &self.bindings else { return self };
        if claims.fit_any_node() {
            return PodVolumes { bindings: ClaimBindings::AnyNode, nodes: None };
        }
        let nodes = claims.nodes(alive, matching_nodes);
        PodVolumes { nodes, ..self }
    }

    /// Returns whether the node is known to fit.
    #[inline(always)]
    pub(super) fn fit_node(&self, node: NodeIndex) -> bool {
        match &self.bindings {
            ClaimBindings::AnyNode => true,
            _ => self.nodes.as_ref().is_some_and(|nodes| nodes.contains(node)),
        }
    }

    /// Returns whether every node fits.
    pub(super) fn fit_any_node(&self) -> bool {
        matches!(self.bindings, ClaimBindings::AnyNode)
    }

    /// Returns the existing nodes that fit, if they were computed.
    pub(super) fn nodes<'a>(&'a self, alive: &'a NodeMask) -> Option<&'a NodeMask> {
        if self.fit_any_node() { Some(alive) } else { self.nodes.as_deref() }
    }

    /// Checks whether the node can access all volumes (`FindPodVolumes`). On success, `choose` has received the
    /// binding of every unbound claim.
    pub(super) fn check<'a>(
        &'a self,
        node: &NodeLabels,
        position: NodeIndex,
        choose: &mut impl FnMut(ClaimBinding<'a>),
    ) -> Result<(), VolumeRejection> {
        let claims = match &self.bindings {
            ClaimBindings::NotPrepared => return Err(VolumeRejection::NotPrepared),
            ClaimBindings::AnyNode => return Ok(()),
            ClaimBindings::Claims(claims) => claims,
        };
        let mut conflicts = claims.check_bound(node, position)?;
        if claims.selected.iter().any(|selected| selected.node != node.name) {
            conflicts.no_volume = true;
        } else if claims.invalid_selector.is_some() {
            return Err(VolumeRejection::InvalidSelector);
        } else {
            for Selected { claim, provision, .. } in &claims.selected {
                if !provision.check(node, &mut conflicts) {
                    return Err(VolumeRejection::Conflicts(conflicts));
                }
                choose(ClaimBinding::Provision { claim });
            }
            bind_or_provision(&claims.unbound, node, &mut conflicts, choose);
        }
        if conflicts == Conflicts::default() { Ok(()) } else { Err(VolumeRejection::Conflicts(conflicts)) }
    }

    /// Writes the reasons of a rejection.
    pub(super) fn explain(&self, unfit: VolumeRejection, out: &mut Reasons<'_>) {
        match (unfit, &self.bindings) {
            (VolumeRejection::Conflicts(conflicts), _) => conflicts.explain(out),
            (VolumeRejection::Untranslatable(at), ClaimBindings::Claims(claims)) => {
                if let Some(Bound::Volume { volume, .. }) = claims.bound.get(at as usize)
                    && let Some(Err(error)) = volume.migration.as_ref().map(|migration| &migration.volume)
                {
                    out.push(format!("could not translate pv: {error}"));
                }
            }
            (VolumeRejection::InvalidSelector, ClaimBindings::Claims(claims)) => {
                out.push(claims.invalid_selector.as_deref().unwrap_or_default().to_owned())
            }
            _ => out.push("not found"),
        }
    }
}

impl Conflicts {
    /// Returns one bit for each conflict.
    pub(super) fn bits(self) -> u32 {
        let conflicts = [self.unreachable, self.no_volume, self.no_capacity, self.missing];
        conflicts.iter().fold(0, |bits, &holds| bits << 1 | u32::from(holds))
    }

    fn explain(self, out: &mut Reasons<'_>) {
        for (holds, reason) in [
            (self.unreachable, "node(s) didn't match PersistentVolume's node affinity"),
            (self.no_volume, "node(s) didn't find available persistent volumes to bind"),
            (self.no_capacity, "node(s) did not have enough free storage"),
            (self.missing, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"),
        ] {
            if holds {
                out.push(reason);
            }
        }
    }
}

impl Claims {
    /// Returns whether every node fits: all volumes are provisioned, without restrictions.
    fn fit_any_node(&self) -> bool {
        self.bound.is_empty()
            && self.selected.is_empty()
            && self.invalid_selector.is_none()
            && self.unbound.iter().all(|unbound| unbound.provision.fits_any_node())
    }

    /// Returns the nodes that fit, if only the node affinity of bound volumes decides.
    fn nodes(
        &self,
        alive: &NodeMask,
        mut matching_nodes: impl FnMut(&NodeSelector) -> Arc<NodeMask>,
    ) -> Option<Arc<NodeMask>> {
        if !self.selected.is_empty() || !self.unbound.is_empty() {
            return None;
        }
        if let [Bound::Volume { volume, migrated }] = self.bound.as_slice()
            && migrated.is_empty()
            && let Some(affinity) = &volume.node_affinity
        {
            // No intersection with `alive` is needed: `matching_nodes` returns only existing nodes.
            return Some(matching_nodes(affinity));
        }
        let mut nodes = alive.clone();
        for bound in &self.bound {
            let Bound::Volume { volume, migrated } = bound else { return None };
            let own = volume.node_affinity.as_ref().map(&mut matching_nodes);
            let translated = match &volume.migration {
                Some(migration) if !migrated.is_empty() => migration.volume.as_ref().ok()?.node_affinity.as_ref(),
                _ => None,
            };
            let translated = translated.map(&mut matching_nodes);
            let word_of = |nodes: &Option<Arc<NodeMask>>, word: usize| match nodes {
                Some(nodes) => nodes.words().get(word).copied().unwrap_or(0),
                None => !0,
            };
            for (at, word) in nodes.words_mut().iter_mut().enumerate() {
                let migrated = migrated.words().get(at).copied().unwrap_or(0);
                *word &= word_of(&own, at) & !migrated | word_of(&translated, at) & migrated;
            }
        }
        Some(Arc::new(nodes))
    }

    /// Checks the bound volumes: the first one that is missing or not accessible decides (`checkBoundClaims`).
    fn check_bound(&self, node: &NodeLabels, position: NodeIndex) -> Result<Conflicts, VolumeRejection> {
        for (at, bound) in self.bound.iter().enumerate() {
            let Bound::Volume { volume, migrated } = bound else {
                return Ok(Conflicts { missing: true, ..Conflicts::default() });
            };
            let affinity = match &volume.migration {
                Some(migration) if migrated.contains(position) => match &migration.volume {
                    Ok(volume) => &volume.node_affinity,
                    Err(_) => return Err(VolumeRejection::Untranslatable(at as u32)),
                },
                _ => &volume.node_affinity,
            };
            if affinity.as_ref().is_some_and(|affinity| !node.matches(affinity)) {
                return Ok(Conflicts { unreachable: true, ..Conflicts::default() });
            }
        }
        Ok(Conflicts::default())
    }
}

/// Binds each claim to a volume or provisions it, until one claim allows neither.
fn bind_or_provision<'a>(
    claims: &'a [Unbound],
    node: &NodeLabels,
    conflicts: &mut Conflicts,
    choose: &mut impl FnMut(ClaimBinding<'a>),
) {
    let mut taken: SmallVec<[Symbol; 4]> = SmallVec::new();
    for unbound in claims {
        let claim = &unbound.claim;
        if let Some(volume) = unbound.find(node, &taken) {
            choose(ClaimBinding::Bind { claim, volume });
            taken.push(volume.name);
        } else if unbound.provision.check(node, conflicts) {
            choose(ClaimBinding::Provision { claim });
        } else {
            return;
        }
    }
}

impl Unbound {
    /// Returns the volume that the claim is bound to on a node (`FindMatchingVolume`). Skips volumes that earlier
    /// claims of the pod have taken.
    fn find(&self, node: &NodeLabels, taken: &[Symbol]) -> Option<&PersistentVolume> {
        let is_free = |volume: &PersistentVolume| !taken.contains(&volume.name);
        let reaches =
            |volume: &PersistentVolume| volume.node_affinity.as_ref().is_none_or(|affinity| node.matches(affinity));
        if let Some(own) = self.own.iter().find(|volume| is_free(volume)) {
            return reaches(own).then_some(own);
        }
        self.others.first(node, |volume| is_free(volume) && reaches(volume)).map(|volume| &**volume)
    }
}

impl Provision {
    /// Returns whether a volume can be provisioned for every node.
    fn fits_any_node(&self) -> bool {
        self.class.provisions && self.class.allowed_topologies.is_none() && self.capacity.is_none()
    }

    /// Returns whether a volume can be provisioned for the node. If not, adds the reason to `conflicts`.
    fn check(&self, node: &NodeLabels, conflicts: &mut Conflicts) -> bool {
        if !self.class.provisions
            || self.class.allowed_topologies.as_ref().is_some_and(|allowed| !node.matches(allowed))
        {
            conflicts.no_volume = true;
            return false;
        }
        if self
            .capacity
            .as_ref()
            .is_some_and(|capacity| capacity.first(node, |topology| topology.matches(&node.labels)).is_none())
        {
            conflicts.no_capacity = true;
            return false;
        }
        true
    }
}
