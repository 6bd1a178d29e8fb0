//! Whether a pod requests a resource that an extender manages: `IsInterested`.

use std::collections::BTreeMap;

use schedc_core::cache::Base;
use schedc_core::model::Pod;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::settings::ManagedResource;

/// Returns whether a container or init container has a request or a limit of one of these resources. Returns `false`
/// for a pod without a stored original, such as a deleted pod.
pub(crate) fn requests_any(pod: &Pod, base: &Base, resources: &[ManagedResource]) -> bool {
    let Some(original) = base.originals.pod(&pod.uid) else { return false };
    let manifest: PodManifest = serde_json::from_str(original).unwrap_or_default();
    let Spec { containers, init_containers } = manifest.spec.unwrap_or_default();
    let resources_of_containers =
        containers.into_iter().chain(init_containers).flatten().filter_map(|container| container.resources);
    let is_managed = |name: &String| resources.iter().any(|resource| resource.name == name);
    resources_of_containers
        .flat_map(|resources| [resources.requests, resources.limits])
        .flatten()
        .any(|amounts| amounts.keys().any(is_managed))
}

#[derive(Default, Deserialize)]
struct PodManifest {
    spec: Option<Spec>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    containers: Option<Vec<Container>>,
    init_containers: Option<Vec<Container>>,
}

#[derive(Deserialize)]
struct Container {
    resources: Option<ContainerResources>,
}

#[derive(Deserialize)]
struct ContainerResources {
    requests: Option<BTreeMap<String, IgnoredAny>>,
    limits: Option<BTreeMap<String, IgnoredAny>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn managed_resources_are_found_in_requests_and_limits() {
        let managed = [ManagedResource { name: "example.com/gpu", ignored_by_scheduler: false }];
        let gpu = r#"{"example.com/gpu":"0"}"#;
        for (spec, requests_managed) in [
            (format!(r#"{{"containers":[{{"resources":{{"requests":{gpu}}}}}]}}"#), true),
            (format!(r#"{{"containers":[{{}},{{"resources":{{"limits":{gpu}}}}}]}}"#), true),
            (format!(r#"{{"initContainers":[{{"resources":{{"requests":{gpu}}}}}],"containers":[]}}"#), true),
            (r#"{"containers":[{"resources":{"requests":{"cpu":"1"},"limits":null}}]}"#.to_owned(), false),
            (format!(r#"{{"containers":[],"overhead":{gpu},"resources":{{"requests":{gpu}}}}}"#), false),
        ] {
            let (mut base, pod) = (Base::default(), Pod::default());
            assert!(!requests_any(&pod, &base, &managed));
            base.originals.set_pod(&pod.uid, Some(format!(r#"{{"spec":{spec}}}"#).into()));
            assert_eq!(requests_any(&pod, &base, &managed), requests_managed, "{spec}");
        }
    }
}
