//! The event log of a simulation.

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

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Time, in seconds since the start.
    pub at: f64,
    /// Object: `Pod namespace/name`.
    pub object: String,
    /// Event.
    pub what: LogEvent,
    /// Details: the node, the reason, or the cause of a retry.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// Events of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogEvent {
    /// The object was created.
    Created,
    /// The object was updated.
    Changed,
    /// The object was deleted.
    Deleted,
    /// The pod was deleted by preemption.
    Preempted,
    /// A PreEnqueue plugin gates the pod.
    Held,
    /// The pod is unschedulable.
    Unschedulable,
    /// An attempt to place the pod failed with an error.
    Failed,
    /// An event requeued the pod.
    Woken,
    /// The pod was bound to its node.
    Bound,
}

/// Recorder of log lines.
#[derive(Default)]
pub(super) struct Log {
    pub(super) lines: Vec<Line>,
    /// Pods without a node, with their last state.
    pods: BTreeMap<Uid, Waiting>,
}

struct Waiting {
    name: String,
    pod: Arc<AnyObject>,
    /// Whether the queue has the pod as unschedulable or gated.
    is_parked: bool,
}

impl Log {
    fn line(&mut self, now: i64, object: impl Into<String>, what: LogEvent, message: impl Into<String>) {
        self.lines.push(Line { at: Span(now).seconds(), object: object.into(), what, message: message.into() });
    }

    /// Records a change of an object. `by` is the preemptor, if the change is a preemption.
    pub(super) fn changed(&mut self, now: i64, change: &Change, by: Option<&str>) {
        let name = Reference::of(&change.object).to_string();
        let AnyObject::Pod(pod) = &*change.object else {
            let what = match change.kind {
                ChangeKind::Added => LogEvent::Created,
                ChangeKind::Modified => LogEvent::Changed,
                ChangeKind::Deleted => LogEvent::Deleted,
            };
            // Initial objects are not logged.
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
                } else if before.is_some_and(|before| has_other_spec(before, pod)) {
                    self.line(now, &name, LogEvent::Changed, "");
                }
                let is_parked = waiting.is_some_and(|waiting| waiting.is_parked);
                self.pods.insert(uid, Waiting { name, pod: change.object.clone(), is_parked });
            }
        }
    }

    /// Records the outcome of an attempt.
    pub(super) fn outcome(&mut self, now: i64, outcome: &Outcome, nominated_node: Option<&str>, victims: &[String]) {
        let Err(failure) = &outcome.result else { return };
        let what = match failure {
            Failure::Unschedulable(_) => LogEvent::Unschedulable,
            Failure::Error(_) => LogEvent::Failed,
        };
        let name = format!("Pod {}", outcome.pod.namespaced_name());
        let nomination = match (nominated_node, victims) {
            (Some(node), []) => format!(" Its nominated node remains {node}."),
            (Some(node), victims) => {
                format!(" Its nominated node is {node}, where {} will be preempted.", victims.join(", "))
            }
            (None, _) => String::new(),
        };
        self.line(now, name, what, format!("{}{nomination}", failure.message()));
    }

    /// Records which pods are parked (unschedulable or gated), before the scheduler receives a change.
    pub(super) fn before_change(&mut self, scheduler: &dyn AnyScheduler) {
        for (uid, waiting) in &mut self.pods {
            waiting.is_parked = matches!(scheduler.place(uid), Some(QueuePlace::Unschedulable | QueuePlace::Gated));
        }
    }

    /// Logs a change, after the scheduler received it.
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
                (true, false) => {
                    lines.push((waiting.name.clone(), LogEvent::Woken, format!("because {by} was {verb}")))
                }
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

/// Returns whether the labels or the spec of a pod, apart from its node, have changed.
fn has_other_spec(before: &AnyObject, pod: &Pod) -> bool {
    let AnyObject::Pod(before) = before else { return true };
    let spec = |spec: &Option<PodSpec>| spec.clone().map(|spec| PodSpec { node_name: None, ..spec });
    (&before.metadata.labels, spec(&before.spec)) != (&pod.metadata.labels, spec(&pod.spec))
}
