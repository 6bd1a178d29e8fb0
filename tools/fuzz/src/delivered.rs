//! The objects that the scheduler has received. Its decisions are checked against them.

use std::collections::BTreeMap;
use std::sync::Arc;

use schedc_objects::AnyObject;

use crate::devices::slice_of;
use crate::manifests::{NodeFacts, PodFacts};

/// Nodes and pods as they were delivered.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeliveredState {
    /// Nodes, by name.
    pub(crate) nodes: BTreeMap<String, NodeFacts>,
    /// Pods that have not finished, by uid.
    pub(crate) pods: BTreeMap<Arc<str>, PodFacts>,
    /// Uids of pods, by name.
    uids_by_name: BTreeMap<String, Arc<str>>,
    /// Node and generation of each slice, by the slice's name.
    slices: BTreeMap<String, (u8, u8)>,
}

impl DeliveredState {
    /// Adds or replaces an object.
    pub(crate) fn set(&mut self, object: &AnyObject) {
        match object {
            AnyObject::Node(node) => {
                self.nodes.insert(object.name().to_owned(), NodeFacts::of(node));
            }
            AnyObject::Pod(pod) => {
                let facts = PodFacts::of(pod);
                let uid = uid(object);
                if facts.finished {
                    self.remove_pod(&uid);
                    return;
                }
                if let Some(earlier) = self.uids_by_name.insert(facts.name.clone(), uid.clone())
                    && earlier != uid
                {
                    self.pods.remove(&earlier);
                }
                self.pods.insert(uid, facts);
            }
            AnyObject::ResourceSlice(_) => {
                self.slices.extend(slice_of(object.name()).map(|slice| (object.name().to_owned(), slice)));
            }
            _ => {}
        }
    }

    pub(crate) fn remove(&mut self, object: &AnyObject) {
        match object {
            AnyObject::Node(_) => {
                self.nodes.remove(object.name());
            }
            AnyObject::Pod(_) => self.remove_pod(&uid(object)),
            AnyObject::ResourceSlice(_) => {
                self.slices.remove(object.name());
            }
            _ => {}
        }
    }

    /// Replaces all objects of a kind.
    pub(crate) fn list<'a>(&mut self, kind: &str, objects: impl Iterator<Item = &'a AnyObject>) {
        match kind {
            "Node" => self.nodes.clear(),
            "Pod" => {
                self.pods.clear();
                self.uids_by_name.clear();
            }
            "ResourceSlice" => self.slices.clear(),
            _ => {}
        }
        objects.for_each(|object| self.set(object));
    }

    /// Returns the newest generation of the devices of a node.
    pub(crate) fn generation(&self, node: u8) -> Option<u8> {
        self.slices.values().filter(|slice| slice.0 == node).map(|slice| slice.1).max()
    }

    /// Returns the number of bound pods.
    pub(crate) fn bound(&self) -> usize {
        self.pods.values().filter(|pod| pod.node.is_some()).count()
    }

    fn remove_pod(&mut self, uid: &Arc<str>) {
        if let Some(facts) = self.pods.remove(uid)
            && self.uids_by_name.get(&facts.name) == Some(uid)
        {
            self.uids_by_name.remove(&facts.name);
        }
    }

    /// Returns the uid of the pod with this name.
    pub(crate) fn uid(&self, name: &str) -> Option<&Arc<str>> {
        self.uids_by_name.get(name)
    }

    /// Checks whether a node with these other pods is feasible for a pod.
    ///
    /// # Errors
    /// Returns the reason if it is not.
    pub(crate) fn fits(&self, pod: &PodFacts, node: &str, others: &[PodFacts]) -> Result<(), String> {
        let Some(facts) = self.nodes.get(node) else { return Err(format!("{node} is unknown")) };
        if facts.cordoned {
            return Err(format!("{node} is cordoned"));
        }
        if facts.tainted && !pod.tolerant {
            return Err(format!("{node} is tainted"));
        }
        if pod.ssd && !facts.ssd {
            return Err(format!("{node} has no ssd"));
        }
        if others.len() + 1 > facts.pods {
            return Err(format!("{node} runs {} pods of {}", others.len(), facts.pods));
        }
        let used: i64 = others.iter().map(|other| other.milli_cpu).sum();
        if pod.milli_cpu > 0 && used + pod.milli_cpu > facts.milli_cpu {
            let (requested, has) = (pod.milli_cpu, facts.milli_cpu);
            return Err(format!("{node} has {has}m cpu, {used}m are used, {requested}m are requested"));
        }
        for other in others {
            if pod.port.is_some() && pod.port == other.port {
                return Err(format!("the port is used by {}", other.name));
            }
            if pod.anti_affinity.as_ref() == Some(&other.group) || other.anti_affinity.as_ref() == Some(&pod.group) {
                return Err(format!("{} is on {node}", other.name));
            }
        }
        Ok(())
    }
}

/// Returns the uid of an object.
pub(crate) fn uid(object: &AnyObject) -> Arc<str> {
    object.metadata().uid.as_deref().unwrap_or_default().into()
}
