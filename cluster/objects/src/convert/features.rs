//! Features that a node must declare for a pod.

use k8s_openapi::api::core::v1 as api;
use schedc_core::intern::{Interner, Symbol};

/// Returns the required features that the pod's spec implies, sorted by name (`InferForPodScheduling` in Kubernetes'
/// package `nodedeclaredfeatures`). Features that concern only running pods are left out.
pub(super) fn required_features(spec: &api::PodSpec, interner: &mut Interner) -> Box<[Symbol]> {
    let mut features = Vec::new();
    let mut containers = spec.containers.iter().chain(spec.init_containers.iter().flatten());
    let restarts_all = |container: &api::Container| {
        container.restart_policy_rules.iter().flatten().any(|rule| rule.action == "RestartAllContainers")
    };
    if containers.any(restarts_all) {
        features.push(interner.intern("RestartAllContainersOnContainerExits"));
    }
    if spec.host_network == Some(true) && spec.host_users == Some(false) {
        features.push(interner.intern("UserNamespacesHostNetworkSupport"));
    }
    features.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::pod;

    #[test]
    fn features_follow_from_what_the_spec_uses() {
        let restarts = "restartPolicyRules: [{action: Restart}, {action: RestartAllContainers}]";
        let check = |spec: &str, expected: &[&str]| {
            let mut interner = Interner::default();
            let pod = pod(&format!("spec: {{{spec}}}"), &mut interner);
            let features: Vec<_> = pod.spec.required_features.iter().map(|&name| interner.resolve(name)).collect();
            assert_eq!(features, expected, "{spec}");
        };
        check("containers: [{name: c}]", &[]);
        check("containers: [{name: c, restartPolicyRules: [{action: Restart}]}]", &[]);
        check(&format!("containers: [{{name: c, {restarts}}}]"), &["RestartAllContainersOnContainerExits"]);
        check(&format!("initContainers: [{{name: c, {restarts}}}]"), &["RestartAllContainersOnContainerExits"]);
        check("hostNetwork: true", &[]);
        check("hostUsers: false", &[]);
        check("hostNetwork: true, hostUsers: true", &[]);
        check("hostNetwork: true, hostUsers: false", &["UserNamespacesHostNetworkSupport"]);
        check(
            &format!("hostNetwork: true, hostUsers: false, containers: [{{name: c, {restarts}}}]"),
            &["RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"],
        );
    }
}
