//! The plugins by name.

use std::rc::Rc;

use schedc_core::args::NoArgs;
use schedc_core::handle::Handle;
use schedc_core::map::Map;
use schedc_core::model::PodSpec;
use schedc_core::plugin::{Compile, Plugin, Slices};
use schedc_plugins::{
    ImageLocality, NodeAffinity, NodeAffinityArgs, NodeName, NodePorts, NodeResourcesBalancedAllocation,
    NodeResourcesBalancedAllocationArgs, NodeResourcesFit, NodeUnschedulable, TaintToleration,
};

use super::Config;
use super::object::{Bound, Direct, Filter, Normalized, PreFilter, PreScore, Prepared, Score, Stateful};
use crate::support::way::Cluster;

/// A plugin at its extension points.
#[derive(Default)]
pub(super) struct Points {
    pub(super) pre_filter: Option<Box<dyn PreFilter>>,
    pub(super) filter: Option<Box<dyn Filter>>,
    pub(super) pre_score: Option<Box<dyn PreScore>>,
    pub(super) score: Option<Box<dyn Score>>,
}

pub(super) type Make = fn(&Config, &PodSpec, &mut Cluster) -> Points;

pub(super) fn registry() -> Map<&'static str, Make> {
    let plugins: [(&str, Make); 8] = [
        (NodeUnschedulable::NAME, |_, pod, cluster| {
            let plugin = bind::<NodeUnschedulable>(&NoArgs, pod, cluster, |cluster| &cluster.state.node_taints);
            Points { filter: Some(Box::new(Direct(plugin))), ..Points::default() }
        }),
        (NodeName::NAME, |_, pod, cluster| {
            let plugin = bind::<NodeName>(&NoArgs, pod, cluster, |cluster| &cluster.state.node_name);
            Points { filter: Some(Box::new(Direct(plugin))), ..Points::default() }
        }),
        (TaintToleration::NAME, |_, pod, cluster| {
            let plugin = bind::<TaintToleration>(&NoArgs, pod, cluster, |cluster| &cluster.state.node_taints);
            Points {
                filter: Some(Box::new(Direct(plugin.clone()))),
                pre_score: Some(Box::new(Stateful(plugin.clone()))),
                score: Some(Box::new(Normalized(Stateful(plugin)))),
                ..Points::default()
            }
        }),
        (NodeAffinity::NAME, |_, pod, cluster| {
            let args = Box::leak(Box::new(NodeAffinityArgs::DEFAULT));
            let plugin = bind::<NodeAffinity>(args, pod, cluster, |cluster| &cluster.state.node_labels);
            Points {
                pre_filter: Some(Box::new(Stateful(plugin.clone()))),
                filter: Some(Box::new(Stateful(plugin.clone()))),
                pre_score: Some(Box::new(Stateful(plugin.clone()))),
                score: Some(Box::new(Normalized(Stateful(plugin)))),
            }
        }),
        (NodePorts::NAME, |_, pod, cluster| {
            let plugin = bind::<NodePorts>(&NoArgs, pod, cluster, |cluster| &cluster.state.node_ports);
            Points {
                pre_filter: Some(Box::new(Stateful(plugin.clone()))),
                filter: Some(Box::new(Stateful(plugin))),
                ..Points::default()
            }
        }),
        (NodeResourcesFit::NAME, |config, pod, cluster| {
            let args = config.node_resources_fit;
            let plugin = bind::<NodeResourcesFit>(args, pod, cluster, |cluster| &cluster.state.node_resources);
            Points {
                pre_filter: Some(Box::new(Stateful(plugin.clone()))),
                filter: Some(Box::new(Stateful(plugin.clone()))),
                pre_score: Some(Box::new(Stateful(plugin.clone()))),
                score: Some(Box::new(Stateful(plugin))),
            }
        }),
        (NodeResourcesBalancedAllocation::NAME, |_, pod, cluster| {
            let args = Box::leak(Box::new(NodeResourcesBalancedAllocationArgs::DEFAULT));
            let plugin =
                bind::<NodeResourcesBalancedAllocation>(args, pod, cluster, |cluster| &cluster.state.node_resources);
            Points {
                pre_score: Some(Box::new(Stateful(plugin.clone()))),
                score: Some(Box::new(Stateful(plugin))),
                ..Points::default()
            }
        }),
        (ImageLocality::NAME, |_, pod, cluster| {
            let indexes = &mut cluster.state.image_nodes;
            let cx = Compile { interner: &mut cluster.base.interner, indexes };
            let plugin = Rc::new(Bound {
                plugin: started(ImageLocality::new(&NoArgs, &Handle::default())),
                args: &NoArgs,
                pod: Rc::new(ImageLocality::compile(&NoArgs, pod, cx)),
                columns: |cluster| &cluster.state.node_images,
                indexes: |cluster| &cluster.state.image_nodes,
            });
            Points {
                pre_score: Some(Box::new(Prepared(Rc::clone(&plugin)))),
                score: Some(Box::new(Prepared(plugin))),
                ..Points::default()
            }
        }),
    ];
    plugins.into_iter().collect()
}

/// Makes a plugin that has no indexes.
fn bind<P: Plugin<Indexes = ()>>(
    args: &'static P::Args,
    pod: &PodSpec,
    cluster: &mut Cluster,
    columns: for<'a> fn(&'a Cluster) -> Slices<'a, P>,
) -> Rc<Bound<P>> {
    let cx = Compile { interner: &mut cluster.base.interner, indexes: () };
    Rc::new(Bound {
        plugin: started(P::new(args, &Handle::default())),
        args,
        pod: Rc::new(P::compile(args, pod, cx)),
        columns,
        indexes: |_| (),
    })
}

fn started<P>(plugin: Result<P, String>) -> P {
    plugin.expect("the plugin starts")
}
