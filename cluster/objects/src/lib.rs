//! Kubernetes objects for schedc: read from manifests, completed as an API server would, turned into the compact model.
//!
//! The three steps are separate. [`Manifests::read`] takes YAML or JSON as `kubectl` does and gives typed objects that
//! know where they were written. [`default::complete`] adds what the API server adds on creation and refuses what it
//! refuses; leave it out for objects that come from a cluster or are to be taken as they are. [`convert_pod`],
//! [`convert_node`] and [`convert_object`] make [`schedc_core::model`] of them. [`Objects::load`] does the first two.
//! Objects that come from an API server are [read](reads) without fields that no conversion reads. A program that only reads these
//! leaves out the feature `manifests`, and with it hundreds of types that are read field by field.

mod changes;
#[cfg(feature = "manifests")]
mod cluster;
mod convert;
pub mod decode;
#[cfg(feature = "manifests")]
pub mod default;
mod kinds;
#[cfg(feature = "manifests")]
pub mod manifests;
pub mod original;
#[cfg(feature = "manifests")]
mod suggest;
#[cfg(feature = "manifests")]
pub mod testing;
#[cfg(feature = "manifests")]
mod validation;

#[cfg(feature = "manifests")]
pub use cluster::{Objects, Options};
pub use convert::{convert_node, convert_object, convert_pod, is_finished};
pub use kinds::{AnyObject, CustomObject, KINDS, KindInfo, Kinds, namespace};
#[cfg(feature = "manifests")]
pub use kinds::{ObjectError, UnknownField, UnknownFields};
#[cfg(feature = "manifests")]
pub use manifests::{Error, Manifests, SourceLocation, Sourced};
#[cfg(feature = "manifests")]
pub use validation::{IgnoredFields, ObjectReader, Validation};
