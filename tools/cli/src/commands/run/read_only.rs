//! Without a hand in what happens: `--dry-run` and `--shadow`.

use clap::{Args, ValueEnum};
use schedc_core::erased::AnyBundle;
use schedc_core::profile::ProfileInfo;
use schedc_kubernetes::driver::{Driver, DriverHooks, Setup};
use schedc_kubernetes::dry_run::{Decisions, DryRunClient};
use schedc_kubernetes::flags;
use schedc_kubernetes::health::Health;
use schedc_kubernetes::metrics::Metrics;
use schedc_kubernetes::pods::PodRecords;
use schedc_kubernetes::shadow::{Shadow, ShadowCounts};
use schedc_kubernetes::transport::StreamingTransport;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{Duration, MissedTickBehavior, interval};

use crate::commands::failure::Failure;
use crate::commands::output::{json_line, print_text};
use crate::commands::tables;

/// Whether, and how.
#[derive(Args)]
#[command(next_help_heading = "schedc")]
pub(super) struct ReadOnlyMode {
    /// Decide and report, and write nothing to the cluster
    ///
    /// What is decided is taken for done: pods take room, and pods that would be evicted are gone. Leader election is off.
    #[arg(long, conflicts_with = "shadow")]
    dry_run: bool,

    /// Run beside kube-scheduler, and report where it decides otherwise than this profile would; write nothing
    ///
    /// Of pods that ask for the scheduler name of a profile, that profile judges; with a name, that one judges all pods.
    /// Leader election is off.
    #[arg(long, value_name = "PROFILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    shadow: Option<String>,

    /// How --dry-run and --shadow report
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: ReportFormat,

    /// How often --shadow tells how often it agreed, if there is something new
    #[arg(long, value_name = "DURATION", value_parser = flags::duration, default_value = "10m")]
    report_every: Duration,
}

/// How to report.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// For people
    Table,
    /// For programs, an object a line
    Json,
}

impl ReportFormat {
    /// Says something at once. `table` says it for people.
    fn print<T: Serialize>(self, what: &T, table: impl FnOnce(&T) -> String) {
        let text = match self {
            ReportFormat::Table => table(what),
            ReportFormat::Json => json_line(what).unwrap_or_default() + "\n",
        };
        // It goes on if nobody reads it: metrics may still be.
        let _ = print_text(&text);
    }
}

impl ReadOnlyMode {
    /// Whether nothing is to be written.
    pub(super) fn is_on(&self) -> bool {
        self.dry_run || self.shadow.is_some()
    }

    /// The profile that judges all pods, if one is named: by its name or, if there is none, its scheduler name.
    pub(super) fn profile(&self, profiles: &[ProfileInfo]) -> Result<Option<usize>, Failure> {
        let Some(name) = self.shadow.as_deref().filter(|name| !name.is_empty()) else { return Ok(None) };
        let by_name = profiles.iter().position(|profile| profile.name == name);
        let found = by_name.or_else(|| profiles.iter().position(|profile| profile.scheduler_name == name));
        let known = || profiles.iter().map(|profile| profile.name).collect::<Vec<_>>().join(", ");
        found.map(Some).ok_or_else(|| {
            Failure::new(format_args!("--shadow={name}: no profile is called so; compiled in: {}", known()))
        })
    }

    /// Looks on until it is stopped.
    pub(super) async fn run<S: StreamingTransport, H: DriverHooks>(
        self,
        bundle: &AnyBundle,
        setup: Setup<S>,
        others: H,
        metrics: &Metrics,
        health: Health,
        stop: watch::Receiver<bool>,
    ) -> Result<(), Failure> {
        let (form, client) = (self.output, DryRunClient::new(setup.streams.clone()));
        if self.dry_run {
            let hooks = (
                others,
                Decisions::new(bundle.profiles, move |decision| form.print(decision, tables::read_only::decision)),
            );
            let driver = Driver::with_client(bundle, setup, client, PodRecords::default(), hooks)?;
            driver.with_health(health).run(stop).await;
            return Ok(());
        }
        let shadow_counts = ShadowCounts::default();
        metrics.count_shadow_decisions(shadow_counts.clone());
        let shadow = Shadow::new(bundle.profiles, shadow_counts.clone(), move |found| {
            form.print(found, tables::read_only::disagreement)
        });
        let hooks = (others, shadow);
        let driver = Driver::with_client(bundle, setup, client, PodRecords::default(), hooks)?;
        let every = self.report_every.max(Duration::from_secs(1));
        let reports = report(bundle, form, &shadow_counts, every);
        tokio::select! {
            _ = driver.with_health(health).as_observer().run(stop) => {}
            () = reports => {}
        }
        form.print(&tables::read_only::Agreement::of(bundle, &shadow_counts.counts()), tables::read_only::agreement);
        Ok(())
    }
}

/// Says from time to time how often we agreed.
async fn report(bundle: &AnyBundle, form: ReportFormat, shadow_counts: &ShadowCounts, every: Duration) {
    let mut times = interval(every);
    times.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut printed = shadow_counts.counts();
    loop {
        times.tick().await;
        let counts = shadow_counts.counts();
        if counts != printed {
            form.print(&tables::read_only::Agreement::of(bundle, &counts), tables::read_only::agreement);
            printed = counts;
        }
    }
}
