//! The second layer: the API for plugin authors. The crate root re-exports its public modules.

pub mod args;
pub mod background;
pub mod claim_metrics;
pub mod client;
pub mod column;
pub mod custom;
pub mod device_counts;
pub mod diagnosis;
pub(crate) mod duration_histogram;
pub mod events;
pub(crate) mod extension_points;
pub mod handle;
pub(crate) mod incremental;
pub mod pending_allocations;
pub mod plugin;
pub mod plugin_names;
pub mod random;
mod requests;
pub mod scratch;
pub mod simple;
pub mod status;
