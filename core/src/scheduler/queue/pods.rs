//! Addition, change, removal and activation of pods.

use std::sync::Arc;

use super::entries::{Entry, Slot};
use super::events::{Strategy, cause_of};
use super::{Cause, QueueContext, QueueOrder, QueuePlace, SchedulingQueue};
use crate::model::{Pod, Uid};
use crate::plugin_api::extension_points::QueuedPod;
use crate::plugin_api::status::Status;

/// Update of a pending pod.
#[derive(Debug)]
pub struct PodUpdate<'a, I> {
    /// The pod before the update.
    pub old: &'a Pod,
    /// The pod after the update.
    pub new: Arc<Pod>,
    /// Events that describe the change.
    pub events: I,
}

impl<O: QueueOrder, E> SchedulingQueue<O, E> {
    /// Adds a pending pod; `timestamp` is the default of `QueueContext::timestamp`. A known pod is replaced in its
    /// place; if it is in flight, it is also retried if its attempt fails.
    ///
    /// # Errors
    /// PreEnqueue holds the new pod.
    pub fn add(
        &mut self,
        profile: usize,
        pod: Arc<Pod>,
        timestamp: i64,
        context: &mut impl QueueContext<Event = E>,
        now: i64,
    ) -> Result<(), Status> {
        if let Some(slot) = self.entries.find(&pod.uid) {
            let was_known = !self.entries[slot].gone;
            let old = self.replace_in(slot, pod.clone());
            context.pending(was_known.then_some(&*old), Some(&pod));
            match self.entries[slot].place {
                QueuePlace::InFlight => self.restart(slot, context.timestamp(profile, &pod, timestamp), now),
                _ => context.nominator().updated(&old, &pod),
            }
            return Ok(());
        }
        context.pending(None, Some(&pod));
        let timestamp = context.timestamp(profile, &pod, timestamp);
        let profile = profile as u16;
        let entry = Entry {
            queued: QueuedPod::new(pod.clone(), timestamp),
            ticket: 0,
            ready: i64::MIN,
            since: now,
            profile,
            group: self.unrejected_group(profile),
            at: 0,
            unschedulable: 0,
            errors: 0,
            place: QueuePlace::InFlight,
            flushed: false,
            gone: false,
        };
        let slot = self.entries.insert(entry);
        self.move_to_active(slot, context, Cause::POD_ADD, now)?;
        context.nominator().added(&pod);
        Ok(())
    }

    /// Adds a pod that is already in flight. No pod is in flight twice; instead, it is retried if its attempt fails. If
    /// it was deleted meanwhile, its timestamp and counts are those of a new pod.
    fn restart(&mut self, slot: Slot, timestamp: i64, now: i64) {
        let entry = &mut self.entries[slot];
        if entry.gone {
            entry.gone = false;
            self.gone -= 1;
            (entry.queued.timestamp, entry.queued.attempts) = (timestamp, 0);
            (entry.unschedulable, entry.errors) = (0, 0);
            entry.since = now;
            self.first_ready.remove(&slot);
        }
        self.in_flight.mark_retry(entry.ticket);
    }

    /// Updates a pending pod.
    ///
    /// An unschedulable or gated pod moves according to the hints of its rejectors and its gate for the events; a pod
    /// in flight records the events. An unknown pod is added. If the uid differs, a pod was deleted and another one was
    /// created.
    pub fn update(
        &mut self,
        profile: usize,
        PodUpdate { old, new, events }: PodUpdate<'_, impl IntoIterator<Item = E>>,
        context: &mut impl QueueContext<Event = E>,
        now: i64,
    ) {
        if old.uid != new.uid {
            self.delete(&old.uid, context);
        }
        let Some(slot) = self.find(&new.uid) else {
            // The status of a gated pod is not needed: PreEnqueue runs again later.
            let _held = self.add(profile, new, now, context, now);
            return;
        };
        let known = self.replace_in(slot, new.clone());
        context.pending(Some(&known), Some(&new));
        match self.entries[slot].place {
            QueuePlace::InFlight => {
                let attempt = self.entries[slot].ticket;
                events.into_iter().for_each(|event| self.in_flight.record_own(attempt, event));
                return;
            }
            QueuePlace::Active | QueuePlace::Backoff | QueuePlace::ErrorBackoff => {}
            QueuePlace::Unschedulable | QueuePlace::Gated => {
                for event in events {
                    let strategy = self.strategy_of_parked(slot, &event, context);
                    if strategy == Strategy::Skip {
                        continue;
                    }
                    self.take_out(slot);
                    self.move_by(slot, strategy, context, cause_of(context, &event), now);
                    if !matches!(self.entries[slot].place, QueuePlace::Unschedulable | QueuePlace::Gated) {
                        break;
                    }
                }
            }
        }
        context.nominator().updated(old, &new);
    }

    /// Replaces a pod with the caller's newer version; its place stays. Unknown pods are ignored.
    pub fn replace(&mut self, pod: Arc<Pod>) {
        if let Some(slot) = self.find(&pod.uid) {
            self.replace_in(slot, pod);
        }
    }

    fn replace_in(&mut self, slot: Slot, pod: Arc<Pod>) -> Arc<Pod> {
        let entry = &mut self.entries[slot];
        entry.queued.priority = pod.spec.priority;
        let old = std::mem::replace(&mut entry.queued.pod, pod);
        match entry.place {
            QueuePlace::Active => self.active.update(&mut self.entries, slot),
            QueuePlace::Backoff => self.backoff.update(&mut self.entries, slot),
            QueuePlace::ErrorBackoff | QueuePlace::Unschedulable | QueuePlace::Gated | QueuePlace::InFlight => {}
        }
        old
    }

    /// Removes a pod that was deleted, or bound by another scheduler. Returns whether it was known. A pod in flight
    /// does not return after its attempt.
    pub fn delete(&mut self, uid: &Uid, context: &mut impl QueueContext<Event = E>) -> bool {
        context.nominator().withdraw(uid);
        let Some(slot) = self.find(uid) else { return false };
        context.pending(Some(&self.entries[slot].queued.pod), None);
        if self.entries[slot].place == QueuePlace::InFlight {
            self.entries[slot].gone = true;
            self.gone += 1;
        } else {
            self.take_out(slot);
            self.forget(slot);
        }
        true
    }

    /// Moves a pod to the active queue for a plugin. A pod in flight stays there, and is retried if its attempt fails.
    /// Returns whether it is in the active queue now. It is not if it is in flight or unknown, or if PreEnqueue holds
    /// it.
    pub fn activate(&mut self, uid: &Uid, context: &mut impl QueueContext<Event = E>, now: i64) -> bool {
        let Some(slot) = self.find(uid) else { return false };
        match self.entries[slot].place {
            QueuePlace::Active => true,
            QueuePlace::Backoff | QueuePlace::ErrorBackoff => {
                self.take_out(slot);
                self.push_active(slot, Cause::ForceActivate);
                true
            }
            QueuePlace::Unschedulable | QueuePlace::Gated => {
                self.take_out(slot);
                self.move_to_active(slot, context, Cause::ForceActivate, now).is_ok()
            }
            QueuePlace::InFlight => {
                self.in_flight.mark_retry(self.entries[slot].ticket);
                false
            }
        }
    }
}
