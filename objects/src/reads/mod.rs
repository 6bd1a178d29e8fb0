//! Objects as they come from an API server, without what scheduling never looks at.
//!
//! Most of an object is for others: who manages which field, environments of containers, probes, reasons. [`read`] passes
//! over that as it reads, so that it costs neither memory nor more time than it takes to find its end, nor is there code
//! for it. What is left is what the conversions to the model look at, what tells versions of an object apart, and what a
//! patch of a pod's status depends on: the fields that `look_at!` names for each type, by topic.

mod affinity;
mod custom;
mod devices;
mod field;
mod metadata;
mod node;
mod object;
mod pod;
mod storage;
mod volumes;
mod workloads;

use schedc_core::model::CustomKind;
use serde::Deserializer;
use serde::de::{DeserializeSeed, Error};

use crate::kinds::AnyObject;

/// Reads an object of a kind, without what scheduling never looks at.
///
/// # Errors
/// A field has a wrong type, or scheduling does not look at such objects.
pub fn read<'de, D: Deserializer<'de>>(kind: &str, from: D) -> Result<AnyObject, D::Error> {
    Ok(match kind {
        "CSIDriver" => AnyObject::CsiDriver(fields(from)?),
        "CSINode" => AnyObject::CsiNode(fields(from)?),
        "CSIStorageCapacity" => AnyObject::CsiStorageCapacity(fields(from)?),
        "DeviceClass" => AnyObject::DeviceClass(fields(from)?),
        "Namespace" => AnyObject::Namespace(fields(from)?),
        "Node" => AnyObject::Node(fields(from)?),
        "PersistentVolume" => AnyObject::PersistentVolume(fields(from)?),
        "PersistentVolumeClaim" => AnyObject::PersistentVolumeClaim(fields(from)?),
        "Pod" => AnyObject::Pod(fields(from)?),
        "PodDisruptionBudget" => AnyObject::PodDisruptionBudget(fields(from)?),
        "ReplicaSet" => AnyObject::ReplicaSet(fields(from)?),
        "ReplicationController" => AnyObject::ReplicationController(fields(from)?),
        "ResourceClaim" => AnyObject::ResourceClaim(fields(from)?),
        "ResourceSlice" => AnyObject::ResourceSlice(fields(from)?),
        "Service" => AnyObject::Service(fields(from)?),
        "StatefulSet" => AnyObject::StatefulSet(fields(from)?),
        "StorageClass" => AnyObject::StorageClass(fields(from)?),
        "VolumeAttachment" => AnyObject::VolumeAttachment(fields(from)?),
        _ => return Err(D::Error::custom(format!("nobody looks at a {kind}"))),
    })
}

fn fields<'de, D: Deserializer<'de>, T: object::Fields<Object = T> + Default>(from: D) -> Result<Box<T>, D::Error> {
    let mut object = Box::<T>::default();
    from.deserialize_map(object::To::<T>(&mut object))?;
    Ok(object)
}

/// Reads an object of this kind where one is found; all of it, if a plugin declares the kind.
#[derive(Clone, Copy, Debug)]
pub enum OfKind<'a> {
    /// One that all schedulers know.
    Known(&'a str),
    /// One that a plugin declares.
    Custom(&'static CustomKind),
}

impl<'de> DeserializeSeed<'de> for OfKind<'_> {
    type Value = AnyObject;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<AnyObject, D::Error> {
        match self {
            OfKind::Known(kind) => read(kind, from),
            OfKind::Custom(kind) => custom::read(kind, from).map(AnyObject::from),
        }
    }
}

#[cfg(test)]
mod tests;
