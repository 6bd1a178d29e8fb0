//! Schedulers with extenders that a test describes: their URLs are known at run time, not when the profile is compiled.

use std::cell::Cell;
use std::sync::Arc;

use schedc_core::extension_points::QueuedPod;
use schedc_core::handle::Handle;
use schedc_core::originals::RequiredOriginals;
use schedc_core::profile::{Bundle, ProfileInfo, StartErrors, Visitor};
use schedc_extender::{Extender, HttpExtenders};
use schedc_fake_apiserver::Server;
use schedc_kubernetes::driver::DriverHooks;

use crate::scheduler::replica::Replica;
use compiled::Profiles;

mod compiled {
    schedc_macros::profile!("tests/scheduler/asking.toml");
}

thread_local! {
    /// Extenders of the scheduler that this thread creates.
    static EXTENDERS: Cell<&'static [Extender]> = const { Cell::new(&[]) };
}

/// Starts a replica with these extenders.
pub(crate) fn replica(
    server: &Server,
    is_elected: bool,
    extenders: Vec<Extender>,
    hooks: impl DriverHooks + Send + 'static,
) -> Replica {
    let prepare = move || EXTENDERS.set(extenders.leak());
    Replica::start::<ProfilesWithExtenders>(server, "asking", is_elected, prepare, hooks)
}

/// Compiled profile with replaced extenders.
struct ProfilesWithExtenders(Profiles);

impl Bundle for ProfilesWithExtenders {
    const PROFILES: &'static [ProfileInfo] = Profiles::PROFILES;
    const WATCHES: &'static [&'static str] = Profiles::WATCHES;
    const ORIGINALS: RequiredOriginals = Profiles::ORIGINALS;
    type State = <Profiles as Bundle>::State;

    fn new(handle: &Handle) -> Result<Self, StartErrors> {
        let mut profiles = Profiles::new(handle)?;
        let plugins = Arc::get_mut(&mut profiles.asking.plugins).expect("it is not shared yet");
        plugins.extenders = HttpExtenders::new(EXTENDERS.get());
        Ok(ProfilesWithExtenders(profiles))
    }
    fn less(a: &QueuedPod, b: &QueuedPod) -> bool {
        Profiles::less(a, b)
    }
    fn with<V: Visitor<Self::State>>(&mut self, profile: usize, visitor: V) -> V::Output {
        self.0.with(profile, visitor)
    }
}
