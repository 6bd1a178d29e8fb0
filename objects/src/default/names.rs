//! Names, namespaces and uids.

use std::collections::HashSet;

use k8s_openapi::Resource;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::convert::uid;
use crate::kinds::{is_namespaced, namespace};
use crate::manifests::Manifests;

/// What an API server makes up names of. No vowels, so that it spells nothing.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

pub(super) fn complete(manifests: &mut Manifests) {
    let Manifests { nodes, pods, priority_classes, others, .. } = manifests;
    let nodes = nodes.iter_mut().map(|node| (Node::KIND, &mut node.object.metadata));
    let pods = pods.iter_mut().map(|pod| (Pod::KIND, &mut pod.object.metadata));
    let classes = priority_classes.iter_mut().map(|class| (PriorityClass::KIND, &mut class.object.metadata));
    let others = others.iter_mut().map(|other| (other.object.kind(), other.object.metadata_mut()));
    let mut all: Vec<_> = nodes.chain(pods).chain(classes).chain(others).collect();
    for (kind, metadata) in &mut all {
        metadata.namespace = is_namespaced(kind).then(|| namespace(metadata).to_owned());
    }
    generate(&mut all);
    for (kind, metadata) in all {
        let uid = uid(kind, metadata);
        metadata.uid = Some(uid.as_ref().to_owned());
    }
}

/// Names the objects that have a `generateName` only. An API server draws at random; here the same manifests give the
/// same names.
fn generate(objects: &mut [(&'static str, &mut ObjectMeta)]) {
    let key =
        |kind: &'static str, metadata: &ObjectMeta, name: &str| (kind, metadata.namespace.clone(), name.to_owned());
    let mut taken: HashSet<_> =
        objects.iter().filter_map(|(kind, metadata)| Some(key(kind, metadata, metadata.name.as_deref()?))).collect();
    let mut next = 0_u32;
    for (kind, metadata) in objects {
        let is_named = metadata.name.as_deref().is_some_and(|name| !name.is_empty());
        let Some(prefix) = metadata.generate_name.clone().filter(|prefix| !prefix.is_empty() && !is_named) else {
            continue;
        };
        loop {
            let name = format!("{prefix}{}", suffix(next));
            next = next.wrapping_add(1);
            if taken.insert(key(kind, metadata, &name)) {
                metadata.name = Some(name);
                break;
            }
        }
    }
}

/// Five characters, different for the first 14 million numbers.
fn suffix(mut number: u32) -> String {
    let mut characters = [ALPHABET[0]; 5];
    for character in characters.iter_mut().rev() {
        *character = ALPHABET[number as usize % ALPHABET.len()];
        number /= ALPHABET.len() as u32;
    }
    characters.iter().copied().map(char::from).collect()
}
