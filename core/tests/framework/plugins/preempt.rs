//! PostFilter: makes room for a pod on the first node where it fits without all pods of lower priority.

use schedc_core::args::NoArgs;
use schedc_core::extension_points::{PostFilterContext, PostFilterPlugin, PostFilterResult};
use schedc_core::hypothetical::HypotheticalNode;
use schedc_core::plugin::View;
use schedc_core::profile::Profile;
use schedc_core::{Plugin, plugin};

#[derive(Default)]
pub struct Preempt;

#[plugin]
impl Plugin for Preempt {}

impl PostFilterPlugin for Preempt {
    fn post_filter<P: Profile>(&self, _: &NoArgs, cx: PostFilterContext<'_, P>, _: View<'_, Self>) -> PostFilterResult {
        let Some(cycle) = cx.cycle else { return PostFilterResult::unschedulable("preemption cannot help") };
        for node in cx.diagnosis.resolvable.iter() {
            let pods = &cx.cache.base.infos()[node.get()].pods;
            let weaker = || pods.iter().filter(|pod| pod.spec.priority < cx.pod.spec.priority);
            if weaker().next().is_none() {
                continue;
            }
            let mut cycle = cycle.clone();
            let mut hypothetical = HypotheticalNode::<P>::new(cx.compiled, &mut cycle, cx.cache, node);
            weaker().for_each(|pod| hypothetical.remove_pod(pod));
            if hypothetical.filter().is_ok() {
                return PostFilterResult::nominate(node, weaker().map(|pod| pod.uid.clone()));
            }
        }
        PostFilterResult::unschedulable("preemption found no victims")
    }
}
