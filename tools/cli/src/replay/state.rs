//! The recorded state of a cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_bounds::text::shortened;
use schedc_core::cache::Base;
use schedc_core::erased::AnyCluster;
use schedc_core::explain::Explanation;
use schedc_core::originals::RequiredOriginals;
use schedc_objects::{AnyObject, Kinds, ObjectReader, Validation};
use schedc_recording::Reference;
use serde_json::Value;

use crate::cluster::Routes;
use crate::evaluation::{self, ScenarioCluster};

/// A cluster that follows a recording.
pub(super) struct RecordedState<'a> {
    cluster: ScenarioCluster<'a>,
    kinds: Kinds,
    reader: ObjectReader,
    /// The objects that exist.
    known: BTreeMap<Reference, Known>,
    /// Number of the last snapshot.
    snapshot: u64,
}

struct Known {
    /// Its recorded text. A snapshot repeats objects without a change.
    text: Box<str>,
    /// The last snapshot after which it was set.
    snapshot: u64,
    /// A pod without a node.
    pending: Option<Box<ApiPod>>,
}

impl<'a> RecordedState<'a> {
    pub(super) fn new(cluster: &'a mut dyn AnyCluster, originals: RequiredOriginals, kinds: Kinds) -> Self {
        RecordedState {
            cluster: ScenarioCluster::new(cluster, 0, originals),
            kinds,
            reader: ObjectReader::new(kinds, Validation::Ignore),
            known: BTreeMap::new(),
            snapshot: 0,
        }
    }

    pub(super) fn base(&self) -> &Base {
        self.cluster.base()
    }

    /// Begins a snapshot: objects that are not set until its end no longer exist.
    pub(super) fn begin_snapshot(&mut self) {
        self.snapshot += 1;
    }

    /// Removes the objects that are not in the snapshot.
    pub(super) fn end_snapshot(&mut self) {
        let is_gone = |(_, known): &(&Reference, &Known)| known.snapshot != self.snapshot;
        let gone: Vec<Reference> = self.known.iter().filter(is_gone).map(|(key, _)| key.clone()).collect();
        gone.iter().for_each(|key| self.delete(key));
    }

    /// Adds or replaces an object. Returns its kind if no plugin reads it.
    pub(super) fn set(&mut self, value: Value, routes: &Routes) -> Result<Option<String>, String> {
        let text = |field: &str| match value.get(field).and_then(Value::as_str) {
            None | Some("") => Err(format!("the object has no `{field}`")),
            Some(text) => Ok(text.to_owned()),
        };
        let (api_version, kind, written) = (text("apiVersion")?, text("kind")?, value.to_string());
        let object = self.reader.read(&api_version, &kind, value).map_err(|errors| {
            let errors: Vec<String> = errors.iter().take(3).map(ToString::to_string).collect();
            shortened(&errors.join("; "), 1000).to_string()
        })?;
        let Some(object) = object else { return Ok(Some(kind)) };
        if object.name().is_empty() {
            return Err(format!("the {kind} has no name"));
        }
        let (kind, namespace, name) = (object.kind(), object.namespace(), object.name());
        let key = Reference { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() };
        let mut pending = None;
        if let AnyObject::Pod(pod) = &object {
            let has_node =
                pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).is_some_and(|node| !node.is_empty());
            pending = (!has_node && pod.metadata.deletion_timestamp.is_none()).then(|| pod.clone());
            self.cluster.use_profile(routes.profile_of(pod).unwrap_or_default());
        }
        let known = Known { text: written.into(), snapshot: self.snapshot, pending };
        match self.known.get_mut(&key) {
            Some(before) if before.text == known.text => *before = known,
            before => {
                // A pod of the same name may be another one.
                if before.is_some() && kind == "Pod" {
                    self.cluster.remove(&object);
                }
                self.known.insert(key, known);
                self.cluster.apply(&object);
            }
        }
        Ok(None)
    }

    /// Removes an object, if it exists.
    pub(super) fn delete(&mut self, key: &Reference) {
        if self.known.remove(key).is_some() {
            let Reference { kind, namespace, name } = key.clone();
            // The kind is known, because an object of it was set.
            let _ = self.cluster.delete(&evaluation::Reference { kind, namespace, name }, self.kinds);
        }
    }

    /// Returns a pending pod.
    pub(super) fn pending(&self, namespace: &str, name: &str) -> Option<&ApiPod> {
        pending_pod(&self.known, namespace, name)
    }

    /// Returns the answer of a profile for a pending pod. `None`: there is no such pod.
    pub(super) fn explain(&mut self, profile: usize, namespace: &str, name: &str) -> Option<Explanation> {
        let pending = pending_pod(&self.known, namespace, name)?;
        let pod = Arc::new(self.cluster.pending(pending));
        Some(self.cluster.explain(profile, &pod))
    }
}

fn pending_pod<'a>(known: &'a BTreeMap<Reference, Known>, namespace: &str, name: &str) -> Option<&'a ApiPod> {
    let key = Reference { kind: "Pod".to_owned(), namespace: namespace.to_owned(), name: name.to_owned() };
    known.get(&key)?.pending.as_deref()
}
