//! The queue's calls to the profiles and the cache.

use std::marker::PhantomData;

use crate::engine::Engine;
use crate::engine::bundle::{Bundle, Visitor};
use crate::model::Pod;
use crate::model::cache::Nominator;
use crate::model::cache::{Cache, State};
use crate::plugin_api::events::{ChangedObject, ClusterEvent, ObjectEvent};
use crate::plugin_api::extension_points::{QueuedPod, QueueingHint};
use crate::plugin_api::status::Status;
use crate::profile_api::extenders::{EXTENDER, Extenders};
use crate::profile_api::hints::{InterestedPlugins, PluginSet};
use crate::profile_api::profile::Profile;
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

/// Plugins of a profile that are interested in an event.
pub(super) struct InterestedRejectors {
    interested: InterestedPlugins,
    among: PluginSet,
    /// Whether extenders rejected the pods: every event may help.
    always: bool,
}

impl<B: Bundle> QueueContext for BundleQueueContext<'_, B> {
    type Event = ObjectEvent;
    type Interested = InterestedRejectors;

    fn pre_enqueue(&mut self, profile: usize, pod: &Pod) -> Result<(), Status> {
        self.bundle.with(profile, PreEnqueue { pod, cache: &*self.cache })
    }
    fn timestamp(&mut self, profile: usize, pod: &Pod, timestamp: i64) -> i64 {
        self.bundle.with(profile, Timestamp { pod, timestamp, cache: &*self.cache })
    }
    fn interested(
        &mut self,
        profile: usize,
        plugins: &[&'static str],
        happened: &ObjectEvent,
    ) -> Option<InterestedRejectors> {
        self.bundle.with(profile, FindInterested { plugins, event: happened.event })
    }
    fn hint(
        &mut self,
        profile: usize,
        waiting: &InterestedRejectors,
        pod: &QueuedPod,
        happened: &ObjectEvent,
    ) -> QueueingHint {
        // A pod's own removal never helps the pod itself.
        if matches!(&happened.changed, ChangedObject::Pod(Some(left), None) if left.pod.uid == pod.pod.uid) {
            return QueueingHint::Skip;
        }
        let cache = &*self.cache;
        QueueingHint::queue_if(self.bundle.with(profile, Hint { waiting, pod: &pod.pod, happened, cache }))
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

struct PreEnqueue<'a, S> {
    pod: &'a Pod,
    cache: &'a Cache<S>,
}
impl<S: State> Visitor<S> for PreEnqueue<'_, S> {
    type Output = Result<(), Status>;
    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) -> Self::Output {
        engine.plugins.pre_enqueue(self.pod, self.cache)
    }
}

struct Timestamp<'a, S> {
    pod: &'a Pod,
    timestamp: i64,
    cache: &'a Cache<S>,
}
impl<S: State> Visitor<S> for Timestamp<'_, S> {
    type Output = i64;
    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) -> i64 {
        engine.plugins.timestamp(self.pod, self.timestamp, self.cache)
    }
}

struct FindInterested<'a> {
    plugins: &'a [&'static str],
    event: ClusterEvent,
}
impl<S: State> Visitor<S> for FindInterested<'_> {
    type Output = Option<InterestedRejectors>;
    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) -> Self::Output {
        let interested = InterestedPlugins::of(engine.plugins.plugins(), self.event);
        let among = PluginSet::of(engine.plugins.plugins(), self.plugins.iter().copied()).and(interested.plugins());
        let always = !P::Extenders::NONE && self.plugins.contains(&EXTENDER);
        (always || !among.is_empty()).then_some(InterestedRejectors { interested, among, always })
    }
}

struct Hint<'a, S> {
    waiting: &'a InterestedRejectors,
    pod: &'a Pod,
    happened: &'a ObjectEvent,
    cache: &'a Cache<S>,
}
impl<S: State> Visitor<S> for Hint<'_, S> {
    type Output = bool;
    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) -> bool {
        let InterestedRejectors { interested, among, always } = self.waiting;
        *always || interested.wakes(&*engine.plugins, *among, self.pod, self.happened.changed.as_event(), self.cache)
    }
}
