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

use super::journal::{Replacement, Version};
use crate::cluster::Routes;
use crate::evaluation::{self, ScenarioCluster};

/// A cluster that follows a recording.
pub(super) struct RecordedState<'a> {
    cluster: ScenarioCluster<'a>,
    kinds: Kinds,
    reader: ObjectReader,
    /// The objects that exist.
    known: BTreeMap<Reference, Known>,
    /// The objects that differ from the recorded state while another order is evaluated.
    other_order: BTreeMap<Reference, Other>,
    /// Number of the last snapshot.
    snapshot: u64,
}

/// An object in its recorded version.
struct Known {
    /// The recorded text of the object. It is compared with the text in the next snapshot, which repeats unchanged
    /// objects.
    text: Arc<str>,
    /// Number of the snapshot that was the latest one when the object was last set.
    snapshot: u64,
    /// The pod, if it has no node and is not being deleted.
    pending: Option<Box<ApiPod>>,
}

/// An object in the version of another order.
struct Other {
    version: Version,
    /// The pod, if it has no node and is not being deleted.
    pending: Option<Box<ApiPod>>,
}

/// The effect of a recorded object.
pub(super) enum SetResult {
    /// No plugin reads this kind.
    Ignored(String),
    /// The object was known in this form.
    Unchanged,
    /// The object is new or changed.
    Changed(Replacement),
}

impl<'a> RecordedState<'a> {
    pub(super) fn new(cluster: &'a mut dyn AnyCluster, originals: RequiredOriginals, kinds: Kinds) -> Self {
        RecordedState {
            cluster: ScenarioCluster::new(cluster, 0, originals),
            kinds,
            reader: ObjectReader::new(kinds, Validation::Ignore),
            known: BTreeMap::new(),
            other_order: BTreeMap::new(),
            snapshot: 0,
        }
    }

    pub(super) fn base(&self) -> &Base {
        self.cluster.base()
    }

    /// Begins a snapshot: objects that are not set before its end no longer exist.
    pub(super) fn begin_snapshot(&mut self) {
        self.snapshot += 1;
    }

    /// Removes the objects that are not in the snapshot.
    pub(super) fn end_snapshot(&mut self) {
        let is_gone = |(_, known): &(&Reference, &Known)| known.snapshot != self.snapshot;
        let gone: Vec<Reference> = self.known.iter().filter(is_gone).map(|(key, _)| key.clone()).collect();
        for key in &gone {
            self.delete(key);
        }
    }

    /// Adds or replaces an object. Returns a message if the object is invalid.
    pub(super) fn set(&mut self, value: Value, routes: &Routes) -> Result<SetResult, String> {
        let (kind, text) = (kind(&value)?, Arc::<str>::from(value.to_string()));
        let Some(object) = self.read(value)? else { return Ok(SetResult::Ignored(kind)) };
        if object.name().is_empty() {
            return Err(format!("the {} has no name", object.kind()));
        }
        let (kind, namespace, name) = (object.kind(), object.namespace(), object.name());
        let key = Reference { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() };
        let known = Known { text: text.clone(), snapshot: self.snapshot, pending: pending_form(&object) };
        let before = match self.known.get_mut(&key) {
            Some(before) if before.text == text => {
                *before = known;
                return Ok(SetResult::Unchanged);
            }
            Some(before) => Some(std::mem::replace(before, known).text),
            None => {
                self.known.insert(key.clone(), known);
                None
            }
        };
        self.apply(&object, before.is_some(), routes);
        Ok(SetResult::Changed(Replacement { key, before, after: Some(text) }))
    }

    /// Removes an object, if it exists.
    pub(super) fn delete(&mut self, key: &Reference) -> Option<Replacement> {
        let before = self.known.remove(key)?.text;
        self.remove(key);
        Some(Replacement { key: key.clone(), before: Some(before), after: None })
    }

    /// Sets these objects to the given versions, and all other objects to their recorded versions.
    pub(super) fn use_versions(&mut self, versions: &BTreeMap<Reference, Version>, routes: &Routes) {
        let is_recorded = |key: &&Reference| !versions.contains_key(key);
        let recorded: Vec<Reference> = self.other_order.keys().filter(is_recorded).cloned().collect();
        for key in recorded {
            let version = self.recorded(&key);
            self.replace(&key, &version, routes);
            self.other_order.remove(&key);
        }
        for (key, version) in versions {
            if self.version(key) != version.as_deref() {
                let pending = self.replace(key, version, routes);
                self.other_order.insert(key.clone(), Other { version: version.clone(), pending });
            }
        }
    }

