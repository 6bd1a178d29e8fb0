//! Priorities from priority classes: the Priority admission plugin.

use std::collections::HashMap;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::scheduling::v1::PriorityClass;

use super::{Complaints, check};
use crate::manifests::{Problem, Sourced};

/// The classes that every cluster has.
const SYSTEM: [(&str, i32); 2] = [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];
/// Classes of users are not above this.
const HIGHEST: i32 = 1_000_000_000;

/// The priority classes that there are.
pub(super) struct Classes {
    by_name: HashMap<String, Class>,
    /// The name of the one for pods that name none.
    default: Option<String>,
}

struct Class {
    priority: i32,
    preemption_policy: String,
}

impl Classes {
    /// Takes the classes of the manifests, checked.
    pub(super) fn new(written: &[Sourced<PriorityClass>], problems: &mut Vec<Problem>) -> Classes {
        let system = |(name, priority): (&str, i32)| {
            (name.to_owned(), Class { priority, preemption_policy: "PreemptLowerPriority".to_owned() })
        };
        let mut by_name: HashMap<_, _> = SYSTEM.into_iter().map(system).collect();
        let mut default: Option<String> = None;
        for class in written {
            let name = class.object.metadata.name.as_deref().unwrap_or_default();
            let priority = class.object.value.unwrap_or(0);
            let object = check::name("PriorityClass", &class.object.metadata);
            let mut complaints = Complaints { place: &class.place, object: &object, problems };
            check::metadata(&class.object.metadata, &mut complaints);
            let policy = class.object.preemption_policy.as_deref();
            check::preemption_policy("preemptionPolicy", policy, &mut complaints);
            if name.starts_with("system-") {
                if !SYSTEM.contains(&(name, priority)) {
                    complaints.say("metadata.name", "may not begin with `system-`, which is for the system's own");
                }
            } else if priority > HIGHEST {
                complaints.say("value", format!("is {priority}, but must not be more than {HIGHEST}"));
            }
            if class.object.global_default == Some(true) {
                match &default {
                    Some(other) => {
                        complaints.say("globalDefault", format!("is true, but `{other}` is the default already"));
                    }
                    None => default = Some(name.to_owned()),
                }
            }
            let preemption_policy = policy.unwrap_or("PreemptLowerPriority").to_owned();
            by_name.insert(name.to_owned(), Class { priority, preemption_policy });
        }
        Classes { by_name, default }
    }

    /// Gives a pod its priority. One that is written stays: pods of a running cluster have one, and their class may
    /// not be among the manifests.
    pub(super) fn admit(&self, pod: &mut Pod, complaints: &mut Complaints<'_>) {
        let spec = pod.spec.get_or_insert_default();
        let named = spec.priority_class_name.clone().filter(|name| !name.is_empty());
        let class = match (&named, spec.priority) {
            (None, Some(_)) => None,
            (None, None) => {
                spec.priority_class_name.clone_from(&self.default);
                self.default.as_ref().and_then(|name| self.by_name.get(name))
            }
            (Some(name), priority) => {
                let class = self.by_name.get(name);
                if class.is_none() && priority.is_none() {
                    complaints.say(
                        "spec.priorityClassName",
                        format!("is `{name}`, but there is no such PriorityClass; add it, or set spec.priority"),
                    );
                }
                class
            }
        };
        if let (Some(class), Some(name), Some(priority)) = (class, &named, spec.priority)
            && priority != class.priority
        {
            let expected = class.priority;
            let message =
                format!("is {priority}, but its PriorityClass `{name}` has {expected}; leave spec.priority out");
            complaints.say("spec.priority", message);
        }
        spec.priority = spec.priority.or(class.map(|class| class.priority)).or(Some(0));
        if spec.preemption_policy.as_deref().unwrap_or_default().is_empty() {
            let policy = class.map_or("PreemptLowerPriority", |class| &class.preemption_policy);
            spec.preemption_policy = Some(policy.to_owned());
        }
    }
}
