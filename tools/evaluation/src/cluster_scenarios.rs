//! Scenarios of the pending pods of a cluster.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::Value;

use super::scenario::{Scenario, Step, UnknownKeys};
use crate::routes::Routes;

impl Scenario {
    /// Returns a scenario for each profile with pending pods. It has the objects of a cluster, and a `schedule` step
    /// for each pending pod of the profile, in the order of priority and age. The ID of the scenario is the name of the
    /// profile.
    pub fn of_cluster(objects: Vec<Value>, routes: &Routes) -> Vec<Scenario> {
        let mut pending: BTreeMap<usize, Vec<&Value>> = BTreeMap::new();
        for pod in objects.iter().filter(|object| object["kind"] == "Pod" && is_pending(object)) {
            if let Some(profile) = routes.profile_for(pod["spec"]["schedulerName"].as_str().unwrap_or_default()) {
                pending.entry(profile).or_default().push(pod);
            }
        }
        let scenario = |(profile, mut pods): (usize, Vec<&Value>)| {
            pods.sort_by_key(|pod| sort_key(pod));
            let name = routes.profiles()[profile].name.to_owned();
            Scenario {
                id: name.clone(),
                profile: Some(name),
                objects: objects.clone(),
                steps: pods.into_iter().cloned().map(Step::Schedule).collect(),
                unknown: UnknownKeys::default(),
            }
        };
        pending.into_iter().map(scenario).collect()
    }
}

/// Returns whether a pod waits for a node: it has none, has not finished and is not being deleted.
fn is_pending(pod: &Value) -> bool {
    let is_finished = matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
    let has_node = pod["spec"]["nodeName"].as_str().is_some_and(|node| !node.is_empty());
    !is_finished && !has_node && pod["metadata"]["deletionTimestamp"].is_null()
}

/// Returns the sort key of a pod: the highest priority first, then the oldest pod, then by name.
fn sort_key(pod: &Value) -> (Reverse<i64>, String, String, String) {
    let text = |field: &str| pod["metadata"][field].as_str().unwrap_or_default().to_owned();
    let priority = pod["spec"]["priority"].as_i64().unwrap_or_default();
    (Reverse(priority), text("creationTimestamp"), text("namespace"), text("name"))
}
