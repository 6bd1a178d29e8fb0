//! Priorities of pods from priority classes: the Priority admission plugin.

use std::collections::HashMap;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::scheduling::v1::PriorityClass;

use super::{ProblemReporter, check};

/// Built-in classes of every cluster.
const SYSTEM: [(&str, i32); 2] = [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];
/// Maximum value of user-defined classes.
const HIGHEST: i32 = 1_000_000_000;

#[derive(Clone, Debug)]
pub(super) struct Classes {
    by_name: HashMap<String, Class>,
    /// Name of the class for pods that name none.
    default: Option<String>,
}

#[derive(Clone, Debug)]
struct Class {
    priority: i32,
    preemption_policy: String,
}

impl Default for Classes {
    fn default() -> Classes {
        let system = |(name, priority): (&str, i32)| {
            (name.to_owned(), Class { priority, preemption_policy: "PreemptLowerPriority".to_owned() })
        };
        Classes { by_name: SYSTEM.into_iter().map(system).collect(), default: None }
    }
}

impl Classes {
    /// Adds or updates a class, and checks it.
    pub(super) fn set(&mut self, class: &PriorityClass, reporter: &mut ProblemReporter<'_>) {
        let name = class.metadata.name.as_deref().unwrap_or_default();
        let priority = class.value.unwrap_or(0);
        check::metadata(&class.metadata, reporter);
        let policy = class.preemption_policy.as_deref();
        check::preemption_policy("preemptionPolicy", policy, reporter);
        if name.starts_with("system-") {
            match SYSTEM.iter().find(|(system, _)| *system == name) {
                None => reporter
                    .report("metadata.name", "may not begin with `system-`, which is reserved for built-in classes"),
                Some((_, expected)) if priority != *expected => {
                    reporter.report("value", format!("is {priority}, but the built-in class has {expected}"));
                }
                Some(_) if class.global_default == Some(true) => {
                    reporter.report("globalDefault", "is true, but the built-in class is not the default");
                }
                Some(_) => {}
            }
        } else if priority > HIGHEST {
            reporter.report("value", format!("is {priority}, but must not be more than {HIGHEST}"));
        }
        self.default.take_if(|default| default == name);
        match (&self.default, class.global_default) {
            (Some(other), Some(true)) => {
                reporter.report("globalDefault", format!("is true, but `{other}` is the default already"));
            }
            (None, Some(true)) => self.default = Some(name.to_owned()),
            _ => {}
        }
        let preemption_policy = policy.unwrap_or("PreemptLowerPriority").to_owned();
        self.by_name.insert(name.to_owned(), Class { priority, preemption_policy });
    }

    /// Removes a class, unless it is built in.
    pub(super) fn remove(&mut self, name: &str) {
        if !SYSTEM.iter().any(|(system, _)| *system == name) {
            self.by_name.remove(name);
        }
        self.default.take_if(|default| default == name);
    }

    /// Sets the priority class name, the priority and the preemption policy of a pod that omits them. Reports values
    /// that differ from those of the pod's class. An explicit priority is valid without its class: pods of a running
    /// cluster have a priority, and their class may be missing in the manifests.
    pub(super) fn admit(&self, pod: &mut Pod, reporter: &mut ProblemReporter<'_>) {
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
                    reporter.report(
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
            reporter.report("spec.priority", message);
        }
        let policy = spec.preemption_policy.as_deref().filter(|policy| !policy.is_empty());
        if let (Some(class), Some(name), Some(policy)) = (class, &named, policy)
            && policy != class.preemption_policy
        {
            let expected = &class.preemption_policy;
            let message = format!(
                "is `{policy}`, but its PriorityClass `{name}` has `{expected}`; leave spec.preemptionPolicy out"
            );
            reporter.report("spec.preemptionPolicy", message);
        }
        spec.priority = spec.priority.or(class.map(|class| class.priority)).or(Some(0));
        if spec.preemption_policy.as_deref().unwrap_or_default().is_empty() {
            let policy = class.map_or("PreemptLowerPriority", |class| &class.preemption_policy);
            spec.preemption_policy = Some(policy.to_owned());
        }
    }
}
