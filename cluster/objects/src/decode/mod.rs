//! Decoding of objects from an API server, limited to the fields that schedulers read.
//!
//! Schedulers ignore most fields of an object: managed fields, environments of containers, probes, reasons. [`read`]
//! skips them, so they need no memory, no code, and only the time to find their end. `selected_fields!` lists
//! the other fields for each type: those that the conversions read, that identify the version of an object, or that
//! patches of a pod's status depend on.

mod affinity;
mod custom;
mod devices;
#[cfg(any(test, feature = "encode"))]
mod encode;
mod field;
mod metadata;
mod node;
mod object;
mod pod;
pub mod protobuf;
mod storage;
mod volumes;
mod workloads;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_core::model::CustomKind;
use schedc_kinds::AnyObject;
use serde::Deserializer;
use serde::de::{DeserializeSeed, Error};
#[cfg(any(test, feature = "encode"))]
use serde_json::Value;

use protobuf::{Malformed, Message};

/// Lists the kinds that are decoded, each with its case of [`AnyObject`].
macro_rules! kinds {
    ($($kind:literal => $case:ident,)*) => {
        /// Decodes an object of a kind, limited to the fields that schedulers read.
        ///
        /// # Errors
        /// Returns an error if a field has a wrong type or schedulers ignore the kind.
        pub fn read<'de, D: Deserializer<'de>>(kind: &str, from: D) -> Result<AnyObject, D::Error> {
            Ok(match kind {
                $($kind => AnyObject::$case(fields(from)?),)*
                _ => return Err(D::Error::custom(Malformed::UnknownKind(kind.to_owned()))),
            })
        }

        /// Decodes an object from a protobuf message.
        ///
        /// # Errors
        /// Returns an error if the message is invalid or schedulers ignore the kind.
        pub fn read_protobuf(kind: &str, message: &[u8]) -> Result<AnyObject, Malformed> {
            Ok(match kind {
                $($kind => AnyObject::$case(fields_of(message)?),)*
                _ => return Err(Malformed::UnknownKind(kind.to_owned())),
            })
        }

        /// Encodes the selected fields of an object in an envelope, as a server does. For tests. `None`: schedulers
        /// ignore the kind.
        #[cfg(any(test, feature = "encode"))]
        pub fn encode(object: &Value) -> Option<Vec<u8>> {
            let fields = match object["kind"].as_str()? {
                $($kind => encode::fields_of(object, |case| match case { AnyObject::$case(it) => Some(&**it), _ => None }),)*
                _ => return None,
            };
            Some(encode::envelope(object, &fields))
        }
    };
}

kinds! {
    "CSIDriver" => CsiDriver,
    "CSINode" => CsiNode,
    "CSIStorageCapacity" => CsiStorageCapacity,
    "DeviceClass" => DeviceClass,
    "Namespace" => Namespace,
    "Node" => Node,
    "PersistentVolume" => PersistentVolume,
    "PersistentVolumeClaim" => PersistentVolumeClaim,
    "Pod" => Pod,
    "PodDisruptionBudget" => PodDisruptionBudget,
    "ReplicaSet" => ReplicaSet,
    "ReplicationController" => ReplicationController,
    "ResourceClaim" => ResourceClaim,
    "ResourceSlice" => ResourceSlice,
    "Service" => Service,
    "StatefulSet" => StatefulSet,
    "StorageClass" => StorageClass,
    "VolumeAttachment" => VolumeAttachment,
}

fn fields<'de, D: Deserializer<'de>, T: object::SelectedFields<Object = T> + Default>(
    from: D,
) -> Result<Box<T>, D::Error> {
    let mut object = Box::<T>::default();
    from.deserialize_map(object::Seed::<T>(&mut object))?;
    Ok(object)
}

fn fields_of<T: object::SelectedFields<Object = T> + Default>(message: &[u8]) -> Result<Box<T>, Malformed> {
    let mut object = Box::<T>::default();
    object::read_protobuf::<T>(&mut object, message)?;
    Ok(object)
}

/// Decodes the metadata, with annotations, of an object of any kind from a protobuf message.
///
/// # Errors
/// Returns an error if the message is invalid.
pub fn metadata_of(mut message: Message<'_>) -> Result<ObjectMeta, Malformed> {
    let mut metadata = ObjectMeta::default();
    while let Some((number, value)) = message.next_field()? {
        if number == 1 {
            object::read_protobuf::<metadata::MetadataWithAnnotations>(&mut metadata, value.bytes()?)?;
        }
    }
    Ok(metadata)
}

/// Decoder of objects of one kind. Objects of kinds that plugins declare keep all fields.
#[derive(Clone, Copy, Debug)]
pub enum KindReader<'a> {
    /// A kind that all schedulers read.
    Known(&'a str),
    /// A kind that a plugin declares.
    Custom(&'static CustomKind),
}

impl<'de> DeserializeSeed<'de> for KindReader<'_> {
    type Value = AnyObject;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<AnyObject, D::Error> {
        match self {
            KindReader::Known(kind) => read(kind, from),
            KindReader::Custom(kind) => custom::read(kind, from).map(AnyObject::from),
        }
    }
}

impl KindReader<'_> {
    /// Decodes an object from a protobuf message.
    ///
    /// # Errors
    /// Returns an error if the message is invalid. Objects of kinds that plugins declare are never in protobuf.
    pub fn read_protobuf(self, message: &[u8]) -> Result<AnyObject, Malformed> {
        match self {
            KindReader::Known(kind) => read_protobuf(kind, message),
            KindReader::Custom(kind) => Err(Malformed::UnknownKind(kind.name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests;
