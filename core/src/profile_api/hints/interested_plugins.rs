//! The plugins of a profile that are interested in an event.

use super::plugin_events::Interest;
use super::{PluginEvents, PluginSet};
use crate::model::Pod;
use crate::model::cache::{Cache, State};
use crate::plugin_api::events::{ClusterEvent, EventObject};
use crate::plugin_api::extension_points::{HintError, QueueingHint};
use crate::profile_api::profile::Profile;

/// The plugins of a profile that are interested in an event. Computed once for an event, for any number of pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterestedPlugins {
    /// Plugins without a hint: the event causes an attempt.
    pub always: PluginSet,
    /// Plugins with a hint for the event.
    pub hinted: PluginSet,
}

impl InterestedPlugins {
    /// Finds the interested plugins of a profile.
    pub fn of(plugins: &[PluginEvents], event: ClusterEvent) -> InterestedPlugins {
        let mut interested = InterestedPlugins::default();
        for (at, plugin) in plugins.iter().enumerate() {
            match plugin.interest(event) {
                Interest::None => {}
                Interest::Always => interested.always.insert(at),
                Interest::Hinted => interested.hinted.insert(at),
            }
        }
        interested
    }

    /// Returns all interested plugins.
    pub fn plugins(&self) -> PluginSet {
        self.always.or(self.hinted)
    }

    /// Returns the hint of a plugin for a pod. `None`: the plugin is not interested in this event.
    pub fn hint<P: Profile>(
        &self,
        profile: &P,
        plugin: usize,
        pod: &Pod,
        object: EventObject<'_>,
        cache: &Cache<P::State>,
    ) -> Option<Result<QueueingHint, HintError>> {
        if self.always.contains(plugin) {
            return Some(Ok(QueueingHint::Queue));
        }
        self.hinted.contains(plugin).then(|| profile.queueing_hint(plugin, pod, object, cache))
    }

    /// Returns whether an event causes an attempt for a pod. One of the plugins that rejected the pod must be
    /// interested in the event. In addition, this plugin must have no hint for the event, or its hint must return
    /// `Queue` or fail.
    pub fn wakes<P: Profile>(
        &self,
        profile: &P,
        rejectors: PluginSet,
        pod: &Pod,
        object: EventObject<'_>,
        cache: &Cache<P::State>,
    ) -> bool
    where
        P::State: State,
    {
        if !rejectors.and(self.always).is_empty() {
            return true;
        }
        let mut hinted = rejectors.and(self.hinted).iter();
        hinted.any(|plugin| profile.queueing_hint(plugin, pod, object, cache) != Ok(QueueingHint::Skip))
    }
}
