//! All loaded profiles over one state.

use schedc_core::engine::Engine;
use schedc_core::extension_points::{QueueSortPlugin, QueuedPod};
use schedc_core::handle::Handle;
use schedc_core::profile::{Bundle, ProfileInfo, StartErrors, Visitor};
use schedc_plugins::PrioritySort;

use crate::pipeline::Pipeline;
use crate::state::State;

/// Interpreted profiles, created by [`Interpretation::start`](crate::Interpretation::start).
pub struct Profiles {
    engines: Vec<Engine<Pipeline>>,
    infos: &'static [ProfileInfo],
}

impl Profiles {
    pub(crate) fn of(engines: Vec<Engine<Pipeline>>, infos: &'static [ProfileInfo]) -> Self {
        Profiles { engines, infos }
    }
    /// Returns the engine of the profile at an index of `profiles`.
    pub fn engine(&mut self, profile: usize) -> Option<&mut Engine<Pipeline>> {
        self.engines.get_mut(profile)
    }
}

impl Bundle for Profiles {
    const PROFILES: &'static [ProfileInfo] = &[];
    type State = State;

    /// Creates a bundle without profiles.
    fn new(_: &Handle) -> Result<Self, StartErrors> {
        Ok(Profiles { engines: Vec::new(), infos: &[] })
    }
    fn profiles(&self) -> &'static [ProfileInfo] {
        self.infos
    }
    /// Compares two pods by the only queue-sort plugin, PrioritySort.
    fn less(a: &QueuedPod, b: &QueuedPod) -> bool {
        PrioritySort::less(&schedc_core::args::NoArgs, a, b)
    }
    fn with<V: Visitor<State>>(&mut self, profile: usize, visitor: V) -> V::Output {
        visitor.visit(&mut self.engines[profile])
    }
}
