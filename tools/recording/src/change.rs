//! Changes of a cluster, as reflectors report them and in their recorded form.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schedc_objects::AnyObject;

use crate::entry::{ObjectText, Reference};

/// A change of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// An object in its current form, received in an epoch.
    Upsert(AnyObject, u32),
    /// An object no longer exists.
    Removal(AnyObject),
    /// All objects of a kind arrived since an epoch began; others no longer exist.
    ListComplete {
        /// The kind.
        kind: &'static str,
        /// The epoch.
        epoch: u32,
    },
}

/// A [`Change`] with the recorded form of the object.
#[derive(Clone, Debug, PartialEq)]
pub enum ConvertedChange {
    /// An object in its current form, received in an epoch.
    Upsert {
        /// Its name.
        key: Key,
        /// Its recorded fields.
        form: Form,
        /// The epoch.
        epoch: u32,
        /// Its resource version.
        rv: Option<u64>,
    },
    /// An object no longer exists.
    Removal {
        /// Its name.
        key: Key,
        /// Its last resource version.
        rv: Option<u64>,
    },
    /// All objects of a kind arrived since an epoch began; others no longer exist.
    ListComplete {
        /// The kind.
        kind: &'static str,
        /// The epoch.
        epoch: u32,
    },
}

impl ConvertedChange {
    /// Returns the kind of the changed objects.
    pub fn kind(&self) -> &'static str {
        match self {
            ConvertedChange::Upsert { key, .. } | ConvertedChange::Removal { key, .. } => key.kind,
            ConvertedChange::ListComplete { kind, .. } => kind,
        }
    }
}

/// The name of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Kind.
    pub kind: &'static str,
    /// Namespace; empty for kinds without namespaces.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl Key {
    /// Returns the name of an object.
    pub(crate) fn of(object: &AnyObject) -> Key {
        let (namespace, name) = (object.namespace().to_owned(), object.name().to_owned());
        Key { kind: object.kind(), namespace, name }
    }
}

impl From<Key> for Reference {
    fn from(Key { kind, namespace, name }: Key) -> Self {
        Reference { kind: kind.to_owned(), namespace, name }
    }
}

/// The recorded fields of an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// A pod.
    Pod(Box<PodForm>),
    /// An object of another kind.
    Object(ObjectText),
}

/// The recorded fields of a pod.
#[derive(Clone, Debug, PartialEq)]
pub struct PodForm {
    /// Fields that pods share.
    pub(crate) template: ObjectText,
    pub(crate) uid: Option<String>,
    pub(crate) created: Option<Time>,
    pub(crate) deleted: Option<Time>,
    pub(crate) node: Option<String>,
    pub(crate) status: Option<ObjectText>,
    /// Name of its scheduler, which the template also contains.
    pub(crate) scheduler: String,
    /// Message about an unschedulable pod, which the status also contains.
    pub(crate) rejection: Option<String>,
}
