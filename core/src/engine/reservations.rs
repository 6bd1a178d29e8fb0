//! Data that attempts own from Reserve until their pods are bound.

use std::ops::Deref;
use std::sync::Arc;

use slab::Slab;

/// Data of Reserve plugins, by attempt.
pub(crate) struct Reservations<R>(Slab<Reservation<R>>);

/// Identifier of an attempt's data, valid until they are removed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReservationId(usize);

/// Data of Reserve plugins for one pod.
pub(crate) enum Reservation<R> {
    Own(R),
    /// Shared with a task of the binding cycle.
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
        Reservations(Slab::default())
    }
}

impl<R> Reservations<R> {
    pub(crate) fn insert(&mut self, reserved: R) -> ReservationId {
        ReservationId(self.0.insert(Reservation::Own(reserved)))
    }
    pub(crate) fn get(&self, id: ReservationId) -> Option<&R> {
        self.0.get(id.0).map(|reserved| &**reserved)
    }
    /// Returns the data for a task, which may end later than the attempt.
    pub(crate) fn share(&mut self, id: ReservationId) -> Option<Arc<R>> {
        let reservation = self.0.try_remove(id.0)?;
        let reserved = match reservation {
            Reservation::Own(reserved) => Arc::new(reserved),
            Reservation::Shared(reserved) => reserved,
        };
        // The entry gets the slot that has just become free.
        let again = self.0.insert(Reservation::Shared(reserved.clone()));
        debug_assert_eq!(again, id.0);
        Some(reserved)
    }
    pub(crate) fn remove(&mut self, id: ReservationId) -> Option<Reservation<R>> {
        self.0.try_remove(id.0)
    }
}
