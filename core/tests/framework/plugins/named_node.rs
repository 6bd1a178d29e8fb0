//! Two plugins that read required node affinity of one node's name.
//!
//! NamedNode enforces it in PreFilter. NameReader reads it only for pods with the label `reads`, and rejects those that
//! name node n2.

use std::convert::Infallible;

use schedc_core::args::NoArgs;
use schedc_core::extension_points::{FilterPlugin, PreFilterPlugin, PreFilterResult};
use schedc_core::incremental::{DependsOn, Incremental};
use schedc_core::intern::Symbol;
use schedc_core::model::{LabelsExt, PodSpec, RequiredNodeAffinity};
use schedc_core::plugin::{CompileContext, View};
use schedc_core::status::{Code, Reasons, Status};
use schedc_core::{Plugin, plugin};

use super::stage::note;

#[derive(Default)]
pub struct NamedNode;

/// The node that a pod names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Name {
    Absent,
    Withheld,
    Known(Symbol),
}

fn name(affinity: &RequiredNodeAffinity) -> Option<Symbol> {
    Some(affinity.get()?.terms.first()?.match_fields.first()?.name)
}

#[plugin]
impl Plugin for NamedNode {
    type Pod = Name;

    fn compile(_: &NoArgs, pod: &PodSpec, _: CompileContext<'_, Self>) -> Name {
        note("NamedNode compile");
        match &pod.required_node_affinity {
            affinity if affinity.are_withheld() => Name::Withheld,
            affinity => name(affinity).map_or(Name::Absent, Name::Known),
        }
    }
}

impl PreFilterPlugin for NamedNode {
    type Cycle = ();

    fn pre_filter(&self, _: &NoArgs, pod: &Name, view: View<'_, Self>) -> Result<PreFilterResult<()>, Status> {
        note("NamedNode pre-filter");
        Ok(match pod {
            Name::Absent => PreFilterResult::skip(()),
            Name::Withheld => PreFilterResult::ready(()).only_pinned(),
            Name::Known(name) => PreFilterResult::ready(()).only_named([*name], view.base),
        })
    }
}

impl FilterPlugin for NamedNode {
    type Cycle = ();
    type Rejection = Infallible;

    fn filter(_: &NoArgs, _: &Name, _: &(), _: ()) -> Result<(), Infallible> {
        Ok(())
    }

    fn code(rejection: &Infallible) -> Code {
        match *rejection {}
    }

    fn explain(_: &NoArgs, _: &Name, _: &(), _: (), rejection: Infallible, _: &mut Reasons<'_>) {
        match rejection {}
    }
}

impl Incremental for NamedNode {
    fn filter_depends_on(_: &Name, _: &()) -> DependsOn {
        DependsOn::Node
    }
}

#[derive(Default)]
pub struct NameReader;

#[plugin]
impl Plugin for NameReader {
    /// Whether every node is rejected.
    type Pod = bool;

    fn compile(_: &NoArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> bool {
        pod.labels.value(cx.interner.intern("reads")).is_some()
            && name(&pod.required_node_affinity) == Some(cx.interner.intern("n2"))
    }
}

impl FilterPlugin for NameReader {
    type Cycle = ();
    type Rejection = ();

    fn filter(_: &NoArgs, rejects: &bool, _: &(), _: ()) -> Result<(), ()> {
        if *rejects { Err(()) } else { Ok(()) }
    }

    fn code(_: &()) -> Code {
        Code::Unschedulable
    }

    fn explain(_: &NoArgs, _: &bool, _: &(), _: (), _: (), out: &mut Reasons<'_>) {
        out.push("node(s) had the wrong name");
    }
}
