//! The command line: one module for each subcommand, and what they share.

#[cfg(feature = "bench")]
mod bench;
mod check;
#[cfg(feature = "bench")]
mod cost;
mod evaluate;
mod expand;
mod explain;
mod failure;
#[cfg(feature = "fuzz")]
mod fuzz;
mod import;
mod lines;
mod objects;
mod output;
mod profiles;
#[cfg(feature = "run")]
mod run;
mod simulate;
mod sources;
mod tables;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A compiler for Kubernetes schedulers: a TOML profile in, a statically dispatched scheduler out.
#[derive(Parser)]
#[command(name = "schedc", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[cfg(feature = "run")]
    Run(Box<run::Run>),
    Simulate(simulate::Simulate),
    Explain(explain::Explain),
    Evaluate(evaluate::Evaluate),
    Check(check::Check),
    Expand(expand::Expand),
    Profiles(profiles::Profiles),
    Import(import::Import),
    #[cfg(feature = "bench")]
    Bench(bench::Bench),
    #[cfg(feature = "fuzz")]
    Fuzz(fuzz::Fuzz),
}

/// Does what the command line says.
pub(crate) fn main() -> ExitCode {
    let result = match Cli::parse().command {
        #[cfg(feature = "run")]
        Command::Run(command) => command.run(),
        Command::Simulate(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Evaluate(command) => command.run(),
        Command::Check(command) => command.run(),
        Command::Expand(command) => command.run(),
        Command::Profiles(command) => command.run(),
        Command::Import(command) => command.run(),
        #[cfg(feature = "bench")]
        Command::Bench(command) => command.run(),
        #[cfg(feature = "fuzz")]
        Command::Fuzz(command) => command.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
