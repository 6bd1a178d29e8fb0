//! PreFilter: a label of the pod decides.
//!
//! `only-a: n1.n2` restricts the pod to these nodes. `only-a: later` rejects the pod, `only-a: never` rejects it
//! unresolvably, `only-a: broken` fails. Without the label, PinnedA skips. PinnedB reads the label `only-b` in the same
//! way.

use std::convert::Infallible;
use std::marker::PhantomData;

use schedc_core::Plugin;
use schedc_core::args::NoArgs;
use schedc_core::extension_points::{FilterPlugin, PreFilterPlugin, PreFilterResult};
use schedc_core::handle::Handle;
use schedc_core::model::{LabelsExt, PodSpec};
use schedc_core::plugin::{CompileContext, View};
use schedc_core::status::{Code, Reasons, Status};

use super::names::{Named, NamedA, NamedB};
use super::stage::note;

pub type PinnedA = Pinned<NamedA>;
pub type PinnedB = Pinned<NamedB>;

pub struct Pinned<N>(PhantomData<fn() -> N>);

impl<N: Named> Plugin for Pinned<N> {
    const NAME: &'static str = N::PINNED;
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = ();
    /// The label's value.
    type Pod = Option<String>;

    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(Pinned(PhantomData))
    }

    fn compile(_: &NoArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> Option<String> {
        let label = cx.interner.intern(N::PINNED_LABEL);
        pod.labels.value(label).map(|value| cx.interner.resolve(value).to_owned())
    }
}

impl<N: Named> PreFilterPlugin for Pinned<N> {
    type Cycle = ();

    fn pre_filter(
        &self,
        _: &NoArgs,
        pod: &Option<String>,
        view: View<'_, Self>,
    ) -> Result<PreFilterResult<()>, Status> {
        note(format!("{} pre-filter", N::PINNED));
        match pod.as_deref() {
            None => Ok(PreFilterResult::skip(())),
            Some("later") => Ok(PreFilterResult::reject((), Status::unschedulable("not now"))),
            Some("never") => Err(Status::unresolvable("not ever")),
            Some("broken") => Err(Status::error("lost its glasses")),
            Some(nodes) => {
                let node = |name: &str| view.base.interner.get(name).and_then(|name| view.node(name));
                Ok(PreFilterResult::ready(()).only(nodes.split('.').filter_map(node)))
            }
        }
    }
}

impl<N: Named> FilterPlugin for Pinned<N> {
    type Cycle = ();
    type Rejection = Infallible;

    fn filter(_: &NoArgs, _: &Option<String>, _: &(), _: ()) -> Result<(), Infallible> {
        note(format!("{} filter", N::PINNED));
        Ok(())
    }

    fn code(rejection: &Infallible) -> Code {
        match *rejection {}
    }

    fn explain(_: &NoArgs, _: &Option<String>, _: &(), _: (), rejection: Infallible, _: &mut Reasons<'_>) {
        match rejection {}
    }
}
