//! Background task that updates the status of groups. scheduler-plugins has a controller for this work.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

use schedc_core::background::BackgroundClient;
use schedc_core::cache::Base;
use schedc_core::client::{ApiReason, Client, ObjectRef};
use schedc_core::custom::CustomResource;
use schedc_core::events::{ChangedObject, ObjectEvent, PodOnNode};
use schedc_core::model::{Custom, LabelsExt, Object, Uid};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::group::{POD_GROUP, PodGroup};

/// Pause after a failed write.
const PAUSE: Duration = Duration::from_secs(1);

/// Writes the status of groups until the scheduler stops.
pub(crate) async fn keep_statuses(client: BackgroundClient) {
    let mut watch = client.watch(StatusUpdate::of);
    let mut groups = Groups::default();
    // Groups whose status may be outdated.
    let mut outdated = BTreeSet::new();
    loop {
        if outdated.is_empty() {
            outdated.extend(groups.apply(watch.next().await));
        }
        // Changes during a write are written together.
        while let Some(update) = watch.try_next() {
            outdated.extend(groups.apply(update));
        }
        for name in take(&mut outdated) {
            let Some((object, patch)) = groups.patch(&name) else { continue };
            match client.patch_status(&object, &patch).await.map_err(|error| error.reason) {
                Ok(_) => groups.record_write(&name),
                // The object was deleted, as the watch will report, or cannot be written.
                Err(ApiReason::NotFound | ApiReason::Invalid | ApiReason::Unsupported) => {}
                Err(_) => {
                    outdated.insert(name);
                }
            }
        }
        if !outdated.is_empty() {
            client.sleep(PAUSE).await;
        }
    }
}

/// Namespace and name of a group.
type Name = (Arc<str>, Arc<str>);

/// A change for the task.
enum StatusUpdate {
    /// The object of a group, if it exists.
    Group(Name, Option<ObservedGroup>),
    /// The group of a pod with a node. `None`: the pod is in no group, or no longer counts because it is deleted or
    /// terminates.
    Pod(Uid, Option<Name>),
}

/// State of the object that describes a group.
struct ObservedGroup {
    object: ObjectRef,
    uid: Uid,
    min_member: usize,
    status: Status,
}

/// Status in the object.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Status {
    phase: String,
    scheduled: usize,
}

impl StatusUpdate {
    fn of(happened: &ObjectEvent, base: &Base) -> Option<StatusUpdate> {
        match &happened.changed {
            ChangedObject::Pod(old, new) => {
                let pod = &new.as_ref().or(old.as_ref())?.pod;
                let [before, now] = [old, new].map(|pod| group_of(pod.as_ref()?, base));
                (before.is_some() || now.is_some()).then(|| StatusUpdate::Pod(pod.uid.clone(), now))
            }
            ChangedObject::Object(old, new) => {
                let custom = new.as_ref().or(old.as_ref())?.custom()?;
                let object = custom.reference(&base.interner);
                let name = (object.namespace.clone(), object.name.clone());
                let is_group = custom.kind.name == PodGroup::RESOURCE;
                let observed = new.as_ref().and_then(Object::custom).and_then(|new| ObservedGroup::of(new, object));
                is_group.then_some(StatusUpdate::Group(name, observed))
            }
            ChangedObject::Node(..) => None,
        }
    }
}

/// Returns the name of a pod's group. Pods of other schedulers count, too, because they share the group's object.
fn group_of(PodOnNode { pod, .. }: &PodOnNode, base: &Base) -> Option<Name> {
    let name = pod.spec.labels.value(base.interner.get(POD_GROUP)?)?;
    (!pod.deleting).then(|| (pod.namespace.clone(), base.interner.resolve(name).into()))
}

impl ObservedGroup {
    /// Returns `None` if the content is invalid.
    fn of(custom: &Custom, object: ObjectRef) -> Option<ObservedGroup> {
        let min_member = PodGroup::deserialize(&custom.manifest).ok()?.spec.min_member;
        let status = custom.manifest.get("status").map(Status::deserialize);
        let status = status.and_then(Result::ok).unwrap_or_default();
        Some(ObservedGroup { object, uid: custom.uid.clone(), min_member, status })
    }
}

/// State of the task.
#[derive(Default)]
struct Groups {
    observed: BTreeMap<Name, ObservedGroup>,
    /// Pods with a node, by group.
    pods: BTreeMap<Name, BTreeSet<Uid>>,
    group_of: BTreeMap<Uid, Name>,
}

impl Groups {
    /// Applies a change. Returns the affected groups.
    fn apply(&mut self, update: StatusUpdate) -> Vec<Name> {
        match update {
            StatusUpdate::Group(name, observed) => {
                match observed {
                    Some(observed) => self.observed.insert(name.clone(), observed),
                    None => self.observed.remove(&name),
                };
                vec![name]
            }
            StatusUpdate::Pod(uid, now) => {
                let before = self.group_of.remove(&uid);
                if let Some(before) = &before
                    && let Some(pods) = self.pods.get_mut(before)
                {
                    pods.remove(&uid);
                    if pods.is_empty() {
                        self.pods.remove(before);
                    }
                }
                if let Some(now) = &now {
                    self.pods.entry(now.clone()).or_default().insert(uid.clone());
                    self.group_of.insert(uid, now.clone());
                }
                before.into_iter().chain(now).collect()
            }
        }
    }

    /// Returns the current status of a group.
    fn status(&self, name: &Name, observed: &ObservedGroup) -> Status {
        let scheduled = self.pods.get(name).map_or(0, BTreeSet::len);
        let phase = match scheduled {
            enough if enough >= observed.min_member => "Scheduled",
            0 => "Pending",
            _ => "Scheduling",
        };
        Status { phase: phase.to_owned(), scheduled }
    }

    /// Returns the patch for a group whose status is out of date.
    fn patch(&self, name: &Name) -> Option<(ObjectRef, Value)> {
        let observed = self.observed.get(name)?;
        let Status { phase, scheduled } = self.status(name, observed);
        let is_outdated = observed.status.phase != phase || observed.status.scheduled != scheduled;
        let patch = json!({
            "metadata": {"uid": &*observed.uid.0},
            "status": {"phase": phase, "scheduled": scheduled},
        });
        is_outdated.then(|| (observed.object.clone(), patch))
    }

    /// Records that the current status was written.
    fn record_write(&mut self, name: &Name) {
        let Some(observed) = self.observed.get(name) else { return };
        let status = self.status(name, observed);
        if let Some(observed) = self.observed.get_mut(name) {
            observed.status = status;
        }
    }
}
