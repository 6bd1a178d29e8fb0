//! Evaluation of lines of text.

use std::fmt;

use schedc_bounds::text::shortened;
use serde::Serialize;

use crate::{Errors, Evaluator, HintScenario, InvalidScenario, Scenario};

/// The reason why a line was not evaluated.
#[derive(Debug)]
pub enum LineError {
    /// The line is not a scenario.
    Invalid(InvalidScenario),
    /// The scenario has errors.
    Scenario {
        /// ID of the scenario.
        id: String,
        /// The errors.
        errors: Errors,
    },
    /// The result cannot be written as JSON.
    Json(serde_json::Error),
}

impl Evaluator {
    /// Evaluates a scenario in JSON, and returns its line of results.
    ///
    /// # Errors
    /// Returns one error if the line is not a scenario, and otherwise all errors in the scenario.
    pub fn evaluate_line(&mut self, line: &[u8]) -> Result<String, LineError> {
        let scenario = Scenario::read(line).map_err(LineError::Invalid)?;
        let id = scenario.id.clone();
        json(self.evaluate(scenario).map_err(|errors| LineError::Scenario { id, errors })?)
    }

    /// Evaluates the hints of a scenario in JSON, and returns its line of results.
    ///
    /// # Errors
    /// Returns one error if the line is not a scenario, and otherwise all errors in the scenario.
    pub fn hints_line(&mut self, line: &[u8]) -> Result<String, LineError> {
        let scenario = HintScenario::read(line).map_err(LineError::Invalid)?;
        let id = scenario.id.clone();
        json(self.hints(scenario).map_err(|errors| LineError::Scenario { id, errors })?)
    }
}

fn json(result: impl Serialize) -> Result<String, LineError> {
    serde_json::to_string(&result).map_err(LineError::Json)
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineError::Invalid(error) if error.column > 0 => {
                write!(f, "column {}: {}", error.column, shortened(&error.message, 2000))
            }
            LineError::Invalid(error) => f.write_str(&shortened(&error.message, 2000)),
            LineError::Scenario { id, errors } => write!(f, "scenario {}: {errors}", shortened(id, 200)),
            LineError::Json(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LineError {}
