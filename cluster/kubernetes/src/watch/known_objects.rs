//! Keys of all known objects, and the changes that a scheduler receives.
//!
//! Objects are recorded as they arrive, from a list or a watch. When a list is complete, objects that were not recorded
//! since it began no longer exist. Only keys are stored for this purpose.

use std::collections::BTreeMap;

use schedc_core::column::CacheSize;
use schedc_core::intern::Interner;
use schedc_core::map::{Map, shrink_after_burst};
use schedc_core::scheduler::{Change, ObjectId};
use schedc_objects::{AnyObject, removal_change, upsert_change};

use super::reflector::Arrival;
use crate::write::PodRecords;

/// Keys of the known objects of all kinds.
#[derive(Debug, Default)]
pub struct KnownObjects {
    kinds: BTreeMap<&'static str, Map<ObjectId, u32>>,
    records: PodRecords,
}

impl KnownObjects {
    /// Creates an empty set. The versions and statuses of pods are stored in `records`.
    pub fn new(records: PodRecords) -> Self {
        KnownObjects { kinds: BTreeMap::new(), records }
    }

    /// Records an object. Returns the change for the scheduler, or `None` if the scheduler ignores the kind.
    pub fn upsert(&mut self, object: &AnyObject, arrival: Arrival, interner: &mut Interner) -> Option<Change> {
        let change = upsert_change(object, interner)?;
        let known = self.kinds.entry(object.kind()).or_default();
        let name = change.id();
        if change.is_removal() {
            known.remove(&name);
        } else {
            known.insert(name.clone(), arrival.epoch);
        }
        match (name, object, &change) {
            (ObjectId::Pod(uid), AnyObject::Pod(pod), Change::Pod(_)) => {
                if let Some(received) = arrival.received {
                    self.records.set_receipt(&uid, pod, received);
                }
                self.records.set(&uid, pod);
            }
            (ObjectId::Pod(uid), ..) => self.records.remove(&uid),
            _ => {}
        }
        self.records.listeners().notify_upsert(object);
        Some(change)
    }

    /// Records that an object was removed. Returns the change for the scheduler, or `None` if the scheduler ignores
    /// the kind.
    pub fn removal(&mut self, object: &AnyObject, interner: &mut Interner) -> Option<Change> {
        let change = removal_change(object, interner)?;
        let name = change.id();
        if let ObjectId::Pod(uid) = &name {
            self.records.remove(uid);
        }
        let known = self.kinds.entry(object.kind()).or_default();
        known.remove(&name);
        shrink_after_burst(known);
        self.records.listeners().notify_removal(object);
        Some(change)
    }

    /// Completes a list of a kind; the list began this epoch. Returns the removals that no watch reported.
    pub fn complete_list(&mut self, kind: &'static str, epoch: u32) -> Vec<Change> {
        let known = self.kinds.entry(kind).or_default();
        let mut removals = Vec::new();
        known.retain(|name, last_epoch| {
            if *last_epoch != epoch {
                removals.push(name.clone());
            }
            *last_epoch == epoch
        });
        shrink_after_burst(known);
        for name in &removals {
            if let ObjectId::Pod(uid) = name {
                self.records.remove(uid);
            }
        }
        if !removals.is_empty() {
            self.records.listeners().notify_missed_removals(kind);
        }
        removals.into_iter().map(ObjectId::into_removal).collect()
    }

    /// Returns the sizes of this set and of the records, for metrics.
    pub(crate) fn cache_sizes(&self) -> [CacheSize; 2] {
        let known = self.kinds.values().map(Map::len).sum();
        [CacheSize::of_objects("known_objects", known), CacheSize::of_objects("pod_records", self.records.len())]
    }

    /// Returns the number of known objects of a kind.
    pub fn count(&self, kind: &str) -> usize {
        self.kinds.get(kind).map_or(0, Map::len)
    }
}

#[cfg(test)]
mod tests {
    use schedc_core::model::Uid;
    use schedc_objects::testing::api_object;

