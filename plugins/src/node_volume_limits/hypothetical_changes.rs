//! Pods that are hypothetically added to nodes or removed.

use std::sync::Arc;

use schedc_core::intern::Symbol;
use schedc_core::model::{NodeIndex, Pod, Uid, Volume};
use schedc_core::plugin::View;
use smallvec::SmallVec;

use super::NodeVolumeLimits;
use super::requested_volumes::{Failure, RequestedVolumes, running_pod_failure};
use crate::indexes::{AttachedVolumes, CountedVolume};

/// The differences caused by hypothetical pods. Empty after all changes are undone.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct HypotheticalChanges {
    /// Additional uses of a volume on a node, never 0. Only volumes of the pod's drivers, sorted.
    volumes: SmallVec<[(NodeIndex, CountedVolume, i64); 2]>,
    /// Hypothetical pods whose volumes cannot be counted: node, pod, 1 if added or -1 if removed, and reason. Sorted.
    failing: Vec<(NodeIndex, Uid, i64, Arc<str>)>,
}

impl HypotheticalChanges {
    /// Applies a pod that is added to a node (`by` is 1) or removed from it (-1). Returns whether the pod has an
    /// effect.
    pub(super) fn change(
        &mut self,
        node: NodeIndex,
        pod: &Pod,
        by: i64,
        requested: &RequestedVolumes,
        view: View<'_, NodeVolumeLimits>,
    ) -> bool {
        let mut has_effect = false;
        for volume in pod.spec.volumes.iter().filter_map(|volume| counted(pod, volume, view.indexes)) {
            if requested.has_driver(volume.driver()) {
                has_effect = true;
                self.change_volume(node, volume, by);
            }
        }
        if let Some(text) = running_pod_failure(pod, view.indexes, &view.base.interner) {
            has_effect = true;
            self.change_failing(node, pod, by, text);
        }
        has_effect
    }

    fn change_volume(&mut self, node: NodeIndex, volume: CountedVolume, by: i64) {
        match self.volumes.binary_search_by_key(&(node, volume), |(at, which, _)| (*at, *which)) {
            Err(entry) => self.volumes.insert(entry, (node, volume, by)),
            Ok(entry) => {
                self.volumes[entry].2 += by;
                if self.volumes[entry].2 == 0 {
                    self.volumes.remove(entry);
                }
            }
        }
    }

    fn change_failing(&mut self, node: NodeIndex, pod: &Pod, by: i64, text: Arc<str>) {
        match self.failing.binary_search_by(|(at, uid, ..)| (at, uid).cmp(&(&node, &pod.uid))) {
            Err(entry) => self.failing.insert(entry, (node, pod.uid.clone(), by, text)),
            Ok(entry) => {
                self.failing[entry].2 += by;
                if self.failing[entry].2 == 0 {
                    self.failing.remove(entry);
                }
            }
        }
    }

    /// Returns how often the pods of a node use a volume, with the hypothetical changes.
    pub(super) fn uses(&self, node: NodeIndex, volume: &CountedVolume, index: &AttachedVolumes) -> i64 {
        let change = self.volumes.iter().find(|(at, which, _)| *at == node && which == volume);
        i64::from(index.uses(node, volume)) + change.map_or(0, |(_, _, by)| *by)
    }

    /// Returns by how much the number of a driver's volumes on a node changes.
    pub(super) fn attached(&self, node: NodeIndex, driver: Symbol, index: &AttachedVolumes) -> i64 {
        let of_node = self.volumes.iter().filter(|(at, volume, _)| *at == node && volume.driver() == driver);
        let changes = of_node.filter(|(_, volume, _)| !index.has_attachment(node, volume)).map(|(_, volume, by)| {
            let uses = i64::from(index.uses(node, volume));
            i64::from(uses + by > 0) - i64::from(uses > 0)
        });
        changes.sum()
    }

    /// Returns why volumes of the node's pods cannot be counted: the reason of the first pod with such volumes.
    pub(super) fn failure(&self, node: NodeIndex, view: View<'_, NodeVolumeLimits>) -> Option<Failure> {
        let change = |uid: &Uid| self.failing.iter().find(|(at, other, ..)| *at == node && other == uid);
        let pods = view.base.infos()[node.get()].pods.iter();
        let mut remaining = pods.filter(|pod| change(&pod.uid).is_none_or(|(_, _, by, _)| *by > 0));
        let mut text = if view.indexes.has_failures(node) {
            remaining.find_map(|pod| running_pod_failure(pod, view.indexes, &view.base.interner))
        } else {
            None
        };
        if text.is_none() {
            let mut added = self.failing.iter().filter(|(at, _, by, _)| *at == node && *by > 0);
            text = added.next().map(|(.., text)| text.clone());
        }
        Some(Failure { text: text?, unresolvable: false })
    }
}

/// Returns the counted volume for a volume of a running pod.
fn counted(pod: &Pod, volume: &Volume, index: &AttachedVolumes) -> Option<CountedVolume> {
    match volume {
        Volume::InTree { csi } => csi.as_ref().ok()?.map(CountedVolume::Csi),
        _ => index.counted(pod.spec.namespace, volume.claim()?),
    }
}
