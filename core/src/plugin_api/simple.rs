//! [`SimpleFilter`]: a filter plugin with one function over a whole node.

use std::hash::Hash;

use crate::model::PodSpec;
use crate::model::intern::Interner;
use crate::plugin_api::args::NoArgs;
use crate::plugin_api::column::NodeInfo;
use crate::plugin_api::extension_points::FilterPlugin;
use crate::plugin_api::handle::Handle;
use crate::plugin_api::plugin::{CompileContext, Plugin};
use crate::plugin_api::status::{Code, Reasons};

/// A filter in a few lines: one function reads the pod, another one evaluates it on a whole node.
///
/// Rejections are resolvable ([`Code::Unschedulable`]): preemption may try such nodes.
pub trait SimpleFilter: Send + Sync + Default + 'static {
    /// Name in profiles and messages.
    const NAME: &'static str;
    /// All that the filter reads of a pod. Pods with equal values share cached answers.
    type Pod: Eq + Hash + Send + Sync;
    /// Reads a pod. Intern label keys and similar strings here.
    fn read(pod: &PodSpec, interner: &mut Interner) -> Self::Pod;
    /// Evaluates the pod on the node. The result depends on these two alone: the function may be called twice.
    ///
    /// # Errors
    /// The reason of the rejection, for the pod's message.
    fn filter(pod: &Self::Pod, node: &NodeInfo) -> Result<(), &'static str>;
}

#[diagnostic::do_not_recommend]
impl<P: SimpleFilter> Plugin for P {
    const NAME: &'static str = <P as SimpleFilter>::NAME;
    type Args = NoArgs;
    type Columns = NodeInfo;
    type Indexes = ();
    type Reads = ();
    type Pod = <P as SimpleFilter>::Pod;
    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(P::default())
    }
    fn compile(_: &NoArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> Self::Pod {
        P::read(pod, cx.interner)
    }
}

#[diagnostic::do_not_recommend]
impl<P: SimpleFilter> FilterPlugin for P {
    type Cycle = ();
    /// The loop over nodes carries no reason. The reason comes from a second call if it is needed.
    type Rejection = ();
    const CAN_FAIL: bool = false;
    #[inline(always)]
    fn filter(_: &NoArgs, pod: &<Self as Plugin>::Pod, _: &(), node: &NodeInfo) -> Result<(), ()> {
        <P as SimpleFilter>::filter(pod, node).map_err(|_| ())
    }
    fn code(_: &()) -> Code {
        Code::Unschedulable
    }
    fn explain(_: &NoArgs, pod: &<Self as Plugin>::Pod, _: &(), node: &NodeInfo, _: (), out: &mut Reasons<'_>) {
        if let Err(reason) = <P as SimpleFilter>::filter(pod, node) {
            out.push(reason);
        }
    }
}