    use super::*;

    fn text(change: Option<Change>, interner: &Interner) -> String {
        match change {
            Some(Change::Node(node)) => format!("node {}", interner.resolve(node.name)),
            Some(Change::NodeDeleted(name)) => format!("no node {}", interner.resolve(name)),
            Some(Change::Pod(pod)) => format!("pod {}", pod.uid.0),
            Some(Change::PodDeleted(uid)) => format!("no pod {}", uid.0),
            Some(Change::Object(object)) => format!("object {}", interner.resolve(object.key().name)),
            Some(Change::ObjectDeleted(key)) => format!("no object {}", interner.resolve(key.name)),
            None => "nothing".to_owned(),
        }
    }

    #[test]
    fn missed_deletions_are_reported_when_a_list_is_complete() {
        let (followed, interner) = (&mut KnownObjects::default(), &mut Interner::default());
        let node = |name: &str| api_object(&format!("{{kind: Node, metadata: {{name: {name}}}}}"));
        let pod = |uid: &str| api_object(&format!("{{kind: Pod, metadata: {{name: p, uid: {uid}}}}}"));
        let service = |name: &str| api_object(&format!("{{kind: Service, metadata: {{name: {name}}}}}"));
        for object in [node("n1"), node("n2"), pod("u1"), service("s1"), service("s2")] {
            followed.upsert(&object, Arrival::listed(1), interner);
        }
        for kind in ["Node", "Pod", "Service"] {
            assert_eq!(followed.complete_list(kind, 1).len(), 0);
        }
        // The second list has only n2 and a new pod with the same name but another uid: all other objects are gone.
        followed.upsert(&node("n2"), Arrival::listed(2), interner);
        followed.upsert(&pod("u2"), Arrival::listed(2), interner);
        let mut complete = |kind| -> Vec<String> {
            let removals = followed.complete_list(kind, 2);
            let mut removals: Vec<_> = removals.into_iter().map(|change| text(Some(change), interner)).collect();
            removals.sort();
            removals
        };
        assert_eq!(complete("Node"), ["no node n1"]);
        assert_eq!(complete("Pod"), ["no pod u1"]);
        assert_eq!(complete("Service"), ["no object s1", "no object s2"]);
        assert_eq!(["Node", "Pod", "Service"].map(|kind| followed.count(kind)), [1, 1, 0]);
        assert_eq!(followed.cache_sizes().map(|size| size.size), [2, 1]);
    }

    #[test]
    fn existing_pods_have_records() {
        let records = PodRecords::default();
        let (followed, interner) = (&mut KnownObjects::new(records.clone()), &mut Interner::default());
        let pod = |uid: &str, more: &str| {
            api_object(&format!("{{kind: Pod, metadata: {{name: p, uid: {uid}, resourceVersion: '7'}}{more}}}"))
        };
        let has = |uid: &str| records.get(&Uid(uid.into())).is_some();
        let first = followed.upsert(&pod("a", ""), Arrival::listed(1), interner);
        assert_eq!((text(first, interner), has("a")), ("pod a".into(), true));
        let removals = followed.removal(&pod("a", ""), interner);
        assert_eq!((text(removals, interner), has("a")), ("no pod a".into(), false));
        followed.upsert(&pod("b", ""), Arrival::listed(1), interner);
        let finished = followed.upsert(&pod("b", ", status: {phase: Failed}"), Arrival::listed(1), interner);
        assert_eq!((text(finished, interner), has("b"), followed.count("Pod")), ("no pod b".into(), false, 0));
        followed.upsert(&pod("c", ""), Arrival::listed(1), interner);
        assert_eq!((followed.complete_list("Pod", 2).len(), has("c")), (1, false));
        let class = api_object("{kind: PriorityClass, metadata: {name: c}, value: 1}");
        assert_eq!(text(followed.upsert(&class, Arrival::listed(1), interner), interner), "nothing");
    }
}
