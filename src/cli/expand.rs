//! `schedc expand`

use std::path::PathBuf;

use clap::Args;
use schedc_codegen::{emit, load};

use super::failure::Failure;
use super::{output, sources};

/// Print the Rust code that a profile is compiled to
#[derive(Args)]
pub(crate) struct Expand {
    /// The profile: the name of a file in profiles/, or a path
    #[arg(value_name = "PROFILE")]
    profile: PathBuf,
}

impl Expand {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let files = sources::files(&[self.profile])?;
        let compilation = load(&files, &sources::options())?;
        output::print_text(&emit::render(&compilation).map_err(Failure::new)?)
    }
}
