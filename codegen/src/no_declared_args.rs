//! Replacement of `declared_args` without the feature `sources`: rustc alone checks the arguments of plugins in other
//! crates.

use crate::schema::ArgsSchema;

/// No declarations.
#[derive(Default)]
pub(crate) struct DeclaredArgs;

impl DeclaredArgs {
    /// Reads nothing.
    pub(crate) fn read(_: &[String]) -> Self {
        DeclaredArgs
    }

    /// Returns that the arguments are unknown.
    pub(crate) fn of(&self, _: &str) -> ArgsSchema {
        ArgsSchema::Opaque
    }
}
