//! Decoding of objects from an API server, limited to the fields that schedulers read.
//!
//! Schedulers ignore most fields of an object, such as managed fields, environment variables and probes.
//! [`KindReader`] skips them, so they need no memory, no code, and only the time to find their end. `selected_fields!`
//! lists the other fields for each type: those that the conversions read, that identify the version of an object, or
//! that patches of a pod's status depend on.

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
use serde::de::Error as _;
use serde_json::Error;
#[cfg(any(test, feature = "encode"))]
use serde_json::Value;
use serde_json::de::StrRead;

use protobuf::{Malformed, Message};

/// Lists the kinds that are decoded, each with its variant of [`AnyObject`].
macro_rules! kinds {
    ($($kind:literal => $case:ident,)*) => {
        fn read_known(kind: &str, from: Json<'_, '_>) -> Result<AnyObject, Error> {
            Ok(match kind {
                $($kind => AnyObject::$case(fields(from)?),)*
                _ => return Err(Error::custom(Malformed::UnknownKind(kind.to_owned()))),
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

/// Input of the JSON decoders. The type is not generic, so the decoders are compiled with this crate's optimisation
/// level. Callers may be optimised for size, but decoding takes much of the time of a scheduler at an API server.
type Json<'a, 'de> = &'a mut serde_json::Deserializer<StrRead<'de>>;

fn fields<T: object::SelectedFields<Object = T> + Default>(from: Json<'_, '_>) -> Result<Box<T>, Error> {
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

/// Decoder of objects of one kind. Objects of kinds that plugins declare keep all fields except managed fields.
#[derive(Clone, Copy, Debug)]
pub enum KindReader<'a> {
    /// Name of a built-in kind.
    Known(&'a str),
    /// A kind that a plugin declares.
    Custom(&'static CustomKind),
}

impl KindReader<'_> {
    /// Decodes an object from a JSON text.
    ///
    /// # Errors
    /// Returns an error if the text is not valid JSON, a field has a wrong type, or schedulers ignore the kind.
    pub fn read_json(self, json: &str) -> Result<AnyObject, Error> {
        let mut from = serde_json::Deserializer::from_str(json);
        let object = match self {
            KindReader::Known(kind) => read_known(kind, &mut from)?,
            KindReader::Custom(kind) => custom::read(kind, &mut from).map(AnyObject::from)?,
        };
        from.end()?;
        Ok(object)
    }

    /// Decodes an object from a protobuf message.
    ///
    /// # Errors
    /// Returns an error if the message is invalid, or schedulers ignore the kind. It also returns an error for a kind
    /// that a plugin declares, because API servers never send such objects in protobuf.
    pub fn read_protobuf(self, message: &[u8]) -> Result<AnyObject, Malformed> {
        match self {
            KindReader::Known(kind) => read_protobuf(kind, message),
            KindReader::Custom(kind) => Err(Malformed::UnknownKind(kind.name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests;
