//! The documents of a manifest, and the pod templates of workloads.

use k8s_openapi::api::core::v1::Pod;
use schedc_objects::manifests::entries::Entry;
use schedc_objects::manifests::{Problem, SourceLocation};
use schedc_objects::{AnyObject, ObjectError, ObjectReader, Sourced};
use serde_json::{Map, Value, json};

use super::pods::{Replicas, SubmittedWorkload};

/// Kinds with a pod template: API version, kind, and the path of the template.
const WORKLOADS: [(&str, &str, &str); 7] = [
    ("v1", "ReplicationController", "spec.template"),
    ("apps/v1", "ReplicaSet", "spec.template"),
    ("apps/v1", "StatefulSet", "spec.template"),
    ("apps/v1", "Deployment", "spec.template"),
    ("apps/v1", "DaemonSet", "spec.template"),
    ("batch/v1", "Job", "spec.template"),
    ("batch/v1", "CronJob", "spec.jobTemplate.spec.template"),
];

/// An object as written.
pub(super) struct Document {
    place: SourceLocation,
    version: String,
    kind: String,
    fields: Map<String, Value>,
}

/// The objects that a document describes.
pub(super) enum Content {
    Workload(Box<SubmittedWorkload>),
    Other(Sourced<AnyObject>),
}

/// Returns the documents of entries; a list is replaced with its items.
pub(super) fn documents(entries: Vec<Entry>, problems: &mut Vec<Problem>) -> Vec<Document> {
    let mut documents = Vec::new();
    for Entry { place, fields } in entries {
        let fields = fields.into_iter().map(|field| (field.name, field.value)).collect();
        add(fields, place, &mut documents, problems);
    }
    documents
}

fn add(
    mut fields: Map<String, Value>,
    place: SourceLocation,
    documents: &mut Vec<Document>,
    problems: &mut Vec<Problem>,
) {
    let text = |field: &str| fields.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    let (version, kind) = match (text("apiVersion"), text("kind")) {
        (Some(version), Some(kind)) => (version.to_owned(), kind.to_owned()),
        (version, kind) => {
            let missing = match (version, kind) {
                (None, None) => "`apiVersion` and no `kind`",
                (None, _) => "`apiVersion`",
                _ => "`kind`",
            };
            let message = format!("is not a Kubernetes object: there is no {missing}");
            return problems.push(Problem { place, object: None, field: None, message });
        }
    };
    let item_kind = kind.strip_suffix("List").map(str::to_owned);
    match (item_kind, fields.get_mut("items").map(Value::take)) {
        (Some(item_kind), Some(Value::Array(items))) => {
            for (i, item) in items.into_iter().enumerate() {
                let place = SourceLocation { item: Some(u32::try_from(i).unwrap_or(u32::MAX)), ..place.clone() };
                let Value::Object(mut item) = item else {
                    let message = "is not a Kubernetes object: there are no fields".to_owned();
                    problems.push(Problem { place, object: None, field: None, message });
                    continue;
                };
                if !item_kind.is_empty() {
                    item.entry("apiVersion").or_insert_with(|| version.clone().into());
                    item.entry("kind").or_insert_with(|| item_kind.clone().into());
                }
                // A list in a list is an object that no API has.
                let is_list = item.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("List"));
                match is_list {
                    true => problems.push(Problem {
                        place,
                        object: None,
                        field: None,
                        message: "is a list in a list; move its items to the outer one".to_owned(),
                    }),
                    false => add(item, place, documents, problems),
                }
            }
        }
        (_, items) => {
            fields.extend(items.map(|items| ("items".to_owned(), items)));
            documents.push(Document { place, version, kind, fields });
        }
    }
}

impl Document {
    fn metadata(&self, field: &str) -> Option<&str> {
        let text = self.fields.get("metadata")?.get(field)?.as_str()?;
        Some(text).filter(|text| !text.is_empty())
    }

    /// Returns kind, namespace and name; `None` without a name, or if schedulers ignore the kind. Two kinds of the same
    /// name are not distinguished by their group, because schedulers read only one of them.
    pub(super) fn key(&self) -> Option<(String, String, String)> {
        let namespace = self.metadata("namespace").unwrap_or("default");
        let is_skipped = AnyObject::is_namespaced(&self.kind).is_none() && self.template_path().is_none();
        let name = self.metadata("name").filter(|_| !is_skipped)?;
        Some((self.kind.clone(), namespace.to_owned(), name.to_owned()))
    }

