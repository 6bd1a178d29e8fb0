//! `schedc schema`

use std::path::PathBuf;

use clap::Args;
use schedc_codegen::json_schema;
use schedc_core::erased::AnyBundle;

use super::failure::Failure;
use super::{output, sources};

/// Print the JSON schema of profiles, for editors
///
/// The schema contains all keys, extension points, plugins and arguments: those of schedc, of the package that
/// contains the current folder (`schedc.toml`), and of the crates that the profiles name. The profiles may have
/// errors.
#[derive(Args)]
pub(crate) struct Schema {
    /// Profiles: names of files in profiles/ or of compiled-in profiles, paths, or folders [default: all of
    /// profiles/]
    #[arg(value_name = "PROFILE")]
    profiles: Vec<PathBuf>,
}

impl Schema {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let schema = json_schema::of_profiles(&sources::catalogs(bundle, &self.profiles)?);
        output::print_text(&(output::json(&schema)? + "\n"))
    }
}
