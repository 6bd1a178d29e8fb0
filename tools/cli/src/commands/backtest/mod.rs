//! `schedc backtest`

mod job;
mod sweep;

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand, value_parser};
use schedc_backtest::aggregate::{Parts, ProfileId, aggregate, merge};
use schedc_backtest::assumptions::assumptions;
use schedc_backtest::fingerprint::of_profile;
use schedc_backtest::report::Shard;
use schedc_backtest::runs::{Contender, Plan};
use schedc_backtest::{Backtest, Options};
use schedc_codegen::Compilation;
use schedc_core::erased::AnyBundle;
use schedc_interpret::Interpretation;

use super::diff::{Side, placing_profile};
use super::extenders::Extenders;
use super::failure::Failure;
use super::output::{self, Format};
use super::reports::{self, ReportFile};
use super::sources;
use super::tables::backtest::table;
use super::workload::Input;
use crate::cluster::Routes;
use sweep::{Sweep, variants, without_each_score};

/// Compare profiles on a recorded workload, with many seeds
///
/// Simulates a recording or a trace with each profile and each seed in virtual time: pods arrive and run as recorded,
/// on the nodes that the profile chooses. Each profile serves all pods, regardless of their scheduler name. The result
/// has waiting times, preemptions, utilisation, fragmentation, empty nodes, costs, and the influence of each plugin,
/// with confidence intervals over the seeds. Equal input gives an equal result, regardless of the number of threads.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct BacktestCommand {
    #[command(subcommand)]
    command: Option<BacktestSubcommand>,

    /// A profile: its name in profiles/, a path, or the name of a compiled-in profile; a KubeSchedulerConfiguration
    /// in YAML or JSON, with `#NAME` for one of several profiles; or `kube-scheduler` for its defaults
    ///
    /// A profile that is not compiled in is interpreted. Differences are relative to the first profile.
    #[arg(value_name = "PROFILE", required = true)]
    profiles: Vec<String>,

    /// Workload: the folder of `schedc record`, or files of it; with --trace-mapping, the folder of a trace
    #[arg(long, value_name = "RECORDING", num_args = 1.., required = true)]
    on: Vec<PathBuf>,

    #[command(flatten)]
    input: Input,

    /// Number of seeds, starting with seed 0; each seed makes another choice among equally good nodes
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = value_parser!(u32).range(1..=10_000))]
    seeds: u32,

    /// Simulate each profile with several values of a weight or an argument, such as `NodeResourcesFit.weight=1..10`
    ///
    /// `PLUGIN.weight` is the weight of a score; 0 removes the score. `PLUGIN.PATH` is an argument, such as
    /// `NodeResourcesFit.scoring-strategy.type=LeastAllocated,MostAllocated`. Values are a range, or a list with commas.
    /// May be given several times, for all combinations. The profiles are interpreted.
    #[arg(long, value_name = "PARAMETER=VALUES", value_parser = Sweep::parse)]
    sweep: Vec<Sweep>,

    /// For each score of a profile, also simulate the profile without this score, to show the effect of each plugin
    #[arg(long, conflicts_with = "sweep")]
    without_each_score: bool,

    /// Number of threads [default: one per core]
    #[arg(long, value_name = "NUMBER", value_parser = value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,

    /// Run only part K of N, and print it as JSON for `schedc backtest merge`
    #[arg(long, value_name = "K/N", value_parser = shard)]
    shard: Option<Shard>,

    /// Print a Kubernetes Job that runs this command in this number of shards, instead of running it
    ///
    /// The shards write no report; `schedc backtest merge` writes it. Each thread of a shard needs about as much memory
    /// as the workload. Edit the image, the volume and the requests.
    #[arg(long, value_name = "SHARDS", conflicts_with = "shard", value_parser = value_parser!(u32).range(1..=10_000))]
    print_job: Option<u32>,

    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: Format,

    #[command(flatten)]
    report: ReportFile,

    #[command(flatten)]
    extenders: Extenders,
}

#[derive(Subcommand)]
enum BacktestSubcommand {
    /// Combine the shards of a back-test
    Merge(Merge),
}

/// Combine the shards of a back-test
#[derive(Args)]
struct Merge {
    /// Results of all shards, as JSON
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: Format,

    #[command(flatten)]
    report: ReportFile,
}

