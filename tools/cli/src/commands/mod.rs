//! The command line: one module per subcommand, and shared modules.

#[cfg(feature = "recordings")]
mod backtest;
#[cfg(feature = "bench")]
mod bench;
#[cfg(feature = "tools")]
mod build;
#[cfg(feature = "tools")]
mod capacity;
#[cfg(feature = "tools")]
mod check;
#[cfg(feature = "tools")]
mod completions;
#[cfg(feature = "bench")]
mod cost;
#[cfg(feature = "tools")]
mod defragment;
#[cfg(feature = "tools")]
mod diff;
#[cfg(feature = "tools")]
mod drain;
#[cfg(feature = "tools")]
mod evaluate;
mod exit_code;
#[cfg(feature = "tools")]
mod expand;
#[cfg(feature = "tools")]
mod explain;
#[cfg(feature = "tools")]
mod export;
#[cfg(any(feature = "run", feature = "tools"))]
mod extenders;
mod failure;
#[cfg(feature = "tools")]
mod import;
#[cfg(feature = "tools")]
mod label_selector;
mod left_out;
#[cfg(feature = "tools")]
mod lines;
#[cfg(feature = "tools")]
mod live;
#[cfg(feature = "tools")]
mod man;
#[cfg(all(feature = "run", feature = "tools"))]
mod manifest;
#[cfg(feature = "tools")]
mod new;
#[cfg(feature = "tools")]
mod new_pods;
#[cfg(feature = "tools")]
mod objects;
#[cfg(feature = "tools")]
mod origin;
mod output;
#[cfg(feature = "tools")]
mod pods;
mod profiles;
mod program;
#[cfg(feature = "tools")]
mod provision;
#[cfg(all(feature = "recordings", feature = "run"))]
mod record;
#[cfg(all(feature = "recordings", feature = "run"))]
mod replay;
#[cfg(feature = "tools")]
mod reports;
#[cfg(feature = "tools")]
mod rows;
#[cfg(feature = "run")]
mod run;
#[cfg(feature = "tools")]
mod schema;
#[cfg(all(feature = "run", feature = "tools"))]
mod serve;
#[cfg(feature = "run")]
mod signals;
#[cfg(feature = "tools")]
mod simulate;
#[cfg(feature = "tools")]
mod sources;
mod tables;
#[cfg(feature = "tools")]
mod validate;
#[cfg(feature = "tools")]
mod watch;
#[cfg(feature = "bench")]
mod wire;
#[cfg(feature = "recordings")]
mod workload;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use schedc_core::erased::AnyBundle;
use schedc_core::profile::Bundle;

use failure::Failure;

/// A compiler for Kubernetes schedulers: from a TOML profile to a statically dispatched scheduler
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
    #[cfg(feature = "tools")]
    Simulate(simulate::Simulate),
    #[cfg(feature = "tools")]
    Explain(explain::Explain),
    #[cfg(feature = "tools")]
    Drain(drain::Drain),
    #[cfg(feature = "tools")]
    Defragment(defragment::Defragment),
    #[cfg(feature = "tools")]
    Evaluate(evaluate::Evaluate),
    #[cfg(all(feature = "recordings", feature = "run"))]
    Record(record::Record),
    #[cfg(all(feature = "recordings", feature = "run"))]
    Replay(replay::ReplayCommand),
    #[cfg(feature = "recordings")]
    Backtest(Box<backtest::BacktestCommand>),
    #[cfg(feature = "tools")]
    Capacity(capacity::Capacity),
    #[cfg(feature = "tools")]
    Provision(provision::Provision),
    #[cfg(feature = "tools")]
    Check(Box<check::Check>),
    #[cfg(all(feature = "run", feature = "tools"))]
    Serve(Box<serve::Serve>),
    #[cfg(feature = "tools")]
    Schema(schema::Schema),
    #[cfg(feature = "tools")]
    Expand(expand::Expand),
    Profiles(profiles::Profiles),
    #[cfg(feature = "tools")]
    Import(import::Import),
    #[cfg(feature = "tools")]
    Export(export::Export),
    #[cfg(feature = "tools")]
    Diff(diff::Diff),
    #[cfg(feature = "tools")]
    New(new::New),
    #[cfg(feature = "tools")]
    Build(build::Build),
    #[cfg(all(feature = "run", feature = "tools"))]
    Manifest(manifest::Manifest),
    #[cfg(feature = "bench")]
    Bench(bench::Bench),
    #[cfg(feature = "tools")]
    Completions(completions::Completions),
    #[cfg(feature = "tools")]
    Man(man::Man),
}

