//! Rules for volumes: the node can reach them, no other pod uses them in conflict, and the node's limits are met.

use std::sync::Arc;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::map::Map;
use schedc_core::model::{
    AccessMode, CsiNode, CsiVolume, Kind, Object, ObjectKey, PersistentVolume, PersistentVolumeClaim, Pod, Volume,
};

use super::cluster::Placement;
use super::rule::Rule;
use super::selectors::{selects_node, value};

/// Existing volumes and their users.
#[derive(Default)]
pub(super) struct Storage {
    claims: Map<(Symbol, Symbol), Arc<PersistentVolumeClaim>>,
    volumes: Map<Symbol, Arc<PersistentVolume>>,
    drivers: Map<Symbol, Arc<CsiNode>>,
    /// For each claim, the number of pods that use it and are on a node.
    users: Map<(Symbol, Symbol), u32>,
    /// For each node, the claims and inline volumes of its pods, each with the number of pods that use it.
    by_node: Map<Symbol, Map<(Symbol, Volume), u32>>,
}

impl Storage {
    /// Adds or replaces an object.
    pub(super) fn set(&mut self, object: &Object) {
        match object {
            Object::PersistentVolume(volume) => drop(self.volumes.insert(volume.name, volume.clone())),
            Object::PersistentVolumeClaim(claim) => {
                self.claims.insert((claim.namespace, claim.name), claim.clone());
            }
            Object::CsiNode(node) => drop(self.drivers.insert(node.name, node.clone())),
            _ => {}
        }
    }

    pub(super) fn remove(&mut self, key: &ObjectKey) {
        match key.kind {
            Kind::PersistentVolume => drop(self.volumes.remove(&key.name)),
            Kind::PersistentVolumeClaim => drop(self.claims.remove(&(key.namespace, key.name))),
            Kind::CsiNode => drop(self.drivers.remove(&key.name)),
            _ => {}
        }
    }

    pub(super) fn add(&mut self, pod: &Pod, node: Symbol) {
        for volume in &pod.spec.volumes {
            let namespace = pod.spec.namespace;
            *self.by_node.entry(node).or_default().entry((namespace, volume.clone())).or_default() += 1;
            if let Some(claim) = volume.claim() {
                *self.users.entry((namespace, claim)).or_default() += 1;
            }
        }
    }

    pub(super) fn remove_pod(&mut self, pod: &Pod, node: Symbol) {
        for volume in &pod.spec.volumes {
            let namespace = pod.spec.namespace;
            if let Some(volumes) = self.by_node.get_mut(&node) {
                decrement(volumes, &(namespace, volume.clone()));
            }
            if let Some(claim) = volume.claim() {
                decrement(&mut self.users, &(namespace, claim));
            }
        }
    }

    /// Checks whether a pod's volumes allow a node.
    pub(super) fn check(&self, placement: Placement<'_>, violations: &mut Vec<(Rule, String)>) {
        let Placement { pod, node, names, .. } = placement;
        if pod.spec.volumes.is_empty() {
            return;
        }
        let namespace = pod.spec.namespace;
        for claim in pod.spec.volumes.iter().filter_map(Volume::claim) {
            let name = names.resolve(claim);
            let Some(claim) = self.claims.get(&(namespace, claim)) else {
                violations.push((Rule::VolumeBinding, format!("claim {name} does not exist")));
                continue;
            };
            let is_exclusive = claim.access_modes.contains(&AccessMode::ReadWriteOncePod);
            if is_exclusive && self.users.contains_key(&(namespace, claim.name)) {
                violations
                    .push((Rule::VolumeRestrictions, format!("claim {name} is for one pod, and another pod uses it")));
            }
            // PreBind binds the claims of a pod before the pod is bound. Therefore, a claim without a volume violates
            // the rule.
            let Some(volume) = self.volume_of(claim) else {
                violations.push((Rule::VolumeBinding, format!("claim {name} has no volume")));
                continue;
            };
            check_place(volume, placement, violations);
        }
        let on_node = self.by_node.get(&node);
        for volume in &pod.spec.volumes {
            if on_node.is_some_and(|on_node| on_node.keys().any(|(_, other)| conflict(volume, other))) {
                violations.push((Rule::VolumeRestrictions, "a pod on the node uses the volume".to_owned()));
            }
        }
        self.check_limits(pod, node, names, violations);
    }

