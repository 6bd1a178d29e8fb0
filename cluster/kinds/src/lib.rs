//! The Kubernetes kinds that schedulers read, and their JSON.
//!
//! rustc compiles the deserialization and the serialization of hundreds of types here, and only here: this code
//! dominates the package, and most build profiles do not optimise it (`Cargo.toml` of the workspace).

mod custom;
#[cfg(feature = "json")]
mod typed;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::{
    apps::v1 as apps, policy::v1 as policy, resource::v1 as resource, scheduling::v1 as scheduling,
    storage::v1 as storage,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::{ClusterResourceScope, Metadata, NamespaceResourceScope, Resource};

pub use custom::{CustomObject, KindInfo, Kinds};
#[cfg(feature = "json")]
pub use typed::{
    ObjectError, SchemaField, UnknownField, UnknownFields, api_version, describe, is_custom, join, join_item, misspelt,
    object_name, problem_of_list, quantity_problem, samples, schema, typed,
};

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
        /// An object of any kind that schedulers read.
        #[derive(Debug)]
        pub enum AnyObject {
            $(#[doc = $doc] $variant(Box<$ty>),)*
            /// An object of a kind that a plugin declares.
            Custom(Box<CustomObject>),
        }

        // Not derived: derived functions are `#[inline]`, and every package that calls them would compile them again,
        // with the functions of all field types.
        impl Clone for AnyObject {
            fn clone(&self) -> AnyObject {
                match self {
                    $(AnyObject::$variant(object) => AnyObject::$variant(object.clone()),)*
                    AnyObject::Custom(object) => AnyObject::Custom(object.clone()),
                }
            }
        }

        impl PartialEq for AnyObject {
            fn eq(&self, other: &AnyObject) -> bool {
                match (self, other) {
                    $((AnyObject::$variant(object), AnyObject::$variant(other)) => object == other,)*
                    (AnyObject::Custom(object), AnyObject::Custom(other)) => object == other,
                    _ => false,
                }
            }
        }

        $(impl From<$ty> for AnyObject {
            fn from(object: $ty) -> AnyObject {
                AnyObject::$variant(Box::new(object))
            }
        })*

        /// Names of all built-in kinds that schedulers read.
        pub const KINDS: &[&str] = &[$(<$ty>::KIND,)*];
        /// Built-in kinds with their API versions.
        const APIS: &[(&str, &str)] = &[$((<$ty>::KIND, <$ty>::API_VERSION),)*];

        /// Returns the API version of a built-in kind, and whether it is namespaced.
        fn known(kind: &str) -> Option<(&'static str, bool)> {
            $(if kind == <$ty>::KIND {
                return Some((<$ty>::API_VERSION, <<$ty as Resource>::Scope as Scope>::NAMESPACED));
            })*
            None
        }

        impl AnyObject {
            /// Returns the kind, such as `CSINode`; for a kind that a plugin declares, the full name, such as
            /// `podgroups.v1alpha1.scheduling.x-k8s.io`.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(AnyObject::$variant(_) => <$ty>::KIND,)*
                    AnyObject::Custom(object) => object.kind.name,
                }
            }

            /// Returns the metadata.
            pub fn metadata(&self) -> &ObjectMeta {
                match self {
                    $(AnyObject::$variant(object) => object.metadata(),)*
                    AnyObject::Custom(object) => &object.metadata,
                }
            }

            /// Returns a mutable reference to the metadata.
            pub fn metadata_mut(&mut self) -> &mut ObjectMeta {
                match self {
                    $(AnyObject::$variant(object) => object.metadata_mut(),)*
                    AnyObject::Custom(object) => &mut object.metadata,
                }
            }
        }
    };
}

/// Calls a macro with all built-in kinds.
macro_rules! each_kind {
    ($callback:ident) => {
        $callback! {
            Node(core::Node) "`v1` Node.",
            Pod(core::Pod) "`v1` Pod.",
            Namespace(core::Namespace) "`v1` Namespace.",
            Service(core::Service) "`v1` Service.",
            ReplicationController(core::ReplicationController) "`v1` ReplicationController.",
            ReplicaSet(apps::ReplicaSet) "`apps/v1` ReplicaSet.",
            StatefulSet(apps::StatefulSet) "`apps/v1` StatefulSet.",
            Deployment(apps::Deployment) "`apps/v1` Deployment: only the disruption controller reads these.",
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
            ResourceClaimTemplate(resource::ResourceClaimTemplate)
                "`resource.k8s.io/v1` ResourceClaimTemplate: only the resource claim controller reads these.",
            ResourceSlice(resource::ResourceSlice) "`resource.k8s.io/v1` ResourceSlice.",
            DeviceClass(resource::DeviceClass) "`resource.k8s.io/v1` DeviceClass.",
        }
    };
}
#[cfg(feature = "json")]
pub(crate) use each_kind;

each_kind!(kinds);

impl AnyObject {
    /// Returns whether objects of a built-in kind are in a namespace, or `None` for all other kinds.
    pub fn is_namespaced(kind: &str) -> Option<bool> {
        known(kind).map(|(_, is_namespaced)| is_namespaced)
    }

    /// Returns a built-in kind by its name, with its API version. `None`: there is no built-in kind with this name.
    pub fn kind_named(kind: &str) -> Option<(&'static str, &'static str)> {
        APIS.iter().find(|(name, _)| *name == kind).copied()
    }

    /// Returns the namespace: `default` if it is missing, and empty for kinds without namespaces.
    pub fn namespace(&self) -> &str {
        if self.has_namespace() { namespace(self.metadata()) } else { "" }
    }

    /// Returns whether the object is of a namespaced kind.
    pub fn has_namespace(&self) -> bool {
        match self {
            AnyObject::Custom(object) => object.kind.is_namespaced,
            _ => is_namespaced(self.kind()),
        }
    }

    /// Returns the name, empty if it is missing.
    pub fn name(&self) -> &str {
        self.metadata().name.as_deref().unwrap_or_default()
    }
}

/// Returns the namespace of an object of a namespaced kind: `default` if its metadata has none.
pub fn namespace(metadata: &ObjectMeta) -> &str {
    metadata.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or("default")
}

/// Returns whether objects of a built-in kind are in a namespace; `false` for all other kinds.
pub fn is_namespaced(kind: &str) -> bool {
    known(kind).is_some_and(|(_, is_namespaced)| is_namespaced)
}
