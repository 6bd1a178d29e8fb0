//! An in-memory API server without threads and clock. A driver passes requests with the time and receives responses;
//! changes are logged.
//!
//! | module | content |
//! |---|---|
//! | `request` | requests and responses |
//! | `pods` | bindings and statuses of pods |
//! | `deletion` | deletion and grace periods |
//! | `apply` | create or update |
//! | `key`, `errors` | keys of objects, error messages |

mod apply;
mod deletion;
mod errors;
mod key;
mod pods;
mod request;

use std::collections::VecDeque;
use std::hash::Hasher;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use schedc_core::client::{ApiError, Event};
use schedc_core::map::{FixedHasher, Set};
use schedc_core::model::Uid;
use schedc_objects::default::generated_name;
use schedc_objects::{AnyObject, Kinds};
use serde_json::Value;

pub use crate::store::{ChangeKind, Key};
pub use request::{PodRef, Request, Response};

use crate::claim_status::check_claim_status;
use crate::merge_patch;
use crate::store::{self, Store};
use deletion::TerminatingPods;

/// A change of a typed object.
pub type Change = store::Change<AnyObject>;

/// Options of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApiServerOptions {
    /// Grace period of deleted pods. `None`: their `terminationGracePeriodSeconds`, by default 30 s.
    pub grace: Option<Duration>,
    /// Maximum number of events that are kept. The oldest events are dropped first.
    pub events_kept: usize,
    /// Whether finalizers block deletion until they are removed. Off by default: the controllers here remove only the
    /// finalizer of resource claims.
    pub finalizers_hold: bool,
    /// Kinds that plugins declare, in addition to the built-in ones.
    pub kinds: Kinds,
}

impl Default for ApiServerOptions {
    /// Returns options with the pods' own grace periods.
    fn default() -> Self {
        ApiServerOptions { grace: None, events_kept: 1000, finalizers_hold: false, kinds: Kinds::default() }
    }
}

/// The objects of a cluster. All times are nanoseconds since 1970.
///
/// The server sets uid, resource version and creation time of stored objects, and has the rules for bindings, statuses
/// and deletions of pods that a scheduler relies on. It applies no other defaults, and validates only names, patches
/// and the status of resource claims; `schedc_objects::default` has the defaults and the validation. Finalizers block
/// deletion if [`ApiServerOptions::finalizers_hold`] is set.
///
/// An object that is applied again keeps its uid, creation time and deletion time. It also keeps fields of other
/// writers that the new manifest does not set: the node of a bound pod, the volume of a claim, the claim of a volume,
/// annotations of volume controllers, and all status fields. `phase: Pending` in the manifest of a pod counts as not
/// set.
#[derive(Clone, Debug)]
pub struct ApiServer {
    options: ApiServerOptions,
    store: Store<AnyObject>,
    /// Hashes of all uids that were ever used.
    uids: Set<u64>,
    terminating: TerminatingPods,
    events: VecDeque<Event>,
}

impl ApiServer {
    /// Returns a server without objects.
    pub fn new(options: ApiServerOptions) -> Self {
        ApiServer {
            options,
            store: Store::default(),
            uids: Set::default(),
            terminating: TerminatingPods::default(),
            events: VecDeque::new(),
        }
    }

    /// Processes a request.
    ///
    /// # Errors
    /// Returns an error with the reason and the text of an API server.
    pub fn handle(&mut self, request: &Request, now: i64) -> Response {
        match request {
            Request::Bind { pod, node } => self.bind(pod, node, now).map(Some),
            Request::PatchPodStatus { pod, patch } => self.patch_pod_status(pod, patch, now).map(Some),
            Request::DeletePod { pod } => self.delete(&pod.key(), Some(&pod.uid), now),
            Request::Record(event) => {
                self.record(Event::clone(event));
                Ok(None)
            }
            Request::Get(key) => self.get(key).cloned().map(Some).ok_or_else(|| errors::not_found(key)),
            Request::CreateJson(key, manifest) => self.create_json(key, manifest, now).map(Some),
            Request::Patch(key, patch) => self.patch(key, patch).map(Some),
            Request::Delete(key, uid) => self.delete(key, uid.as_ref(), now),
            Request::Create(object) => self.create(AnyObject::clone(object), now).map(Some),
            Request::Replace(object) => {
                let key = Key::of(object);
                self.get(&key).ok_or_else(|| errors::not_found(&key))?;
                self.apply(AnyObject::clone(object), now).map(Some)
            }
            Request::Apply(object) => self.apply(AnyObject::clone(object), now).map(Some),
        }
    }

