//! `schedc bench --wire`

#[cfg(feature = "wire")]
mod measurement;
#[cfg(feature = "wire")]
mod report;
#[cfg(feature = "wire")]
mod scheduler;

use std::path::PathBuf;

use clap::Args;
use schedc_core::profile::ProfileInfo;

use super::failure::Failure;
use super::output::Format;

/// Flags that select another measurement.
const OTHER_FLAGS: [&str; 5] = ["file", "workload", "labels", "seed", "cost"];

#[derive(Args)]
#[cfg_attr(not(feature = "wire"), allow(dead_code, reason = "the flags are then refused"))]
pub(crate) struct Wire {
    /// Measure `schedc run` at a fake API server, instead of a workload; needs the feature `wire`
    ///
    /// Reports the time from the watch event of a pod to its binding request, CPU time and memory. With --check,
    /// exceeded goals are an error. docs/bench.md describes the method.
    #[arg(long, conflicts_with_all = OTHER_FLAGS)]
    wire: bool,

    /// Program to measure, which must have the command `run` and the profile; default: the running program
    #[arg(long, value_name = "FILE", requires = "wire")]
    program: Option<PathBuf>,

    /// Number of seconds of each measurement
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=3600), requires = "wire")]
    seconds: u32,

    /// Connect the scheduler to the API server by TLS
    #[arg(long, requires = "wire")]
    tls: bool,
}

/// Settings that this measurement shares with the other measurements of `schedc bench`.
#[cfg_attr(not(feature = "wire"), allow(dead_code, reason = "the flags are then refused"))]
pub(crate) struct WireSettings<'a> {
    /// All profiles of this program.
    pub(crate) profiles: &'a [ProfileInfo],
    /// Index of the measured profile. `None`: the profile with kube-scheduler's name or, if there is none, the first
    /// profile.
    pub(crate) profile: Option<usize>,
    /// Number of nodes; default: 1,000.
    pub(crate) nodes: Option<usize>,
    /// Whether exceeded goals are an error.
    pub(crate) is_check: bool,
    /// Output format.
    pub(crate) format: Format,
}

impl Wire {
    /// Returns whether to measure at a fake API server.
    pub(crate) fn is_requested(&self) -> bool {
        self.wire
    }

    /// Measures a scheduler, and prints the report.
    #[cfg(feature = "wire")]
    pub(crate) fn run(&self, settings: &WireSettings<'_>) -> Result<(), Failure> {
        let default = || settings.profiles.iter().position(|profile| profile.scheduler_name == "default-scheduler");
        let profile = settings.profile.or_else(default).unwrap_or_default();
        let Some(profile) = settings.profiles.get(profile) else { return Err(Failure::new("there is no profile")) };
        let program = match &self.program {
            Some(program) => program.clone(),
            None => {
                std::env::current_exe().map_err(|error| Failure::new(format!("cannot find this program: {error}")))?
            }
        };
        let measurement = measurement::Measurement {
            program,
            scheduler_name: profile.scheduler_name,
            nodes: settings.nodes.unwrap_or(1000).max(1),
            seconds: self.seconds,
            has_tls: self.tls,
        };
        let report = measurement.run()?;
        super::output::print(settings.format, &report, report::table)?;
        match settings.is_check {
            true => report.check(),
            false => Ok(()),
        }
    }

    /// Returns an error: this program lacks the fake API server.
    #[cfg(not(feature = "wire"))]
    pub(crate) fn run(&self, _: &WireSettings<'_>) -> Result<(), Failure> {
        Err(Failure::new("this program was built without `bench --wire`; add `--features wire` to its `cargo build`"))
    }
}
