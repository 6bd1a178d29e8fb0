//! Conversion of objects to their recorded form.
//!
//! The scheduling task converts objects and frees them, so the queue keeps only their recorded form. Pods of one owner
//! share the text of their template, and most statuses are equal. An equal value is found by comparison and is not
//! formatted again.

use std::hash::{Hash, Hasher};
use std::iter::repeat_with;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Pod, PodStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schedc_core::map::FixedHasher;
use schedc_objects::AnyObject;

use crate::change::{Change, ConvertedChange, Form, Key, PodForm, Status, Template};
use crate::entry::ObjectText;
use crate::recorded;

/// Converts changes to their recorded form.
#[derive(Debug)]
pub struct Converter {
    templates: FormCache<Box<Pod>, Template>,
    statuses: FormCache<PodStatus, Status>,
    times: FormCache<Time, String>,
}

impl Default for Converter {
    fn default() -> Self {
        Converter { templates: FormCache::new(4096), statuses: FormCache::new(1024), times: FormCache::new(64) }
    }
}

impl Converter {
    /// Returns the recorded form of a change, or `None` if it cannot be written as JSON, which does not happen in
    /// practice.
    pub fn convert(&mut self, change: Change) -> Option<ConvertedChange> {
        Some(match change {
            Change::Upsert(object, epoch) => {
                let rv = resource_version(&object);
                let (key, form) = self.form(recorded::select(object))?;
                ConvertedChange::Upsert { key, form, epoch, rv }
            }
            Change::Removal(object) => {
                ConvertedChange::Removal { key: Key::of(&object), rv: resource_version(&object) }
            }
            Change::ListComplete { kind, epoch } => ConvertedChange::ListComplete { kind, epoch },
        })
    }

    fn form(&mut self, object: AnyObject) -> Option<(Key, Form)> {
        match object {
            AnyObject::Pod(mut pod) => {
                let metadata = &mut pod.metadata;
                let (namespace, name) = (metadata.namespace.take(), metadata.name.take());
                let key = Key { kind: "Pod", namespace: namespace.unwrap_or_default(), name: name.unwrap_or_default() };
                Some((key, Form::Pod(self.pod(pod)?)))
            }
            object => Some((Key::of(&object), Form::Object(recorded::text(&object)?))),
        }
    }

    /// Splits a pod into its template and the other fields: those that change, or that differ between pods of one
    /// owner.
    fn pod(&mut self, mut pod: Box<Pod>) -> Option<PodForm> {
        let metadata = &mut pod.metadata;
        let uid = metadata.uid.take();
        let times = [metadata.creation_timestamp.take(), metadata.deletion_timestamp.take()];
        let [created, deleted] = times.map(|time| {
            let time = time?;
            self.times.form(time.0.as_second() as u64, time, |time| Some(text_of_time(time)))
        });
        let node = pod.spec.as_mut().and_then(|spec| spec.node_name.take()).filter(|node| !node.is_empty());
        let status = match pod.status.take() {
            Some(status) => Some(self.statuses.form(hash_of_status(&status), status, status_form)?),
            None => None,
        };
        let template = self.templates.form(hash_of_template(&pod), pod, |pod| template_form(pod))?;
        Some(PodForm { template, uid, created, deleted, node, status })
    }
}

/// Returns the resource version of an object; `None` for kinds that plugins declare, whose versions may come from
/// another store.
fn resource_version(object: &AnyObject) -> Option<u64> {
    let version = object.metadata().resource_version.as_deref();
    version.filter(|_| !matches!(object, AnyObject::Custom(_))).and_then(|version| version.parse().ok())
}

fn template_form(pod: &Pod) -> Option<Template> {
    let scheduler = pod.spec.as_ref().and_then(|spec| spec.scheduler_name.clone()).unwrap_or_default();
    Some(Template::new(ObjectText::new(pod)?, scheduler))
}

/// Hashes fields that differ between pods of different owners, or between the pods of a StatefulSet.
fn hash_of_template(pod: &Pod) -> u64 {
    let mut hasher = FixedHasher::default();
    pod.metadata.labels.hash(&mut hasher);
    for owner in pod.metadata.owner_references.iter().flatten() {
        owner.uid.hash(&mut hasher);
    }
    for container in pod.spec.iter().flat_map(|spec| &spec.containers) {
        (&container.name, &container.image).hash(&mut hasher);
    }
    hasher.finish()
}

fn status_form(status: &PodStatus) -> Option<Status> {
    Some(Status { text: ObjectText::new(status)?, rejection: rejection(status).map(str::to_owned) })
}

fn hash_of_status(status: &PodStatus) -> u64 {
    let mut hasher = FixedHasher::default();
    status.phase.hash(&mut hasher);
    for condition in status.conditions.iter().flatten() {
        (&condition.type_, &condition.status, &condition.message).hash(&mut hasher);
    }
    hasher.finish()
}

fn text_of_time(time: &Time) -> String {
    time.0.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns the message about an unschedulable pod.
fn rejection(status: &PodStatus) -> Option<&str> {
    let conditions = status.conditions.as_deref().unwrap_or_default();
    let condition = conditions.iter().find(|condition| condition.type_ == "PodScheduled")?;
    let is_failed = condition.status == "False" && condition.reason.as_deref() == Some("Unschedulable");
    condition.message.as_deref().filter(|_| is_failed)
}

/// Recorded forms of recent values. The slot of a value is its hash modulo the number of slots. A slot holds one value.
#[derive(Debug)]
struct FormCache<T, F>(Vec<Option<Box<Cached<T, F>>>>);

#[derive(Debug)]
struct Cached<T, F> {
    value: T,
    form: Arc<F>,
}

impl<T: PartialEq, F> FormCache<T, F> {
    fn new(len: usize) -> Self {
        FormCache(repeat_with(|| None).take(len).collect())
    }

    /// Returns the cached form of a value. If the value is not cached, calls `convert` and caches its result.
    fn form(&mut self, hash: u64, value: T, convert: impl FnOnce(&T) -> Option<F>) -> Option<Arc<F>> {
        let slot = hash as usize % self.0.len();
        if let Some(cached) = &self.0[slot]
            && cached.value == value
        {
            return Some(cached.form.clone());
        }
        let form = Arc::new(convert(&value)?);
        self.0[slot] = Some(Box::new(Cached { value, form: form.clone() }));
        Some(form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_form() {
        let mut forms = FormCache::new(2);
        let mut form = |value: u64| forms.form(value, value, |value| Some(value.to_string())).unwrap();
        let (first, second) = (form(1), form(2));
        assert!(Arc::ptr_eq(&first, &form(1)) && Arc::ptr_eq(&second, &form(2)));
        assert_eq!(*form(3), "3");
        assert!(!Arc::ptr_eq(&first, &form(1)), "3 has replaced 1");
    }
}
