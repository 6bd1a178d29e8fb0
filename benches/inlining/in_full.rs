//! Equivalents of the external filters in the style of `schedc-plugins`: a full `Plugin` and `FilterPlugin`, a kernel
//! marked for inlining, and a rejection without data.

use schedc_core::Plugin;
use schedc_core::args::NoArgs;
use schedc_core::column::NodeInfo;
use schedc_core::extension_points::FilterPlugin;
use schedc_core::handle::Handle;
use schedc_core::incremental::Incremental;
use schedc_core::intern::Symbol;
use schedc_core::model::PodSpec;
use schedc_core::plugin::CompileContext;
use schedc_core::status::{Code, Reasons};

macro_rules! in_full {
    ($(#[$doc:meta])* $plugin:ident as $name:literal, $inline:ident, $pod:ty, $read:expr, $passes:expr, $message:literal) => {
        $(#[$doc])*
        pub struct $plugin;

        impl Plugin for $plugin {
            const NAME: &'static str = $name;
            type Args = NoArgs;
            type Columns = NodeInfo;
            type Indexes = ();
            type Reads = ();
            type Pod = $pod;

            fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
                Ok($plugin)
            }
            fn compile(_: &NoArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> $pod {
                $read(pod, cx)
            }
        }

        impl FilterPlugin for $plugin {
            type Cycle = ();
            type Rejection = ();

            #[inline($inline)]
            fn filter(_: &NoArgs, pod: &$pod, _: &(), node: &NodeInfo) -> Result<(), ()> {
                if $passes(pod, node) { Ok(()) } else { Err(()) }
            }
            fn code(_: &()) -> Code {
                Code::Unschedulable
            }
            fn explain(_: &NoArgs, _: &$pod, _: &(), _: &NodeInfo, _: (), out: &mut Reasons<'_>) {
                out.push($message);
            }
        }

        impl Incremental for $plugin {
            const FILTER_CAN_FAIL: bool = false;
        }
    };
}

/// The label that KeptNodes reads, and the pod's namespace.
#[derive(PartialEq, Eq, Hash)]
pub struct Wanted {
    label: Symbol,
    namespace: Symbol,
}

fn wanted<P: Plugin>(pod: &PodSpec, cx: CompileContext<'_, P>) -> Wanted {
    Wanted { label: cx.interner.intern("example.com/kept-for"), namespace: pod.namespace }
}

#[inline(always)]
fn accepts(pod: &Wanted, node: &NodeInfo) -> bool {
    !matches!(node.label(pod.label), Some(namespace) if namespace != pod.namespace)
}

fn label<P: Plugin>(_: &PodSpec, cx: CompileContext<'_, P>) -> Symbol {
    cx.interner.intern("example.com/maintenance")
}

#[inline(always)]
fn is_in_service(label: &Symbol, node: &NodeInfo) -> bool {
    node.label(*label).is_none()
}

in_full! {
    /// Reserves nodes for the pods of one namespace.
    KeptNodes as "KeptNodesInFull", always, Wanted, wanted, accepts, "node(s) were kept for another namespace"
}
in_full! {
    /// KeptNodes with a kernel that is not inlined, which the benchmark must detect.
    KeptNodesCalled as "KeptNodesCalled", never, Wanted, wanted, accepts, "node(s) were kept for another namespace"
}
in_full! {
    /// Keeps nodes free of pods.
    Maintenance as "MaintenanceInFull", always, Symbol, label, is_in_service, "node(s) were under maintenance"
}
