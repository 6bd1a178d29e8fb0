//! Resource versions of typed and untyped objects.

use schedc_objects::AnyObject;
use serde_json::Value;

/// An object with a resource version.
pub trait StoredObject: Clone + PartialEq {
    /// Sets the resource version.
    fn set_version(&mut self, version: u64);

    /// Sets the resource version to that of another object.
    fn copy_version(&mut self, other: &Self);
}

impl StoredObject for AnyObject {
    fn set_version(&mut self, version: u64) {
        self.metadata_mut().resource_version = Some(version.to_string());
    }

    fn copy_version(&mut self, other: &Self) {
        self.metadata_mut().resource_version.clone_from(&other.metadata().resource_version);
    }
}

/// An object as JSON, with metadata.
impl StoredObject for Value {
    fn set_version(&mut self, version: u64) {
        self["metadata"]["resourceVersion"] = version.to_string().into();
    }

    fn copy_version(&mut self, other: &Self) {
        self["metadata"]["resourceVersion"] = other["metadata"]["resourceVersion"].clone();
    }
}
