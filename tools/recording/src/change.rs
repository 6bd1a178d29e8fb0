//! Changes of a cluster, as reflectors report them.

use schedc_objects::AnyObject;

use crate::entry::Reference;

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

impl Change {
    /// Returns the kind of the changed objects.
    pub fn kind(&self) -> &'static str {
        match self {
            Change::Upsert(object, _) | Change::Removal(object) => object.kind(),
            Change::ListComplete { kind, .. } => kind,
        }
    }
}

/// Returns the name of an object.
pub(crate) fn reference(object: &AnyObject) -> Reference {
    let (kind, namespace, name) = (object.kind(), object.namespace(), object.name());
    Reference { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() }
}
