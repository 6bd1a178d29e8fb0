//! `schedc check`

use std::path::PathBuf;

use clap::Args;
use schedc_codegen::load;

use super::failure::Failure;
use super::{output, sources};

/// Check profiles, and show all that is wrong with them
///
/// The same checks as those of a build, across the profiles too: they will share a binary. The exit code is 1 if
/// anything is wrong.
#[derive(Args)]
pub(crate) struct Check {
    /// Profiles: names of files in profiles/, paths, or folders [default: all of profiles/]
    #[arg(value_name = "PROFILE")]
    profiles: Vec<PathBuf>,
}

impl Check {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let files = sources::files(&self.profiles)?;
        let compilation = load(&files, &sources::options())?;
        let profiles = match compilation.plans.len() {
            1 => "1 profile".to_owned(),
            n => format!("{n} profiles"),
        };
        output::print_text(&format!("{profiles}, no errors\n"))
    }
}
