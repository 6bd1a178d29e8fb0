//! `schedc schema`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use schedc_codegen::json_schema;
use schedc_core::erased::AnyBundle;

use super::failure::Failure;
use super::{output, sources};
use crate::explanation;

/// Print the JSON schema of profiles, for editors, or of an output
///
/// The schema of profiles contains all keys, extension points, plugins and arguments: those of schedc, of the
/// package that contains the current folder (`schedc.toml`), and of the crates that the profiles name. The profiles
/// may have errors.
#[derive(Args)]
pub(crate) struct Schema {
    /// Print the schema of an output instead, for programs that read it
    #[arg(long, value_enum, value_name = "OUTPUT", conflicts_with = "profiles")]
    of: Option<Output>,

    /// Profiles: names of files in profiles/ or of compiled-in profiles, paths, or folders [default: all of
    /// profiles/]
    #[arg(value_name = "PROFILE")]
    profiles: Vec<PathBuf>,
}

/// An output with a schema.
#[derive(Clone, Copy, ValueEnum)]
enum Output {
    /// `schedc explain -o json`, for one pod
    Explain,
}

impl Schema {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        match self.of {
            Some(Output::Explain) => output::print_text(explanation::SCHEMA),
            None => {
                let schema = json_schema::of_profiles(&sources::catalogs(bundle, &self.profiles)?);
                output::print_text(&(output::json(&schema)? + "\n"))
            }
        }
    }
}