    fn title(&self) -> String {
        let name = self.metadata("name").or(self.metadata("generateName")).unwrap_or_default();
        format!("{} {}/{name}", self.kind, self.metadata("namespace").unwrap_or("default"))
    }

    pub(super) fn problem(&self, field: Option<&str>, message: impl Into<String>) -> Problem {
        Problem {
            place: self.place.clone(),
            object: Some(self.title()),
            field: field.map(str::to_owned),
            message: message.into(),
        }
    }

    fn template_path(&self) -> Option<&'static str> {
        let is_this_kind = |version: &str, kind: &str| version == self.version && kind == self.kind;
        WORKLOADS.iter().find(|(version, kind, _)| is_this_kind(version, kind)).map(|(_, _, path)| *path)
    }

    fn field(&self, path: &str) -> Option<&Value> {
        let mut names = path.split('.');
        let first = self.fields.get(names.next()?)?;
        names.try_fold(first, |value, name| value.get(name)).filter(|value| !value.is_null())
    }

    /// Returns the path of a Job's spec in a Job or CronJob.
    fn job_path(&self) -> Option<&'static str> {
        match self.kind.as_str() {
            "Job" => Some("spec"),
            "CronJob" => Some("spec.jobTemplate.spec"),
            _ => None,
        }
    }

    /// Returns a field of the spec of a Job, or of a CronJob's Job.
    fn job_field(&self, name: &str) -> Option<&Value> {
        self.field(&format!("{}.{name}", self.job_path()?))
    }

    /// Reads the document. Adds its problems to `problems`. Returns `None` if there are any, or if schedulers ignore
    /// the kind.
    pub(super) fn read(self, reader: &mut ObjectReader, problems: &mut Vec<Problem>) -> Option<Content> {
        let before = problems.len();
        let Some(path) = self.template_path() else { return self.read_object(reader, problems) };
        let known = self.read_typed(reader, problems);
        let template = self.template(path, known.is_none(), reader, problems);
        let replicas = self.replicas(problems);
        let name = self.metadata("name").or(self.metadata("generateName"));
        if name.is_none() {
            problems.push(self.problem(Some("metadata.name"), "is missing"));
        }
        let (template, replicas, name) = (template?, replicas?, name?.to_owned());
        let claims = match known {
            Some(AnyObject::StatefulSet(set)) => {
                set.spec.and_then(|spec| spec.volume_claim_templates).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        if problems.len() > before {
            return None;
        }
        // A 32-bit number, as in Kubernetes: pod names contain its sum with an ordinal, which must not overflow.
        let first_ordinal =
            self.field("spec.ordinals.start").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
        let first_ordinal = first_ordinal.unwrap_or(0) as usize;
        let selector = self.field("spec.selector").cloned();
        Some(Content::Workload(Box::new(SubmittedWorkload {
            namespace: self.metadata("namespace").unwrap_or("default").to_owned(),
            is_indexed: self.job_field("completionMode").and_then(Value::as_str) == Some("Indexed"),
            kind: self.kind,
            name,
            place: self.place,
            replicas,
            first_ordinal,
            selector,
            template_path: path,
            template,
            claims,
        })))
    }

    /// Reads a document without a pod template.
    fn read_object(self, reader: &mut ObjectReader, problems: &mut Vec<Problem>) -> Option<Content> {
        match reader.read(&self.version, &self.kind, Value::Object(self.fields.clone())) {
            // Schedulers ignore objects of this kind.
            Ok(None) => None,
            Ok(Some(AnyObject::Pod(pod))) => {
                self.check_node(&pod, "spec.nodeName", problems)?;
                let name = self.metadata("name").or(self.metadata("generateName")).unwrap_or_default().to_owned();
                Some(Content::Workload(Box::new(SubmittedWorkload {
                    namespace: self.metadata("namespace").unwrap_or("default").to_owned(),
                    kind: self.kind,
                    name,
                    place: self.place,
                    replicas: Replicas::Number(1),
                    is_indexed: false,
                    first_ordinal: 0,
                    selector: None,
                    template_path: "",
                    template: *pod,
                    claims: Vec::new(),
                })))
            }
            Ok(Some(object)) => Some(Content::Other(Sourced { object, place: self.place })),
            Err(errors) => {
                problems.extend(errors.into_iter().map(|error| self.object_problem("", error)));
                None
            }
        }
    }

    /// Reads a workload of a kind that schedulers read too, such as ReplicaSet; `None` for other kinds and for errors,
    /// which are added to `problems`.
    fn read_typed(&self, reader: &mut ObjectReader, problems: &mut Vec<Problem>) -> Option<AnyObject> {
        AnyObject::is_namespaced(&self.kind)?;
        match reader.read(&self.version, &self.kind, Value::Object(self.fields.clone())) {
            Ok(object) => object,
            Err(errors) => {
                problems.extend(errors.into_iter().map(|error| self.object_problem("", error)));
                None
            }
        }
    }

    /// Reads the pod template. Its problems are added only with `report`: otherwise, [`Document::read_typed`] has added
    /// them.
    fn template(
        &self,
        path: &str,
        report: bool,
        reader: &mut ObjectReader,
        problems: &mut Vec<Problem>,
    ) -> Option<Pod> {
        let Some(Value::Object(template)) = self.field(path) else {
            problems.push(self.problem(Some(path), "is missing"));
            return None;
        };
        let part = |name: &str| template.get(name).cloned().unwrap_or_else(|| json!({}));
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": part("metadata"), "spec": part("spec")});
        match reader.read("v1", "Pod", pod) {
            Ok(Some(AnyObject::Pod(pod))) => {
                self.check_node(&pod, &format!("{path}.spec.nodeName"), problems)?;
                Some(*pod)
            }
            Ok(_) => None,
            Err(errors) => {
                let is_new = report && problems.iter().all(|problem| problem.place != self.place);
                if is_new {
                    problems.extend(errors.into_iter().map(|error| self.object_problem(path, error)));
                }
                None
            }
        }
    }

    /// Returns `None` for a pod that already has a node, and adds the problem.
    fn check_node(&self, pod: &Pod, field: &str, problems: &mut Vec<Problem>) -> Option<()> {
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
        if node.is_none_or(str::is_empty) {
            return Some(());
        }
        problems.push(self.problem(Some(field), "is set: the pod would skip the scheduler"));
        None
    }

    fn object_problem(&self, path: &str, error: ObjectError) -> Problem {
        let ObjectError { field, message, .. } = error;
        let field = match (path, field) {
            ("", field) => field,
            (path, Some(field)) => Some(format!("{path}.{field}")),
            (path, None) => Some(path.to_owned()),
        };
        self.problem(field.as_deref(), message)
    }

    /// Returns the number of pods that exist at the same time; `None` for an invalid number, which is added to
    /// `problems`.
    fn replicas(&self, problems: &mut Vec<Problem>) -> Option<Replicas> {
        let mut number = |path: &str| match self.field(path) {
            None => Some(None),
            Some(value) => match value.as_u64().and_then(|n| u32::try_from(n).ok()) {
                Some(n) => Some(Some(n as usize)),
                None => {
                    problems.push(self.problem(Some(path), format!("is `{value}`, but must be a number from 0")));
                    None
                }
            },
        };
        if self.kind == "DaemonSet" {
            return Some(Replicas::EachNode);
        }
        let Some(job) = self.job_path() else {
            return number("spec.replicas").map(|n| Replicas::Number(n.unwrap_or(1)));
        };
        let parallelism = number(&format!("{job}.parallelism"));
        let completions = number(&format!("{job}.completions"));
        let (parallelism, completions) = (parallelism?.unwrap_or(1), completions?);
        let number = completions.map_or(parallelism, |completions| completions.min(parallelism));
        let is_true = |value: Option<&Value>| value.and_then(Value::as_bool) == Some(true);
        // A CronJob and its Job can be suspended separately.
        let is_suspended = is_true(self.field("spec.suspend")) || is_true(self.job_field("suspend"));
        Some(Replicas::Number(if is_suspended { 0 } else { number }))
    }
}
