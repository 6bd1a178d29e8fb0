//! NodeName
//!
//! **What it does.** Rejects all nodes except the one in the pod's `spec.nodeName`.
//!
//! **Extension points.** Filter.
//!
//! **Arguments.** None.
//!
//! **Upstream.** `plugins/nodename` (kube-scheduler 1.36.2).
//!
//! **Differences.** None.

use schedc_core::args::NoArgs;
use schedc_core::events::{Action, EventResource};
use schedc_core::extension_points::{EnqueueExtensions, FilterPlugin, Registration, SkipFrequency};
use schedc_core::incremental::{DependsOn, Incremental};
use schedc_core::intern::Symbol;
use schedc_core::model::PodSpec;
use schedc_core::plugin::CompileContext;
use schedc_core::status::{Code, Reasons};
use schedc_core::{Plugin, plugin};

use crate::columns::NodeIdentity;

/// Compares node names.
#[derive(Debug, Default)]
pub struct NodeName;

#[plugin]
impl Plugin for NodeName {
    type Columns = NodeIdentity;
    /// The node name in the pod.
    type Pod = Option<Symbol>;

    fn compile(_: &NoArgs, pod: &PodSpec, _: CompileContext<'_, Self>) -> Option<Symbol> {
        pod.node_name
    }
}

impl FilterPlugin for NodeName {
    type Cycle = ();
    type Rejection = ();

    #[inline(always)]
    fn filter(_: &NoArgs, pod: &Option<Symbol>, _: &(), node: &NodeIdentity) -> Result<(), ()> {
        if pod.is_none_or(|name| name == node.name) { Ok(()) } else { Err(()) }
    }

    fn code(_: &()) -> Code {
        Code::UnschedulableAndUnresolvable
    }

    fn explain(_: &NoArgs, _: &Option<Symbol>, _: &(), _: &NodeIdentity, _: (), out: &mut Reasons<'_>) {
        out.push("node(s) didn't match the requested node name");
    }
}

impl Incremental for NodeName {
    const SKIPS: SkipFrequency = SkipFrequency::Usually;
    const FILTER_CAN_FAIL: bool = false;

    #[inline]
    fn reasons_key(_: &()) -> Option<u32> {
        Some(0)
    }

    #[inline]
    fn filter_depends_on(pod: &Option<Symbol>, _: &()) -> DependsOn {
        if pod.is_none() { DependsOn::Nothing } else { DependsOn::Node }
    }
}

/// There is no hint, so every new node requeues the pod.
impl EnqueueExtensions for NodeName {
    const EVENTS: &'static [Registration] = &[Registration::always(EventResource::Node, Action::ADD)];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Cluster;

    #[test]
    fn only_the_named_node_takes_the_pod() {
        let nodes = ["metadata: {name: a}", "metadata: {name: b}"];
        let rejected = ": UnschedulableAndUnresolvable: node(s) didn't match the requested node name";
        for (pod, a, b) in [
            ("spec: {}", "", ""),
            ("spec: {nodeName: ''}", "", ""),
            ("spec: {nodeName: b}", rejected, ""),
            ("spec: {nodeName: elsewhere}", rejected, rejected),
        ] {
            let verdicts = Cluster::new(&nodes).filter::<NodeName>(&NoArgs, pod);
            assert_eq!(verdicts, format!("a{a}\nb{b}\n"), "{pod}");
        }
    }
}
