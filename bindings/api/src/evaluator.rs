//! The scenarios of `schedc evaluate`.

use schedc_core::extenders::Overrides;
use schedc_core::profile::Bundle;
use schedc_evaluation::LineError;

use crate::error::{Error, ErrorCode};
use crate::profiles::Profiles;

/// Evaluates scenarios. A line of results has the bytes that `schedc evaluate` writes.
pub struct Evaluator(schedc_evaluation::Evaluator);

impl Evaluator {
    /// Creates the plugins of all profiles.
    ///
    /// # Errors
    /// Returns an error for plugins that cannot start.
    pub fn new(profiles: &Profiles) -> Result<Self, Error> {
        let evaluator = schedc_evaluation::Evaluator::new(profiles.bundle(), Overrides::NONE);
        evaluator.map(Evaluator).map_err(|error| Error::new(ErrorCode::InvalidProfile, error))
    }

    /// Creates the plugins of compiled profiles, which can have plugins of other crates.
    ///
    /// # Errors
    /// Returns an error for plugins that cannot start, and extenders that cannot be called.
    pub fn compiled<B: Bundle>() -> Result<Self, Error> {
        let evaluator = schedc_evaluation::Evaluator::of::<B>();
        evaluator.map(Evaluator).map_err(|error| Error::new(ErrorCode::InvalidProfile, error))
    }

    /// Lets this profile decide, regardless of the profiles that scenarios name.
    ///
    /// # Errors
    /// Returns an error if no profile has this name or scheduler name.
    pub fn use_profile(&mut self, name: &str) -> Result<(), Error> {
        self.0.use_profile(name).map_err(|error| Error::new(ErrorCode::UnknownProfile, error))
    }

    /// Evaluates a scenario, one JSON object. Returns a line of results, without the line break.
    ///
    /// # Errors
    /// Returns all errors of the scenario.
    pub fn evaluate(&mut self, scenario: &[u8]) -> Result<String, Error> {
        self.0.evaluate_line(scenario).map_err(|error| invalid(&error))
    }

    /// Evaluates the queueing hints of a scenario, as `schedc evaluate --hints` does.
    ///
    /// # Errors
    /// Returns all errors of the scenario.
    pub fn hints(&mut self, scenario: &[u8]) -> Result<String, Error> {
        self.0.hints_line(scenario).map_err(|error| invalid(&error))
    }
}

fn invalid(error: &LineError) -> Error {
    Error::new(ErrorCode::InvalidScenario, error)
}
