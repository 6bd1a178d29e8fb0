//! Profiles that are read at run time.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use schedc_codegen::{NoCrates, Options, SourceText, compile};
use schedc_core::engine::Engine;
use schedc_core::erased::{AnyBundle, SCENARIO_TIME};
use schedc_core::handle::Handle;
use schedc_evaluation::Routes;
use schedc_interpret::{InterpretError, Interpretation, Pipeline};

use crate::error::{Error, ErrorCode};

/// Valid profiles. Clones share them.
///
/// The texts of profiles and the arguments of their plugins stay in memory until the program ends: read a profile once, and
/// reuse the value.
#[derive(Clone)]
pub struct Profiles {
    interpretation: Arc<Interpretation>,
    bundle: AnyBundle,
}

impl fmt::Debug for Profiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl Profiles {
    /// Reads profiles. Each source is the name of a file, such as `packed.toml` for the profile `packed`, and its text
    /// in TOML. An empty text is kube-scheduler's default profile.
    ///
    /// # Errors
    /// Returns all errors of all profiles, with their locations. Profiles with extenders, or with plugins of other crates than
    /// `schedc-plugins`, cannot be interpreted, and are errors.
    pub fn parse(sources: &[(&str, &str)]) -> Result<Self, Error> {
        let sources: Vec<SourceText> = sources
            .iter()
            .map(|(name, text)| SourceText { path: (*name).to_owned(), text: (*text).to_owned() })
            .collect();
        let compilation = compile(&sources, &mut NoCrates).map_err(InterpretError::Invalid);
        Self::of(compilation.and_then(Interpretation::of))
    }

    /// Reads profiles from files.
    ///
    /// # Errors
    /// Returns an error for unreadable files, and the errors of [`Profiles::parse`].
    pub fn read(files: &[PathBuf]) -> Result<Self, Error> {
        Self::of(Interpretation::load(files, &Options { manifest_dir: PathBuf::from(".") }))
    }

    fn of(interpretation: Result<Interpretation, InterpretError>) -> Result<Self, Error> {
        let interpretation = interpretation.map_err(|error| Error::new(ErrorCode::InvalidProfile, error))?;
        Ok(Profiles { bundle: interpretation.clone().bundle(), interpretation: Arc::new(interpretation) })
    }

    /// Returns the names of the profiles.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.bundle.profiles.iter().map(|profile| profile.name)
    }

    pub(crate) fn bundle(&self) -> &AnyBundle {
        &self.bundle
    }

    /// Creates the plugins of the profile with this name or scheduler name.
    pub(crate) fn engine(&self, name: &str) -> Result<Engine<Pipeline>, Error> {
        let profiles = self.interpretation.profiles();
        let profile = Routes::index_of(profiles, name).map_err(|error| Error::new(ErrorCode::UnknownProfile, error))?;
        self.interpretation.engine(profile, &handle()).map_err(|error| Error::new(ErrorCode::InvalidProfile, error))
    }
}

/// Returns a handle for plugins. Its time is the fixed time of scenarios.
pub(crate) fn handle() -> Handle {
    let handle = Handle::default();
    handle.publish_now(SCENARIO_TIME);
    handle
}
