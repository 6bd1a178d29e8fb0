//! What plugins may hold and call: kube-scheduler's framework handle.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::extension_points::Placement;
use crate::model::Uid;

/// A request of a plugin to the scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// The plugin stops holding a pod that waits in Permit.
    Allow {
        /// The waiting pod.
        pod: Uid,
        /// The plugin that made it wait.
        plugin: &'static str,
    },
    /// The plugin rejects a pod that waits in Permit.
    Reject {
        /// The waiting pod.
        pod: Uid,
        /// The plugin that rejects it.
        plugin: &'static str,
        /// Why.
        reason: String,
    },
    /// A parked pod is tried again.
    Activate(Uid),
    /// An event about a pod, for people.
    Event {
        /// The pod.
        pod: Uid,
        /// A word, as in `kubectl get events`.
        reason: &'static str,
        /// A sentence.
        note: String,
    },
}

/// A plugin's way to the scheduler. It has no lifetime and knows no client: what is asked for goes to a mailbox that the
/// scheduler empties before its next step, so that a call from a binding task and one from a cycle behave alike.
///
/// The cluster's state comes with each call as a [`View`](crate::plugin::View), the client with each call that may talk
/// to the cluster.
#[derive(Clone, Debug, Default)]
pub struct Handle {
    mailbox: Arc<Mutex<Vec<Command>>>,
    waiting: Arc<Mutex<Vec<Uid>>>,
    now: Arc<AtomicI64>,
}

impl Handle {
    /// Stops holding a pod that waits because of `plugin`.
    pub fn allow(&self, pod: Uid, plugin: &'static str) {
        self.send(Command::Allow { pod, plugin });
    }
    /// Rejects a pod that waits in Permit.
    pub fn reject(&self, pod: Uid, plugin: &'static str, reason: impl Into<String>) {
        self.send(Command::Reject { pod, plugin, reason: reason.into() });
    }
    /// Tries a parked pod again.
    pub fn activate(&self, pod: Uid) {
        self.send(Command::Activate(pod));
    }
    /// Records an event about a pod.
    pub fn event(&self, pod: Uid, reason: &'static str, note: impl Into<String>) {
        self.send(Command::Event { pod, reason, note: note.into() });
    }
    /// The pods that wait in Permit, as of the last step.
    pub fn waiting_pods(&self) -> Vec<Uid> {
        lock(&self.waiting).clone()
    }
    /// The time, in nanoseconds of the scheduler's clock, as of the last step.
    pub fn now(&self) -> i64 {
        self.now.load(Ordering::Relaxed)
    }

    fn send(&self, command: Command) {
        lock(&self.mailbox).push(command);
    }
    pub(crate) fn drain(&self) -> Vec<Command> {
        std::mem::take(&mut lock(&self.mailbox))
    }
    pub(crate) fn publish_now(&self, now: i64) {
        self.now.store(now, Ordering::Relaxed);
    }
    pub(crate) fn publish_waiting(&self, pods: impl Iterator<Item = Uid>) {
        let mut waiting = lock(&self.waiting);
        waiting.clear();
        waiting.extend(pods);
    }
}

/// Nothing is left half done under these locks, so a panic elsewhere does not spoil what they hold.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A pod that waits in Permit.
#[derive(Clone, Debug)]
pub struct WaitingPod {
    /// Where it shall go.
    pub placement: Placement,
    /// When it began to wait, in nanoseconds of the scheduler's clock.
    pub since: i64,
    /// The plugins that hold it, each with the time when its patience ends, in nanoseconds of the scheduler's clock.
    pub pending: Vec<(&'static str, i64)>,
    /// Who rejected it, and why.
    pub rejected: Option<(&'static str, String)>,
}

/// The pods that wait in Permit, as a Permit plugin sees them.
pub struct WaitingPods<'a> {
    pub(crate) list: &'a mut Vec<WaitingPod>,
    /// The time, in nanoseconds of the scheduler's clock.
    pub now: i64,
}

impl WaitingPods<'_> {
    /// The pods.
    pub fn iter(&self) -> impl Iterator<Item = &WaitingPod> {
        self.list.iter()
    }
    /// `plugin` stops holding a pod.
    pub fn allow(&mut self, pod: &Uid, plugin: &'static str) {
        for waiting in self.list.iter_mut().filter(|w| w.placement.pod.uid == *pod) {
            waiting.pending.retain(|(holder, _)| *holder != plugin);
        }
    }
    /// `plugin` rejects a pod. Too late if all plugins have let go of it.
    pub fn reject(&mut self, pod: &Uid, plugin: &'static str, reason: impl Into<String>) {
        if let Some(waiting) = self.list.iter_mut().find(|w| w.placement.pod.uid == *pod && !w.pending.is_empty()) {
            waiting.rejected.get_or_insert((plugin, reason.into()));
        }
    }
}
