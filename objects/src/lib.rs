//! Kubernetes objects for schedc: read from manifests, completed as an API server would, turned into the compact model.
//!
//! The three steps are separate. [`Manifests::read`] takes YAML or JSON as `kubectl` does and gives typed objects that
//! know where they were written. [`default::complete`] adds what the API server adds on creation and refuses what it
//! refuses; leave it out for objects that come from a cluster or are to be taken as they are. [`convert_pod`],
//! [`convert_node`] and [`convert_object`] make [`schedc_core::model`] of them. [`Objects::load`] does the first two.
//! Objects that come from an API server are [read](reads) without what nobody looks at.

mod cluster;
mod convert;
pub mod default;
mod kinds;
pub mod manifests;
pub mod original;
pub mod reads;
mod suggest;
pub mod testing;
mod told;
mod validation;

pub use cluster::{Objects, Options};
pub use convert::{convert_node, convert_object, convert_pod, is_finished};
pub use kinds::{AnyObject, CustomObject, KINDS, KindInfo, Kinds, ObjectError, UnknownField, UnknownFields, namespace};
pub use manifests::{Error, Manifests, Place, Sourced};
pub use validation::{IgnoredFields, ObjectReader, Validation};