    /// Returns the reference of an object; `None` if the object is invalid, or if no plugin reads its kind.
    pub(super) fn key(&mut self, value: &Value) -> Option<Reference> {
        let object = self.read(value.clone()).ok()??;
        let (kind, namespace, name) = (object.kind(), object.namespace(), object.name());
        Some(Reference { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() })
    }

    /// Returns the recorded version of an object.
    pub(super) fn recorded(&self, key: &Reference) -> Version {
        self.known.get(key).map(|known| known.text.clone())
    }

    /// Returns the version of an object that the cluster has now: recorded, or of another order.
    fn version(&self, key: &Reference) -> Option<&str> {
        match self.other_order.get(key) {
            Some(other) => other.version.as_deref(),
            None => self.known.get(key).map(|known| &*known.text),
        }
    }

    /// Replaces an object by another version. Returns the new version if it is a pending pod.
    fn replace(&mut self, key: &Reference, version: &Version, routes: &Routes) -> Option<Box<ApiPod>> {
        let exists = self.version(key).is_some();
        // No error here: an invalid object is reported when the replay reaches its line.
        let value = version.as_ref().and_then(|text| serde_json::from_str(text).ok());
        let object = value.and_then(|value| self.read(value).ok().flatten());
        match &object {
            Some(object) => self.apply(object, exists, routes),
            None if exists => self.remove(key),
            None => {}
        }
        object.and_then(|object| pending_form(&object))
    }

    fn read(&mut self, value: Value) -> Result<Option<AnyObject>, String> {
        let (api_version, kind) = (text(&value, "apiVersion")?, kind(&value)?);
        self.reader.read(&api_version, &kind, value).map_err(|errors| {
            let errors: Vec<String> = errors.iter().take(3).map(ToString::to_string).collect();
            shortened(&errors.join("; "), 1000).to_string()
        })
    }

    fn apply(&mut self, object: &AnyObject, exists: bool, routes: &Routes) {
        if let AnyObject::Pod(pod) = object {
            self.cluster.use_profile(routes.profile_of(pod).unwrap_or_default());
            // The existing pod of this name may have another uid.
            if exists {
                self.cluster.remove(object);
            }
        }
        self.cluster.apply(object);
    }

    fn remove(&mut self, key: &Reference) {
        let Reference { kind, namespace, name } = key.clone();
        // The kind is known, because an object of it was set.
        let _ = self.cluster.delete(&evaluation::Reference { kind, namespace, name }, self.kinds);
    }

    /// Returns a pending pod.
    pub(super) fn pending(&self, namespace: &str, name: &str) -> Option<&ApiPod> {
        pending_pod(&self.known, &self.other_order, namespace, name)
    }

    /// Returns the answer of a profile for a pending pod. `None`: there is no such pod.
    pub(super) fn explain(&mut self, profile: usize, namespace: &str, name: &str) -> Option<Explanation> {
        let pending = pending_pod(&self.known, &self.other_order, namespace, name)?;
        let pod = Arc::new(self.cluster.pending(pending));
        Some(self.cluster.explain(profile, &pod))
    }
}

fn text(value: &Value, field: &str) -> Result<String, String> {
    match value.get(field).and_then(Value::as_str) {
        None | Some("") => Err(format!("the object has no `{field}`")),
        Some(text) => Ok(text.to_owned()),
    }
}

fn kind(value: &Value) -> Result<String, String> {
    text(value, "kind")
}

/// Returns the pod if it waits for a node and is not being deleted.
fn pending_form(object: &AnyObject) -> Option<Box<ApiPod>> {
    let AnyObject::Pod(pod) = object else { return None };
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).unwrap_or_default();
    (node.is_empty() && pod.metadata.deletion_timestamp.is_none()).then(|| pod.clone())
}

fn pending_pod<'a>(
    known: &'a BTreeMap<Reference, Known>,
    other_order: &'a BTreeMap<Reference, Other>,
    namespace: &str,
    name: &str,
) -> Option<&'a ApiPod> {
    let key = Reference { kind: "Pod".to_owned(), namespace: namespace.to_owned(), name: name.to_owned() };
    match other_order.get(&key) {
        Some(other) => other.pending.as_deref(),
        None => known.get(&key)?.pending.as_deref(),
    }
}
