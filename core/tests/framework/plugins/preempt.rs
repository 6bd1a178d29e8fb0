//! PostFilter: makes room for a pod on the first node where it fits without all pods of lower priority.

use schedc_core::Plugin;
use schedc_core::args::NoArgs;
use schedc_core::extension_points::{PostFilterContext, PostFilterPlugin, PostFilterResult};
use schedc_core::handle::Handle;
use schedc_core::hypothetical::HypotheticalNode;
use schedc_core::model::PodSpec;
use schedc_core::plugin::{CompileContext, View};
use schedc_core::profile::Profile;

pub struct Preempt;

impl Plugin for Preempt {
    const NAME: &'static str = "Preempt";
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = ();
    type Pod = ();

    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(Preempt)
    }

    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

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
                return PostFilterResult::nominate(node, weaker().map(|pod| pod.uid.clone()).collect());
            }
        }
        PostFilterResult::unschedulable("preemption found no victims")
    }
}
