//! The scheduling framework of schedc: the model, the extension points, the cache, the scheduling cycle.
//!
//! No I/O, no async runtime, no Kubernetes client. It knows no plugin: a profile's generated code brings them.

pub mod args;
pub mod intern;
pub mod map;
pub mod model;
pub mod quantity;
