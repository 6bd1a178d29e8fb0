//! The kinds of objects that scheduling looks at.

mod apis;
mod custom;
mod deserializer;
mod json;
mod quantities;
mod reader;
mod schema;

use std::sync::OnceLock;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::{
    apps::v1 as apps, policy::v1 as policy, resource::v1 as resource, scheduling::v1 as scheduling,
    storage::v1 as storage,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::{ClusterResourceScope, Metadata, NamespaceResourceScope, Resource};
use serde_json::Value;

pub(crate) use apis::{is_custom, misspelt};
pub use custom::{CustomObject, KindInfo, Kinds};
pub use json::ObjectError;
pub(crate) use json::{name as describe, object_name, problem_of_list, typed};
pub(crate) use quantities::problem as quantity_problem;
pub use reader::{UnknownField, UnknownFields};
pub(crate) use reader::{join, join_item};
pub(crate) use schema::SchemaField;

/// Whether a kind has namespaces.
trait Scope {
    const NAMESPACED: bool;
}

impl Scope for ClusterResourceScope {
    const NAMESPACED: bool = false;
}

impl Scope for NamespaceResourceScope {
    const NAMESPACED: bool = true;
}

macro_rules! kinds {
    ($($variant:ident($ty:ty) $doc:literal,)*) => {
        /// An object of any kind that scheduling looks at.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AnyObject {
            $(#[doc = $doc] $variant(Box<$ty>),)*
            /// One of a kind that a plugin declares.
            Custom(Box<CustomObject>),
        }

        $(impl From<$ty> for AnyObject {
            fn from(object: $ty) -> AnyObject {
                AnyObject::$variant(Box::new(object))
            }
        })*

        /// The names of all kinds that scheduling looks at.
        pub const KINDS: &[&str] = &[$(<$ty>::KIND,)*];
        /// Every kind and its API.
        const APIS: &[(&str, &str)] = &[$((<$ty>::KIND, <$ty>::API_VERSION),)*];

        /// The API and the scope of a kind.
        fn known(kind: &str) -> Option<(&'static str, bool)> {
            $(if kind == <$ty>::KIND {
                return Some((<$ty>::API_VERSION, <<$ty as Resource>::Scope as Scope>::NAMESPACED));
            })*
            None
        }

        /// Takes in an object whose API is known to be the right one.
        fn read(
            kind: &str,
            value: &Value,
            unknown: &mut UnknownFields,
        ) -> Result<Option<AnyObject>, Vec<ObjectError>> {
            $(if kind == <$ty>::KIND {
                return typed::<$ty>(kind, value, unknown).map(|object| Some(object.into()));
            })*
            Ok(None)
        }

        /// All fields of a kind; none of one that scheduling does not look at.
        pub(crate) fn schema(kind: &str) -> &'static [SchemaField] {
            $(if kind == <$ty>::KIND {
                static FIELDS: OnceLock<Vec<SchemaField>> = OnceLock::new();
                return FIELDS.get_or_init(schema::fields::<$ty>);
            })*
            &[]
        }

        /// An object of each kind that has each field of its type once.
        #[cfg(test)]
        pub(crate) fn samples() -> Vec<AnyObject> {
            vec![$(schema::sample::<$ty>().into(),)*]
        }

        impl AnyObject {
            /// Its kind, such as `CSINode`; of a kind that a plugin declares, the full name, such as
            /// `podgroups.v1alpha1.scheduling.x-k8s.io`.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(AnyObject::$variant(_) => <$ty>::KIND,)*
                    AnyObject::Custom(object) => object.kind.name,
                }
            }

            /// The object as JSON, with `apiVersion` and `kind`.
            ///
            /// # Errors
            /// None that is known.
            pub fn to_json(&self) -> Result<Value, serde_json::Error> {
                match self {
                    $(AnyObject::$variant(object) => serde_json::to_value(object),)*
                    AnyObject::Custom(object) => object.to_json(),
                }
            }

            /// Its metadata.
            pub fn metadata(&self) -> &ObjectMeta {
                match self {
                    $(AnyObject::$variant(object) => object.metadata(),)*
                    AnyObject::Custom(object) => &object.metadata,
                }
            }

            /// Its metadata, to change.
            pub fn metadata_mut(&mut self) -> &mut ObjectMeta {
                match self {
                    $(AnyObject::$variant(object) => object.metadata_mut(),)*
                    AnyObject::Custom(object) => &mut object.metadata,
                }
            }
        }
    };
}

