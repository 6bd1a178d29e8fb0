//! Assembly of pods from their lines and templates.

use std::collections::HashMap;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::{Map, Value, json};

use crate::entry::{Entry, Line, PodLine};

/// Templates and pods of a file. Replaces entries `pod` by entries `set`.
#[derive(Debug, Default)]
pub(crate) struct Expansion {
    templates: HashMap<u32, Arc<Value>>,
    pods: HashMap<(String, String), KnownPod>,
}

#[derive(Debug)]
struct KnownPod {
    template: Arc<Value>,
    uid: Option<String>,
    created: Option<Time>,
}

impl Expansion {
    /// Returns the line with a whole object; `None` for a template.
    ///
    /// # Errors
    /// A template is missing or invalid.
    pub(crate) fn line(&mut self, line: Line) -> Result<Option<Line>, String> {
        let entry = match line.entry {
            Entry::Template(template) if template.pod.is_object() => {
                self.templates.insert(template.number, Arc::new(template.pod));
                return Ok(None);
            }
            Entry::Template(template) => return Err(format!("template {} is not an object", template.number)),
            Entry::Pod(pod) => Entry::Set(self.pod(pod)?),
            Entry::Delete(reference) => {
                if reference.kind == "Pod" {
                    self.pods.remove(&(reference.namespace.clone(), reference.name.clone()));
                }
                Entry::Delete(reference)
            }
            entry => entry,
        };
        Ok(Some(Line { at: line.at, rv: line.rv, entry }))
    }

    fn pod(&mut self, line: PodLine) -> Result<Value, String> {
        let PodLine { template, namespace, name, uid, created, deleted, node, status } = line;
        let key = (namespace, name);
        if let Some(number) = template {
            let template = self.templates.get(&number).cloned();
            let template = template.ok_or_else(|| format!("the file has no template {number} before this line"))?;
            self.pods.insert(key.clone(), KnownPod { template, uid, created });
        }
        let (namespace, name) = &key;
        let known = self.pods.get(&key);
        let known = known.ok_or_else(|| format!("the first line of the pod {namespace}/{name} has no `template`"))?;
        let mut object = Value::clone(&known.template);
        let metadata = [
            ("name", Some(json!(name))),
            ("namespace", (!namespace.is_empty()).then(|| json!(namespace))),
            ("uid", known.uid.as_ref().map(|uid| json!(uid))),
            ("creationTimestamp", known.created.as_ref().map(|time| json!(time))),
            ("deletionTimestamp", deleted.map(|time| json!(time))),
        ];
        insert(&mut object, "metadata", metadata);
        insert(&mut object, "spec", [("nodeName", node.map(Value::String))]);
        if let (Some(object), Some(status)) = (object.as_object_mut(), status) {
            object.insert("status".to_owned(), status);
        }
        Ok(object)
    }
}

/// Adds fields to a part of an object.
fn insert(object: &mut Value, part: &str, fields: impl IntoIterator<Item = (&'static str, Option<Value>)>) {
    for (name, value) in fields {
        if let (Some(object), Some(value)) = (object.as_object_mut(), value) {
            let part = object.entry(part).or_insert_with(|| Map::new().into());
            // A part of another type is an error of the reader of objects.
            if let Some(part) = part.as_object_mut() {
                part.insert(name.to_owned(), value);
            }
        }
    }
}
