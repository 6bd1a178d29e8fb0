//! Plugins of a profile that are interested in an event, and their hints for a rejected pod.

use std::fmt;

use crate::cache::{Cache, State};
use crate::events::{Action, ClusterEvent, EventObject, EventResource};
use crate::extension_points::{EnqueueExtensions, HintError, QueueingHint, Registration};
use crate::model::Pod;
use crate::plugin::Plugin;
use crate::profile::Profile;

/// A plugin of a profile, and its events.
#[derive(Clone, Copy, Debug)]
pub struct PluginEvents {
    /// The plugin.
    pub name: &'static str,
    /// Its registrations. `None`: every event.
    pub events: Option<&'static [Registration]>,
}

impl PluginEvents {
    /// Makes the entry of a plugin with registrations.
    pub const fn of<P: EnqueueExtensions>() -> PluginEvents {
        PluginEvents { name: P::NAME, events: Some(P::EVENTS) }
    }
    /// Makes the entry of a plugin that can reject pods and has no registrations: every event concerns it.
    pub const fn every<P: Plugin>() -> PluginEvents {
        PluginEvents { name: P::NAME, events: None }
    }
    /// Makes the entry of a plugin that rejects no pods.
    pub const fn none<P: Plugin>() -> PluginEvents {
        PluginEvents { name: P::NAME, events: Some(&[]) }
    }

    fn interest(&self, happened: ClusterEvent) -> Interest {
        let Some(events) = self.events else { return Interest::Always };
        let mut interest = Interest::None;
        for registration in events.iter().filter(|registration| registration.event.covers(happened)) {
            match registration.has_hint {
                true => interest = Interest::Hinted,
                false => return Interest::Always,
            }
        }
        let waits = |action| {
            let mut nodes = events.iter().filter(|registration| registration.event.resource == EventResource::Node);
            nodes.any(|registration| registration.event.actions.intersects(action))
        };
        // kube-scheduler adds this because a plugin may miss the addition of nodes.
        let taints = ClusterEvent::new(EventResource::Node, Action::UPDATE_NODE_TAINT);
        if happened == taints && waits(Action::ADD) && !waits(Action::UPDATE_NODE_TAINT) {
            return Interest::Always;
        }
        interest
    }
}

enum Interest {
    None,
    Always,
    Hinted,
}

/// Plugins of a profile, by their places in [`Profile::plugins`], or at an extension point where documented.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct PluginSet(u128);

impl PluginSet {
    /// Maximum number of plugins of a profile.
    pub const MAX: usize = 128;
    /// No plugin.
    pub const EMPTY: PluginSet = PluginSet(0);

    /// Returns the plugins with these names; names that the profile does not have are ignored.
    pub fn of<'a>(plugins: &[PluginEvents], names: impl IntoIterator<Item = &'a str>) -> PluginSet {
        let mut set = PluginSet::EMPTY;
        for name in names {
            if let Some(at) = plugins.iter().position(|plugin| plugin.name == name) {
                set.insert(at);
            }
        }
        set
    }
    /// Adds the plugin at a place. There are at most 128: profiles with more do not compile.
    pub fn insert(&mut self, at: usize) {
        debug_assert!(at < 128);
        self.0 |= 1 << (at & 127);
    }
    /// Returns whether the set has the plugin at a place.
    pub fn contains(self, at: usize) -> bool {
        at < 128 && self.0 >> at & 1 == 1
    }
    /// Returns whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// Returns the plugins in both sets.
    pub fn and(self, other: PluginSet) -> PluginSet {
        PluginSet(self.0 & other.0)
    }
    /// Returns the plugins in either set.
    pub fn or(self, other: PluginSet) -> PluginSet {
        PluginSet(self.0 | other.0)
    }
    /// Returns the plugins that are not in the other set.
    pub fn without(self, other: PluginSet) -> PluginSet {
        PluginSet(self.0 & !other.0)
    }
    /// Returns the places, in order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let at = left.trailing_zeros() as usize;
            (left != 0).then(|| {
                left &= left - 1;
                at
            })
        })
    }
}

impl fmt::Debug for PluginSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

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
    pub fn of(plugins: &[PluginEvents], happened: ClusterEvent) -> InterestedPlugins {
        let mut interested = InterestedPlugins::default();
        for (at, plugin) in plugins.iter().enumerate() {
            match plugin.interest(happened) {
                Interest::None => {}
                Interest::Always => interested.always.insert(at),
                Interest::Hinted => interested.hinted.insert(at),
            }
        }
        interested
    }

    /// Returns all of them.
    pub fn plugins(&self) -> PluginSet {
        self.always.or(self.hinted)
    }

    /// Returns the hint of a plugin for a pod. `None`: it is not interested in this event.
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

    /// Returns whether an event causes an attempt for a pod: a plugin that rejected the pod is interested in the event,
    /// and its hint is `Queue` or fails.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn interests(events: Option<&'static [Registration]>, resource: EventResource, action: Action) -> &'static str {
        match (PluginEvents { name: "X", events }).interest(ClusterEvent::new(resource, action)) {
            Interest::None => "none",
            Interest::Always => "always",
            Interest::Hinted => "hint",
        }
    }

    #[test]
    fn registrations_for_added_nodes_include_taint_updates() {
        const ADD: &[Registration] = &[Registration::hinted(EventResource::Node, Action::ADD)];
        const BOTH: &[Registration] =
            &[Registration::hinted(EventResource::Node, Action::ADD.or(Action::UPDATE_NODE_TAINT))];
        const PODS: &[Registration] = &[Registration::hinted(EventResource::Pod, Action::ADD)];
        let taint = Action::UPDATE_NODE_TAINT;
        for (events, action, expected) in [
            (Some(ADD), Action::ADD, "hint"),
            (Some(ADD), taint, "always"),
            (Some(ADD), Action::UPDATE_NODE_LABEL, "none"),
            (Some(BOTH), taint, "hint"),
            (Some(PODS), taint, "none"),
            (Some(&[]), taint, "none"),
            (None, taint, "always"),
        ] {
            assert_eq!(interests(events, EventResource::Node, action), expected, "{events:?} {action:?}");
        }
    }

    #[test]
    fn sets_of_plugins_have_places() {
        let mut set = PluginSet::default();
        for at in [3, 127, 64, 3] {
            set.insert(at);
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 64, 127]);
        assert!(set.contains(64) && !set.contains(65) && !set.contains(128));
        let mut other = PluginSet::EMPTY;
        other.insert(64);
        other.insert(0);
        assert_eq!(set.and(other).iter().collect::<Vec<_>>(), [64]);
        assert_eq!(format!("{:?}", set.or(other)), "{0, 3, 64, 127}");
    }
}
