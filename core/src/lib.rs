//! The scheduling framework of schedc: the model, the extension points, the cache, the scheduling cycle.
//!
//! No I/O, no async runtime, no Kubernetes client. It knows no plugin: a profile's generated code brings them.

pub mod args;
pub mod imagined;
pub mod intern;
pub mod map;
pub mod model;
pub mod quantity;

pub mod answer;
pub mod ask;
mod attempt;
pub mod background;
pub mod cache;
pub mod client;
pub mod column;
pub mod costs;
pub mod custom;
pub mod diagnosis;
mod duration;
pub mod embedded;
pub mod engine;
pub mod events;
pub mod explain;
pub mod extenders;
pub mod extension_points;
pub mod handle;
pub mod hints;
pub mod kept;
pub mod log;
pub mod mask;
pub mod originals;
pub mod passes;
pub mod plugin;
pub mod prelude;
pub mod profile;
#[doc(hidden)]
pub mod proof;
pub mod queue;
pub mod random;
pub mod scheduler;
pub mod scratch;
pub mod simple;
pub mod snapshot;
pub mod status;
pub mod touched;
pub mod verdict;

pub use plugin::Plugin;
pub use simple::SimpleFilter;
