//! A PostFilter plugin that preempts a single pod.

use schedc_core::args::NoArgs;
use schedc_core::extension_points::{PostFilterContext, PostFilterPlugin, PostFilterResult};
use schedc_core::hypothetical::HypotheticalNode;
use schedc_core::plugin::View;
use schedc_core::profile::Profile;
use schedc_core::{Plugin, plugin};

#[derive(Default)]
pub struct OneVictim;

#[plugin]
impl Plugin for OneVictim {}

impl PostFilterPlugin for OneVictim {
    fn post_filter<P: Profile>(&self, _: &NoArgs, cx: PostFilterContext<'_, P>, _: View<'_, Self>) -> PostFilterResult {
        let Some(mut cycle) = cx.cycle.cloned() else { return PostFilterResult::unschedulable("no pod is in the way") };
        for node in cx.diagnosis.resolvable.iter() {
            let pods = &cx.cache.base.infos()[node.get()].pods;
            let nominated = cx.cache.nominated_on(node, cx.pod);
            let mut imagined = HypotheticalNode::<P>::new(cx.compiled, &mut cycle, cx.cache, node);
            for pod in pods.iter().filter(|pod| pod.spec.priority < cx.pod.spec.priority) {
                imagined.remove_pod(pod);
                if imagined.filter_with_nominated(&nominated).is_ok() {
                    return PostFilterResult::nominate(node, vec![pod.uid.clone()]);
                }
                imagined.add_pod(pod);
            }
        }
        PostFilterResult::unschedulable("no single pod is in the way")
    }
}
