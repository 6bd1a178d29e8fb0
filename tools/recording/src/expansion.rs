//! Assembly of pods from their lines and templates.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::entry::{Bind, Entry, Line, Reject};
use crate::raw::{Decision, PodLine, RawEntry};

/// Templates and pods of a file. Converts the lines of the file to lines with whole objects.
#[derive(Debug, Default)]
pub(crate) struct Expansion {
    templates: HashMap<u32, Arc<Value>>,
    pods: HashMap<(String, String), KnownPod>,
    lines: VecDeque<Line>,
}

#[derive(Debug)]
struct KnownPod {
    template: Arc<Value>,
    fields: PodFields,
}

/// The fields of a pod that its template does not have.
#[derive(Debug, Default)]
pub(crate) struct PodFields {
    pub(crate) uid: Option<String>,
    pub(crate) created: Option<String>,
    pub(crate) deleted: Option<String>,
    pub(crate) node: Option<String>,
    pub(crate) status: Option<Value>,
}

impl Expansion {
    /// Returns the next line.
    pub(crate) fn next_line(&mut self) -> Option<Line> {
        self.lines.pop_front()
    }

    /// Adds a line of the file.
    ///
    /// # Errors
    /// Returns an error if a pod lacks its template, or a field that its decision requires.
    pub(crate) fn add(&mut self, line: Line<RawEntry<'_>>) -> Result<(), String> {
        let entry = match line.entry {
            RawEntry::Template(template) if template.pod.is_object() => {
                self.templates.insert(template.number, Arc::new(template.pod));
                return Ok(());
            }
            RawEntry::Template(template) => return Err(format!("template {} is not an object", template.number)),
            RawEntry::Pod(pod) => {
                let (decision, object) = self.pod(pod)?;
                self.lines.extend(decision.map(|entry| Line { at: line.at, rv: line.rv, entry }));
                Entry::Set(object)
            }
            RawEntry::Delete(reference) => {
                if reference.kind == "Pod" {
                    self.pods.remove(&(reference.namespace.clone(), reference.name.clone()));
                }
                Entry::Delete(reference)
            }
            RawEntry::Recording(header) => Entry::Recording(header),
            RawEntry::Set(object) => Entry::Set(object),
            RawEntry::Synced(synced) => Entry::Synced(synced),
            RawEntry::Bind(bind) => Entry::Bind(bind),
            RawEntry::Reject(reject) => Entry::Reject(reject),
            RawEntry::Event(event) => Entry::Event(event),
            RawEntry::Gap(kind) => Entry::Gap(kind),
            RawEntry::Repaired(kind) => Entry::Repaired(kind),
            RawEntry::End(end) => Entry::End(end),
        };
        self.lines.push_back(Line { at: line.at, rv: line.rv, entry });
        Ok(())
    }

    /// Returns the decision of a line, and the changed pod.
    fn pod(&mut self, line: PodLine<'_, Value>) -> Result<(Option<Entry>, Value), String> {
        let PodLine { template, namespace, name, uid, created, deleted, node, decision, status } = line;
        let key = (namespace.into_owned(), name.into_owned());
        if let Some(number) = template {
            let template = self.templates.get(&number).cloned();
            let template = template.ok_or_else(|| format!("the file has no template {number} before this line"))?;
            self.pods.insert(key.clone(), KnownPod { template, fields: PodFields::default() });
        }
        let (namespace, name) = &key;
        let known = self.pods.get_mut(&key);
        let known = known.ok_or_else(|| format!("the first line of the pod {namespace}/{name} has no `template`"))?;
        let fields = &mut known.fields;
        replace(&mut fields.uid, uid.map(Cow::into_owned));
        replace(&mut fields.created, created.map(Cow::into_owned));
        replace(&mut fields.deleted, deleted.map(Cow::into_owned));
        replace(&mut fields.node, node.map(Cow::into_owned));
        replace(&mut fields.status, status);
        let decision = decision.map(|decision| known.decision(namespace, name, decision)).transpose()?;
        Ok((decision, assemble(&known.template, namespace, name, &known.fields)))
    }
}

fn replace<T>(field: &mut Option<T>, changed: Option<T>) {
    if changed.is_some() {
        *field = changed;
    }
}

impl KnownPod {
    fn decision(&self, namespace: &str, name: &str, decision: Decision) -> Result<Entry, String> {
        let scheduler = self.template.pointer("/spec/schedulerName").and_then(Value::as_str).unwrap_or_default();
        let (namespace, name, scheduler) = (namespace.to_owned(), name.to_owned(), scheduler.to_owned());
        match decision {
            Decision::Bind => {
                let node = self.fields.node.clone().ok_or("the pod has a decision `bind` and no `node`")?;
                Ok(Entry::Bind(Bind { namespace, name, scheduler, node }))
            }
            Decision::Reject => {
                let message = self.fields.status.as_ref().and_then(message);
                let message = message.ok_or("the pod has a decision `reject` and no message in its status")?;
                Ok(Entry::Reject(Reject { namespace, name, scheduler, message: message.to_owned() }))
            }
        }
    }
}

/// Returns the message of the condition `PodScheduled`.
fn message(status: &Value) -> Option<&str> {
    let conditions = status.get("conditions")?.as_array()?;
    let condition = conditions.iter().find(|condition| condition["type"] == "PodScheduled")?;
    condition["message"].as_str()
}

/// Returns a pod with the fields of its template and with `fields`.
pub(crate) fn assemble(template: &Value, namespace: &str, name: &str, fields: &PodFields) -> Value {
    let PodFields { uid, created, deleted, node, status } = fields;
    let mut object = template.clone();
    let metadata = [
        ("name", Some(json!(name))),
        ("namespace", (!namespace.is_empty()).then(|| json!(namespace))),
        ("uid", uid.as_ref().map(|uid| json!(uid))),
        ("creationTimestamp", created.as_ref().map(|time| json!(time))),
        ("deletionTimestamp", deleted.as_ref().map(|time| json!(time))),
    ];
    insert(&mut object, "metadata", metadata);
    insert(&mut object, "spec", [("nodeName", node.as_ref().map(|node| json!(node)))]);
    if let (Some(object), Some(status)) = (object.as_object_mut(), status) {
        object.insert("status".to_owned(), status.clone());
    }
    object
}

/// Adds fields to a part of an object.
fn insert(object: &mut Value, part: &str, fields: impl IntoIterator<Item = (&'static str, Option<Value>)>) {
    for (name, value) in fields {
        if let (Some(object), Some(value)) = (object.as_object_mut(), value) {
            let part = object.entry(part).or_insert_with(|| Map::new().into());
            // A part of another type is left as it is; the reader of objects reports it.
            if let Some(part) = part.as_object_mut() {
                part.insert(name.to_owned(), value);
            }
        }
    }
}
