//! Plugins that read the state of another plugin, [`Apart`].

use schedc_core::Plugin;
use schedc_core::args::NoArgs;
use schedc_core::extension_points::{OptionalStateOf, PreFilterPlugin, PreFilterResult, StateOf};
use schedc_core::handle::Handle;
use schedc_core::model::PodSpec;
use schedc_core::plugin::{CompileContext, View};
use schedc_core::status::Status;

use super::Apart;
use super::stage::note;

/// Apart must be in the profile, before this plugin.
pub struct ReadsApart;

impl Plugin for ReadsApart {
    const NAME: &'static str = "ReadsApart";
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = StateOf<Apart>;
    type Pod = ();

    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(ReadsApart)
    }

    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

impl PreFilterPlugin for ReadsApart {
    type Cycle = ();

    fn pre_filter(&self, _: &NoArgs, (): &(), view: View<'_, Self>) -> Result<PreFilterResult<()>, Status> {
        note(match view.reads.get() {
            Some(members) => format!("ReadsApart sees {} node(s)", members.len()),
            None => "ReadsApart sees that Apart skips".to_owned(),
        });
        Ok(PreFilterResult::skip(()))
    }
}

/// Apart may be in the profile.
pub struct MayReadApart;

impl Plugin for MayReadApart {
    const NAME: &'static str = "MayReadApart";
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = OptionalStateOf<Apart>;
    type Pod = ();

    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(MayReadApart)
    }

    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

impl PreFilterPlugin for MayReadApart {
    type Cycle = ();

    fn pre_filter(&self, _: &NoArgs, (): &(), view: View<'_, Self>) -> Result<PreFilterResult<()>, Status> {
        note(match view.reads {
            Some(slot) => format!("MayReadApart sees {} node(s)", slot.state.len()),
            None => "MayReadApart sees that Apart is not here".to_owned(),
        });
        Ok(PreFilterResult::skip(()))
    }
}
