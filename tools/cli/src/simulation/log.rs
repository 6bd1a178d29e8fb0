//! A line for each thing that happens.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Pod, PodSpec};
use schedc_core::erased::AnyScheduler;
use schedc_core::model::Uid;
use schedc_core::queue::QueuePlace;
use schedc_core::scheduler::{Failure, Outcome};
use schedc_in_memory::server::{Change, ChangeKind};
use schedc_objects::AnyObject;
use serde::Serialize;

use crate::timeline::{Reference, Span};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// When, in seconds since the start.
    pub at: f64,
    /// To whom: `Pod namespace/name`.
    pub object: String,
    /// What.
    pub what: LogEvent,
    /// More of it: the node, the reason, what woke the pod.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// What may happen to objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogEvent {
    /// It comes.
    Created,
    /// It changes.
    Changed,
    /// It goes.
    Deleted,
    /// It goes, since another pod needs the room.
    Preempted,
    /// A PreEnqueue plugin holds the pod back.
    Held,
    /// The pod fits nowhere, or a plugin rejects it.
    Unschedulable,
    /// An attempt to place the pod broke.
    Failed,
    /// The pod will be tried again.
    Woken,
    /// The pod is on its node.
    Bound,
}

/// What is written down while time passes.
#[derive(Default)]
pub(super) struct Log {
    pub(super) lines: Vec<Line>,
    /// Pods without a node, as they were last.
    pods: BTreeMap<Uid, Waiting>,
}

struct Waiting {
    name: String,
    pod: Arc<AnyObject>,
    is_parked: bool,
}

impl Log {
    fn line(&mut self, now: i64, object: impl Into<String>, what: LogEvent, message: impl Into<String>) {
        self.lines.push(Line { at: Span(now).seconds(), object: object.into(), what, message: message.into() });
    }

    /// Something changed. `by` is the pod for which a pod had to go.
    pub(super) fn changed(&mut self, now: i64, change: &Change, by: Option<&str>) {
        let name = Reference::of(&change.object).to_string();
        let AnyObject::Pod(pod) = &*change.object else {
            let what = match change.kind {
                ChangeKind::Added => LogEvent::Created,
                ChangeKind::Modified => LogEvent::Changed,
                ChangeKind::Deleted => LogEvent::Deleted,
            };
            // What is there from the start is not news.
            if now > 0 {
                self.line(now, name, what, "");
            }
            return;
        };
        let uid = Uid(pod.metadata.uid.as_deref().unwrap_or_default().into());
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).filter(|node| !node.is_empty());
        let waiting = self.pods.remove(&uid);
        match (change.kind, node, waiting) {
            (ChangeKind::Deleted, ..) => match by {
                Some(by) => self.line(now, name, LogEvent::Preempted, format!("by Pod {by}")),
                None => self.line(now, name, LogEvent::Deleted, ""),
            },
            (ChangeKind::Modified, Some(node), Some(_)) => self.line(now, name, LogEvent::Bound, format!("to {node}")),
            (ChangeKind::Added, Some(node), _) if now > 0 => {
                self.line(now, name, LogEvent::Created, format!("on {node}"))
            }
            (_, Some(_), _) => {}
            (kind, None, waiting) => {
                let before = waiting.as_ref().map(|waiting| &*waiting.pod);
                if kind == ChangeKind::Added {
                    self.line(now, &name, LogEvent::Created, "");
                } else if before.is_some_and(|before| is_other(before, pod)) {
                    self.line(now, &name, LogEvent::Changed, "");
                }
                let is_parked = waiting.is_some_and(|waiting| waiting.is_parked);
                self.pods.insert(uid, Waiting { name, pod: change.object.clone(), is_parked });
            }
        }
    }

    /// An attempt came to its end.
    pub(super) fn outcome(&mut self, now: i64, outcome: &Outcome, nominated_node: Option<&str>, victims: &[String]) {
        let Err(failure) = &outcome.result else { return };
        let what = match failure {
            Failure::Unschedulable(_) => LogEvent::Unschedulable,
            Failure::Error(_) => LogEvent::Failed,
        };
        let name = format!("Pod {}", outcome.pod.namespaced_name());
        let room = match (nominated_node, victims) {
            (Some(node), []) => format!(" Room is kept on {node}."),
            (Some(node), victims) => format!(" Room is made on {node}: {} must go.", victims.join(", ")),
            (None, _) => String::new(),
        };
        self.line(now, name, what, format!("{}{room}", failure.message()));
    }

    /// The scheduler is about to be told of something.
    pub(super) fn before_change(&mut self, scheduler: &dyn AnyScheduler) {
        for (uid, waiting) in &mut self.pods {
            waiting.is_parked = matches!(scheduler.place(uid), Some(QueuePlace::Unschedulable | QueuePlace::Gated));
        }
    }

    /// The scheduler was told.
    pub(super) fn after_change(&mut self, now: i64, change: &Change, scheduler: &mut dyn AnyScheduler) {
        let by = Reference::of(&change.object);
        let verb = match change.kind {
            ChangeKind::Added => "created",
            ChangeKind::Modified => "changed",
            ChangeKind::Deleted => "deleted",
        };
        let mut lines = Vec::new();
        for (uid, waiting) in &self.pods {
            let is_parked = matches!(scheduler.place(uid), Some(QueuePlace::Unschedulable | QueuePlace::Gated));
            match (waiting.is_parked, is_parked) {
                (true, false) => lines.push((waiting.name.clone(), LogEvent::Woken, format!("since {by} was {verb}"))),
                (false, true) => {
                    let held = scheduler.gate_status(uid).map(|status| status.message());
                    lines.extend(held.map(|message| (waiting.name.clone(), LogEvent::Held, message)));
                }
                _ => {}
            }
        }
        for (object, what, message) in lines {
            self.line(now, object, what, message);
        }
    }
}

/// Whether a pod is different by more than what is said of it.
fn is_other(before: &AnyObject, pod: &Pod) -> bool {
    let AnyObject::Pod(before) = before else { return true };
    let spec = |spec: &Option<PodSpec>| spec.clone().map(|spec| PodSpec { node_name: None, ..spec });
    (&before.metadata.labels, spec(&before.spec)) != (&pod.metadata.labels, spec(&pod.spec))
}
