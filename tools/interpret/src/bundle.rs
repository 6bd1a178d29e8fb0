//! All loaded profiles over one state.

use schedc_core::engine::Engine;
use schedc_core::extension_points::QueuedPod;
use schedc_core::handle::Handle;
use schedc_core::profile::{Bundle, Profile, ProfileInfo, StartErrors, Visitor};

use crate::state::State;
use crate::steps::Pipeline;

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
    fn less(a: &QueuedPod, b: &QueuedPod) -> bool {
        Pipeline::less(a, b)
    }
    fn with<V: Visitor<State>>(&mut self, profile: usize, visitor: V) -> V::Output {
        visitor.visit(&mut self.engines[profile])
    }
}
