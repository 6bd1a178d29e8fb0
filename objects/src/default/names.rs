//! Names, namespaces and uids.

use std::collections::HashSet;

use k8s_openapi::Metadata;
use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::manifests::Sourced;

/// What an API server makes up names of. No vowels, so that it spells nothing.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

pub(super) fn complete(
    nodes: &mut [Sourced<Node>],
    pods: &mut [Sourced<Pod>],
    priority_classes: &mut [Sourced<PriorityClass>],
    namespaces: &mut [Sourced<Namespace>],
) {
    for pod in pods.iter_mut() {
        let namespace = pod.object.metadata.namespace.get_or_insert_default();
        if namespace.is_empty() {
            namespace.push_str("default");
        }
    }
    generate(nodes);
    generate(pods);
    generate(priority_classes);
    generate(namespaces);
    for pod in pods {
        let metadata = &mut pod.object.metadata;
        let uid = metadata.uid.get_or_insert_default();
        if uid.is_empty() {
            // Unique, which is all that is asked of it.
            let namespace = metadata.namespace.as_deref().unwrap_or_default();
            *uid = format!("{namespace}/{}", metadata.name.as_deref().unwrap_or_default());
        }
    }
}

/// Names the objects that have a `generateName` only. An API server draws at random; here the same manifests give the
/// same names.
fn generate<T: Metadata<Ty = ObjectMeta>>(objects: &mut [Sourced<T>]) {
    let key = |metadata: &ObjectMeta, name: &str| (metadata.namespace.clone(), name.to_owned());
    let mut taken: HashSet<_> = objects
        .iter()
        .filter_map(|object| {
            let metadata = object.object.metadata();
            Some(key(metadata, metadata.name.as_deref()?))
        })
        .collect();
    let mut next = 0_u32;
    for object in objects {
        let metadata = object.object.metadata_mut();
        let is_named = metadata.name.as_deref().is_some_and(|name| !name.is_empty());
        let Some(prefix) = metadata.generate_name.clone().filter(|prefix| !prefix.is_empty() && !is_named) else {
            continue;
        };
        loop {
            let name = format!("{prefix}{}", suffix(next));
            next = next.wrapping_add(1);
            if taken.insert(key(metadata, &name)) {
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
