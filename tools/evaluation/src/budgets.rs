//! Statuses of disruption budgets, computed if a scenario omits them.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::Resource;
use k8s_openapi::api::core::v1::{Pod, PodSpec};
use k8s_openapi::api::policy::v1::{PodDisruptionBudget, PodDisruptionBudgetStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_in_memory::server::{Key, Request};
use schedc_in_memory::{ApiServer, ApiServerOptions, Controllers, is_given_budget_status};
use schedc_objects::AnyObject;
use serde::Deserialize;
use serde_json::Value;

use super::Step;

/// Computes the statuses of budgets from the relevant objects, with a server and the disruption controller.
pub(super) struct BudgetStatuses {
    server: ApiServer,
    controllers: Controllers,
    /// Version of the last change that `update` has processed.
    seen: u64,
}

impl BudgetStatuses {
    /// Creates the state without objects. Returns `None` if each budget of the scenario has a status: then there is
    /// nothing to compute.
    pub(super) fn of(objects: &[Value], steps: &[Step]) -> Option<Self> {
        let in_steps = steps.iter().filter_map(|step| match step {
            Step::Create(value) | Step::Update(value) => Some(value),
            Step::Schedule(_) | Step::Delete(_) | Step::Invalid(_) => None,
        });
        objects.iter().chain(in_steps).any(is_without_status).then(|| BudgetStatuses {
            server: ApiServer::new(ApiServerOptions { grace: Some(Duration::ZERO), ..ApiServerOptions::default() }),
            controllers: Controllers::default(),
            seen: 0,
        })
    }

    /// Adds or replaces an object other than a pod.
    pub(super) fn set(&mut self, object: &AnyObject) {
        match object {
            // A given status is kept, so this budget needs no computation.
            AnyObject::PodDisruptionBudget(budget) if budget.status.as_ref().is_some_and(is_given_budget_status) => {
                self.remove(object.kind(), object.namespace(), object.name());
            }
            AnyObject::PodDisruptionBudget(_)
            | AnyObject::ReplicaSet(_)
            | AnyObject::StatefulSet(_)
            | AnyObject::ReplicationController(_)
            | AnyObject::Deployment(_) => self.store(object.clone()),
            _ => {}
        }
    }

    /// Adds or replaces a pod, with its node.
    pub(super) fn set_pod(&mut self, pod: &Pod, node: Option<&str>) {
        let metadata = &pod.metadata;
        let pod = Pod {
            metadata: ObjectMeta {
                name: metadata.name.clone(),
                namespace: metadata.namespace.clone(),
                labels: metadata.labels.clone(),
                owner_references: metadata.owner_references.clone(),
                deletion_timestamp: metadata.deletion_timestamp.clone(),
                ..ObjectMeta::default()
            },
            spec: Some(PodSpec { node_name: node.map(str::to_owned), ..PodSpec::default() }),
            status: pod.status.clone(),
        };
        self.store(pod.into());
    }

    /// Removes an object.
    pub(super) fn remove(&mut self, kind: &str, namespace: &str, name: &str) {
        if let Some((kind, _)) = AnyObject::kind_named(kind) {
            let key = Key { kind, namespace: namespace.into(), name: name.into() };
            // The request fails for most objects, because only those that affect budgets are stored.
            let _not_stored = self.server.handle(&Request::Delete(key, None), 0);
        }
    }

    /// Computes the statuses. Returns the budgets whose status has changed.
    pub(super) fn update(&mut self) -> Vec<Arc<AnyObject>> {
        self.controllers.run(&mut self.server, 0);
        let mut changed = Vec::new();
        while let Some(change) = self.server.store().after(self.seen) {
            self.seen = change.version;
            if change.object.kind() == PodDisruptionBudget::KIND {
                changed.extend(self.server.get(&change.key).cloned());
            }
        }
        self.server.forget(self.seen);
        changed
    }

    fn store(&mut self, mut object: AnyObject) {
        let old = self.server.get(&Key::of(&object));
        let metadata = object.metadata_mut();
        metadata.resource_version = None;
        let stored = match old {
            None => self.server.create(object, 0),
            Some(old) => {
                if metadata.uid.is_none() {
                    metadata.uid.clone_from(&old.metadata().uid);
                }
                self.server.update(object)
            }
        };
        // An error is ignored: the server refuses objects without a name, which belong to no budget.
        drop(stored);
    }
}

/// Returns whether this is a budget without a status.
fn is_without_status(value: &Value) -> bool {
    value.get("kind").and_then(Value::as_str) == Some(PodDisruptionBudget::KIND)
        && value
            .get("status")
            .and_then(|status| PodDisruptionBudgetStatus::deserialize(status).ok())
            .is_none_or(|status| !is_given_budget_status(&status))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Evaluator, Scenario};
    use default_profile::with_edge::Profiles;

    fn node(name: &str) -> Value {
        let status = json!({"allocatable": {"cpu": "1", "pods": "10"}});
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status})
    }

    /// Returns a pod that fills a node. Its controller is the ReplicaSet named `app`.
    fn pod(name: &str, app: &str, priority: i32, node: &str) -> Value {
        let owner = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app, "uid": "", "controller": true});
        let containers = json!([{"name": "c", "resources": {"requests": {"cpu": "1"}}}]);
        let spec = json!({"priority": priority, "nodeName": node, "containers": containers});
        let metadata = json!({"name": name, "labels": {"app": app}, "ownerReferences": [owner]});
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    }

    fn replicas(count: i32) -> Value {
        let spec = json!({"replicas": count, "selector": {"matchLabels": {"app": "cheap"}}});
        json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "cheap"}, "spec": spec})
    }

    fn budget(spec: Value, status: Value) -> Value {
        let mut budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}});
        budget["spec"] = spec;
        budget["spec"]["selector"] = json!({"matchLabels": {"app": "cheap"}});
        budget["status"] = status;
        budget
    }

    /// Returns the victim of each attempt to schedule a pod of high priority. The victim is the pod `cheap-1`. If a
    /// budget protects that pod, the victim is the pod `dear`, although it has a higher priority.
    fn victims(objects: &[Value], steps: &[Value]) -> Vec<String> {
        let nodes = [node("a"), node("b"), pod("cheap-1", "cheap", 1, "a"), pod("dear", "dear", 5, "b")];
        let objects = [&nodes, objects].concat();
        let scenario = json!({"id": "test", "profile": "default", "objects": objects, "steps": steps}).to_string();
        let scenario = Scenario::read(scenario.as_bytes()).unwrap();
        let results = Evaluator::of::<Profiles>().unwrap().evaluate(scenario).unwrap().results;
        let preemptions = results.into_iter().filter_map(|result| result.preemption);
        preemptions.map(|preemption| preemption.outcomes[0].victims.join(", ")).collect()
    }

    fn attempt() -> Value {
        json!({"schedule": pod("high", "high", 100, "")})
    }

    #[test]
    fn a_budget_without_a_status_gets_one() {
        let no_status = [
            Value::Null,
            json!({}),
            json!({"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}),
        ];
        for status in no_status {
            for (spec, victim) in [
                (json!({"minAvailable": 0}), "default/cheap-1"),
                (json!({"minAvailable": 1}), "default/dear"),
                (json!({"minAvailable": "50%"}), "default/dear"),
                (json!({"maxUnavailable": 1}), "default/dear"),
                (json!({"maxUnavailable": 2}), "default/cheap-1"),
            ] {
                let objects = [budget(spec.clone(), status.clone()), replicas(2)];
                assert_eq!(victims(&objects, &[attempt()]), [victim], "{spec} {status}");
            }
        }
    }

    #[test]
    fn an_existing_status_is_kept() {
        let closed = budget(json!({"minAvailable": 0}), json!({"disruptionsAllowed": 0}));
        let open = budget(json!({"minAvailable": 1}), json!({"disruptionsAllowed": 1}));
        assert_eq!(victims(std::slice::from_ref(&closed), &[attempt()]), ["default/dear"]);
        assert_eq!(victims(std::slice::from_ref(&open), &[attempt()]), ["default/cheap-1"]);
        // A given status is kept even if the scenario also has a budget without a status.
        let without = budget(json!({"minAvailable": 0}), Value::Null);
        let steps = [attempt(), json!({"update": open}), attempt(), json!({"update": closed}), attempt()];
        assert_eq!(victims(&[without], &steps), ["default/cheap-1", "default/cheap-1", "default/dear"]);
    }

    #[test]
    fn the_status_follows_the_steps() {
        let delete = |kind: &str, name: &str| json!({"delete": {"kind": kind, "name": name}});
        let steps = [
            json!({"create": budget(json!({"minAvailable": 1}), Value::Null)}),
            attempt(),
            json!({"create": node("c")}),
            json!({"schedule": pod("cheap-2", "cheap", 1, "")}),
            attempt(),
            delete("Pod", "cheap-2"),
            json!({"create": pod("filler", "dear", 200, "c")}),
            attempt(),
            json!({"update": budget(json!({"minAvailable": 0}), Value::Null)}),
            attempt(),
            json!({"update": budget(json!({"maxUnavailable": 0}), Value::Null)}),
            json!({"create": replicas(1)}),
            attempt(),
            json!({"update": replicas(0)}),
            attempt(),
            delete("PodDisruptionBudget", "b"),
            attempt(),
        ];
        let expected = ["dear", "cheap-1", "dear", "cheap-1", "dear", "dear", "cheap-1"];
        let victims = victims(&[], &steps);
        let names: Vec<&str> = victims.iter().map(|name| name.trim_start_matches("default/")).collect();
        assert_eq!(names, expected);
    }
}
