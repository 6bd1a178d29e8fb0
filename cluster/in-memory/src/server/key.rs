//! Which object.

use std::fmt;
use std::sync::Arc;

use schedc_core::client::ObjectRef;
use schedc_objects::{AnyObject, Kinds};

/// An object of a server, by kind, namespace and name. Ordered as lists are.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Its kind, such as `Pod`.
    pub kind: &'static str,
    /// Its namespace; empty for kinds without namespaces.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

impl Key {
    /// A pod.
    pub fn pod(namespace: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Key {
        Key { kind: "Pod", namespace: namespace.into(), name: name.into() }
    }

    /// An object of a kind without namespaces.
    pub fn cluster(kind: &'static str, name: impl Into<Arc<str>>) -> Key {
        Key { kind, namespace: "".into(), name: name.into() }
    }

    /// Where an object is or would be.
    pub fn of(object: &AnyObject) -> Key {
        Key { kind: object.kind(), namespace: object.namespace().into(), name: object.name().into() }
    }

    /// What a reference means. `None`: there are no objects of that API and kind here.
    pub fn of_reference(reference: &ObjectRef, kinds: Kinds) -> Option<Key> {
        let info = match kinds.find(&reference.api_version, &reference.kind) {
            Some(custom) => custom.into(),
            None => kinds.named(&reference.kind)?,
        };
        let namespace = match &*reference.namespace {
            _ if !info.is_namespaced => "".into(),
            "" => "default".into(),
            _ => reference.namespace.clone(),
        };
        let name = reference.name.clone();
        (info.api_version == &*reference.api_version).then_some(Key { kind: info.kind, namespace, name })
    }

    /// The kind as paths and messages of an API server have it: `persistentvolumeclaims`, `storageclasses.storage.k8s.io`.
    pub(super) fn resource(&self) -> String {
        // The full name of a declared kind has its version between the two.
        if let Some((plural, (_, group))) =
            self.kind.split_once('.').and_then(|(plural, rest)| Some((plural, rest.split_once('.')?)))
        {
            return format!("{plural}.{group}");
        }
        let plural = match self.kind.to_ascii_lowercase() {
            kind if kind.ends_with('s') => kind + "es",
            kind => match kind.strip_suffix('y') {
                Some(stem) => format!("{stem}ies"),
                None => kind + "s",
            },
        };
        let api_version = AnyObject::kind_named(self.kind).map_or("", |(_, api_version)| api_version);
        match api_version.split_once('/') {
            Some((group, _)) => format!("{plural}.{group}"),
            None => plural,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.namespace {
            "" => write!(f, "{} {}", self.kind, self.name),
            namespace => write!(f, "{} {namespace}/{}", self.kind, self.name),
        }
    }
}
