//! The resources whose limits are enforced for pods: only these yield bounds that hold for every placement.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_core::profile::ProfileInfo;
use schedc_objects::AnyObject;
use serde_json::Value;

use crate::cluster::Routes;

/// The resources for which the requests on a node never exceed its allocatable amount.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EnforcedResources {
    /// Whether the profiles enforce limits.
    any: bool,
    /// Whether limits of extended resources are enforced too.
    extended: bool,
}

impl EnforcedResources {
    /// Returns the resources that are enforced by every profile that serves at least one of the pods. A profile with
    /// extenders enforces no limit, because extenders may take over resources. With DeviceClasses, limits of extended
    /// resources are not enforced, because devices may serve these resources.
    pub(crate) fn of<'a>(routes: &Routes, pods: impl Iterator<Item = &'a ApiPod>, objects: &[AnyObject]) -> Self {
        let serving: BTreeSet<usize> = pods.filter_map(|pod| routes.profile_of(pod)).collect();
        let any = serving.into_iter().all(|profile| {
            let profile = &routes.profiles()[profile];
            let enforces = profile.plugins("filter").iter().any(|(plugin, _)| *plugin == "NodeResourcesFit");
            enforces && profile.extenders.is_empty() && !ignores_resources(profile)
        });
        EnforcedResources { any, extended: !objects.iter().any(|object| object.kind() == "DeviceClass") }
    }

    /// Returns whether the limits of a resource are enforced.
    pub(crate) fn contains(self, resource: &str) -> bool {
        self.any && (self.extended || ["cpu", "memory", "ephemeral-storage", "pods"].contains(&resource))
    }
}

fn ignores_resources(profile: &ProfileInfo) -> bool {
    let Some((_, args)) = profile.args.iter().find(|(plugin, _)| *plugin == "NodeResourcesFit") else { return false };
    let args: Value = serde_json::from_str(args).unwrap_or_default();
    ["ignored-resources", "ignored-resource-groups"]
        .iter()
        .any(|name| args[name].as_array().is_some_and(|ignored| !ignored.is_empty()))
}

#[cfg(test)]
mod tests {
    use schedc_core::erased::AnyBundle;

    use super::*;
    use default_profile::with_edge::Profiles;

    fn pod(scheduler: &str) -> ApiPod {
        serde_json::from_value(serde_json::json!({"spec": {"schedulerName": scheduler, "containers": []}})).unwrap()
    }

    #[test]
    fn limits_that_a_profile_ignores_are_not_enforced() {
        let profile = AnyBundle::of::<Profiles>().profiles[0];
        let with_args = |args| ProfileInfo { args, ..profile };
        let contains = |profile: ProfileInfo, resource| {
            let routes = Routes::by_scheduler_name(vec![profile].leak());
            EnforcedResources::of(&routes, [pod(profile.scheduler_name)].iter(), &[]).contains(resource)
        };
        assert!(contains(profile, "cpu") && contains(profile, "example.com/gpu"));
        let ignoring = with_args(&[("NodeResourcesFit", r#"{"ignored-resources": ["example.com/foo"]}"#)]);
        assert!(!contains(ignoring, "cpu"));
        assert!(!contains(ProfileInfo { points: &[], ..profile }, "cpu"), "no Filter of NodeResourcesFit");
        assert!(
            !contains(ProfileInfo { extenders: &["{}"], ..profile }, "cpu"),
            "an extender may take a resource over"
        );
    }

    #[test]
    fn only_profiles_that_serve_one_of_the_pods_count() {
        let enforcing = AnyBundle::of::<Profiles>().profiles[0];
        let with_extender = ProfileInfo { name: "other", scheduler_name: "other", extenders: &["{}"], ..enforcing };
        let routes = Routes::by_scheduler_name(vec![enforcing, with_extender].leak());
        let contains = |schedulers: &[&str]| {
            let pods: Vec<ApiPod> = schedulers.iter().map(|scheduler| pod(scheduler)).collect();
            EnforcedResources::of(&routes, pods.iter(), &[]).contains("cpu")
        };
        assert!(contains(&[enforcing.scheduler_name]) && contains(&[enforcing.scheduler_name, "unknown"]));
        assert!(!contains(&["other"]) && !contains(&[enforcing.scheduler_name, "other"]));
    }
}
