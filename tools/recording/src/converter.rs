//! Conversion of objects to their recorded form.
//!
//! The scheduling task converts objects and frees them, so the queue keeps only their recorded form. Pods of one owner
//! share the text of their template, which is nevertheless formatted for each change.

use std::collections::HashSet;

use k8s_openapi::api::core::v1::{Pod, PodStatus};
use schedc_objects::AnyObject;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::change::{Change, ConvertedChange, Form, Key, PodForm};
use crate::entry::ObjectText;
use crate::recorded;

/// Converts changes to their recorded form.
#[derive(Debug, Default)]
pub struct Converter {
    texts: SharedTexts,
}

impl Converter {
    /// Returns the recorded form of a change, or `None` if it cannot be written as JSON, which does not happen in practice.
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
                Some((key, Form::Pod(Box::new(self.pod(&mut pod)?))))
            }
            object => Some((Key::of(&object), Form::Object(recorded::text(&object)?))),
        }
    }

    /// Splits a pod into its template and the fields that other pods rarely share.
    fn pod(&mut self, pod: &mut Pod) -> Option<PodForm> {
        let metadata = &mut pod.metadata;
        let (uid, created) = (metadata.uid.take(), metadata.creation_timestamp.take());
        let deleted = metadata.deletion_timestamp.take();
        let spec = pod.spec.as_mut();
        let scheduler = spec.as_ref().and_then(|spec| spec.scheduler_name.clone()).unwrap_or_default();
        let node = spec.and_then(|spec| spec.node_name.take()).filter(|node| !node.is_empty());
        let status = pod.status.take();
        let rejection = status.as_ref().and_then(rejection).map(str::to_owned);
        let status = match status {
            Some(status) => Some(self.texts.share(&status)?),
            None => None,
        };
        let template = self.texts.share(pod)?;
        Some(PodForm { template, uid, created, deleted, node, status, scheduler, rejection })
    }
}

/// Returns the resource version of an object. Versions of kinds that plugins declare may be those of another store.
fn resource_version(object: &AnyObject) -> Option<u64> {
    let version = object.metadata().resource_version.as_deref();
    version.filter(|_| !matches!(object, AnyObject::Custom(_))).and_then(|version| version.parse().ok())
}

/// Returns the message about an unschedulable pod.
fn rejection(status: &PodStatus) -> Option<&str> {
    let conditions = status.conditions.as_deref().unwrap_or_default();
    let condition = conditions.iter().find(|condition| condition.type_ == "PodScheduled")?;
    let is_failed = condition.status == "False" && condition.reason.as_deref() == Some("Unschedulable");
    condition.message.as_deref().filter(|_| is_failed)
}

/// JSON texts. Equal texts share their memory.
#[derive(Debug, Default)]
struct SharedTexts {
    texts: HashSet<ObjectText>,
    buffer: Vec<u8>,
    /// Number of texts at which unused ones are removed.
    limit: usize,
}

/// Smallest number of texts at which unused ones are removed.
const MIN_TEXTS: usize = 1024;

impl SharedTexts {
    fn share(&mut self, value: &impl Serialize) -> Option<ObjectText> {
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, value).ok()?;
        let text = str::from_utf8(&self.buffer).ok()?;
        if let Some(known) = self.texts.get(text) {
            return Some(known.clone());
        }
        if self.texts.len() >= self.limit {
            self.texts.retain(ObjectText::is_shared);
            self.limit = (self.texts.len() * 2).max(MIN_TEXTS);
        }
        let text = ObjectText::from(RawValue::from_string(text.to_owned()).ok()?);
        self.texts.insert(text.clone());
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_memory_and_unused_ones_are_removed() {
        let mut texts = SharedTexts::default();
        let used = texts.share(&0).unwrap();
        for number in 0..10 * MIN_TEXTS {
            assert!(!texts.share(&number).unwrap().parse().is_null());
        }
        assert!(texts.texts.len() <= MIN_TEXTS);
        assert!(texts.share(&0).unwrap() == used && used.is_shared());
    }
}
