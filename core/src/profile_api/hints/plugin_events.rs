//! The events that a plugin of a profile is interested in.

use crate::plugin_api::events::{Action, ClusterEvent, EventResource};
use crate::plugin_api::extension_points::{EnqueueExtensions, Registration};
use crate::plugin_api::plugin::Plugin;

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
    /// Makes the entry of a plugin that can reject pods and has no registrations: every event is relevant.
    pub const fn every<P: Plugin>() -> PluginEvents {
        PluginEvents { name: P::NAME, events: None }
    }
    /// Makes the entry of a plugin that rejects no pods.
    pub const fn none<P: Plugin>() -> PluginEvents {
        PluginEvents { name: P::NAME, events: Some(&[]) }
    }

    pub(super) fn interest(&self, event: ClusterEvent) -> Interest {
        let Some(events) = self.events else { return Interest::Always };
        let mut interest = Interest::None;
        for registration in events.iter().filter(|registration| registration.event.covers(event)) {
            match registration.has_hint {
                true => interest = Interest::Hinted,
                false => return Interest::Always,
            }
        }
        let registers = |action| {
            let mut nodes = events.iter().filter(|registration| registration.event.resource == EventResource::Node);
            nodes.any(|registration| registration.event.actions.intersects(action))
        };
        // If a plugin registers for new nodes, but not for taint updates, every taint update causes an attempt, because
        // the plugin may miss the addition of a node (kube-scheduler's workaround).
        let taints = ClusterEvent::new(EventResource::Node, Action::UPDATE_NODE_TAINT);
        if event == taints && registers(Action::ADD) && !registers(Action::UPDATE_NODE_TAINT) {
            return Interest::Always;
        }
        interest
    }
}

/// Interest of a plugin in an event.
pub(super) enum Interest {
    None,
    Always,
    Hinted,
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
}
