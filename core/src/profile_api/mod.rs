//! The third layer: the API for generated code, that is for compiled profiles. The crate root re-exports its modules.

pub mod catalog_checks;
pub mod costs;
pub mod extenders;
pub mod hints;
pub mod idle_plugins;
pub mod leading_filters;
pub(crate) mod plugin_results;
pub(crate) mod post_filter;
pub(crate) mod profile;
mod profile_info;
