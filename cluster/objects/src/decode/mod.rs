//! Objects as they come from an API server, without what scheduling never looks at.
//!
//! Most of an object is for others: who manages which field, environments of containers, probes, reasons. [`read`] passes
//! over that as it reads, so that it costs neither memory nor more time than it takes to find its end, nor is there code
//! for it. What is left is what the conversions to the model look at, what tells versions of an object apart, and what a
//! patch of a pod's status depends on: the fields that `selected_fields!` names for each type, by topic.

mod affinity;
mod custom;
mod devices;
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
use serde::Deserializer;
use serde::de::{DeserializeSeed, Error};
use serde_json::Value;

use crate::kinds::AnyObject;
use protobuf::{Malformed, Message};

/// The kinds that are read, each with its case of [`AnyObject`].
macro_rules! kinds {
    ($($kind:literal => $case:ident,)*) => {
        /// Reads an object of a kind, without what scheduling never looks at.
        ///
        /// # Errors
        /// A field has a wrong type, or scheduling does not look at such objects.
        pub fn read<'de, D: Deserializer<'de>>(kind: &str, from: D) -> Result<AnyObject, D::Error> {
            Ok(match kind {
                $($kind => AnyObject::$case(fields(from)?),)*
                _ => return Err(D::Error::custom(Malformed::Unknown(kind.to_owned()))),
            })
        }

        /// The same of an object that is a message of protobuf.
        ///
        /// # Errors
        /// It is none, or scheduling does not look at such objects.
        pub fn read_protobuf(kind: &str, message: &[u8]) -> Result<AnyObject, Malformed> {
            Ok(match kind {
                $($kind => AnyObject::$case(fields_of(message)?),)*
                _ => return Err(Malformed::Unknown(kind.to_owned())),
            })
        }

        /// For tests: an object as a server sends it in protobuf, with what it says of itself in front; of it, what
        /// [`take`] looks at. `None`: scheduling does not look at such objects.
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

/// The metadata, with annotations, of an object that is a message of protobuf, whatever kind it is of.
///
/// # Errors
/// It is none.
pub fn metadata_of(mut message: Message<'_>) -> Result<ObjectMeta, Malformed> {
    let mut metadata = ObjectMeta::default();
    while let Some((number, value)) = message.next_field()? {
        if number == 1 {
            object::read_protobuf::<metadata::MetadataWithAnnotations>(&mut metadata, value.bytes()?)?;
        }
    }
    Ok(metadata)
}

/// Reads an object of this kind where one is found; all of it, if a plugin declares the kind.
#[derive(Clone, Copy, Debug)]
pub enum KindReader<'a> {
    /// One that all schedulers know.
    Known(&'a str),
    /// One that a plugin declares.
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
    /// Takes an object in that is a message of protobuf.
    ///
    /// # Errors
    /// It is none. Objects of kinds that plugins declare are never in protobuf.
    pub fn read_protobuf(self, message: &[u8]) -> Result<AnyObject, Malformed> {
        match self {
            KindReader::Known(kind) => read_protobuf(kind, message),
            KindReader::Custom(kind) => Err(Malformed::Unknown(kind.name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests;