    fn check_limits(&self, pod: &Pod, node: Symbol, names: &Interner, violations: &mut Vec<(Rule, String)>) {
        let Some(drivers) = self.drivers.get(&node) else { return };
        let mut attached: Vec<CsiVolume> = self
            .by_node
            .get(&node)
            .into_iter()
            .flat_map(Map::keys)
            .filter_map(|(namespace, volume)| self.csi(*namespace, volume, drivers))
            .collect();
        let mut new: Vec<CsiVolume> =
            pod.spec.volumes.iter().filter_map(|volume| self.csi(pod.spec.namespace, volume, drivers)).collect();
        attached.sort_unstable();
        attached.dedup();
        new.sort_unstable();
        new.dedup();
        new.retain(|volume| attached.binary_search(volume).is_err());
        for &(driver, limit) in &drivers.drivers {
            let count_of = |volumes: &[CsiVolume]| volumes.iter().filter(|volume| volume.driver == driver).count();
            let (on_node, more) = (count_of(&attached), count_of(&new));
            if let Some(limit) = limit.and_then(|limit| usize::try_from(limit).ok())
                && more > 0
                && on_node + more > limit
            {
                let what = format!("{}: {on_node} of {limit} volumes are attached", names.resolve(driver));
                violations.push((Rule::NodeVolumeLimits, what));
            }
        }
    }

    /// Returns the volume that a claim is bound to.
    fn volume_of(&self, claim: &PersistentVolumeClaim) -> Option<&PersistentVolume> {
        self.volumes.get(&claim.volume?).map(|volume| &**volume)
    }

    /// Returns the CSI volume behind a pod's volume, if there is one.
    fn csi(&self, namespace: Symbol, volume: &Volume, drivers: &CsiNode) -> Option<CsiVolume> {
        match volume {
            Volume::InTree { csi: Ok(Some(volume)) } => Some(*volume),
            volume => {
                let volume = self.volume_of(self.claims.get(&(namespace, volume.claim()?))?)?;
                let is_migrated = |plugin| drivers.migrated_plugins.contains(&plugin);
                let migrated = volume.migration.as_ref().filter(|migration| is_migrated(migration.plugin));
                volume.csi.or_else(|| Some(migrated?.volume.as_ref().ok()?.csi))
            }
        }
    }
}

fn check_place(volume: &PersistentVolume, placement: Placement<'_>, violations: &mut Vec<(Rule, String)>) {
    let Placement { node, cluster, names, .. } = placement;
    let labels = cluster.labels(node);
    let name = names.resolve(volume.name);
    if volume.node_affinity.as_ref().is_some_and(|affinity| !selects_node(affinity, node, labels, names)) {
        violations.push((Rule::VolumeBinding, format!("the node cannot reach volume {name}")));
    }
    // A node without topology labels accepts all volumes.
    let keys = [
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
    ];
    let has_topology = keys.iter().filter_map(|key| names.get(key)).any(|key| value(labels, key).is_some());
    for zone in volume.zones.iter().filter(|_| has_topology) {
        let place = value(labels, zone.key).or_else(|| value(labels, zone.successor));
        if place.is_none_or(|place| !zone.values.contains(&place)) {
            violations.push((Rule::VolumeZone, format!("volume {name} is in another zone")));
        }
    }
}

/// Returns whether two volumes conflict: two pods of a node must not use one each.
fn conflict(one: &Volume, other: &Volume) -> bool {
    match (one, other) {
        (Volume::AwsElasticBlockStore { id: one }, Volume::AwsElasticBlockStore { id: other }) => one == other,
        (
            Volume::GcePersistentDisk { name: one, read_only: reads },
            Volume::GcePersistentDisk { name: other, read_only: other_reads },
        )
        | (Volume::Iscsi { iqn: one, read_only: reads }, Volume::Iscsi { iqn: other, read_only: other_reads }) => {
            one == other && !(*reads && *other_reads)
        }
        (
            Volume::Rbd { monitors: one, pool, image, read_only },
            Volume::Rbd { monitors: other, pool: other_pool, image: other_image, read_only: other_reads },
        ) => {
            let shares_monitor = one.iter().any(|monitor| other.contains(monitor));
            shares_monitor && pool == other_pool && image == other_image && !(*read_only && *other_reads)
        }
        _ => false,
    }
}

fn decrement<K: std::hash::Hash + Eq>(counts: &mut Map<K, u32>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}