impl Cli {
    /// Parses the command line. Usage lines have the name under which this program was started.
    fn read() -> Result<Self, Failure> {
        let mut command = Cli::usage();
        let mut matches = match command.clone().try_get_matches_from(program::arguments()) {
            Ok(matches) => matches,
            Err(error) => return Err(left_out::failure(&error).unwrap_or_else(|| error.exit())),
        };
        Ok(Cli::from_arg_matches_mut(&mut matches).unwrap_or_else(|error| error.format(&mut command).exit()))
    }

    /// Returns the whole command line, as users type it.
    fn usage() -> clap::Command {
        let mut command = Cli::command();
        if let Some(help) = left_out::help(&command) {
            command = command.after_help(help);
        }
        match program::kubectl_command() {
            Some(name) => command.bin_name(name),
            None => command,
        }
    }
}

/// Runs the `schedc` command for a scheduler with these profiles.
///
/// ```ignore
/// fn main() -> std::process::ExitCode {
///     schedc::main::<my_scheduler::scheduler::Profiles>()
/// }
/// ```
pub fn main<B: Bundle>() -> ExitCode {
    #[cfg(feature = "tools")]
    let bundle = AnyBundle::of::<B>();
    #[cfg(not(feature = "tools"))]
    let bundle = AnyBundle::running::<B>();
    run(&bundle)
}

/// Runs the `schedc` command in a process of another program, such as Python. The first of the `arguments` is the name
/// of the command, such as `schedc`.
pub fn main_with<B: Bundle>(arguments: Vec<OsString>) -> ExitCode {
    program::set_arguments(arguments);
    main::<B>()
}

/// Runs the subcommand.
fn run(bundle: &AnyBundle) -> ExitCode {
    let command = match Cli::read() {
        Ok(Cli { command }) => command,
        Err(failure) => return failure.report(),
    };
    let result = match command {
        #[cfg(feature = "run")]
        Command::Run(command) => command.run(bundle),
        #[cfg(feature = "tools")]
        Command::Simulate(command) => command.run(bundle),
        #[cfg(feature = "tools")]
        Command::Explain(command) => command.run(bundle),
        #[cfg(feature = "tools")]
        Command::Drain(command) => return command.run(bundle),
        #[cfg(feature = "tools")]
        Command::Defragment(command) => return command.run(bundle),
        #[cfg(feature = "tools")]
        Command::Evaluate(command) => command.run(bundle),
        #[cfg(all(feature = "recordings", feature = "run"))]
        Command::Record(command) => command.run(bundle),
        #[cfg(all(feature = "recordings", feature = "run"))]
        Command::Replay(command) => command.run(bundle),
        #[cfg(feature = "recordings")]
        Command::Backtest(command) => command.run(bundle),
        #[cfg(feature = "tools")]
        Command::Capacity(command) => command.run(bundle),
        #[cfg(feature = "tools")]
        Command::Provision(command) => return command.run(bundle),
        #[cfg(feature = "tools")]
        Command::Check(command) => return command.run(bundle),
        #[cfg(all(feature = "run", feature = "tools"))]
        Command::Serve(command) => command.run(bundle),
        #[cfg(feature = "tools")]
        Command::Schema(command) => command.run(bundle),
        #[cfg(feature = "tools")]
        Command::Expand(command) => command.run(bundle),
        Command::Profiles(command) => command.run(bundle),
        #[cfg(feature = "tools")]
        Command::Import(command) => command.run(),
        #[cfg(feature = "tools")]
        Command::Export(command) => command.run(bundle),
        #[cfg(feature = "tools")]
        Command::Diff(command) => return command.run(bundle),
        #[cfg(feature = "tools")]
        Command::New(command) => command.run(),
        #[cfg(feature = "tools")]
        Command::Build(command) => command.run(bundle),
        #[cfg(all(feature = "run", feature = "tools"))]
        Command::Manifest(command) => command.run(bundle),
        #[cfg(feature = "bench")]
        Command::Bench(command) => command.run(bundle),
        #[cfg(feature = "tools")]
        Command::Completions(command) => command.run(bundle, Cli::usage()),
        #[cfg(feature = "tools")]
        Command::Man(command) => command.run(Cli::usage()),
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
