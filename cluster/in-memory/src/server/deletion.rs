//! Deletion of objects. A running pod has a grace period. All other objects are removed immediately, unless finalizers
//! block their deletion.

use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use schedc_core::client::ApiError;
use schedc_core::model::Uid;
use schedc_objects::{AnyObject, is_finished};

use super::{ApiServer, Key, Response, errors, time, uid_of};

const SECOND: i64 = 1_000_000_000;
/// Default grace period of a pod, in seconds.
const DEFAULT_GRACE: i64 = 30;

/// Pods that are being deleted, by the end of their grace period.
#[derive(Clone, Debug, Default)]
pub(super) struct TerminatingPods(BTreeSet<(i64, Key, Uid)>);

impl ApiServer {
    /// Deletes an object, which must have this uid if one is given. A running pod stays until its grace period ends.
    pub(super) fn delete(&mut self, key: &Key, uid: Option<&Uid>, now: i64) -> Response {
        let old = self.get(key).ok_or_else(|| errors::not_found(key))?;
        check_uid(key, old, uid)?;
        let AnyObject::Pod(pod) = &**old else { return Ok(self.remove_or_hold(key, now)) };
        let grace = self.grace(pod);
        if grace == 0 {
            return Ok(self.remove_or_hold(key, now));
        }
        if pod.metadata.deletion_timestamp.is_some() {
            return Ok(Some(old.clone()));
        }
        let mut terminating_pod = pod.clone();
        let end = now.saturating_add(grace);
        terminating_pod.metadata.deletion_timestamp = Some(time(end));
        terminating_pod.metadata.deletion_grace_period_seconds = Some(grace / SECOND);
        let terminating_pod = self.store.put(key, AnyObject::Pod(terminating_pod));
        self.terminating.0.insert((end, key.clone(), uid_of(&terminating_pod)));
        Ok(Some(terminating_pod))
    }

    /// Schedules the removal of a pod at the end of its grace period, if it has a deletion time.
    pub(super) fn schedule_removal(&mut self, key: &Key, object: &Arc<AnyObject>, now: i64) {
        if let AnyObject::Pod(pod) = &**object
            && pod.metadata.deletion_timestamp.is_some()
        {
            let end = now.saturating_add(self.grace(pod));
            self.terminating.0.insert((end, key.clone(), uid_of(object)));
        }
    }

    /// Returns the time of the next removal of a pod.
    pub fn next_removal(&self) -> Option<i64> {
        self.terminating.0.first().map(|(end, ..)| *end)
    }

    /// Removes the pods whose grace period is over at `now`.
    pub fn tick(&mut self, now: i64) {
        while self.next_removal().is_some_and(|end| end <= now) {
            let Some((_, key, uid)) = self.terminating.0.pop_first() else { return };
            if self.get(&key).is_some_and(|object| uid_of(object) == uid) {
                self.remove_or_hold(&key, now);
            }
        }
    }

    /// Removes an object immediately. If finalizers block this, sets its deletion time instead and returns the object.
    fn remove_or_hold(&mut self, key: &Key, now: i64) -> Option<Arc<AnyObject>> {
        let old = self.get(key)?;
        if !self.options.finalizers_hold || !has_finalizers(old) {
            self.store.remove(key, |_| {});
            return None;
        }
        if old.metadata().deletion_grace_period_seconds == Some(0) {
            return Some(old.clone());
        }
        let mut held = AnyObject::clone(old);
        let metadata = held.metadata_mut();
        metadata.deletion_timestamp.get_or_insert_with(|| time(now));
        metadata.deletion_grace_period_seconds = Some(0);
        Some(self.store.put(key, held))
    }

    /// Removes an updated object if it is being deleted and no longer has finalizers.
    pub(super) fn finalize(&mut self, key: &Key, object: &AnyObject) {
        let metadata = object.metadata();
        let was_held = metadata.deletion_timestamp.is_some() && metadata.deletion_grace_period_seconds == Some(0);
        if self.options.finalizers_hold && was_held && !has_finalizers(object) {
            self.store.remove(key, |_| {});
        }
    }

    /// Returns the grace period of a pod, in nanoseconds; 0 if it has no node or has finished.
    fn grace(&self, pod: &Pod) -> i64 {
        let spec = pod.spec.as_ref();
        let is_on_node = spec.and_then(|spec| spec.node_name.as_ref()).is_some_and(|node| !node.is_empty());
        if !is_on_node || is_finished(pod) {
            return 0;
        }
        match self.options.grace {
            Some(grace) => i64::try_from(grace.as_nanos()).unwrap_or(i64::MAX),
            None => {
                let own = spec.and_then(|spec| spec.termination_grace_period_seconds);
                let seconds = pod.metadata.deletion_grace_period_seconds.or(own).unwrap_or(DEFAULT_GRACE);
                // An API server converts negative numbers in the same way.
                (if seconds < 0 { 1 } else { seconds }).saturating_mul(SECOND)
            }
        }
    }
}

fn has_finalizers(object: &AnyObject) -> bool {
    object.metadata().finalizers.as_ref().is_some_and(|finalizers| !finalizers.is_empty())
}

fn check_uid(key: &Key, object: &AnyObject, wanted: Option<&Uid>) -> Result<(), ApiError> {
    let found = object.metadata().uid.as_deref().unwrap_or_default();
    match wanted {
        Some(uid) if &*uid.0 != found => Err(errors::other_uid(key, &uid.0, found)),
        _ => Ok(()),
    }
}
