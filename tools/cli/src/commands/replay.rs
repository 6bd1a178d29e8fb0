//! `schedc replay`

use std::path::PathBuf;

use clap::Args;
use schedc_core::erased::AnyBundle;
use schedc_interpret::Interpretation;
use schedc_recording::{ReadError, Reader};
use serde::Serialize;

use super::extenders::Extenders;
use super::failure::Failure;
use super::output::{self, Format};
use super::reports::{self, ReportFile};
use super::sources;
use super::tables::read_only::Agreement;
use super::tables::replay::table;
use crate::cluster::Routes;
use crate::replay::{Replay, Report};

/// Compare the decisions of a recording with those of a profile
///
/// For each recorded decision, the profile of the pod's scheduler name decides in the recorded state before it. Each
/// disagreement is explained: the scores of both nodes, or the plugin that rejects the recorded one. Among nodes with
/// equal totals, each one counts as agreement. Decisions during gaps of the recording are not compared.
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

    /// Print every disagreement in the table, however many there are
    #[arg(long)]
    all: bool,

    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: Format,

    #[command(flatten)]
    report: ReportFile,

    #[command(flatten)]
    extenders: Extenders,
}

/// The printed result.
#[derive(Serialize)]
pub(crate) struct Comparison {
    #[serde(flatten)]
    pub(crate) agreement: Agreement,
    #[serde(flatten)]
    pub(crate) report: Report,
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
        let mut cluster = bundle.cluster(Some(self.extenders.overrides(bundle.profiles)?))?;
        let mut reader = Reader::open(&self.recording)?;
        let mut replay = Replay::new(&mut *cluster, &bundle, routes);
        while let Some((place, item)) = reader.next_line()? {
            replay.next(&place, item)?;
        }
        let report = replay.finish();
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

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Failure::new(error)
    }
}
