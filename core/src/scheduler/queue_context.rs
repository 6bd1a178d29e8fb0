//! The queue's calls to the profiles and the cache.

use std::marker::PhantomData;

use crate::engine::bundle::{Bundle, with_profile};
use crate::model::Pod;
use crate::model::cache::Nominator;
use crate::model::cache::{Cache, State};
use crate::plugin_api::events::{ChangedObject, ClusterEvent, ObjectEvent};
use crate::plugin_api::extension_points::{QueuedPod, QueueingHint};
use crate::plugin_api::status::Status;
use crate::profile_api::extenders::{EXTENDER, Extenders};
use crate::profile_api::hints::{InterestedPlugins, PluginSet};
use crate::scheduler::queue::{Cause, QueueContext, QueueOrder};

/// QueueSort, which all profiles of a program share.
pub(super) struct BundleOrder<B>(PhantomData<B>);
impl<B: Bundle> QueueOrder for BundleOrder<B> {
    fn less(a: &QueuedPod, b: &QueuedPod) -> bool {
        B::less(a, b)
    }
}

pub(super) struct BundleQueueContext<'a, B: Bundle> {
    pub(super) bundle: &'a mut B,
    pub(super) cache: &'a mut Cache<B::State>,
}

/// Plugins that rejected the same pods, and that are interested in an event.
pub(super) struct InterestedRejectors {
    interested: InterestedPlugins,
    rejectors: PluginSet,
    /// Whether extenders rejected the pods: every event may help.
    always: bool,
}

impl<B: Bundle> QueueContext for BundleQueueContext<'_, B> {
    type Event = ObjectEvent;
    type Interested = InterestedRejectors;

    fn pre_enqueue(&mut self, profile: usize, pod: &Pod) -> Result<(), Status> {
        with_profile!(
            self.bundle,
            profile,
            fn(engine, pod: &Pod = pod, cache: &Cache<S> = &*self.cache) -> Result<(), Status> {
                engine.plugins.pre_enqueue(pod, cache)
            }
        )
    }
    fn timestamp(&mut self, profile: usize, pod: &Pod, timestamp: i64) -> i64 {
        with_profile!(
            self.bundle,
            profile,
            fn(engine, pod: &Pod = pod, cache: &Cache<S> = &*self.cache, timestamp: i64 = timestamp) -> i64 {
                engine.plugins.timestamp(pod, timestamp, cache)
            }
        )
    }
    fn interested(
        &mut self,
        profile: usize,
        plugins: &[&'static str],
        happened: &ObjectEvent,
    ) -> Option<InterestedRejectors> {
        with_profile!(
            self.bundle,
            profile,
            fn(
                engine,
                plugins: &[&'static str] = plugins,
                event: ClusterEvent = happened.event,
            ) -> Option<InterestedRejectors> {
                let interested = InterestedPlugins::of(engine.plugins.plugins(), event);
                let rejectors = PluginSet::of(engine.plugins.plugins(), plugins.iter().copied()).and(interested.plugins());
                let always = !P::Extenders::NONE && plugins.contains(&EXTENDER);
                (always || !rejectors.is_empty()).then_some(InterestedRejectors { interested, rejectors, always })
            }
        )
    }
    fn hint(
        &mut self,
        profile: usize,
        interested_rejectors: &InterestedRejectors,
        pod: &QueuedPod,
        happened: &ObjectEvent,
    ) -> QueueingHint {
        // A pod's own removal never helps the pod itself.
        if matches!(&happened.changed, ChangedObject::Pod(Some(removed), None) if removed.pod.uid == pod.pod.uid) {
            return QueueingHint::Skip;
        }
        QueueingHint::queue_if(with_profile!(
            self.bundle,
            profile,
            fn(
                engine,
                interested_rejectors: &InterestedRejectors = interested_rejectors,
                pod: &Pod = &*pod.pod,
                happened: &ObjectEvent = happened,
                cache: &Cache<S> = &*self.cache,
            ) -> bool {
                let InterestedRejectors { interested, rejectors, always } = interested_rejectors;
                *always || interested.wakes(&*engine.plugins, *rejectors, pod, happened.changed.as_event(), cache)
            }
        ))
    }
    fn cause(happened: &ObjectEvent) -> Cause {
        Cause::Event(happened.event)
    }
    fn nominator(&mut self) -> &mut Nominator {
        &mut self.cache.nominator
    }
    fn pending(&mut self, old: Option<&Pod>, new: Option<&Pod>) {
        self.cache.state.set_pending(old, new);
    }
}
