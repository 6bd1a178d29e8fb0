//! Objects of callers: manifests, values, columns and protobuf.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_objects::decode::protobuf::{Envelope, Malformed, Message};
use schedc_objects::decode::read_protobuf;
use schedc_objects::manifests::Collector;
use schedc_objects::{AnyObject, Kinds, ObjectReader, Objects, Options, SourceLocation, Validation};
use serde_json::Value;

use crate::columns;
use crate::error::{Error, ErrorCode};

/// Whether objects get the values that an API server adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Defaults {
    /// Objects are used unchanged, as in scenarios. Objects from an API server have all defaults already. Wrong CEL
    /// expressions cause warnings, not errors.
    #[default]
    AsGiven,
    /// Objects are completed and validated as an API server does when they are created. Only the priority classes and
    /// storage classes of the same call are used for this.
    Complete,
}

impl From<bool> for Defaults {
    /// Converts the flag `defaults` of requests and of the bindings: if it is true, defaults are added.
    fn from(complete: bool) -> Self {
        if complete { Defaults::Complete } else { Defaults::AsGiven }
    }
}

/// Valid objects.
#[derive(Default)]
pub(crate) struct Input {
    pub(crate) nodes: Vec<Node>,
    pub(crate) pods: Vec<Pod>,
    pub(crate) others: Vec<AnyObject>,
    /// Namespaces that pods name, and that the objects do not contain.
    pub(crate) implied: Vec<AnyObject>,
    pub(crate) skipped: BTreeMap<String, usize>,
    pub(crate) warnings: Vec<String>,
}

impl Input {
    /// Reads documents in YAML or JSON. In error messages, `name` is the name of the file.
    pub(crate) fn text(name: &str, text: &str, defaults: Defaults) -> Result<Self, Error> {
        let mut collector = Collector::new(reader(defaults));
        collector.add_text(name, text);
        Input::complete(collector, defaults)
    }

    /// Reads objects in JSON.
    pub(crate) fn values(objects: Vec<Value>, defaults: Defaults) -> Result<Self, Error> {
        let mut collector = Collector::new(reader(defaults));
        let file: Arc<str> = "objects".into();
        for (at, object) in objects.into_iter().enumerate() {
            let item = Some(u32::try_from(at).unwrap_or(u32::MAX));
            collector.add(object, SourceLocation { file: file.clone(), line: 0, item });
        }
        Input::complete(collector, defaults)
    }

    /// Reads objects that differ from a template in the values of columns.
    pub(crate) fn columns(
        template: &Value,
        columns: &BTreeMap<String, Vec<Value>>,
        defaults: Defaults,
    ) -> Result<Self, Error> {
        let objects = columns::rows(template, columns).map_err(|error| Error::new(ErrorCode::InvalidObjects, error))?;
        Input::values(objects, defaults)
    }

    /// Reads objects in the protobuf encoding of API servers: each message is an object or a list of objects of one kind.
    pub(crate) fn protobuf(messages: &[impl AsRef<[u8]>]) -> Result<Self, Error> {
        let mut input = Input::default();
        for (at, message) in messages.iter().enumerate() {
            let invalid = |error| Error::new(ErrorCode::InvalidObjects, format_args!("message {at}: {error}"));
            input.add_message(message.as_ref()).map_err(invalid)?;
        }
        let nodes = input.nodes.iter().map(|node| ("Node", &node.metadata));
        let pods = input.pods.iter().map(|pod| ("Pod", &pod.metadata));
        let others = input.others.iter().map(|other| (other.kind(), other.metadata()));
        match nodes.chain(pods).chain(others).find(|(_, metadata)| has_no_name(metadata)) {
            Some((kind, _)) => {
                Err(Error::new(ErrorCode::InvalidObjects, format_args!("a {kind} has no `metadata.name`")))
            }
            None => Ok(input),
        }
    }

    fn add_message(&mut self, message: &[u8]) -> Result<(), Malformed> {
        let Envelope { kind, object } = Envelope::open(message)?;
        let Some(kind) = kind.strip_suffix("List") else { return self.add_object(kind, object) };
        let mut list = Message(object);
        while let Some((number, value)) = list.next_field()? {
            // The first field is the metadata of the list, the second one its items.
            if number == 2 {
                self.add_object(kind, value.bytes()?)?;
            }
        }
        Ok(())
    }

    fn add_object(&mut self, kind: &str, object: &[u8]) -> Result<(), Malformed> {
        match read_protobuf(kind, object) {
            Ok(AnyObject::Node(node)) => self.nodes.push(*node),
            Ok(AnyObject::Pod(pod)) => self.pods.push(*pod),
            Ok(other) => self.others.push(other),
            Err(Malformed::UnknownKind(kind)) => *self.skipped.entry(kind).or_default() += 1,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Completes objects, and verifies that nodes and pods have names.
    fn complete(collector: Collector, defaults: Defaults) -> Result<Self, Error> {
        let manifests = collector.finish().map_err(invalid_objects)?;
        let options = Options { api_server_defaults: defaults == Defaults::Complete, ..Options::default() };
        let objects = Objects::new(manifests, options).map_err(invalid_objects)?;
        let nodes = objects.nodes.iter().map(|node| ("Node", &node.object.metadata, &node.place));
        let pods = objects.pods.iter().map(|pod| ("Pod", &pod.object.metadata, &pod.place));
        if let Some((kind, _, place)) = nodes.chain(pods).find(|(_, metadata, _)| has_no_name(metadata)) {
            let message = format_args!("{place}: the {kind} has no `metadata.name`");
            return Err(Error::new(ErrorCode::InvalidObjects, message));
        }
        let Objects { nodes, pods, others, implied, skipped, ignored, .. } = objects;
        Ok(Input {
            nodes: nodes.into_iter().map(|node| node.object).collect(),
            pods: pods.into_iter().map(|pod| pod.object).collect(),
            others: others.into_iter().map(|other| other.object).collect(),
            implied,
            skipped,
            warnings: ignored.warnings(),
        })
    }
}

/// Returns the reader of objects. It accepts wrong CEL expressions in objects that are used unchanged: a scheduler accepts them,
/// and rejects the pods that need them.
fn reader(defaults: Defaults) -> ObjectReader {
    let mut reader = ObjectReader::new(Kinds::default(), Validation::default());
    reader.allow_wrong_expressions = defaults == Defaults::AsGiven;
    reader
}

fn has_no_name(metadata: &ObjectMeta) -> bool {
    metadata.name.as_deref().is_none_or(str::is_empty)
}

fn invalid_objects(error: schedc_objects::Error) -> Error {
    Error::new(ErrorCode::InvalidObjects, error)
}
