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
/// The script completes subcommands, flags, their values and the names of compiled-in profiles.
/// docs/install.md lists the folder of each shell.
#[derive(Args)]
pub(crate) struct Completions {
    /// Shell of the script
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    /// Prints the completions of a shell. `command` is the whole command line.
    pub(crate) fn run(self, bundle: &AnyBundle, command: Command) -> Result<(), Failure> {
        let mut script = Vec::new();
        generate(self.shell, &mut with_profiles(command, bundle.profiles), program::name(), &mut script);
        output::print_text(&String::from_utf8(script).map_err(Failure::new)?)
    }
}

/// Adds the names of compiled profiles as values of the flags that take a profile.
fn with_profiles(command: Command, profiles: &'static [ProfileInfo]) -> Command {
    let add = |arg: Arg| match arg.get_long() {
        Some("profile" | "shadow") => {
            arg.value_parser(PossibleValuesParser::new(profiles.iter().map(|info| info.name)))
        }
        _ => arg,
    };
    command.mut_subcommands(|subcommand| subcommand.mut_args(add))
}
