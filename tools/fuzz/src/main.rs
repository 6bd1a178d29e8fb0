//! The command line of the fuzzer.

use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use schedc_fuzz::{FuzzOptions, InjectedBug, RunCounts, fuzz};
use serde::Serialize;

/// Simulate the whole scheduler with faults, and check its invariants
///
/// Histories are random. Objects are created, updated and deleted, and the scheduler receives the changes
/// late, twice, in another order, or only after another list request. Its requests are refused, or their responses
/// are lost. Nodes are deleted with pods on them. Plugins fail, wait and time out. The scheduler stops at any
/// time and starts again. The invariants are checked after every step. Equal seeds give equal simulations. If
/// an invariant is violated, a short history that leads to the violation is printed.
///
/// This simulates kube-scheduler's default profile with two fault injectors, not the profiles of a program.
#[derive(Parser)]
#[command(name = "schedc-fuzz", version, max_term_width = 100)]
struct Cli {
    /// Seed of the first episode: equal seeds give equal simulations
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// Number of steps
    #[arg(long, value_name = "NUMBER", default_value_t = 50_000)]
    steps: u64,

    /// Output format of the counts
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: Format,

    /// Print a failing history without shrinking it
    #[arg(long)]
    no_shrink: bool,

    /// Inject this bug into the simulation: an invariant must detect it
    #[arg(long, value_enum, value_name = "NAME")]
    bug: Option<InjectedBug>,
}

/// Output format of the counts.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for users
    Table,
    /// JSON for programs
    Json,
}

/// The report of a run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    seed: u64,
    seconds: f64,
    #[serde(flatten)]
    counts: RunCounts,
}

fn main() -> ExitCode {
    let start = Instant::now();
    let Cli { seed, steps, output, no_shrink, bug } = Cli::parse();
    let progress = progress(steps);
    let result = fuzz(FuzzOptions { seed, steps, bug, shrink: !no_shrink }, |done| progress.set_position(done));
    progress.finish_and_clear();
    match result {
        Ok(counts) => {
            let report = Report { seed, seconds: start.elapsed().as_secs_f64(), counts };
            match output {
                Format::Table => print!("{}", table(&report)),
                Format::Json => println!("{:#}", serde_json::json!(report)),
            }
            ExitCode::SUCCESS
        }
        Err(failure) => {
            println!("{failure}");
            let invariant = failure.violation.lines().next().unwrap_or_default();
            eprintln!("error: {invariant}, after {} steps", HumanCount(failure.total));
            ExitCode::FAILURE
        }
    }
}

/// Returns a progress bar on standard error, hidden if standard error is not a terminal.
fn progress(steps: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
    match ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len} steps, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn table(report: &Report) -> String {
    let Report { counts, seconds, .. } = report;
    let steps = counts.count("simulated", "steps");
    let episodes = counts.count("simulated", "episodes");
    let mut text = format!(
        "{} steps in {} episodes, {seconds:.1} s: no invariant was violated\n",
        HumanCount(steps),
        HumanCount(episodes),
    );
    for (section, counts) in counts.sections().filter(|(section, _)| *section != "simulated") {
        text += &format!("\n{}\n", section);
        for (name, count) in counts {
            text += &format!("  {:>10}  {name}\n", HumanCount(count).to_string());
        }
    }
    text
}
