//! Plugins that read the state of another plugin, [`TeamAntiAffinity`].

use schedc_core::Plugin;
use schedc_core::args::NoArgs;
use schedc_core::extension_points::{OptionalStateOf, PreFilterPlugin, PreFilterResult, StateOf};
use schedc_core::handle::Handle;
use schedc_core::model::PodSpec;
use schedc_core::plugin::{CompileContext, View};
use schedc_core::status::Status;

use super::TeamAntiAffinity;
use super::stage::note;

/// TeamAntiAffinity must be in the profile, before this plugin.
pub struct ReadsTeamAntiAffinity;

impl Plugin for ReadsTeamAntiAffinity {
    const NAME: &'static str = "ReadsTeamAntiAffinity";
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = StateOf<TeamAntiAffinity>;
    type Pod = ();

    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(ReadsTeamAntiAffinity)
    }

    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

impl PreFilterPlugin for ReadsTeamAntiAffinity {
    type Cycle = ();

    fn pre_filter(&self, _: &NoArgs, (): &(), view: View<'_, Self>) -> Result<PreFilterResult<()>, Status> {
        note(match view.reads.get() {
            Some(members) => format!("ReadsTeamAntiAffinity sees {} node(s)", members.len()),
            None => "ReadsTeamAntiAffinity sees that TeamAntiAffinity skips".to_owned(),
        });
        Ok(PreFilterResult::skip(()))
    }
}

/// TeamAntiAffinity may be in the profile.
pub struct MayReadTeamAntiAffinity;

impl Plugin for MayReadTeamAntiAffinity {
    const NAME: &'static str = "MayReadTeamAntiAffinity";
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = OptionalStateOf<TeamAntiAffinity>;
    type Pod = ();

    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(MayReadTeamAntiAffinity)
    }

    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

impl PreFilterPlugin for MayReadTeamAntiAffinity {
    type Cycle = ();

    fn pre_filter(&self, _: &NoArgs, (): &(), view: View<'_, Self>) -> Result<PreFilterResult<()>, Status> {
        note(match view.reads {
            Some(slot) => format!("MayReadTeamAntiAffinity sees {} node(s)", slot.state.len()),
            None => "MayReadTeamAntiAffinity sees that TeamAntiAffinity is not here".to_owned(),
        });
        Ok(PreFilterResult::skip(()))
    }
}
