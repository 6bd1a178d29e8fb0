//! Reading of manifests: files, folders and standard input, YAML and JSON, with the rules of `kubectl`.

mod document;
pub mod entries;
mod error;
mod files;
mod json;
mod lines;
mod source_texts;
mod tree;
mod typed;
mod yaml;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use k8s_openapi::Resource;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_kinds::{AnyObject, Kinds, namespace, object_name};
use serde_json::Value;

pub use crate::source_location::SourceLocation;
use crate::validation::{IgnoredErrors, ObjectReader, Validation};
pub use error::{Error, Problem};

pub use json::UniqueKeys;
pub(crate) use source_texts::SourceTexts;
pub(crate) use typed::parse_fields;

/// An object and its location.
#[derive(Clone, Debug, PartialEq)]
pub struct Sourced<T> {
    /// The object.
    pub object: T,
    /// Location of the object.
    pub place: SourceLocation,
}

/// Objects that schedulers read, in the order of the manifests that contain them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifests {
    /// Nodes.
    pub nodes: Vec<Sourced<Node>>,
    /// Pods, running and pending.
    pub pods: Vec<Sourced<Pod>>,
    /// Priority classes.
    pub priority_classes: Vec<Sourced<PriorityClass>>,
    /// Objects of all other kinds that schedulers read.
    pub others: Vec<Sourced<AnyObject>>,
    /// Namespaces that contain pods but are missing in the manifests. Empty before
    /// [`complete`](crate::default::complete).
    pub implied: Vec<AnyObject>,
    /// Number of objects of kinds that schedulers ignore, by kind.
    pub skipped: BTreeMap<String, usize>,
    /// Errors that were ignored.
    pub ignored: IgnoredErrors,
    pub(crate) texts: SourceTexts,
}

impl Manifests {
    /// Reads files, folders (all `.yaml`, `.yml`, `.json` and `.jsonl` files below them, sorted by path) and, for `-`,
    /// standard input.
    ///
    /// YAML may have several documents, JSON several values. Lists, such as those of `kubectl get -o yaml`, are
    /// replaced with their items. Unknown fields are treated according to [`Validation::Auto`].
    ///
    /// # Errors
    /// Returns all problems: unreadable files, syntax errors, documents without `apiVersion` and `kind`, unknown
    /// fields, fields of a wrong type, invalid quantities, and duplicate objects of one kind, namespace and name.
    pub fn read<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Manifests, Error> {
        Manifests::read_with(paths, ObjectReader::default())
    }

    /// Reads manifests with objects of kinds that plugins declare, and with another validation of fields.
    ///
    /// # Errors
    /// Returns the same errors as [`Manifests::read`].
    pub(crate) fn read_with<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
        objects: ObjectReader,
    ) -> Result<Manifests, Error> {
        let mut reading = Reading { objects, ..Reading::default() };
        for path in paths {
            files::read(path.as_ref(), &mut reading);
        }
        reading.finish()
    }

    /// Reads a text. Errors use `name` as its name.
    ///
    /// # Errors
    /// Returns the same errors as [`Manifests::read`].
    pub fn parse(name: &str, text: &str) -> Result<Manifests, Error> {
        Manifests::parse_with(name, text, Kinds::default())
    }

    /// Reads a text with objects of kinds that plugins declare.
    ///
    /// # Errors
    /// Returns the same errors as [`Manifests::read`].
    pub fn parse_with(name: &str, text: &str, kinds: Kinds) -> Result<Manifests, Error> {
        let objects = ObjectReader::new(kinds, Validation::default());
        let mut reading = Reading { objects, ..Reading::default() };
        document::read(name, text, &mut reading);
        reading.finish()
    }

    /// Returns the kind, the namespace, the metadata and the location of every object.
    fn all(&self) -> impl Iterator<Item = (&'static str, &str, &ObjectMeta, &SourceLocation)> {
        let nodes = self.nodes.iter().map(|node| (Node::KIND, "", &node.object.metadata, &node.place));
        let pods = self.pods.iter().map(|pod| (&pod.object.metadata, &pod.place));
        let pods = pods.map(|(metadata, place)| (Pod::KIND, namespace(metadata), metadata, place));
        let classes = self.priority_classes.iter();
        let classes = classes.map(|class| (PriorityClass::KIND, "", &class.object.metadata, &class.place));
        let others = self.others.iter().map(|other| (&other.object, &other.place));
        let others = others.map(|(other, place)| (other.kind(), other.namespace(), other.metadata(), place));
        nodes.chain(pods).chain(classes).chain(others)
    }
}

/// Collects objects that are not in files.
#[derive(Default)]
pub struct Collector(Reading);

impl Collector {
    /// Creates a collector with this reader of objects.
    pub fn new(objects: ObjectReader) -> Collector {
        Collector(Reading { objects, ..Reading::default() })
    }

    /// Adds an object with `apiVersion` and `kind`. Problems are reported at this place.
    pub fn add(&mut self, object: Value, place: SourceLocation) {
        document::document(object, place, &mut self.0);
    }

    /// Adds the objects of a text in YAML or JSON. Problems use `name` as its name.
    pub fn add_text(&mut self, name: &str, text: &str) {
        document::read(name, text, &mut self.0);
    }

    /// Returns all objects.
    ///
    /// # Errors
    /// Returns the same errors as [`Manifests::read`].
    pub fn finish(self) -> Result<Manifests, Error> {
        self.0.finish()
    }
}

/// Collector of objects and problems.
#[derive(Default)]
struct Reading {
    objects: ObjectReader,
    found: Manifests,
    problems: Vec<Problem>,
}

impl Reading {
    fn finish(mut self) -> Result<Manifests, Error> {
        let mut seen = HashMap::new();
        for (kind, namespace, metadata, place) in self.found.all() {
            let Some(name) = metadata.name.as_deref().filter(|name| !name.is_empty()) else { continue };
            let first = *seen.entry((kind, namespace, name)).or_insert(place);
            if first != place {
                self.problems.push(Problem {
                    place: place.clone(),
                    object: Some(object_name(kind, metadata)),
                    field: None,
                    message: format!("is already at {first}; remove one of them or rename it"),
                });
            }
        }
        Error::error_if_any(self.problems)?;
        self.found.ignored = self.objects.ignored;
        Ok(self.found)
    }
}

#[cfg(test)]
mod fields_tests;
#[cfg(test)]
mod invalid_manifests;
#[cfg(test)]
mod tests;
