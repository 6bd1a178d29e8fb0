//! Requests of profiles to an API server: the watched kinds, and the writes of plugins.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{CustomKind, VERBS, Write};
use crate::plan::{Plan, PlanPlugin, PluginId, Value};

/// The kinds that every scheduler watches. They are first in the result of [`watches`].
const ALWAYS: [&str; 2] = ["Node", "Pod"];

/// The kinds that determine a pod's default constraints. Apart from Node and Pod, PodTopologySpread reads only
/// these.
const WORKLOADS: [&str; 4] = ["ReplicaSet", "ReplicationController", "Service", "StatefulSet"];

/// Returns the built-in kinds that a scheduler with these profiles watches: Node and Pod, then others by name.
pub fn watches<'p>(plans: impl IntoIterator<Item = &'p Plan>) -> Vec<&'p str> {
    let plugins = plans.into_iter().flat_map(|plan| &plan.plugins);
    let kinds = plugins.flat_map(|plugin| {
        let kinds = plugin.entry.watches.iter().map(String::as_str);
        kinds.filter(|kind| !(WORKLOADS.contains(kind) && has_no_default_constraints(plugin)))
    });
    let others: BTreeSet<&str> = kinds.filter(|kind| !ALWAYS.contains(kind)).collect();
    ALWAYS.into_iter().chain(others).collect()
}

/// Returns the kinds that catalogs declare and plugins of these profiles watch: each once, sorted by full name.
pub fn kinds<'p>(plans: impl IntoIterator<Item = &'p Plan>) -> Vec<&'p CustomKind> {
    let kinds = plans.into_iter().flat_map(|plan| &plan.plugins).flat_map(|plugin| &plugin.entry.kinds);
    let by_name: BTreeMap<String, &CustomKind> = kinds.map(|kind| (kind.full_name(), kind)).collect();
    by_name.into_values().collect()
}

/// Returns the declared writes of these profiles' plugins: each resource once for each namespace, sorted. A plugin is
/// included only if it runs at a point that may write. Requests of the scheduler itself are not included.
pub fn writes<'p>(plans: impl IntoIterator<Item = &'p Plan>) -> Vec<Write> {
    let mut verbs: BTreeMap<(&str, &str, Option<&str>), BTreeSet<&str>> = BTreeMap::new();
    for plan in plans {
        let writing = plan
            .plugins
            .iter()
            .enumerate()
            .filter(|&(at, _)| plan.points_of(PluginId(at)).any(|point| point.may_write()));
        for write in writing.flat_map(|(_, plugin)| &plugin.entry.writes) {
            let key = (write.group.as_str(), write.resource.as_str(), write.namespace.as_deref());
            verbs.entry(key).or_default().extend(write.verbs.iter().map(String::as_str));
        }
    }
    let write = |((group, resource, namespace), verbs): ((&str, &str, Option<&str>), BTreeSet<&str>)| Write {
        group: group.to_owned(),
        resource: resource.to_owned(),
        verbs: VERBS.into_iter().filter(|verb| verbs.contains(verb)).map(str::to_owned).collect(),
        namespace: namespace.map(str::to_owned),
    };
    verbs.into_iter().map(write).collect()
}

/// Returns whether this is PodTopologySpread without default constraints for pods.
fn has_no_default_constraints(plugin: &PlanPlugin) -> bool {
    let Some(Value::Table(args)) = plugin.args.as_ref().map(|args| &args.value) else { return false };
    let arg = |key: &str| args.iter().find(|field| field.key.value == key).map(|field| &field.value.value);
    let is_list = matches!(arg("defaulting-type"), Some(Value::Str(kind)) if kind == "List");
    let is_empty = match arg("default-constraints") {
        Some(Value::List(constraints)) => constraints.is_empty(),
        _ => true,
    };
    plugin.entry.path == "schedc_plugins::PodTopologySpread" && is_list && is_empty
}

#[cfg(test)]
mod tests {
    use super::{watches, writes};
    use crate::plan::Plan;
    use crate::{NoCrates, SourceText, compile};

