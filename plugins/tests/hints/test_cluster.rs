//! A cluster that remembers the last change of an object, for hints.

use std::sync::Arc;

use schedc_core::cache::{Cache, PodState};
use schedc_core::engine::{Decision, Engine};
use schedc_core::events::{Action, ClusterEvent, EventObject, EventPod, EventResource, node_updated, pod_updated};
use schedc_core::extension_points::{HintError, QueueingHint};
use schedc_core::handle::Handle;
use schedc_core::hints::{InterestedPlugins, PluginSet};
use schedc_core::model::{Node, Object, Pod};
use schedc_core::profile::Profile;
use schedc_objects::testing;

use crate::hints::scheduler::all::Pipeline;

pub(crate) struct TestCluster {
    cache: Cache<<Pipeline as Profile>::State>,
    engine: Engine<Pipeline>,
    rejected: Arc<Pod>,
    last_change: Changed,
}

/// The result of an attempt.
#[derive(Debug)]
pub(crate) enum Verdict {
    Gated(PluginSet),
    Rejected(PluginSet),
    Fits,
    Broken,
}

enum Changed {
    Nothing,
    Node(Option<Node>, Option<Node>),
    Pod(Option<Pod>, Option<Pod>),
    Object(Option<Object>, Option<Object>),
}

impl TestCluster {
    /// Creates a pending pod in a cluster without objects.
    pub(crate) fn new(rejected: &str) -> TestCluster {
        let mut cache = Cache::default();
        let rejected = Arc::new(testing::pod(rejected, &mut cache.base.interner));
        let engine = Engine::new(&Handle::default()).expect("plugins that start");
        TestCluster { cache, engine, rejected, last_change: Changed::Nothing }
    }

    pub(crate) fn object(&mut self, yaml: &str) {
        let object = testing::object(yaml, &mut self.cache.base.interner);
        self.cache.set_object(object);
    }

    /// Applies a change of an object. Returns its events.
    pub(crate) fn apply(&mut self, resource: EventResource, old: Option<&str>, new: Option<&str>) -> Vec<ClusterEvent> {
        let both = [old, new];
        let interner = &mut self.cache.base.interner;
        let object_event = |resource| {
            let action = match both {
                [None, _] => Action::ADD,
                [_, None] => Action::DELETE,
                _ => Action::UPDATE,
            };
            vec![ClusterEvent::new(resource, action)]
        };
        match resource {
            EventResource::Node => {
                let [old, new] = both.map(|yaml| yaml.map(|yaml| testing::node(yaml, interner)));
                for node in old.iter().chain(&new) {
                    self.cache.set_node(node.clone());
                }
                let events = match (&old, &new) {
                    (Some(old), Some(new)) => node_updated(old, new).to_vec(),
                    (Some(old), None) => {
                        self.cache.remove_node(old.name);
                        object_event(EventResource::Node)
                    }
                    _ => object_event(EventResource::Node),
                };
                self.last_change = Changed::Node(old, new);
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
                // Hints read the current version of the rejected pod.
                if let Some(new) = new.as_ref().filter(|new| new.uid == self.rejected.uid) {
                    self.rejected = Arc::new(new.clone());
                }
                let events = self.pod_events(old.as_ref(), new.as_ref());
                self.last_change = Changed::Pod(old, new);
                events
            }
            resource => {
                let [old, new] = both.map(|yaml| yaml.map(|yaml| testing::object(yaml, interner)));
                old.iter().chain(&new).for_each(|object| self.cache.set_object(object.clone()));
                if let (Some(old), None) = (&old, &new) {
                    self.cache.remove_object(&old.key());
                }
                self.last_change = Changed::Object(old, new);
                object_event(resource)
            }
        }
    }

    /// Returns the events of a change of a pod, which may be another pod or the pending pod itself.
    fn pod_events(&self, old: Option<&Pod>, new: Option<&Pod>) -> Vec<ClusterEvent> {
        let assigned = |action| vec![ClusterEvent::new(EventResource::AssignedPod, action)];
        match (old.map(EventPod::new), new.map(EventPod::new)) {
            (Some(old), Some(new)) if old.node.is_some() || new.uid == self.rejected.uid => {
                pod_updated(old, new).to_vec()
            }
            (_, Some(new)) if new.node.is_some() => assigned(Action::ADD),
            (Some(old), None) if old.occupies_node() => assigned(Action::DELETE),
            _ => Vec::new(),
        }
    }

    /// Returns a plugin's hint for the last change. `None`: the plugin has no registration for the event.
    pub(crate) fn hint(&self, plugin: &str, event: ClusterEvent) -> Option<Result<QueueingHint, HintError>> {
        let at = Pipeline::PLUGINS.iter().position(|of| of.name == plugin)?;
        let interested = InterestedPlugins::of(Pipeline::PLUGINS, event);
        interested.hint(&*self.engine.plugins, at, &self.rejected, self.last_change.object(), &self.cache)
    }

    /// Returns whether the hint of one of these plugins queues the pod.
    pub(crate) fn wakes(&self, rejectors: PluginSet, event: ClusterEvent) -> bool {
        let interested = InterestedPlugins::of(Pipeline::PLUGINS, event);
        interested.wakes(&*self.engine.plugins, rejectors, &self.rejected, self.last_change.object(), &self.cache)
    }

    /// Returns the result of an attempt.
    pub(crate) fn attempt(&mut self) -> Verdict {
        if let Err(status) = self.engine.plugins.pre_enqueue(&self.rejected, &self.cache) {
            return Verdict::Gated(PluginSet::of(Pipeline::PLUGINS, [status.plugin]));
        }
        match self.engine.decide(&self.rejected, &mut self.cache, 0, |_| 0) {
            Decision::Node(_) => Verdict::Fits,
            Decision::Unschedulable(why) => {
                let plugins = &why.diagnosis.unschedulable_plugins;
                Verdict::Rejected(PluginSet::of(Pipeline::PLUGINS, plugins.iter().copied()))
            }
            Decision::Error(_) => Verdict::Broken,
        }
    }
}

impl Changed {
    fn object(&self) -> EventObject<'_> {
        match self {
            Changed::Nothing => EventObject::Other,
            Changed::Node(old, new) => EventObject::Node(old.as_ref(), new.as_ref()),
            Changed::Pod(old, new) => EventObject::pods(old.as_ref(), new.as_ref()),
            Changed::Object(old, new) => EventObject::Object(old.as_ref(), new.as_ref()),
        }
    }
}
