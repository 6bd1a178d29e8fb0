//! Changes of a cluster, as reflectors report them and in their recorded form.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use schedc_core::map::FixedHasher;
use schedc_objects::AnyObject;
use serde_json::Value;

use crate::entry::{Bind, Entry, ObjectText, Reference, Reject};
use crate::expansion::{PodFields, assemble};
use crate::raw::Decision;

/// A change of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// An object in its current form, received in an epoch. Each list of a kind begins an epoch.
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
    Pod(PodForm),
    /// An object of another kind.
    Object(ObjectText),
}

/// The recorded fields of a pod.
#[derive(Clone, Debug, PartialEq)]
pub struct PodForm {
    pub(crate) template: Arc<Template>,
    pub(crate) uid: Option<String>,
    pub(crate) created: Option<Arc<String>>,
    pub(crate) deleted: Option<Arc<String>>,
    pub(crate) node: Option<String>,
    pub(crate) status: Option<Arc<Status>>,
}

impl PodForm {
    /// Returns the decision that changed the pod.
    pub(crate) fn decision(&self, before: &PodForm) -> Option<PodDecision<'_>> {
        if self.uid != before.uid || before.node.is_some() {
            return None;
        }
        if let Some(node) = &self.node {
            return Some(PodDecision::Bind { node });
        }
        let message = self.rejection()?;
        (before.rejection() != Some(message)).then_some(PodDecision::Reject { message })
    }

    /// Returns the message about an unschedulable pod.
    fn rejection(&self) -> Option<&str> {
        self.status.as_ref().and_then(|status| status.rejection.as_deref())
    }

    /// Returns the pod as a whole object.
    pub(crate) fn object(&self, key: &Key) -> Value {
        let fields = PodFields {
            uid: self.uid.clone(),
            created: self.created.as_deref().cloned(),
            deleted: self.deleted.as_deref().cloned(),
            node: self.node.clone(),
            status: self.status.as_ref().map(|status| status.text.parse()),
        };
        assemble(&self.template.text.parse(), &key.namespace, &key.name, &fields)
    }
}

/// Fields that pods share.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Template {
    /// Hash of the text.
    hash: u64,
    pub(crate) text: ObjectText,
    /// Name of the scheduler, which the text also contains.
    pub(crate) scheduler: String,
}

impl Template {
    pub(crate) fn new(text: ObjectText, scheduler: String) -> Self {
        let mut hasher = FixedHasher::default();
        text.as_str().hash(&mut hasher);
        Template { hash: hasher.finish(), text, scheduler }
    }
}

impl Hash for Template {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

/// Status of a pod.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) text: ObjectText,
    /// Message about an unschedulable pod, which the text also contains.
    pub(crate) rejection: Option<String>,
}

/// A decision about a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PodDecision<'a> {
    Bind { node: &'a str },
    Reject { message: &'a str },
}

impl PodDecision<'_> {
    /// Returns its name in the line of the pod.
    pub(crate) fn name(self) -> Decision {
        match self {
            PodDecision::Bind { .. } => Decision::Bind,
            PodDecision::Reject { .. } => Decision::Reject,
        }
    }

    /// Returns its entry, which precedes the whole pod.
    pub(crate) fn entry(self, key: &Key, scheduler: &str) -> Entry {
        let Key { namespace, name, .. } = key.clone();
        let scheduler = scheduler.to_owned();
        match self {
            PodDecision::Bind { node } => Entry::Bind(Bind { namespace, name, scheduler, node: node.to_owned() }),
            PodDecision::Reject { message } => {
                Entry::Reject(Reject { namespace, name, scheduler, message: message.to_owned() })
            }
        }
    }
}