    fn plans(profiles: &[&str]) -> Vec<Plan> {
        let sources = profiles.iter().enumerate().map(|(at, text)| SourceText {
            path: format!("p{at}.toml"),
            text: format!("scheduler-name = \"p{at}\"\n{text}"),
        });
        compile(&sources.collect::<Vec<_>>(), &mut NoCrates).unwrap().plans
    }

    fn watched(profiles: &[&str]) -> Vec<String> {
        watches(&plans(profiles)).into_iter().map(str::to_owned).collect()
    }

    /// Returns the writes, each as `verbs resource`.
    fn written(profiles: &[&str]) -> Vec<String> {
        let writes = writes(&plans(profiles)).into_iter();
        writes.map(|write| format!("{} {}", write.verbs.join(","), write.resource)).collect()
    }

    const FIT: &str = r#"plugins.multi-point = ["PrioritySort", "NodeResourcesFit", "DefaultBinder"]"#;
    const SPREAD: &str = r#"plugins.multi-point = ["PrioritySort", "PodTopologySpread", "DefaultBinder"]"#;
    const PREEMPTION: &str =
        r#"plugins.multi-point = ["PrioritySort", "NodeResourcesFit", "DefaultPreemption", "DefaultBinder"]"#;

    #[test]
    fn resource_plugins_watch_nodes_and_pods() {
        assert_eq!(watched(&[FIT]), ["Node", "Pod"]);
    }

    #[test]
    fn the_kinds_of_all_profiles_are_watched() {
        let spread = ["Node", "Pod", "ReplicaSet", "ReplicationController", "Service", "StatefulSet"];
        assert_eq!(watched(&[SPREAD]), spread);
        let both =
            ["Node", "Pod", "PodDisruptionBudget", "ReplicaSet", "ReplicationController", "Service", "StatefulSet"];
        assert_eq!(watched(&[PREEMPTION, SPREAD]), both);
        assert_eq!(watched(&[SPREAD, PREEMPTION]), both);
    }

    #[test]
    fn workloads_are_watched_only_for_default_constraints() {
        let list = "[args.PodTopologySpread]\ndefaulting-type = \"List\"";
        assert_eq!(watched(&[&format!("{SPREAD}\n{list}")]), ["Node", "Pod"]);
        let constraint = r#"{ max-skew = 1, topology-key = "zone", when-unsatisfiable = "DoNotSchedule" }"#;
        let with_one = format!("{SPREAD}\n{list}\ndefault-constraints = [{constraint}]");
        assert_eq!(watched(&[&with_one]).len(), 6);
    }

    #[test]
    fn writes_of_all_profiles_are_merged() {
        assert_eq!(written(&[FIT]), ["get pods", "create pods/binding"]);
        let both = ["get,delete pods", "create pods/binding", "patch pods/status"];
        assert_eq!(written(&[FIT, PREEMPTION]), both);
        assert_eq!(written(&[PREEMPTION]), both);
    }

    #[test]
    fn writes_of_plugins_at_read_only_points_are_omitted() {
        let filters = r#"plugins.multi-point = ["PrioritySort", "DefaultBinder"]
plugins.pre-filter = ["VolumeBinding"]
plugins.filter = ["VolumeBinding"]"#;
        assert_eq!(written(&[filters]), ["get pods", "create pods/binding"]);
        let binds = r#"plugins.multi-point = ["PrioritySort", "VolumeBinding", "DefaultBinder"]"#;
        let volumes = ["get,patch persistentvolumeclaims", "get,patch persistentvolumes"];
        assert_eq!(written(&[binds])[..2], volumes);
    }

    #[test]
    fn claims_are_watched_and_written_with_their_plugin_only() {
        let claims = ["DeviceClass", "ResourceClaim", "ResourceSlice"];
        assert!(!watched(&[FIT, PREEMPTION]).iter().any(|kind| claims.contains(&kind.as_str())));
        let devices = r#"plugins.multi-point = ["PrioritySort", "DynamicResources", "DefaultBinder"]"#;
        assert_eq!(watched(&[devices])[2..], claims);
        let expected = [
            "get pods",
            "create pods/binding",
            "patch pods/status",
            "get,create,patch,delete resourceclaims",
            "patch resourceclaims/binding",
            "patch resourceclaims/status",
        ];
        assert_eq!(written(&[devices]), expected);
    }
}
