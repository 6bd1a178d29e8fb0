//! Keys of typed objects.

use std::fmt;
use std::sync::Arc;

use schedc_core::client::ObjectRef;
use schedc_objects::{AnyObject, Kinds};

use crate::store::Key;

impl Key {
    /// Returns the key of a pod.
    pub fn pod(namespace: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Key {
        Key { kind: "Pod", namespace: namespace.into(), name: name.into() }
    }

    /// Returns the key of an object of a kind without namespaces.
    pub fn cluster(kind: &'static str, name: impl Into<Arc<str>>) -> Key {
        Key { kind, namespace: "".into(), name: name.into() }
    }

    /// Returns the key of an object.
    pub fn of(object: &AnyObject) -> Key {
        Key { kind: object.kind(), namespace: object.namespace().into(), name: object.name().into() }
    }

    /// Returns the key for a reference. `None`: the server does not have the kind in this API version.
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

    /// Returns the resource as in the API server's paths and messages: `persistentvolumeclaims`,
    /// `storageclasses.storage.k8s.io`.
    pub(super) fn resource(&self) -> String {
        // The full name of a declared kind is `plural.version.group`.
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
