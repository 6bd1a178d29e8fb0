//! `schedc expand`

use std::path::PathBuf;

use clap::Args;
use schedc_codegen::emit;
use schedc_core::erased::AnyBundle;

use super::failure::Failure;
use super::{output, sources};

/// Print the Rust code that a profile compiles to
#[derive(Args)]
pub(crate) struct Expand {
    /// Profile: name of a file in profiles/ or of a compiled-in profile, or a path
    #[arg(value_name = "PROFILE")]
    profile: PathBuf,
}

impl Expand {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let compilation = sources::load(bundle, &[self.profile])?;
        output::print_text(&emit::render(&compilation).map_err(Failure::new)?)
    }
}
