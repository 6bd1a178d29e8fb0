//! Treatment of unknown fields and kinds, and of wrong CEL expressions.

use clap::{Args, ValueEnum};
use schedc_objects::{Error, IgnoredErrors, Validation};

use super::failure::Failure;
use super::output;

/// Option of all commands that read manifests.
#[derive(Args)]
pub(crate) struct Validate {
    /// Treatment of unknown fields such as `nodeSelecter`, unknown kinds, and wrong CEL expressions
    #[arg(long, value_enum, value_name = "MODE", default_value = "auto")]
    validate: Mode,
}

/// The modes of `kubectl --validate`, and `auto`, which chooses between two of them.
#[derive(Clone, Copy, ValueEnum)]
enum Mode {
    /// `warn` for objects from a cluster (with `uid`, `resourceVersion` or `managedFields`), `strict` for others
    Auto,
    /// Unknown fields and kinds, and wrong CEL expressions, are errors
    #[value(alias = "true")]
    Strict,
    /// Unknown fields and kinds, and wrong CEL expressions, are ignored, with warnings
    Warn,
    /// Unknown fields and kinds, and wrong CEL expressions, are ignored
    #[value(alias = "false")]
    Ignore,
}

impl Validate {
    pub(crate) fn validation(&self) -> Validation {
        match self.validate {
            Mode::Auto => Validation::Auto,
            Mode::Strict => Validation::Strict,
            Mode::Warn => Validation::Warn,
            Mode::Ignore => Validation::Ignore,
        }
    }
}

/// Prints warnings about errors that were ignored.
pub(crate) fn warn(ignored: &IgnoredErrors) {
    ignored.warnings().iter().for_each(output::warning);
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let is_unknown = error.problems.iter().any(|problem| {
            // Unknown fields of an entry of an events file are errors in every mode; such a problem has no `field`.
            problem.field.is_some() && problem.message.starts_with("unknown field")
        });
        match is_unknown {
            true => Failure::WithNote(error.to_string(), "with --validate=warn, unknown fields are ignored"),
            false => Failure::new(error),
        }
    }
}
