//! `schedc check`

use std::path::PathBuf;

use clap::Args;
use schedc_core::profile::Bundle;

use super::failure::Failure;
use super::{output, sources};

/// Check profiles, and show all that is wrong with them
///
/// The same checks as those of a build, across the profiles too: they will share a binary. The exit code is 1 if
/// anything is wrong.
#[derive(Args)]
pub(crate) struct Check {
    /// Profiles: names of files in profiles/ or of profiles that are compiled in, paths, or folders [default: all of profiles/]
    #[arg(value_name = "PROFILE")]
    profiles: Vec<PathBuf>,
}

impl Check {
    pub(crate) fn run<B: Bundle>(self) -> Result<(), Failure> {
        let compilation = sources::load::<B>(&self.profiles)?;
        let profiles = match compilation.plans.len() {
            1 => "1 profile".to_owned(),
            n => format!("{n} profiles"),
        };
        output::print_text(&format!("{profiles}, no errors\n"))
    }
}