    /// Returns an object, if it exists.
    pub fn get(&self, key: &Key) -> Option<&Arc<AnyObject>> {
        self.store.get(key)
    }

    /// Returns all objects of a kind, by namespace and name.
    pub fn list(&self, kind: &'static str) -> impl Iterator<Item = &Arc<AnyObject>> {
        self.store.list(kind, "")
    }

    /// Returns all objects of a kind in a namespace, by name.
    pub fn list_in(&self, kind: &'static str, namespace: &str) -> impl Iterator<Item = &Arc<AnyObject>> + use<'_> {
        self.store.list(kind, namespace)
    }

    /// Returns all objects, by kind, namespace and name.
    pub fn objects(&self) -> impl Iterator<Item = &Arc<AnyObject>> {
        self.store.all()
    }

    /// Returns the store, which has the change log.
    pub fn store(&self) -> &Store<AnyObject> {
        &self.store
    }

    /// Discards changes up to a version. Readers at an older version must list.
    pub fn forget(&mut self, version: u64) {
        self.store.forget(version);
    }

    /// Returns the newest events, from oldest to newest.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.events.iter()
    }

    /// Creates an object. Keeps a given creation time, and a given uid unless another object has had that uid. An
    /// object with only a `generateName` gets a free name.
    ///
    /// # Errors
    /// Returns an error if an object of this name exists, or the object has neither a name nor a `generateName`.
    pub fn create(&mut self, mut object: AnyObject, now: i64) -> Result<Arc<AnyObject>, ApiError> {
        let mut key = Key::of(&object);
        if let Some(name) = self.generated_name(&object, &key) {
            key.name = name.as_str().into();
            object.metadata_mut().name = Some(name);
        }
        if key.name.is_empty() {
            return Err(errors::invalid(&key, "metadata.name: Required value: name or generateName is required"));
        }
        if self.store.get(&key).is_some() {
            return Err(errors::already_exists(&key));
        }
        let uid = self.new_uid(object.metadata().uid.as_deref(), &key);
        let metadata = object.metadata_mut();
        if !key.namespace.is_empty() {
            metadata.namespace = Some(key.namespace.to_string());
        }
        metadata.uid = Some(uid);
        metadata.creation_timestamp.get_or_insert_with(|| time(now));
        metadata.generation.get_or_insert(1);
        let object = self.store.put(&key, object);
        self.schedule_removal(&key, &object, now);
        Ok(object)
    }

    /// Replaces an object (the verb `update`).
    ///
    /// # Errors
    /// Returns an error if the object does not exist, or `object` has a resource version that is not the current one.
    pub fn update(&mut self, object: AnyObject) -> Result<Arc<AnyObject>, ApiError> {
        let key = Key::of(&object);
        let old = self.get(&key).ok_or_else(|| errors::not_found(&key))?;
        let version = object.metadata().resource_version.as_ref();
        if version.is_some() && version != old.metadata().resource_version.as_ref() {
            return Err(errors::modified(&key));
        }
        self.replace(&key, object)
    }

    /// Returns a free name for an object that has only a `generateName`; `None` for all other objects. Unlike in an API
    /// server, the name is not random.
    fn generated_name(&self, object: &AnyObject, key: &Key) -> Option<String> {
        let prefix = object.metadata().generate_name.as_deref().filter(|prefix| !prefix.is_empty())?;
        if !key.name.is_empty() {
            return None;
        }
        // Versions grow, so the first candidate is usually free.
        let first = u32::try_from(self.store.version() % u64::from(u32::MAX)).unwrap_or_default();
        let mut names = (0..u32::MAX).map(|n| generated_name(prefix, first.wrapping_add(n)));
        names.find(|name| self.get(&Key { name: name.as_str().into(), ..key.clone() }).is_none())
    }

