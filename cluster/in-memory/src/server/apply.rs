//! Creation or update of an object (`kubectl apply`).

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_core::client::ApiError;
use schedc_objects::{AnyObject, Kinds};
use serde_json::Value;

use super::{ApiServer, Key, json_of, read};

/// Prefixes of annotations that schedulers and volume controllers write.
const CONTROLLER_ANNOTATIONS: [&str; 2] = ["pv.kubernetes.io/", "volume.kubernetes.io/"];

impl ApiServer {
    /// Creates an object, or updates an existing one. [`ApiServer`] lists the fields that an update keeps.
    ///
    /// # Errors
    /// Returns an error if the object has neither a name nor a `generateName`.
    pub fn apply(&mut self, mut object: AnyObject, now: i64) -> Result<Arc<AnyObject>, ApiError> {
        let key = Key::of(&object);
        let Some(old) = self.get(&key) else { return self.create(object, now) };
        keep_metadata(object.metadata_mut(), old.metadata());
        match (&mut object, &**old) {
            (AnyObject::Pod(new), AnyObject::Pod(old)) => {
                let node = old.spec.as_ref().and_then(|spec| spec.node_name.clone());
                let spec = new.spec.get_or_insert_default();
                spec.node_name = spec.node_name.take().or(node);
                let phase = new.status.as_mut().map(|status| &mut status.phase);
                phase.into_iter().for_each(|phase| *phase = phase.take().filter(|phase| phase != "Pending"));
            }
            (AnyObject::PersistentVolumeClaim(new), AnyObject::PersistentVolumeClaim(old)) => {
                let volume = old.spec.as_ref().and_then(|spec| spec.volume_name.clone());
                let spec = new.spec.get_or_insert_default();
                spec.volume_name = spec.volume_name.take().or(volume);
            }
            (AnyObject::PersistentVolume(new), AnyObject::PersistentVolume(old)) => {
                let claim = old.spec.as_ref().and_then(|spec| spec.claim_ref.clone());
                let spec = new.spec.get_or_insert_default();
                spec.claim_ref = spec.claim_ref.take().or(claim);
            }
            _ => {}
        }
        let old = old.clone();
        let mut object = with_status(&key, object, &old, self.options.kinds)?;
        let (new_spec, old_spec) = (spec(&object), spec(&old));
        if new_spec != old_spec {
            let generation = &mut object.metadata_mut().generation;
            *generation = generation.map(|generation| generation + 1);
        }
        let is_deletion_new =
            object.metadata().deletion_timestamp.is_some() && old.metadata().deletion_timestamp.is_none();
        let object = self.replace(&key, object)?;
        if is_deletion_new {
            self.schedule_removal(&key, &object, now);
        }
        Ok(object)
    }
}

fn keep_metadata(new: &mut ObjectMeta, old: &ObjectMeta) {
    new.namespace.clone_from(&old.namespace);
    new.uid.clone_from(&old.uid);
    new.resource_version.clone_from(&old.resource_version);
    new.creation_timestamp.clone_from(&old.creation_timestamp);
    new.generation = old.generation;
    let new_deletion = new.deletion_timestamp.take();
    new.deletion_timestamp = old.deletion_timestamp.clone().or(new_deletion);
    new.deletion_grace_period_seconds = new.deletion_grace_period_seconds.or(old.deletion_grace_period_seconds);
    let kept = old.annotations.iter().flatten();
    let kept = kept.filter(|(name, _)| CONTROLLER_ANNOTATIONS.iter().any(|prefix| name.starts_with(prefix)));
    for (name, value) in kept {
        let annotations = new.annotations.get_or_insert_default();
        annotations.entry(name.clone()).or_insert_with(|| value.clone());
    }
}

/// Adds the old status fields that the new object does not set.
fn with_status(key: &Key, object: AnyObject, old: &AnyObject, kinds: Kinds) -> Result<AnyObject, ApiError> {
    let mut old = json_of(old);
    let Some(old_status) = old.get_mut("status").map(Value::take) else { return Ok(object) };
    let mut value = json_of(&object);
    let Some(fields) = value.as_object_mut() else { return Ok(object) };
    let status = fields.entry("status").or_insert_with(|| Value::Object(serde_json::Map::new()));
    if let (Value::Object(status), Value::Object(old_status)) = (status, old_status) {
        for (name, value) in old_status {
            status.entry(name).or_insert(value);
        }
    }
    read(key, value, kinds)
}

fn spec(object: &AnyObject) -> Option<Value> {
    json_of(object).get_mut("spec").map(Value::take)
}
