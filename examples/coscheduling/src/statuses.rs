//! Keeps the status of groups: a task beside the scheduler, for what the community's plugin has a controller.

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

/// For how long nothing is written after a write failed.
const PAUSE: Duration = Duration::from_secs(1);

/// Writes what becomes of groups into their objects, as long as there is a scheduler.
pub(crate) async fn keep_statuses(client: BackgroundClient) {
    let mut watch = client.watch(StatusUpdate::of);
    let mut groups = Groups::default();
    // Groups whose status may say something else than is so.
    let mut behind = BTreeSet::new();
    loop {
        if behind.is_empty() {
            behind.extend(groups.apply(watch.next().await));
        }
        // What happened while something was written is written together.
        while let Some(update) = watch.try_next() {
            behind.extend(groups.apply(update));
        }
        for name in take(&mut behind) {
            let Some((object, patch)) = groups.patch(&name) else { continue };
            match client.patch_status(&object, &patch).await.map_err(|error| error.reason) {
                Ok(_) => groups.record_write(&name),
                // It went, which the watch tells, or cannot be written here.
                Err(ApiReason::NotFound | ApiReason::Invalid | ApiReason::Unsupported) => {}
                Err(_) => {
                    behind.insert(name);
                }
            }
        }
        if !behind.is_empty() {
            client.sleep(PAUSE).await;
        }
    }
}

/// Namespace and name of a group.
type Name = (Arc<str>, Arc<str>);

/// What the task is told.
enum StatusUpdate {
    /// How a group is described now, if it is.
    Group(Name, Option<ObservedGroup>),
    /// For which group a pod counts now, if for any: one that has a node.
    Pod(Uid, Option<Name>),
}

/// The object that describes a group.
struct ObservedGroup {
    object: ObjectRef,
    uid: Uid,
    min_member: usize,
    status: Status,
}

/// What its status says.
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

/// Pods of other schedulers count, too: the object is theirs as well.
fn group_of(PodOnNode { pod, .. }: &PodOnNode, base: &Base) -> Option<Name> {
    let name = pod.spec.labels.value(base.interner.get(POD_GROUP)?)?;
    (!pod.deleting).then(|| (pod.namespace.clone(), base.interner.resolve(name).into()))
}

impl ObservedGroup {
    /// `None`: nobody can make sense of it.
    fn of(custom: &Custom, object: ObjectRef) -> Option<ObservedGroup> {
        let min_member = PodGroup::deserialize(&custom.manifest).ok()?.spec.min_member;
        let status = custom.manifest.get("status").map(Status::deserialize);
        let status = status.and_then(Result::ok).unwrap_or_default();
        Some(ObservedGroup { object, uid: custom.uid.clone(), min_member, status })
    }
}

/// What the task knows.
#[derive(Default)]
struct Groups {
    observed: BTreeMap<Name, ObservedGroup>,
    /// The pods that have a node.
    pods: BTreeMap<Name, BTreeSet<Uid>>,
    group_of: BTreeMap<Uid, Name>,
}

impl Groups {
    /// Takes news in. Returns the groups that they are about.
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

    /// What is so.
    fn status(&self, name: &Name, observed: &ObservedGroup) -> Status {
        let scheduled = self.pods.get(name).map_or(0, BTreeSet::len);
        let phase = match scheduled {
            enough if enough >= observed.min_member => "Scheduled",
            0 => "Pending",
            _ => "Scheduling",
        };
        Status { phase: phase.to_owned(), scheduled }
    }

    /// What is to be written for a group, if its object says something else.
    fn patch(&self, name: &Name) -> Option<(ObjectRef, Value)> {
        let observed = self.observed.get(name)?;
        let Status { phase, scheduled } = self.status(name, observed);
        let is_news = observed.status.phase != phase || observed.status.scheduled != scheduled;
        let patch = json!({
            "metadata": {"uid": &*observed.uid.0},
            "status": {"phase": phase, "scheduled": scheduled},
        });
        is_news.then(|| (observed.object.clone(), patch))
    }

    /// That was written.
    fn record_write(&mut self, name: &Name) {
        let Some(observed) = self.observed.get(name) else { return };
        let status = self.status(name, observed);
        if let Some(observed) = self.observed.get_mut(name) {
            observed.status = status;
        }
    }
}
