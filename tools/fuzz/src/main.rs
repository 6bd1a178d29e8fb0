//! The command line of the fuzzer.

use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use schedc_fuzz::{FuzzOptions, RunCounts, fuzz};
use serde::Serialize;

/// Simulate the whole scheduler with faults, and look whether everything holds that must
///
/// Random clusters live random lives: objects come, change and go, and the scheduler hears of it late, twice, in another
/// order, or only when it lists again; its requests are refused, or their answers get lost; nodes come and go with pods on
/// them; plugins fail, wait and time out; the scheduler stops anywhere and starts again. After every step, what must hold is
/// looked at. The same seed simulates the same. If something does not hold, a short history that leads there is printed.
///
/// This simulates kube-scheduler's default profile with two plugins that misbehave, not the profiles of a program.
#[derive(Parser)]
#[command(name = "schedc-fuzz", version, max_term_width = 100)]
struct Cli {
    /// What is drawn: the same number, the same simulation
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// How many steps
    #[arg(long, value_name = "NUMBER", default_value_t = 50_000)]
    steps: u64,

    /// How to print the figures
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: Format,

    /// Print a history that fails as it is, without looking for a shorter one
    #[arg(long)]
    no_shrink: bool,
}

/// The form of the figures.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// For programs
    Json,
}

/// What was simulated.
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
    let Cli { seed, steps, output, no_shrink } = Cli::parse();
    let progress = progress(steps);
    let result = fuzz(FuzzOptions { seed, steps, bug: None, shrink: !no_shrink }, |done| progress.set_position(done));
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
        Err(broken) => {
            println!("{broken}");
            let invariant = broken.violation.lines().next().unwrap_or_default();
            eprintln!("error: {invariant}, after {} steps", HumanCount(broken.total));
            ExitCode::FAILURE
        }
    }
}

/// A bar on standard error, which hides itself where there is no terminal.
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
        "{} steps in {} episodes, {seconds:.1} s: everything held that must\n",
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
