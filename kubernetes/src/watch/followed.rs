//! What is known to be there, and what a scheduler is told as that changes.
//!
//! Objects are told as they arrive, whether as a part of a list or as a change. When a list is complete, whatever was not
//! told since it began is gone: nothing is kept of objects for that but what they are called.

use std::collections::BTreeMap;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::map::Map;
use schedc_core::model::{ObjectKey, Uid};
use schedc_core::scheduler::Change;
use schedc_objects::AnyObject;

use crate::pods::Records;

/// What is known to be there, of all kinds.
#[derive(Debug, Default)]
pub struct Followed {
    kinds: BTreeMap<&'static str, Map<Name, u32>>,
    records: Records,
}

/// What an object is called. Pods are told apart by uid, since one may be deleted and created again unseen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Name {
    Pod(Uid),
    Node(Symbol),
    Object(ObjectKey),
}

impl Name {
    /// What a change is about.
    fn of(change: &Change) -> Name {
        match change {
            Change::Node(node) => Name::Node(node.name),
            Change::NodeDeleted(name) => Name::Node(*name),
            Change::Pod(pod) => Name::Pod(pod.uid.clone()),
            Change::PodDeleted(uid) => Name::Pod(uid.clone()),
            Change::Object(object) => Name::Object(object.key()),
            Change::ObjectDeleted(key) => Name::Object(*key),
        }
    }

    /// It went.
    fn gone(self) -> Change {
        match self {
            Name::Pod(uid) => Change::PodDeleted(uid),
            Name::Node(name) => Change::NodeDeleted(name),
            Name::Object(key) => Change::ObjectDeleted(key),
        }
    }
}

impl Followed {
    /// Nothing is known. What only writers need to know of pods goes to the records.
    pub fn new(records: Records) -> Self {
        Followed { kinds: BTreeMap::new(), records }
    }

    /// An object is like this, as was told in an epoch. Returns what the scheduler is to be told.
    pub fn is_there(&mut self, object: &AnyObject, epoch: u32, interner: &mut Interner) -> Option<Change> {
        let change = object.is_there(interner)?;
        let known = self.kinds.entry(object.kind()).or_default();
        let name = Name::of(&change);
        match &change {
            Change::Pod(_) | Change::Node(_) | Change::Object(_) => drop(known.insert(name.clone(), epoch)),
            Change::PodDeleted(_) | Change::NodeDeleted(_) | Change::ObjectDeleted(_) => drop(known.remove(&name)),
        }
        match (name, object, &change) {
            (Name::Pod(uid), AnyObject::Pod(pod), Change::Pod(_)) => self.records.set(&uid, pod),
            (Name::Pod(uid), ..) => self.records.remove(&uid),
            _ => {}
        }
        self.records.listeners().is_there(object);
        Some(change)
    }

    /// An object went. Returns what the scheduler is to be told.
    pub fn is_gone(&mut self, object: &AnyObject, interner: &mut Interner) -> Option<Change> {
        let change = object.is_gone(interner)?;
        let name = Name::of(&change);
        if let Name::Pod(uid) = &name {
            self.records.remove(uid);
        }
        self.kinds.entry(object.kind()).or_default().remove(&name);
        self.records.listeners().is_gone(object);
        Some(change)
    }

    /// All objects of a kind were told since an epoch began. Returns what the scheduler is to be told: what went unseen.
    pub fn is_complete(&mut self, kind: &'static str, epoch: u32) -> Vec<Change> {
        let known = self.kinds.entry(kind).or_default();
        let mut gone = Vec::new();
        known.retain(|name, told| {
            if *told != epoch {
                gone.push(name.clone());
            }
            *told == epoch
        });
        for name in &gone {
            if let Name::Pod(uid) = name {
                self.records.remove(uid);
            }
        }
        if !gone.is_empty() {
            self.records.listeners().went_unseen(kind);
        }
        gone.into_iter().map(Name::gone).collect()
    }

    /// How many objects of a kind are known.
    pub fn count(&self, kind: &str) -> usize {
        self.kinds.get(kind).map_or(0, Map::len)
    }
}

#[cfg(test)]
mod tests {
    use schedc_objects::testing::api_object;

    use super::*;

    fn said(change: Option<Change>, interner: &Interner) -> String {
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
    fn what_went_unseen_is_told_when_a_list_is_complete() {
        let (followed, interner) = (&mut Followed::default(), &mut Interner::default());
        let node = |name: &str| api_object(&format!("{{kind: Node, metadata: {{name: {name}}}}}"));
        let pod = |uid: &str| api_object(&format!("{{kind: Pod, metadata: {{name: p, uid: {uid}}}}}"));
        let service = |name: &str| api_object(&format!("{{kind: Service, metadata: {{name: {name}}}}}"));
        for object in [node("n1"), node("n2"), pod("u1"), service("s1"), service("s2")] {
            followed.is_there(&object, 1, interner);
        }
        for kind in ["Node", "Pod", "Service"] {
            assert_eq!(followed.is_complete(kind, 1).len(), 0);
        }
        // A pod of the same name is another pod; one node and both services went.
        followed.is_there(&node("n2"), 2, interner);
        followed.is_there(&pod("u2"), 2, interner);
        let mut complete = |kind| -> Vec<String> {
            let gone = followed.is_complete(kind, 2);
            let mut gone: Vec<_> = gone.into_iter().map(|change| said(Some(change), interner)).collect();
            gone.sort();
            gone
        };
        assert_eq!(complete("Node"), ["no node n1"]);
        assert_eq!(complete("Pod"), ["no pod u1"]);
        assert_eq!(complete("Service"), ["no object s1", "no object s2"]);
        assert_eq!(["Node", "Pod", "Service"].map(|kind| followed.count(kind)), [1, 1, 0]);
    }

    #[test]
    fn records_are_kept_of_pods_that_are_there() {
        let records = Records::default();
        let (followed, interner) = (&mut Followed::new(records.clone()), &mut Interner::default());
        let pod = |uid: &str, more: &str| {
            api_object(&format!("{{kind: Pod, metadata: {{name: p, uid: {uid}, resourceVersion: '7'}}{more}}}"))
        };
        let has = |uid: &str| records.get(&Uid(uid.into())).is_some();
        let first = followed.is_there(&pod("a", ""), 1, interner);
        assert_eq!((said(first, interner), has("a")), ("pod a".into(), true));
        let gone = followed.is_gone(&pod("a", ""), interner);
        assert_eq!((said(gone, interner), has("a")), ("no pod a".into(), false));
        followed.is_there(&pod("b", ""), 1, interner);
        let finished = followed.is_there(&pod("b", ", status: {phase: Failed}"), 1, interner);
        assert_eq!((said(finished, interner), has("b"), followed.count("Pod")), ("no pod b".into(), false, 0));
        followed.is_there(&pod("c", ""), 1, interner);
        assert_eq!((followed.is_complete("Pod", 2).len(), has("c")), (1, false));
        let class = api_object("{kind: PriorityClass, metadata: {name: c}, value: 1}");
        assert_eq!(said(followed.is_there(&class, 1, interner), interner), "nothing");
    }
}
