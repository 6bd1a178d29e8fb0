//! Which object.

use std::fmt;
use std::sync::Arc;

use schedc_core::client::ObjectRef;
use schedc_objects::AnyObject;

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
    pub fn of_reference(reference: &ObjectRef) -> Option<Key> {
        let (kind, api_version) = AnyObject::kind_named(&reference.kind)?;
        let is_namespaced = AnyObject::is_namespaced(kind)?;
        let namespace = match &*reference.namespace {
            _ if !is_namespaced => "".into(),
            "" => "default".into(),
            _ => reference.namespace.clone(),
        };
        (api_version == &*reference.api_version).then(|| Key { kind, namespace, name: reference.name.clone() })
    }

    /// The kind as paths and messages of an API server have it: `persistentvolumeclaims`, `storageclasses.storage.k8s.io`.
    pub(super) fn resource(&self) -> String {
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
