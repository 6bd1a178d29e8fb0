//! Reading manifests: files, folders and standard input, YAML and JSON, as `kubectl` reads them.

mod document;
pub mod entries;
mod error;
mod files;
mod json;
mod lines;
mod typed;
mod yaml;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use k8s_openapi::Resource;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::kinds::{AnyObject, Kinds, namespace, object_name};
use crate::validation::{IgnoredFields, ObjectReader, Validation};
pub use error::{Error, Problem};

pub use json::UniqueKeys;
pub(crate) use typed::parse_fields;

/// Where an object is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file, as it was named; `standard input`.
    pub file: Arc<str>,
    /// The line on which its document begins, from 1; 0 is the file as a whole.
    pub line: u32,
    /// Its index in the `items` of the document, if that is a list.
    pub item: Option<u32>,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        match self.item {
            Some(item) => write!(f, " items[{item}]"),
            None => Ok(()),
        }
    }
}

/// An object and where it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Sourced<T> {
    /// The object.
    pub object: T,
    /// Where it is written.
    pub place: SourceLocation,
}

/// What scheduling uses of a set of manifests, in the order in which it is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifests {
    /// Nodes.
    pub nodes: Vec<Sourced<Node>>,
    /// Pods, running and pending.
    pub pods: Vec<Sourced<Pod>>,
    /// Priority classes.
    pub priority_classes: Vec<Sourced<PriorityClass>>,
    /// Objects of all other kinds that scheduling looks at.
    pub others: Vec<Sourced<AnyObject>>,
    /// Namespaces that are nowhere written, but that pods are in. None before [`complete`](crate::default::complete).
    pub implied: Vec<AnyObject>,
    /// How many objects of still other kinds there were, by kind. They were not looked at.
    pub skipped: BTreeMap<String, usize>,
    /// Fields that the objects' kinds do not have, and that were ignored.
    pub ignored: IgnoredFields,
}

impl Manifests {
    /// Reads files, folders (all `.yaml`, `.yml`, `.json` and `.jsonl` files below them, sorted by path) and, for `-`,
    /// standard input.
    ///
    /// YAML may hold several documents, JSON several values. Lists, such as `kubectl get -o yaml` prints, count as
    /// their items. Unknown fields are treated as [`Validation::Auto`] says.
    ///
    /// # Errors
    /// All problems that there are: files that cannot be read, syntax errors, documents without `apiVersion` and
    /// `kind`, unknown fields, fields of a wrong type, quantities that are none, and objects of one kind, namespace and
    /// name.
    pub fn read<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Manifests, Error> {
        Manifests::read_with(paths, ObjectReader::default())
    }

    /// The same, with objects of kinds that plugins declare, and another validation of fields.
    ///
    /// # Errors
    /// As [`Manifests::read`].
    pub fn read_with<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
        objects: ObjectReader,
    ) -> Result<Manifests, Error> {
        let mut reading = Reading { objects, ..Reading::default() };
        for path in paths {
            files::read(path.as_ref(), &mut reading);
        }
        reading.finish()
    }

    /// Reads a text. `name` is what errors call it.
    ///
    /// # Errors
    /// As [`Manifests::read`].
    pub fn parse(name: &str, text: &str) -> Result<Manifests, Error> {
        Manifests::parse_with(name, text, Kinds::default())
    }

    /// The same, with objects of kinds that plugins declare.
    ///
    /// # Errors
    /// As [`Manifests::read`].
    pub fn parse_with(name: &str, text: &str, kinds: Kinds) -> Result<Manifests, Error> {
        let objects = ObjectReader::new(kinds, Validation::default());
        let mut reading = Reading { objects, ..Reading::default() };
        document::read(name, text, &mut reading);
        reading.finish()
    }

    /// The kind, the namespace, the metadata and the place of every object.
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

/// Manifests in the making.
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
