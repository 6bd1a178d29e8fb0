//! Scenarios.

use pyo3::prelude::*;

use crate::guard::Guarded;
use crate::profiles::Profiles;

/// An evaluator of the scenarios of `schedc evaluate`.
#[pyclass(frozen, module = "schedc._native")]
pub(crate) struct Evaluator(Guarded<schedc_api::Evaluator>);

#[pymethods]
impl Evaluator {
    /// Creates an evaluator. The profile of this name decides; without a name, each scenario names its profile.
    #[new]
    fn new(py: Python<'_>, profiles: &Profiles, profile: Option<&str>) -> PyResult<Self> {
        let make = || {
            let mut evaluator = schedc_api::Evaluator::new(&profiles.0)?;
            if let Some(profile) = profile {
                evaluator.use_profile(profile)?;
            }
            Ok(evaluator)
        };
        Guarded::create(py, make).map(Evaluator)
    }

    /// Evaluates a scenario in JSON, and returns the line that `schedc evaluate` writes, without the
    /// line break.
    fn evaluate(&self, py: Python<'_>, scenario: &[u8]) -> PyResult<Vec<u8>> {
        self.0.call(py, |evaluator| Ok(evaluator.evaluate(scenario)?.into_bytes()))
    }
}