kinds! {
    Node(core::Node) "`v1` Node.",
    Pod(core::Pod) "`v1` Pod.",
    Namespace(core::Namespace) "`v1` Namespace.",
    Service(core::Service) "`v1` Service.",
    ReplicationController(core::ReplicationController) "`v1` ReplicationController.",
    ReplicaSet(apps::ReplicaSet) "`apps/v1` ReplicaSet.",
    StatefulSet(apps::StatefulSet) "`apps/v1` StatefulSet.",
    Deployment(apps::Deployment) "`apps/v1` Deployment: only the disruption controller looks at these.",
    PersistentVolume(core::PersistentVolume) "`v1` PersistentVolume.",
    PersistentVolumeClaim(core::PersistentVolumeClaim) "`v1` PersistentVolumeClaim.",
    StorageClass(storage::StorageClass) "`storage.k8s.io/v1` StorageClass.",
    CsiNode(storage::CSINode) "`storage.k8s.io/v1` CSINode.",
    CsiDriver(storage::CSIDriver) "`storage.k8s.io/v1` CSIDriver.",
    CsiStorageCapacity(storage::CSIStorageCapacity) "`storage.k8s.io/v1` CSIStorageCapacity.",
    VolumeAttachment(storage::VolumeAttachment) "`storage.k8s.io/v1` VolumeAttachment.",
    PodDisruptionBudget(policy::PodDisruptionBudget) "`policy/v1` PodDisruptionBudget.",
    PriorityClass(scheduling::PriorityClass) "`scheduling.k8s.io/v1` PriorityClass.",
    ResourceClaim(resource::ResourceClaim) "`resource.k8s.io/v1` ResourceClaim.",
    ResourceSlice(resource::ResourceSlice) "`resource.k8s.io/v1` ResourceSlice.",
    DeviceClass(resource::DeviceClass) "`resource.k8s.io/v1` DeviceClass.",
}

impl AnyObject {
    /// The object in a JSON value that says to be of this API and kind. `None`: scheduling does not look at such.
    ///
    /// A kind of the same name in another API group is another kind. Fields that are not known are ignored.
    ///
    /// # Errors
    /// The API is another version of the right group, a field has a wrong type, or a quantity is none.
    pub fn from_json(api_version: &str, kind: &str, value: Value) -> Result<Option<AnyObject>, ObjectError> {
        first(from_json(api_version, kind, value, &mut UnknownFields::default()))
    }

    /// Whether objects of a kind are in a namespace. `None`: scheduling does not look at such.
    pub fn is_namespaced(kind: &str) -> Option<bool> {
        known(kind).map(|(_, is_namespaced)| is_namespaced)
    }

    /// A kind by its name, and its API. `None`: scheduling does not look at such.
    pub fn kind_named(kind: &str) -> Option<(&'static str, &'static str)> {
        APIS.iter().find(|(name, _)| *name == kind).copied()
    }

    /// Its namespace: `default` where none is written, and empty for kinds without namespaces.
    pub fn namespace(&self) -> &str {
        if self.has_namespace() { namespace(self.metadata()) } else { "" }
    }

    /// Whether it is of a kind with namespaces.
    pub fn has_namespace(&self) -> bool {
        match self {
            AnyObject::Custom(object) => object.kind.is_namespaced,
            _ => is_namespaced(self.kind()),
        }
    }

    /// Its name, empty if there is none.
    pub fn name(&self) -> &str {
        self.metadata().name.as_deref().unwrap_or_default()
    }
}

/// As [`AnyObject::from_json`]. Fields that the kind does not have are added to `unknown`.
fn from_json(
    api_version: &str,
    kind: &str,
    value: Value,
    unknown: &mut UnknownFields,
) -> Result<Option<AnyObject>, Vec<ObjectError>> {
    let Some((expected, _)) = known(kind) else { return Ok(None) };
    if expected != api_version {
        return match group(expected) == group(api_version) {
            true => Err(vec![ObjectError {
                object: describe(kind, &value),
                field: Some("apiVersion".to_owned()),
                message: format!("is `{api_version}`, but a {kind} is `{expected}`"),
            }]),
            false => Ok(None),
        };
    }
    read(kind, &value, unknown)
}

/// The object, or the first of its errors.
fn first(read: Result<Option<AnyObject>, Vec<ObjectError>>) -> Result<Option<AnyObject>, ObjectError> {
    read.or_else(|errors| errors.into_iter().next().map_or(Ok(None), Err))
}

/// The namespace of an object of a namespaced kind: `default` if its metadata has none.
pub fn namespace(metadata: &ObjectMeta) -> &str {
    metadata.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or("default")
}

/// The API that a kind is of.
pub(crate) fn api_version(kind: &str) -> Option<&'static str> {
    known(kind).map(|(api_version, _)| api_version)
}

/// Whether objects of a kind are in a namespace. Those of unknown kinds are not.
pub(crate) fn is_namespaced(kind: &str) -> bool {
    known(kind).is_some_and(|(_, is_namespaced)| is_namespaced)
}

fn group(version: &str) -> &str {
    version.split_once('/').map_or("", |(group, _)| group)
}

#[cfg(test)]
mod tests;
