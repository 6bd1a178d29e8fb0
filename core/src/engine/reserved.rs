//! What attempts own from Reserve until their pods are bound.

use std::ops::Deref;
use std::sync::Arc;

use crate::map::Map;
use crate::model::Uid;

/// What Reserve plugins left, by pod.
pub(crate) struct Reservations<R>(Map<Uid, Reservation<R>>);

/// What they left for one pod.
pub(crate) enum Reservation<R> {
    Own(R),
    /// A task of the binding cycle has it, too.
    Shared(Arc<R>),
}

impl<R> Deref for Reservation<R> {
    type Target = R;
    fn deref(&self) -> &R {
        match self {
            Reservation::Own(reserved) => reserved,
            Reservation::Shared(reserved) => reserved,
        }
    }
}

impl<R> Default for Reservations<R> {
    fn default() -> Self {
        Reservations(Map::default())
    }
}

impl<R> Reservations<R> {
    pub(crate) fn insert(&mut self, pod: Uid, reserved: R) {
        self.0.insert(pod, Reservation::Own(reserved));
    }
    pub(crate) fn get(&self, pod: &Uid) -> Option<&R> {
        self.0.get(pod).map(|reserved| &**reserved)
    }
    /// The same for a task, which may end later than the attempt.
    pub(crate) fn share(&mut self, pod: &Uid) -> Option<Arc<R>> {
        let (pod, reservation) = self.0.remove_entry(pod)?;
        let reserved = match reservation {
            Reservation::Own(reserved) => Arc::new(reserved),
            Reservation::Shared(reserved) => reserved,
        };
        self.0.insert(pod, Reservation::Shared(reserved.clone()));
        Some(reserved)
    }
    pub(crate) fn remove(&mut self, pod: &Uid) -> Option<Reservation<R>> {
        self.0.remove(pod)
    }
}
