//! All profiles of a program.

use super::Engine;
use crate::model::CustomKind;
use crate::model::cache::State;
use crate::model::originals::RequiredOriginals;
use crate::plugin_api::extension_points::QueuedPod;
use crate::plugin_api::handle::Handle;
use crate::profile_api::extenders::{EXTENDER, Extenders, Overrides};
use crate::profile_api::profile::{AccessRule, Profile, ProfileInfo, ProfileSource, StartError, StartErrors};

/// All profiles of a program. Generated.
pub trait Bundle: Sized + Send + 'static {
    /// The profiles that [`Bundle::new`] makes, in order.
    const PROFILES: &'static [ProfileInfo];
    /// Sources of the profiles, in the same order; empty if the profiles were not compiled from TOML.
    const SOURCES: &'static [ProfileSource] = &[];
    /// Hash of the compiled profiles.
    const HASH: &'static str = "";
    /// Kinds that the scheduler has to watch for plugins, always including nodes and pods.
    const WATCHES: &'static [&'static str] = &["Node", "Pod"];
    /// Kinds that plugins declare and that the scheduler has to watch, each once.
    const KINDS: &'static [CustomKind] = &[];
    /// Permissions that plugins need in addition to watching, with one rule for each resource. The scheduler's own
    /// requests, such as patches of pod status, are not included.
    const WRITES: &'static [AccessRule] = &[];
    /// Objects that extenders receive in full, as JSON. The driver of the scheduler keeps them in
    /// [`Base::originals`](crate::cache::Base::originals).
    const ORIGINALS: RequiredOriginals = RequiredOriginals::NONE;
    /// Columns and indexes of all profiles.
    type State: State;

    /// Creates every plugin of every profile.
    ///
    /// # Errors
    /// The failures of all plugins.
    fn new(handle: &Handle) -> Result<Self, StartErrors>;
    /// Returns the profiles of this bundle, in order.
    fn profiles(&self) -> &'static [ProfileInfo] {
        Self::PROFILES
    }
    /// Returns whether `a` precedes `b` in the order of the queue, which all profiles share.
    fn less(a: &QueuedPod, b: &QueuedPod) -> bool;
    /// Calls the visitor with the engine of the profile at an index of `profiles`.
    fn with<V: Visitor<Self::State>>(&mut self, profile: usize, visitor: V) -> V::Output;
}

/// A function that is generic over the type of a profile.
pub trait Visitor<S: State> {
    /// Result of the function.
    type Output;
    /// Calls the function.
    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) -> Self::Output;
}

/// Calls a function that is generic over the profile at an index. Rust has no generic closures, so each captured value
/// is listed with its type. In these types and in the function, `S` is the state of the bundle and `P` is the profile.
macro_rules! with_profile {
    (
        $bundle:expr, $profile:expr,
        fn $(<$($generic:ident: $bound:ident),+>)? ($engine:ident $(, $name:ident: $type:ty = $value:expr)* $(,)?)
            $(-> $output:ty)? $body:block
    ) => {{
        struct Function<T>(T);
        impl<S: $crate::model::cache::State $($(, $generic: $bound)+)?> $crate::engine::bundle::Visitor<S>
            for Function<($($type,)*)>
        {
            type Output = $crate::engine::bundle::with_profile!(@output $($output)?);
            fn visit<P: $crate::profile_api::profile::Profile<State = S>>(
                self,
                $engine: &mut $crate::engine::Engine<P>,
            ) -> Self::Output {
                let Function(($($name,)*)) = self;
                $body
            }
        }
        $bundle.with($profile, Function(($($value,)*)))
    }};
    (@output) => { () };
    (@output $output:ty) => { $output };
}
pub(crate) use with_profile;

/// Prepares the extenders of all profiles. `overrides` replaces settings of the profiles.
///
/// # Errors
/// The reasons why extenders cannot be called.
pub(crate) fn set_up_extenders<B: Bundle>(bundle: &mut B, overrides: &Overrides) -> Result<(), StartErrors> {
    let profiles = bundle.profiles();
    let set_up = (0..profiles.len()).map(|profile| {
        with_profile!(
            bundle,
            profile,
            fn(engine, overrides: &Overrides = overrides, profiles: &[ProfileInfo] = profiles) -> Result<(), StartError> {
                let result = engine.plugins.extenders().set_up(overrides, profiles);
                result.map_err(|reason| StartError { plugin: EXTENDER, reason })
            }
        )
    });
    let mut errors: Vec<StartError> = Vec::new();
    for error in set_up.filter_map(Result::err) {
        // Profiles may share extenders, which then report the same errors.
        if !errors.contains(&error) {
            errors.push(error);
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.into()) }
}
