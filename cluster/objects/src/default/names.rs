//! Defaults of names, namespaces and uids.

use std::collections::HashSet;

use k8s_openapi::Resource;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_kinds::{AnyObject, namespace};

use crate::convert::uid;
use crate::manifests::Manifests;

/// Characters of generated names. Without vowels they form no words.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// Names that are taken: those of the manifests and of later objects, and all generated names. An API server
/// draws names at random; here the same manifests give the same names.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    taken: HashSet<(&'static str, Option<String>, String)>,
    next: u32,
}

/// Completes the metadata of all objects.
pub(super) fn complete(manifests: &mut Manifests) -> Names {
    let Manifests { nodes, pods, priority_classes, others, .. } = manifests;
    let nodes = nodes.iter_mut().map(|node| (Node::KIND, false, &mut node.object.metadata));
    let pods = pods.iter_mut().map(|pod| (Pod::KIND, true, &mut pod.object.metadata));
    let classes = priority_classes.iter_mut().map(|class| (PriorityClass::KIND, false, &mut class.object.metadata));
    let others = others.iter_mut().map(|other| {
        let (kind, is_namespaced) = (other.object.kind(), other.object.has_namespace());
        (kind, is_namespaced, other.object.metadata_mut())
    });
    let all = nodes.chain(pods).chain(classes).chain(others);
    let mut all: Vec<_> = all
        .map(|(kind, is_namespaced, metadata)| {
            complete_namespace(is_namespaced, metadata);
            (kind, metadata)
        })
        .collect();
    let mut names = Names::default();
    for (kind, metadata) in &all {
        names.take(kind, metadata);
    }
    for (kind, metadata) in &mut all {
        names.generate(kind, metadata);
    }
    for (kind, metadata) in all {
        complete_uid(kind, metadata);
    }
    names
}

fn complete_namespace(is_namespaced: bool, metadata: &mut ObjectMeta) {
    metadata.namespace = is_namespaced.then(|| namespace(metadata).to_owned());
}

fn complete_uid(kind: &str, metadata: &mut ObjectMeta) {
    let uid = uid(kind, metadata);
    metadata.uid = Some(uid.as_ref().to_owned());
}

impl Names {
    /// Completes the metadata of an object that is added later.
    pub(super) fn admit(&mut self, object: &mut AnyObject) {
        let (kind, is_namespaced) = (object.kind(), object.has_namespace());
        let metadata = object.metadata_mut();
        complete_namespace(is_namespaced, metadata);
        self.take(kind, metadata);
        self.generate(kind, metadata);
        complete_uid(kind, metadata);
    }

    fn take(&mut self, kind: &'static str, metadata: &ObjectMeta) {
        if let Some(name) = &metadata.name {
            self.taken.insert((kind, metadata.namespace.clone(), name.clone()));
        }
    }

    /// Generates the name of an object that has only a `generateName`.
    fn generate(&mut self, kind: &'static str, metadata: &mut ObjectMeta) {
        let is_named = metadata.name.as_deref().is_some_and(|name| !name.is_empty());
        let Some(prefix) = metadata.generate_name.clone().filter(|prefix| !prefix.is_empty() && !is_named) else {
            return;
        };
        loop {
            let name = generated_name(&prefix, self.next);
            self.next = self.next.wrapping_add(1);
            if self.taken.insert((kind, metadata.namespace.clone(), name.clone())) {
                metadata.name = Some(name);
                return;
            }
        }
    }
}

/// Returns a name for the `generateName` `prefix`, in the form of an API server's generated names. Its suffix is made
/// from `number` instead of drawn at random.
pub fn generated_name(prefix: &str, number: u32) -> String {
    /// Maximum length of the prefix: with the suffix of five characters, the name has at most the 63 bytes of a DNS
    /// label.
    const MAX_LENGTH: usize = 58;
    let prefix = &prefix[..prefix.floor_char_boundary(MAX_LENGTH)];
    format!("{prefix}{}", suffix(number))
}

/// Returns a suffix of five characters, unique for the first 14 million numbers.
fn suffix(mut number: u32) -> String {
    let mut characters = [ALPHABET[0]; 5];
    for character in characters.iter_mut().rev() {
        *character = ALPHABET[number as usize % ALPHABET.len()];
        number /= ALPHABET.len() as u32;
    }
    characters.iter().copied().map(char::from).collect()
}
