//! Kubernetes objects for schedc: reads manifests, applies the API server's defaults, and converts objects to the
//! compact model.
//!
//! The three steps are separate. [`Manifests::read`] reads YAML or JSON like `kubectl` and returns typed objects with
//! their source locations. [`default::complete`] applies the API server's defaults and validation for created objects;
//! it is not needed for objects from a cluster. [`convert_pod`], [`convert_node`] and [`convert_object`] convert
//! objects to [`schedc_core::model`]. [`Objects::load`] does the first two steps.
//!
//! Objects from an API server are [decoded](decode) without the fields that no conversion reads. A program that reads
//! only objects from an API server leaves out the feature `manifests`, and with it the deserialization of hundreds of
//! types. A program that reads only manifests leaves out `decode`.

mod changes;
#[cfg(feature = "manifests")]
mod cluster;
mod convert;
#[cfg(feature = "decode")]
pub mod decode;
#[cfg(feature = "manifests")]
pub mod default;
#[cfg(feature = "manifests")]
mod expressions;
#[cfg(feature = "manifests")]
mod field_suggestion;
#[cfg(feature = "manifests")]
pub mod manifests;
pub mod original;
#[cfg(feature = "manifests")]
mod source_location;
#[cfg(feature = "manifests")]
pub mod testing;
#[cfg(feature = "manifests")]
mod validation;

pub use changes::{removal_change, upsert_change};
#[cfg(feature = "manifests")]
pub use cluster::{Objects, Options};
pub use convert::{convert_node, convert_object, convert_pod, is_finished};
#[cfg(feature = "manifests")]
pub use manifests::{Error, Manifests, Sourced};
pub use schedc_kinds::{AnyObject, CustomObject, KINDS, KindInfo, Kinds, namespace};
#[cfg(feature = "manifests")]
pub use schedc_kinds::{ObjectError, UnknownField, UnknownFields};
#[cfg(feature = "manifests")]
pub use source_location::SourceLocation;
#[cfg(feature = "manifests")]
pub use validation::{IgnoredErrors, ObjectReader, Validation};
