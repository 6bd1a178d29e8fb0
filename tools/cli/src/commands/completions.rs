//! `schedc completions`

use clap::builder::PossibleValuesParser;
use clap::{Arg, Args, Command};
use clap_complete::{Shell, generate};
use schedc_core::erased::AnyBundle;
use schedc_core::profile::ProfileInfo;

use super::failure::Failure;
use super::{output, program};

/// Print a completion script for a shell
///
/// The script completes subcommands, flags, their values and the names of the profiles that are compiled in.
/// docs/install.md shows where each shell looks for it.
#[derive(Args)]
pub(crate) struct Completions {
    /// The shell that reads the script
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    /// `command` is the whole command line.
    pub(crate) fn run(self, bundle: &AnyBundle, command: Command) -> Result<(), Failure> {
        let mut script = Vec::new();
        generate(self.shell, &mut with_profiles(command, bundle.profiles), program::name(), &mut script);
        output::print_text(&String::from_utf8(script).map_err(Failure::new)?)
    }
}

/// Adds the names of compiled profiles as values of the flags that take one.
fn with_profiles(command: Command, profiles: &'static [ProfileInfo]) -> Command {
    let add = |arg: Arg| match arg.get_long() {
        Some("profile" | "shadow") => {
            arg.value_parser(PossibleValuesParser::new(profiles.iter().map(|info| info.name)))
        }
        _ => arg,
    };
    command.mut_subcommands(|subcommand| subcommand.mut_args(add))
}
