//! Delivery of changes to the scheduler.

use std::sync::Arc;

use schedc_core::model::PodSpec;
use schedc_core::scheduler::{Change, ObjectId};
use schedc_in_memory::server::{self, ChangeKind};
use schedc_in_memory::watch::scheduler_change;
use schedc_objects::{AnyObject, upsert_change};

use crate::cluster::UndeliveredChange;
use crate::history::Stream;
use crate::injected_bugs::InjectedBug;
use crate::simulation::{Simulation, Spawner};

impl Simulation {
    /// Delivers the next change of a stream. Returns whether there was one.
    pub(crate) fn deliver(&mut self, stream: Stream) -> bool {
        let Some(UndeliveredChange { change, attempts }) =
            self.cluster.watches[stream as usize].undelivered.pop_front()
        else {
            return false;
        };
        if attempts < self.attempts {
            self.counts.add("fault", "change delivered late");
        }
        let others = self.cluster.watches.iter().filter_map(|watch| watch.undelivered.front());
        if others.into_iter().any(|undelivered| undelivered.change.version < change.version) {
            self.counts.add("fault", "change delivered before an earlier one of another kind");
        }
        self.deliver_change(&change);
        self.cluster.watches[stream as usize].last = Some(change);
        true
    }

    pub(crate) fn deliver_change(&mut self, change: &server::Change) {
        let before = (self.delivered.nodes.len(), self.delivered.bound());
        match change.kind {
            ChangeKind::Added | ChangeKind::Modified => self.delivered.set(&change.object),
            ChangeKind::Deleted => self.delivered.remove(&change.object),
        }
        // Pods that a plugin without event registrations rejected are requeued by new nodes, and by pods that get or
        // lose a node.
        if self.delivered.nodes.len() > before.0 || self.delivered.bound() != before.1 {
            self.waking_events += 1;
        }
        self.forget_finished_bindings();
        let translated = scheduler_change(change, &mut self.scheduler.cache.base.interner);
        let Some(delivered) = translated.and_then(|delivered| self.inject_bug(delivered, change)) else { return };
        self.scheduler.on_change(delivered, &mut Spawner(&mut self.executor));
        // Strings are freed far more often than by a scheduler in a cluster, to find strings that are freed while in
        // use. The work is split into parts of several sizes, so that changes, decisions and responses happen between
        // parts.
        match change.version % 4 {
            0 => self.scheduler.free_unused_strings_now(),
            size => self.scheduler.free_some_unused_strings(32 * size as usize),
        }
        self.note_shared_ports();
    }

    /// Lists a stream again.
    pub(crate) fn list(&mut self, stream: Stream) {
        let objects = self.cluster.list(stream);
        self.delivered.list(stream.kind(), objects.iter().map(|object| &**object));
        self.forget_finished_bindings();
        let watch = &mut self.cluster.watches[stream as usize];
        watch.undelivered.clear();
        watch.broken = false;
        watch.last = None;
        self.list_to_scheduler(stream);
        self.note_shared_ports();
    }

    /// Delivers all objects of a stream to the scheduler.
    pub(crate) fn list_to_scheduler(&mut self, stream: Stream) {
        let objects = self.cluster.list(stream);
        let interner = &mut self.scheduler.cache.base.interner;
        let list = objects.iter().filter_map(|object| upsert_change(object, interner));
        // A finished pod counts as missing.
        let list = list.filter(|change| !change.is_removal()).collect();
        let has_kind = |id: &ObjectId| match (id, stream) {
            (ObjectId::Node(_), Stream::Nodes) | (ObjectId::Pod(_), Stream::Pods) => true,
            (_, Stream::Nodes | Stream::Pods) | (ObjectId::Node(_) | ObjectId::Pod(_), _) => false,
            (ObjectId::Object(key), stream) => key.kind == stream.model_kind(),
        };
        self.scheduler.relist(list, has_kind, &mut Spawner(&mut self.executor));
    }

    /// Returns a change as the scheduler receives it. An injected bug may falsify it, or hide it (`None`).
    fn inject_bug(&mut self, delivered: Change, change: &server::Change) -> Option<Change> {
        match (self.bug, &delivered) {
            (Some(InjectedBug::MissedPodCreation), Change::Pod(pod)) if pod.spec.node_name.is_none() => {
                let is_added = change.kind == ChangeKind::Added;
                (!(is_added && self.bug_strikes())).then_some(delivered)
            }
            (Some(InjectedBug::MissedPodDeletion), Change::PodDeleted(_)) => (!self.bug_strikes()).then_some(delivered),
            (Some(InjectedBug::MissedBinding), Change::Pod(pod)) if pod.spec.node_name.is_some() && !pod.deleting => {
                (!self.bug_strikes()).then_some(delivered)
            }
            (Some(InjectedBug::WrongNode), Change::Pod(pod)) if pod.spec.node_name.is_some() => {
                let mut pod = pod.clone();
                let mut spec = PodSpec::clone(&pod.spec);
                spec.node_name = Some(self.scheduler.cache.base.interner.intern("elsewhere"));
                pod.spec = Arc::new(spec);
                Some(Change::Pod(pod))
            }
            (Some(InjectedBug::MissedNodeUpdate), Change::Node(_)) if change.kind == ChangeKind::Modified => {
                (!self.bug_strikes()).then_some(delivered)
            }
            (Some(InjectedBug::SilentNodeUpdate | InjectedBug::UncheckedNodeUpdate), Change::Node(node)) => {
                self.scheduler.cache.set_node(node.clone());
                None
            }
            (Some(InjectedBug::StaleSliceGeneration), _) if matches!(*change.object, AnyObject::ResourceSlice(_)) => {
                let is_added = change.kind == ChangeKind::Added;
                (!(is_added && self.bug_strikes())).then_some(delivered)
            }
            _ => Some(delivered),
        }
    }
}
