//! `schedc bench`

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use schedc_core::erased::AnyBundle;
use schedc_perf::config::{Config, Labels, SelectedWorkload};
use schedc_perf::{Options, Report, Reports};

use super::cost::Cost;
use super::failure::Failure;
use super::output::{self, Format};
use super::reports::{self, ReportFile};
use super::tables::bench::table;
use super::wire::{Wire, WireSettings};
use crate::cluster::Routes;

/// Run and measure workloads in the format of Kubernetes' scheduler_perf
///
/// A workload creates nodes, pods and other objects in an in-memory cluster and waits until they are
/// scheduled. The report has throughput and decision latency. Throughput is the number of pods bound per
/// second of real time; this time includes the work of the cluster. Decision latency is measured for each
/// attempt, from popping a pod from the queue until it is assumed and reserved on a node, or rejected. Idle
/// waiting time is skipped. docs/bench.md has the details.
#[derive(Args)]
pub(crate) struct Bench {
    /// Test cases: a performance-config.yaml; the paths of its templates are relative to its folder
    #[arg(value_name = "FILE", required_unless_present_any = ["cost", "check", "wire"])]
    file: Option<PathBuf>,

    /// Run this workload, named TEST/WORKLOAD; may be given several times
    #[arg(long, value_name = "TEST/WORKLOAD")]
    workload: Vec<String>,

    /// Run workloads that have all of these labels, and none of those with a minus, such as performance,-short
    #[arg(long, value_name = "LABELS", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    labels: Labels,

    /// Let this profile serve all pods, regardless of their scheduler name
    ///
    /// The name of a profile or its scheduler name. `schedc profiles` lists them.
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,

    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: Format,

    #[command(flatten)]
    report: ReportFile,

    /// Seed for the choice among equally good nodes
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    cost: Cost,

    #[command(flatten)]
    wire: Wire,
}

impl Bench {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let profile = self.profile.as_deref().map(|name| Routes::index_of(bundle.profiles, name)).transpose()?;
        if self.wire.is_requested() {
            let (profiles, nodes, is_check) = (bundle.profiles, self.cost.nodes(), self.cost.is_check());
            return self.wire.run(&WireSettings { profiles, profile, nodes, is_check, format: self.output });
        }
        let file = match &self.file {
            Some(file) if !self.cost.is_requested() => file,
            _ => return self.cost.run(bundle, profile, self.output),
        };
        let config = Config::read(file)?;
        let chosen = config.choose(&self.workload, &self.labels)?;
        let mut reports = Reports::default();
        if let [workload] = &chosen[..] {
            warn_ignored(&chosen);
            let options = Options { profile, seed: self.seed };
            reports.workloads.push(schedc_perf::run(bundle, workload, options)?);
            return self.print(&reports);
        }
        warn_ignored(&chosen);
        let mut failed = 0;
        for workload in &chosen {
            match self.run_alone(file, workload) {
                Ok(report) => reports.workloads.push(report),
                Err(failure) => {
                    failed += 1;
                    failure.report();
                }
            }
        }
        if !reports.workloads.is_empty() {
            self.print(&reports)?;
        }
        match failed {
            0 => Ok(()),
            failed => Err(Failure::new(format!("{failed} of {} workloads failed", chosen.len()))),
        }
    }

    fn print(&self, reports: &Reports) -> Result<(), Failure> {
        output::print(self.output, reports, |reports| table(&reports.workloads))?;
        let file = self.file.as_slice();
        self.report.write(|| reports::bench::page(&reports.workloads, format!("workloads of {}", reports::names(file))))
    }

    /// Runs a workload in a separate process, because its report contains the peak memory of the process.
    fn run_alone(&self, file: &Path, workload: &SelectedWorkload<'_>) -> Result<Report, Failure> {
        // Finds an invalid workload before a process starts.
        workload.operations()?;
        let program =
            std::env::current_exe().map_err(|error| Failure::new(format!("cannot start a workload: {error}")))?;
        let mut command = Command::new(program);
        command.arg("bench").args([
            "--output",
            "json",
            "--workload",
            &workload.name(),
            "--seed",
            &self.seed.to_string(),
        ]);
        if let Some(profile) = &self.profile {
            command.args(["--profile", profile]);
        }
        command.arg("--").arg(file);
        let output = command.stdin(Stdio::null()).stderr(Stdio::piped()).output();
        let output = output.map_err(|error| Failure::new(format!("cannot start a workload: {error}")))?;
        if !output.status.success() {
            let messages = String::from_utf8_lossy(&output.stderr);
            let errors: Vec<_> = messages.lines().filter_map(|line| line.strip_prefix("error: ")).collect();
            return Err(match errors.is_empty() {
                true => Failure::new(format!("workload {} ended with {}: {messages}", workload.name(), output.status)),
                false => Failure::Message(errors.join("\n")),
            });
        }
        let reports: Reports = serde_json::from_slice(&output.stdout).map_err(Failure::new)?;
        let name = workload.name();
        reports.workloads.into_iter().next().ok_or_else(|| Failure::new(format!("workload {name} reported nothing")))
    }
}

/// Notes the settings that only kube-scheduler uses.
fn warn_ignored(chosen: &[SelectedWorkload<'_>]) {
    let ignored: BTreeSet<String> = chosen.iter().flat_map(SelectedWorkload::ignored).collect();
    if !ignored.is_empty() {
        let ignored: Vec<String> = ignored.into_iter().collect();
        output::note(format!("ignored settings of kube-scheduler: {}", ignored.join(", ")));
    }
}
