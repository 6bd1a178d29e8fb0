//! Plugins of a profile that are interested in an event, and their hints for a rejected pod.

mod interested_plugins;
mod plugin_events;
mod plugin_set;

pub use interested_plugins::InterestedPlugins;
pub use plugin_events::PluginEvents;
pub use plugin_set::PluginSet;
