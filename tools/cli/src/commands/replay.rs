//! `schedc replay`

use std::path::PathBuf;

use clap::Args;
use schedc_backtest::report::ClosedLoop;
use schedc_backtest::{assumptions, simulate};
use schedc_core::erased::AnyBundle;
use schedc_core::profile::ProfileInfo;
use schedc_interpret::Interpretation;
use schedc_recording::Reader;

use super::extenders::Extenders;
use super::failure::Failure;
use super::output::{self, Format};
use super::reports::{self, ReportFile};
use super::sources;
use super::tables::closed_loop::{self, values};
use super::tables::read_only::Agreement;
use super::tables::replay::{Comparison, table};
use super::workload::Input;
use crate::cluster::Routes;
use crate::replay::Replay;

/// Compare the decisions of a recording with those of a profile
///
/// For each recorded decision, the profile of the pod's scheduler name decides in the recorded state before the
/// decision. Each disagreement is explained: by the scores of both nodes, or by the plugin that rejects the recorded
/// node. Every node with the highest total counts as agreement. Decisions during gaps of the recording are not
/// compared.
///
/// With --closed-loop, the profiles decide instead of the recorded scheduler, in virtual time: pods arrive and run as
/// recorded, on the nodes that the profiles choose. docs/backtest.md lists the assumptions.
#[derive(Args)]
pub(crate) struct ReplayCommand {
    /// Recording: the folder of `schedc record`, or files of it
    #[arg(required = true, value_name = "RECORDING")]
    recording: Vec<PathBuf>,

    /// Let this profile decide about all pods, regardless of their scheduler name
    ///
    /// The name of a profile or its scheduler name. `schedc profiles` lists them.
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,

    /// Interpret this profile without a build, instead of using the compiled-in profiles
    #[arg(long, value_name = "PROFILE")]
    interpret: Vec<PathBuf>,

    /// Simulate the recorded workload: the decisions of the profiles have consequences
    #[arg(long)]
    closed_loop: bool,

    /// Seed for the choice among equally good nodes: equal seeds give equal results
    #[arg(long, value_name = "NUMBER", default_value_t = 0, requires = "closed_loop")]
    seed: u64,

    /// Print every disagreement, or with --closed-loop every pod, in the table
    #[arg(long)]
    all: bool,

    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: Format,

    #[command(flatten)]
    report: ReportFile,

    #[command(flatten)]
    extenders: Extenders,

    #[command(flatten)]
    input: Input,
}

impl ReplayCommand {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let bundle = match self.interpret.is_empty() {
            true => bundle.clone(),
            false => Interpretation::of(sources::load(bundle, &self.interpret)?)?.bundle(),
        };
        let routes = match &self.profile {
            Some(name) => Routes::to(bundle.profiles, name)?,
            None => Routes::by_scheduler_name(bundle.profiles),
        };
        if self.closed_loop {
            return self.simulate(&bundle, &routes);
        }
        self.input.refuse_without("--closed-loop")?;
        let mut cluster = bundle.cluster(Some(self.extenders.overrides(bundle.profiles)?))?;
        let mut reader = Reader::open(&self.recording)?;
        let mut replay = Replay::new(&mut *cluster, &bundle, routes);
        while let Some((place, item)) = reader.next_line()? {
            replay.next(&place, item)?;
        }
        let report = replay.finish()?;
        for place in &report.cut {
            output::warning(format_args!("{place}: the recording ends here without its regular end"));
        }
        for (kind, count) in &report.ignored {
            output::note(format_args!("{kind}: no plugin of these profiles reads this kind ({count} lines)"));
        }
        let comparison = Comparison { agreement: Agreement::of(&bundle, &report.counts), report };
        output::print(self.output, &comparison, |comparison| table(comparison, self.all))?;
        let subtitle = || format!("recorded decisions in {}", reports::names(&self.recording));
        self.report.write(|| reports::replay::page(&comparison.report, bundle.profiles, subtitle()))
    }
}

impl ReplayCommand {
    /// Simulates the workload.
    fn simulate(self, bundle: &AnyBundle, routes: &Routes) -> Result<(), Failure> {
        let is_served = |scheduler: &str| routes.profile_for(scheduler).is_some();
        let workload = self.input.read(&self.recording, bundle, &is_served)?;
        let serve_all = match (&self.profile, bundle.profiles) {
            (Some(name), profiles) => Some(Routes::index_of(profiles, name)?),
            // Pods of traces have no scheduler name.
            (None, [_]) if workload.facts.is_trace => Some(0),
            (None, _) if workload.facts.is_trace && !is_served("") => {
                return Err(Failure::new("the pods of a trace have no scheduler name; name a profile with --profile"));
            }
            (None, _) => None,
        };
        let options = schedc_backtest::Options {
            serve_all,
            seed: self.seed,
            extenders: self.extenders.overrides(bundle.profiles)?,
            ..self.input.options(&workload)?
        };
        let simulated = simulate(bundle, &workload, &options)?;
        let used = bundle.profiles.iter().enumerate().filter(|(at, _)| serve_all.is_none_or(|only| only == *at));
        let used: Vec<&ProfileInfo> = used.map(|(_, profile)| profile).collect();
        let report = ClosedLoop {
            source: self.input.source(&self.recording, &workload, &options),
            profiles: used.iter().map(|profile| profile.name.to_owned()).collect(),
            seed: self.seed,
            assumptions: assumptions::assumptions(&workload, used),
            result: simulated.result,
            pods: simulated.pods,
        };
        output::print(self.output, &report, |report| closed_loop::table(report, self.all))?;
        self.report.write(|| reports::closed_loop::page(&report, &values(&report)))
    }
}
