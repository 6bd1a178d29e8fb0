//! `schedc man`

use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};

use super::failure::Failure;
use super::{output, program};

/// Write man pages: one for this program and one for each subcommand
#[derive(Args)]
pub(crate) struct Man {
    /// Folder for the pages, such as ~/.local/share/man/man1; created if it does not exist [default: print this
    /// program's page]
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

impl Man {
    /// Prints or writes the man pages. `command` is the whole command line.
    pub(crate) fn run(self, command: Command) -> Result<(), Failure> {
        let command = documented(command);
        let Some(folder) = self.folder else {
            return output::print_text(&page(&command)?);
        };
        fs::create_dir_all(&folder)
            .map_err(|error| Failure::new(format_args!("cannot create {}: {error}", folder.display())))?;
        for command in [&command].into_iter().chain(command.get_subcommands()) {
            let path = folder.join(format!("{}.1", title(command)));
            fs::write(&path, page(command)?)
                .map_err(|error| Failure::new(format_args!("cannot write {}: {error}", path.display())))?;
        }
        Ok(())
    }
}

/// Returns the command line for man pages: with the name of this program, and with the flags that `-h` omits.
fn documented(command: Command) -> Command {
    let mut command = command
        .display_name(program::name())
        .disable_help_subcommand(true)
        .mut_subcommands(|subcommand| subcommand.mut_args(|arg| arg.hide_short_help(false)));
    command.build();
    command
}

/// Returns the title of a page, such as `schedc-simulate`.
fn title(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn page(command: &Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command.clone())
        .title(title(command).to_uppercase())
        // Pages have no date. An empty date would be omitted, and the source would take its place.
        .date(" ")
        .source(concat!("schedc ", env!("CARGO_PKG_VERSION")))
        .manual("User Commands");
    man.render(&mut page)?;
    String::from_utf8(page).map_err(Failure::new)
}
