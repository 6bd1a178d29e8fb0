//! Changes of a cluster, as reflectors report them and in their recorded form.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use hashbrown::Equivalent;
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
    /// All existing objects of a kind have been received since an epoch began. Other objects of the kind no longer
    /// exist.
    ListComplete {
        /// The kind.
        kind: &'static str,
        /// The epoch.
        epoch: u32,
    },
}

/// A [`Change`] with the recorded form of the object. `T` is the type of the texts that objects do not share.
#[derive(Clone, Debug, PartialEq)]
pub enum ConvertedChange<T = String> {
    /// An object in its current form, received in an epoch.
    Upsert {
        /// Its name.
        key: Key<T>,
        /// Its recorded fields.
        form: Form<T>,
        /// The epoch.
        epoch: u32,
        /// Its resource version.
        rv: Option<u64>,
    },
    /// An object no longer exists.
    Removal {
        /// Its name.
        key: Key<T>,
        /// Its last resource version.
        rv: Option<u64>,
    },
    /// All existing objects of a kind have been received since an epoch began. Other objects of the kind no longer
    /// exist.
    ListComplete {
        /// The kind.
        kind: &'static str,
        /// The epoch.
        epoch: u32,
    },
}

impl<T> ConvertedChange<T> {
    /// Returns the kind of the changed objects.
    pub fn kind(&self) -> &'static str {
        match self {
            ConvertedChange::Upsert { key, .. } | ConvertedChange::Removal { key, .. } => key.kind,
            ConvertedChange::ListComplete { kind, .. } => kind,
        }
    }

    /// Converts the texts.
    pub(crate) fn map<U>(self, convert: &mut impl FnMut(T) -> U) -> ConvertedChange<U> {
        match self {
            ConvertedChange::Upsert { key, form, epoch, rv } => {
                ConvertedChange::Upsert { key: key.map(convert), form: form.map(convert), epoch, rv }
            }
            ConvertedChange::Removal { key, rv } => ConvertedChange::Removal { key: key.map(convert), rv },
            ConvertedChange::ListComplete { kind, epoch } => ConvertedChange::ListComplete { kind, epoch },
        }
    }
}

/// The name of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key<T = String> {
    /// Kind.
    pub kind: &'static str,
    /// Namespace; empty for kinds without namespaces.
    pub namespace: T,
    /// Name.
    pub name: T,
}

impl Key {
    /// Returns the name of an object.
    pub(crate) fn of(object: &AnyObject) -> Key {
        let (namespace, name) = (object.namespace().to_owned(), object.name().to_owned());
        Key { kind: object.kind(), namespace, name }
    }
}

impl<T> Key<T> {
    pub(crate) fn map<U>(self, convert: &mut impl FnMut(T) -> U) -> Key<U> {
        Key { kind: self.kind, namespace: convert(self.namespace), name: convert(self.name) }
    }
}

impl<T: AsRef<str>> Key<T> {
    pub(crate) fn borrowed(&self) -> Key<&str> {
        Key { kind: self.kind, namespace: self.namespace.as_ref(), name: self.name.as_ref() }
    }
}

impl Equivalent<Key> for Key<&str> {
    fn equivalent(&self, key: &Key) -> bool {
        *self == key.borrowed()
    }
}

impl From<Key> for Reference {
    fn from(Key { kind, namespace, name }: Key) -> Self {
        Reference { kind: kind.to_owned(), namespace, name }
    }
}

/// The recorded fields of an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Form<T = String> {
    /// A pod.
    Pod(PodForm<T>),
    /// An object of another kind.
    Object(ObjectText),
}

impl<T> Form<T> {
    pub(crate) fn map<U>(self, convert: &mut impl FnMut(T) -> U) -> Form<U> {
        match self {
            Form::Pod(PodForm { template, uid, created, deleted, node, status }) => {
                let (uid, node) = (uid.map(&mut *convert), node.map(convert));
                Form::Pod(PodForm { template, uid, created, deleted, node, status })
            }
            Form::Object(object) => Form::Object(object),
        }
    }
}

/// The recorded fields of a pod.
#[derive(Clone, Debug, PartialEq)]
pub struct PodForm<T = String> {
    pub(crate) template: Arc<Template>,
    pub(crate) uid: Option<T>,
    pub(crate) created: Option<Arc<String>>,
    pub(crate) deleted: Option<Arc<String>>,
    pub(crate) node: Option<T>,
    pub(crate) status: Option<Arc<Status>>,
}

impl PodForm {
    /// Returns the decision that changed the pod from `before`, if a decision did.
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
    pub(crate) fn object(&self, key: Key<&str>) -> Value {
        let fields = PodFields {
            uid: self.uid.clone(),
            created: self.created.as_deref().cloned(),
            deleted: self.deleted.as_deref().cloned(),
            node: self.node.clone(),
            status: self.status.as_ref().map(|status| status.text.parse()),
        };
        assemble(&self.template.text.parse(), key.namespace, key.name, &fields)
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

    /// Returns its entry for a recording with whole objects. The entry precedes the pod.
    pub(crate) fn entry(self, key: Key<&str>, scheduler: &str) -> Entry {
        let [namespace, name, scheduler] = [key.namespace, key.name, scheduler].map(str::to_owned);
        match self {
            PodDecision::Bind { node } => Entry::Bind(Bind { namespace, name, scheduler, node: node.to_owned() }),
            PodDecision::Reject { message } => {
                Entry::Reject(Reject { namespace, name, scheduler, message: message.to_owned() })
            }
        }
    }
}
