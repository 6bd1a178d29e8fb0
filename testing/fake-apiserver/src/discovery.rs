//! Discovery of API groups and kinds.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::kinds::KINDS;

/// Returns the discovery document at a path such as `/apis` or `/apis/apps/v1`.
pub(crate) fn at(path: &str) -> Option<Value> {
    match path.trim_end_matches('/') {
        "/api" => Some(json!({"kind": "APIVersions", "versions": ["v1"]})),
        "/apis" => {
            let groups: BTreeSet<_> =
                KINDS.iter().filter(|kind| !kind.group.is_empty()).map(|kind| (kind.group, kind.version)).collect();
            let groups = groups.into_iter().map(|(group, version)| {
                let version = json!({"groupVersion": format!("{group}/{version}"), "version": version});
                json!({"name": group, "versions": [version], "preferredVersion": version})
            });
            Some(json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups.collect::<Vec<_>>()}))
        }
        path => {
            let api_version = path.strip_prefix("/apis/").or_else(|| path.strip_prefix("/api/"))?;
            let kinds = KINDS.iter().filter(|kind| kind.api_version() == api_version);
            let resources: Vec<_> = kinds
                .map(|kind| {
                    let verbs = ["create", "delete", "get", "list", "patch", "update", "watch"];
                    json!({"name": kind.plural, "kind": kind.kind, "namespaced": kind.is_namespaced, "verbs": verbs})
                })
                .collect();
            let list = json!({
                "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": api_version, "resources": resources
            });
            (!resources.is_empty()).then_some(list)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_kinds_are_discovered() {
        assert_eq!(at("/apis/events.k8s.io/v1").unwrap()["resources"][0]["name"], "events");
        assert_eq!(at("/api/v1").unwrap()["groupVersion"], "v1");
        assert!(at("/apis").unwrap()["groups"].as_array().unwrap().iter().any(|group| group["name"] == "apps"));
        assert_eq!(at("/apis/gizmo.io/v1"), None);
        assert_eq!(at("/"), None);
    }
}