impl BacktestCommand {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        if let Some(BacktestSubcommand::Merge(merge)) = self.command {
            return merge.run();
        }
        if self.shard.is_some() && self.report.is_requested() {
            return Err(Failure::new("--report: a shard has no report; use `schedc backtest merge --report`"));
        }
        if let Some(shards) = self.print_job {
            return output::print_text(&job::manifest(shards, &job::arguments()?)?);
        }
        let (profiles, contenders) = self.contenders(bundle)?;
        let workload = self.input.read(&self.on, bundle, &|_| true)?;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let seeds: Vec<u64> = (0..u64::from(self.seeds)).collect();
        // Only compiled-in profiles have extenders.
        let extenders = self.extenders.overrides(bundle.profiles)?;
        let options = Options { extenders, ..self.input.options(&workload)? };
        let plan = Plan {
            workload: &workload,
            profiles: &contenders,
            seeds: &seeds,
            options: &options,
            shard: self.shard,
            threads: self.threads.map_or(cores, |threads| threads as usize),
        };
        let runs = plan.run(progress(plan.count()))?;
        let result = aggregate(Parts {
            source: self.input.source(&self.on, &workload, &options),
            assumptions: assumptions(&workload, contenders.iter().map(|it| &it.bundle.profiles[it.profile])),
            seeds: seeds.clone(),
            profiles,
            shard: self.shard,
            runs,
        });
        let format = if self.shard.is_some() { Format::Json } else { self.output };
        output::print(format, &result, table)?;
        self.report.write(|| reports::backtest::page(&result))
    }

    /// Returns the identities and the pipelines of the profiles to simulate, in the same order. A profile with sweeps has one
    /// entry for each combination of values.
    fn contenders(&self, bundle: &AnyBundle) -> Result<(Vec<ProfileId>, Vec<Contender>), Failure> {
        let (mut ids, mut contenders) = (Vec::new(), Vec::new());
        for argument in &self.profiles {
            let side = Side::load(bundle, argument)?;
            if self.sweep.is_empty() && !self.without_each_score {
                let placing = placing_profile(bundle, &side)?;
                let profile = Routes::index_of(placing.bundle.profiles, placing.profile)?;
                let fingerprint = of_profile(&placing.bundle.profiles[profile]);
                ids.push(ProfileId { name: argument.clone(), parameters: Vec::new(), fingerprint });
                contenders.push(Contender { bundle: placing.bundle, profile });
                continue;
            }
            let compilation: Compilation = match side.compilation() {
                Some(compilation) => compilation?,
                None => sources::load(bundle, &[PathBuf::from(argument)])?,
            };
            let profile_variants = match self.without_each_score {
                true => without_each_score(&compilation),
                false => variants(&compilation, &self.sweep),
            };
            for variant in profile_variants.map_err(Failure::new)? {
                let bundle = Interpretation::of(variant.compilation)?.bundle();
                let fingerprint = bundle.profiles.first().map(of_profile).unwrap_or_default();
                ids.push(ProfileId { name: argument.clone(), parameters: variant.parameters, fingerprint });
                contenders.push(Contender { bundle, profile: 0 });
            }
        }
        Ok((ids, contenders))
    }
}

impl Merge {
    fn run(self) -> Result<(), Failure> {
        let mut results: Vec<Backtest> = Vec::new();
        for file in &self.files {
            let failed = |error: &dyn std::fmt::Display| Failure::new(format_args!("{}: {error}", file.display()));
            let text = fs::read(file).map_err(|error| failed(&error))?;
            let result = serde_json::from_slice(&text);
            results.push(result.map_err(|error| failed(&format_args!("this is not the result of a shard: {error}")))?);
        }
        let result = merge(results).map_err(Failure::new)?;
        output::print(self.output, &result, table)?;
        self.report.write(|| reports::backtest::page(&result))
    }
}

/// Parses a shard: `K/N`.
fn shard(text: &str) -> Result<Shard, String> {
    let parsed = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
    match parsed {
        Some((number, of)) if number >= 1 && number <= of => Ok(Shard { number, of }),
        _ => Err("write K/N, where K is from 1 to N, such as 1/8".to_owned()),
    }
}

/// Returns a function that reports progress on standard error, for longer runs.
fn progress(all: usize) -> impl Fn(usize) + Sync {
    const SHOW_AFTER: Duration = Duration::from_secs(5);
    let start = Instant::now();
    move |complete| {
        if start.elapsed() > SHOW_AFTER && complete < all {
            output::note(format_args!("{complete} of {all} simulations are complete"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_numbered_from_1() {
        assert_eq!(shard("2/3"), Ok(Shard { number: 2, of: 3 }));
        for text in ["0/3", "4/3", "1", "a/b", "1/0", "-1/2"] {
            assert!(shard(text).is_err(), "{text}");
        }
    }
}
