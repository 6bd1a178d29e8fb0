//! Arguments of plugins in kube-scheduler's form.

use std::time::Duration;

use schedc_core::args::{format_duration, parse_duration};
use serde_json::{Map, Value, json};

/// Returns the arguments of a plugin as in a KubeSchedulerConfiguration: kube-scheduler's defaults, overridden by
/// `written`, the arguments in a profile. Returns `None` for an in-tree plugin that takes no arguments, and for an
/// out-of-tree plugin without arguments in the profile.
pub fn arguments(plugin: &str, written: Option<&Value>) -> Option<Value> {
    let written = written.map(|written| match plugin {
        "NodeAffinity" => added_affinity(written),
        _ => camel_keys(written),
    });
    let mut all = match (defaults(plugin), written) {
        (None, written) => return written,
        (Some(defaults), None) => defaults,
        (Some(mut defaults), Some(written)) => {
            merge(&mut defaults, written);
            defaults
        }
    };
    if plugin == "PodTopologySpread" && all.get("defaultConstraints").is_some_and(|list| *list == json!([])) {
        all.as_object_mut()?.remove("defaultConstraints");
    }
    for timeout in ["filterTimeout", "bindingTimeout"] {
        if let Some(time) = all.get_mut(timeout).filter(|_| plugin == "DynamicResources") {
            let parsed = time.as_str().and_then(parse_duration).and_then(|time| u64::try_from(time).ok());
            *time = parsed.map_or(time.take(), |time| format_duration(Duration::from_nanos(time)).into());
        }
    }
    complete_weights(all.get_mut("resources"));
    complete_weights(all.pointer_mut("/scoringStrategy/resources"));
    Some(all)
}

/// Returns kube-scheduler's defaults, as in `/configz`.
fn defaults(plugin: &str) -> Option<Value> {
    let resources = || json!([{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]);
    Some(match plugin {
        "DefaultPreemption" => json!({"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 100}),
        "DynamicResources" => json!({"filterTimeout": "10s", "bindingTimeout": "10m0s"}),
        "InterPodAffinity" => json!({"hardPodAffinityWeight": 1, "ignorePreferredTermsOfExistingPods": false}),
        "NodeAffinity" => json!({}),
        "NodeResourcesBalancedAllocation" => json!({"resources": resources()}),
        "NodeResourcesFit" => json!({"scoringStrategy": {"type": "LeastAllocated", "resources": resources()}}),
        "PodTopologySpread" => json!({"defaultingType": "System"}),
        "VolumeBinding" => json!({"bindTimeoutSeconds": 600}),
        _ => return None,
    })
}

/// Merges field by field; written values override defaults.
fn merge(into: &mut Value, written: Value) {
    match (into, written) {
        (Value::Object(into), Value::Object(written)) => {
            for (key, value) in written {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, written) => *into = written,
    }
}

/// Sets the default weight 1 of resources.
fn complete_weights(resources: Option<&mut Value>) {
    for resource in resources.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(resource) = resource.as_object_mut() {
            resource.entry("weight").or_insert(1.into());
        }
    }
}

/// Converts `added-affinity`: kube-scheduler's form has one more level than a profile.
fn added_affinity(written: &Value) -> Value {
    let mut affinity = Map::new();
    let added = &written["added-affinity"];
    if let Some(terms) = added.get("required") {
        let selector = json!({"nodeSelectorTerms": camel_keys(terms)});
        affinity.insert("requiredDuringSchedulingIgnoredDuringExecution".to_owned(), selector);
    }
    if let Some(terms) = added.get("preferred") {
        affinity.insert("preferredDuringSchedulingIgnoredDuringExecution".to_owned(), camel_keys(terms));
    }
    if affinity.is_empty() { json!({}) } else { json!({"addedAffinity": affinity}) }
}

fn camel_keys(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (camel_key(key), camel_keys(value))).collect(),
        Value::Array(items) => items.iter().map(camel_keys).collect(),
        other => other.clone(),
    }
}

/// Converts a key in kebab-case. Other keys are no fields, but names that users chose, such as resources; they stay
/// unchanged.
fn camel_key(key: &str) -> String {
    let is_field = key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if is_field { camel(key) } else { key.to_owned() }
}

/// Converts `pre-filter` to Kubernetes' form: `preFilter`.
pub(crate) fn camel(name: &str) -> String {
    let mut words = name.split('-');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        camel.push_str(&first.to_ascii_uppercase());
        camel.push_str(rest);
    }
    camel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_extension_points_become_camel_case() {
        assert_eq!(["pre-filter", "score", "pre-enqueue"].map(camel), ["preFilter", "score", "preEnqueue"]);
    }

    #[test]
    fn defaults_are_those_of_kube_scheduler() {
        let recorded: Value =
            serde_json::from_str(include_str!("../../../cluster/kubernetes/tests/recordings/configz.json")).unwrap();
        let config = recorded.pointer("/componentconfig/profiles/0/pluginConfig").and_then(Value::as_array).unwrap();
        for plugin_config in config {
            let mut args = plugin_config["args"].clone();
            let fields = args.as_object_mut().unwrap();
            fields.remove("kind");
            fields.remove("apiVersion");
            let plugin = plugin_config["name"].as_str().unwrap();
            assert_eq!(arguments(plugin, None), Some(args), "{plugin}");
        }
    }

    #[test]
    fn written_arguments_override_defaults() {
        let check = |plugin: &str, written: Value, expected: Value| {
            assert_eq!(arguments(plugin, Some(&written)), Some(expected));
        };
        check(
            "NodeResourcesFit",
            json!({"ignored-resources": ["a"], "scoring-strategy": {"type": "MostAllocated", "resources": [{"name": "b"}]}}),
            json!({"ignoredResources": ["a"],
                   "scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "b", "weight": 1}]}}),
        );
        check(
            "NodeAffinity",
            json!({"added-affinity": {"required": [{"match-expressions": []}]}}),
            json!({"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                   {"nodeSelectorTerms": [{"matchExpressions": []}]}}}),
        );
        check(
            "DynamicResources",
            json!({"binding-timeout": "2m"}),
            json!({"bindingTimeout": "2m0s", "filterTimeout": "10s"}),
        );
        check("Coscheduling", json!({"permit-waiting-time-seconds": 5}), json!({"permitWaitingTimeSeconds": 5}));
        assert_eq!(arguments("NodeName", None), None);
    }
}
