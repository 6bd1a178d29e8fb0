//! NodeDeclaredFeatures
//!
//! **What it does.** Rejects nodes that have not declared a feature that the pod uses.
//!
//! **Extension points.** PreFilter (skips for pods that use none of the features), Filter.
//!
//! **Arguments.** None.
//!
//! **Upstream.** `plugins/nodedeclaredfeatures` (kube-scheduler 1.36.2).
//!
//! **Differences.** None.

use schedc_core::args::NoArgs;
use schedc_core::extension_points::{FilterPlugin, PreFilterPlugin, PreFilterResult, SkipFrequency};
use schedc_core::incremental::{DependsOn, Incremental};
use schedc_core::intern::Symbol;
use schedc_core::model::PodSpec;
use schedc_core::plugin::{CompileContext, View};
use schedc_core::status::{Code, Reasons, Status};
use schedc_core::{Plugin, plugin};

mod hint;

use crate::columns::NodeFeatures;

/// Compares the features that pods use with the declared features of nodes.
#[derive(Debug, Default)]
pub struct NodeDeclaredFeatures;

/// The features that a pod requires.
type Required = Box<[Symbol]>;

#[plugin]
impl Plugin for NodeDeclaredFeatures {
    type Columns = NodeFeatures;
    type Pod = Required;

    fn compile(_: &NoArgs, pod: &PodSpec, _: CompileContext<'_, Self>) -> Required {
        pod.required_features.clone()
    }
}

impl PreFilterPlugin for NodeDeclaredFeatures {
    type Cycle = ();

    #[inline]
    fn pre_filter(&self, _: &NoArgs, required: &Required, _: View<'_, Self>) -> Result<PreFilterResult<()>, Status> {
        Ok(if required.is_empty() { PreFilterResult::skip(()) } else { PreFilterResult::ready(()) })
    }
}

impl FilterPlugin for NodeDeclaredFeatures {
    type Cycle = ();
    type Rejection = ();

    #[inline(always)]
    fn filter(_: &NoArgs, required: &Required, _: &(), node: &NodeFeatures) -> Result<(), ()> {
        if required.iter().all(|feature| node.declared.contains(feature)) { Ok(()) } else { Err(()) }
    }

    fn code(_: &()) -> Code {
        Code::UnschedulableAndUnresolvable
    }

    fn explain(_: &NoArgs, _: &Required, _: &(), _: &NodeFeatures, _: (), out: &mut Reasons<'_>) {
        out.push("node(s) didn't match Pod's required features");
    }
}

impl Incremental for NodeDeclaredFeatures {
    const SKIPS: SkipFrequency = SkipFrequency::Usually;
    const FILTER_CAN_FAIL: bool = false;

    #[inline]
    fn filter_depends_on(_: &Required, _: &()) -> DependsOn {
        DependsOn::Node
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::testing::Cluster;

    const ISOLATED: &str = "spec: {hostNetwork: true, hostUsers: false}";
    const BOTH: &str = "
        spec:
          hostNetwork: true
          hostUsers: false
          containers: [{name: c, restartPolicyRules: [{action: RestartAllContainers}]}]";

    #[test]
    fn a_node_must_have_declared_all_features() {
        let node = |name, features| format!("{{metadata: {{name: {name}}}, status: {{declaredFeatures: {features}}}}}");
        let nodes = [
            node("none", "[]"),
            node("network", "[UserNamespacesHostNetworkSupport]"),
            node("restart", "[RestartAllContainersOnContainerExits]"),
            node("both", "[RestartAllContainersOnContainerExits, UserNamespacesHostNetworkSupport, Unknown]"),
        ];
        let nodes = nodes.each_ref().map(String::as_str);
        let check = |pod: &str, expected: expect_test::Expect| {
            expected.assert_eq(&Cluster::new(&nodes).filter::<NodeDeclaredFeatures>(&NoArgs, pod));
        };
        check(
            ISOLATED,
            expect![[r#"
                none: UnschedulableAndUnresolvable: node(s) didn't match Pod's required features
                network
                restart: UnschedulableAndUnresolvable: node(s) didn't match Pod's required features
                both
            "#]],
        );
        check(
            BOTH,
            expect![[r#"
                none: UnschedulableAndUnresolvable: node(s) didn't match Pod's required features
                network: UnschedulableAndUnresolvable: node(s) didn't match Pod's required features
                restart: UnschedulableAndUnresolvable: node(s) didn't match Pod's required features
                both
            "#]],
        );
    }

    #[test]
    fn pods_without_features_skip() {
        for (pod, skip) in [("spec: {hostNetwork: true}", true), (ISOLATED, false)] {
            let mut cluster = Cluster::new(&[]);
            let required = cluster.compile::<NodeDeclaredFeatures>(&NoArgs, pod);
            let plugin = cluster.plugin::<NodeDeclaredFeatures>(&NoArgs);
            let result = plugin.pre_filter(&NoArgs, &required, cluster.view()).unwrap();
            assert_eq!(result.slot.skip, skip, "{pod}");
        }
    }
}
