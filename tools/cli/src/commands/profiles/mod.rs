//! `schedc profiles`

pub(crate) mod profile;

use clap::Args;
use schedc_core::erased::AnyBundle;

use super::failure::Failure;
use super::output::{self, Format};
use super::tables::profiles::table;
use profile::Profile;

/// List the compiled-in profiles
///
/// Lists the plugins of each extension point in their order, with weights.
#[derive(Args)]
pub(crate) struct Profiles {
    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: Format,
}

impl Profiles {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let profiles: Vec<Profile> = bundle.profiles.iter().map(Profile::from).collect();
        output::print(self.output, &profiles, |profiles| table(profiles))
    }
}
