//! All profiles that were read, over one state.

use schedc_core::engine::Engine;
use schedc_core::extension_points::{QueueSortPlugin, QueuedPod};
use schedc_core::handle::Handle;
use schedc_core::profile::{Bundle, ProfileInfo, StartErrors, Visitor};
use schedc_plugins::PrioritySort;

use crate::pipeline::Pipeline;
use crate::state::State;

/// Interpreted profiles. [`Interpretation::start`](crate::Interpretation::start) makes them.
pub struct Profiles {
    engines: Vec<Engine<Pipeline>>,
    infos: &'static [ProfileInfo],
}

impl Profiles {
    pub(crate) fn of(engines: Vec<Engine<Pipeline>>, infos: &'static [ProfileInfo]) -> Self {
        Profiles { engines, infos }
    }
    /// The profile at an index of `profiles`, at work.
    pub fn engine(&mut self, profile: usize) -> Option<&mut Engine<Pipeline>> {
        self.engines.get_mut(profile)
    }
}

impl Bundle for Profiles {
    const PROFILES: &'static [ProfileInfo] = &[];
    type State = State;

    /// No profile at all.
    fn new(_: &Handle) -> Result<Self, StartErrors> {
        Ok(Profiles { engines: Vec::new(), infos: &[] })
    }
    fn profiles(&self) -> &'static [ProfileInfo] {
        self.infos
    }
    /// The only queue-sort plugin that there is.
    fn less(a: &QueuedPod, b: &QueuedPod) -> bool {
        PrioritySort::less(&schedc_core::args::NoArgs, a, b)
    }
    fn with<V: Visitor<State>>(&mut self, profile: usize, visitor: V) -> V::Output {
        visitor.visit(&mut self.engines[profile])
    }
}