    /// Returns a uid that no object has had: the given one, or one that is derived from the key.
    fn new_uid(&mut self, given: Option<&str>, key: &Key) -> String {
        let name = match (&*key.namespace, key.kind) {
            (namespace, "Pod") => format!("{namespace}/{}", key.name),
            ("", kind) => format!("{kind}/{}", key.name),
            (namespace, kind) => format!("{kind}/{namespace}/{}", key.name),
        };
        // Names do not contain `#`, so these uids differ from those of other keys.
        let numbered = (2_u64..).map(|n| format!("{name}#{n}"));
        let candidates = given.filter(|uid| !uid.is_empty()).map(str::to_owned).into_iter().chain([name.clone()]);
        let mut free = candidates.chain(numbered).filter(|uid| !self.uids.contains(&hash(uid)));
        let uid = free.next().unwrap_or_default();
        self.uids.insert(hash(&uid));
        uid
    }

    /// Replaces an object. An equal object causes no change.
    fn replace(&mut self, key: &Key, object: AnyObject) -> Result<Arc<AnyObject>, ApiError> {
        self.get(key).ok_or_else(|| errors::not_found(key))?;
        let object = self.store.put(key, object);
        self.finalize(key, &object);
        Ok(object)
    }

    fn create_json(&mut self, key: &Key, manifest: &Value, now: i64) -> Result<Arc<AnyObject>, ApiError> {
        let mut object = read(key, manifest.clone(), self.options.kinds)?;
        let metadata = object.metadata_mut();
        if !key.name.is_empty() {
            metadata.name.get_or_insert_with(|| key.name.to_string());
        }
        if !key.namespace.is_empty() {
            metadata.namespace.get_or_insert_with(|| key.namespace.to_string());
        }
        self.create(object, now)
    }

    fn patch(&mut self, key: &Key, patch: &Value) -> Result<Arc<AnyObject>, ApiError> {
        let old = self.get(key).ok_or_else(|| errors::not_found(key))?;
        let version = patch.pointer("/metadata/resourceVersion").and_then(Value::as_str);
        if version.is_some_and(|version| old.metadata().resource_version.as_deref() != Some(version)) {
            return Err(errors::modified(key));
        }
        let uid = patch.pointer("/metadata/uid").and_then(Value::as_str);
        let old_uid = old.metadata().uid.as_deref().unwrap_or_default();
        if let Some(uid) = uid.filter(|uid| *uid != old_uid) {
            return Err(errors::other_uid(key, uid, old_uid));
        }
        let old_value = json_of(old);
        let mut value = old_value.clone();
        merge_patch::merge(&mut value, patch);
        if key.kind == "ResourceClaim" {
            check_claim_status(&old_value, &mut value).map_err(|error| errors::invalid(key, error))?;
        }
        let mut object = read(key, value, self.options.kinds)?;
        // Identifying fields do not change.
        let metadata = object.metadata_mut();
        metadata.name.clone_from(&old.metadata().name);
        metadata.namespace.clone_from(&old.metadata().namespace);
        metadata.uid.clone_from(&old.metadata().uid);
        self.replace(key, object)
    }

    fn record(&mut self, event: Event) {
        self.events.push_back(event);
        while self.events.len() > self.options.events_kept {
            self.events.pop_front();
        }
    }
}

/// Returns the uid of a stored object.
pub fn uid_of(object: &AnyObject) -> Uid {
    Uid(object.metadata().uid.as_deref().unwrap_or_default().into())
}

pub(crate) fn json_of(object: &AnyObject) -> Value {
    // Kubernetes' types have only string keys, so their serialization cannot fail.
    object.to_json().unwrap_or_default()
}

fn hash(uid: &str) -> u64 {
    let mut hasher = FixedHasher::default();
    hasher.write(uid.as_bytes());
    hasher.finish()
}

fn read(key: &Key, value: Value, kinds: Kinds) -> Result<AnyObject, ApiError> {
    let info = kinds.named(key.kind).ok_or_else(errors::unknown_kind)?;
    let object =
        kinds.read(info.api_version, info.manifest_kind, value).map_err(|error| errors::invalid(key, error))?;
    object.ok_or_else(errors::unknown_kind)
}

/// Converts a time to the format of objects: whole seconds.
pub(crate) fn time(nanoseconds: i64) -> Time {
    Time(Timestamp::from_second(nanoseconds.div_euclid(1_000_000_000)).unwrap_or(Timestamp::UNIX_EPOCH))
}

#[cfg(test)]
mod tests;
