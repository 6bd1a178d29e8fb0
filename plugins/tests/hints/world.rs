//! A cluster in which one object changes.

use std::sync::Arc;

use schedc_core::cache::{Cache, PodState};
use schedc_core::events::{Action, ClusterEvent, EventObject, EventPod, EventResource, node_updated, pod_updated};
use schedc_core::extension_points::{HintError, QueueingHint};
use schedc_core::handle::Handle;
use schedc_core::hints::Interested;
use schedc_core::model::{Node, Object, Pod};
use schedc_core::profile::Profile;
use schedc_objects::testing;

use crate::scheduler::all::Pipeline;
use crate::table::{Change, Event};

pub(crate) struct World {
    cache: Cache<<Pipeline as Profile>::State>,
    rejected: Pod,
    changed: Changed,
}

enum Changed {
    Nothing,
    Node(Option<Node>, Option<Node>),
    Pod(Option<Pod>, Option<Pod>),
    Object(Option<Object>, Option<Object>),
}

impl World {
    pub(crate) fn new(event: &Event) -> World {
        let mut cache = Cache::default();
        for yaml in event.around {
            let object = testing::object(yaml, &mut cache.base.interner);
            cache.set_object(object);
        }
        let rejected = testing::pod(event.rejected, &mut cache.base.interner);
        World { cache, rejected, changed: Changed::Nothing }
    }

    /// An object changes. Returns the events of that.
    pub(crate) fn apply(&mut self, kind: ClusterEvent, change: &Change) -> Vec<ClusterEvent> {
        let both = [change.old, change.new];
        let interner = &mut self.cache.base.interner;
        let came_or_went = |resource| {
            let action = match (change.old, change.new) {
                (None, _) => Action::ADD,
                (_, None) => Action::DELETE,
                _ => Action::UPDATE,
            };
            vec![ClusterEvent::new(resource, action)]
        };
        match kind.resource {
            EventResource::Node => {
                let [old, new] = both.map(|yaml| yaml.map(|yaml| testing::node(yaml, interner)));
                for node in old.iter().chain(&new) {
                    self.cache.set_node(node.clone());
                }
                let events = match (&old, &new) {
                    (Some(old), Some(new)) => node_updated(old, new).to_vec(),
                    (Some(old), None) => {
                        self.cache.remove_node(old.name);
                        came_or_went(EventResource::Node)
                    }
                    _ => came_or_went(EventResource::Node),
                };
                self.changed = Changed::Node(old, new);
                events
            }
            EventResource::Pod => {
                let [old, new] = both.map(|yaml| yaml.map(|yaml| testing::pod(yaml, interner)));
                for pod in old.iter().chain(&new) {
                    if let Some(node) = pod.spec.node_name {
                        self.cache.add_pod(Arc::new(pod.clone()), node, PodState::Bound);
                    }
                }
                if let (Some(old), None) = (&old, &new) {
                    self.cache.remove_pod(&old.uid);
                }
                // What it asks for now is what counts.
                if let Some(new) = new.as_ref().filter(|new| new.uid == self.rejected.uid) {
                    self.rejected = new.clone();
                }
                let events = self.pod_events(old.as_ref(), new.as_ref());
                self.changed = Changed::Pod(old, new);
                events
            }
            resource => {
                let [old, new] = both.map(|yaml| yaml.map(|yaml| testing::object(yaml, interner)));
                old.iter().chain(&new).for_each(|object| self.cache.set_object(object.clone()));
                if let (Some(old), None) = (&old, &new) {
                    self.cache.remove_object(&old.key());
                }
                self.changed = Changed::Object(old, new);
                came_or_went(resource)
            }
        }
    }

    /// What a change of a pod is, for other pods and, if it waits itself, for itself.
    fn pod_events(&self, old: Option<&Pod>, new: Option<&Pod>) -> Vec<ClusterEvent> {
        let assigned = |action| vec![ClusterEvent::new(EventResource::AssignedPod, action)];
        match (old.map(EventPod::new), new.map(EventPod::new)) {
            (Some(old), Some(new)) if old.node.is_some() || new.uid == self.rejected.uid => {
                pod_updated(old, new).to_vec()
            }
            (_, Some(new)) if new.node.is_some() => assigned(Action::ADD),
            (Some(old), None) if old.takes_room() => assigned(Action::DELETE),
            _ => Vec::new(),
        }
    }

    /// What a plugin says to the rejected pod. `None`: it does not wait for the event.
    pub(crate) fn hint(&self, plugin: &str, event: ClusterEvent) -> Option<Result<QueueingHint, HintError>> {
        let object = match &self.changed {
            Changed::Nothing => EventObject::Other,
            Changed::Node(old, new) => EventObject::Node(old.as_ref(), new.as_ref()),
            Changed::Pod(old, new) => EventObject::pods(old.as_ref(), new.as_ref()),
            Changed::Object(old, new) => EventObject::Object(old.as_ref(), new.as_ref()),
        };
        let profile = Pipeline::new(&Handle::default()).expect("plugins that start");
        let at = Pipeline::PLUGINS.iter().position(|of| of.name == plugin)?;
        Interested::of::<Pipeline>(event).hint(&profile, at, &self.rejected, object, &self.cache)
    }
}
