//! The read-only modes: `--dry-run` and `--shadow`.

use clap::{Args, ValueEnum};
use schedc_core::erased::AnyBundle;
use schedc_core::profile::{ProfileInfo, profile_named};
use schedc_kubernetes::driver::{Driver, DriverHooks, Setup};
use schedc_kubernetes::dry_run::{Decisions, DryRunClient};
use schedc_kubernetes::flags;
use schedc_kubernetes::health::Health;
use schedc_kubernetes::metrics::Metrics;
use schedc_kubernetes::shadow::{Shadow, ShadowCounts};
use schedc_kubernetes::transport::StreamingTransport;
use schedc_kubernetes::write::PodRecords;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{Duration, MissedTickBehavior, interval};

use crate::commands::failure::Failure;
use crate::commands::output::{json_line, print_text};
use crate::commands::tables;

/// Options of the read-only modes.
#[derive(Args)]
#[command(next_help_heading = "schedc")]
pub(super) struct ReadOnlyMode {
    /// Decide and report, but write nothing to the cluster
    ///
    /// Decisions are assumed to be effective: placed pods use resources, and evicted pods are gone. Leader
    /// election is off.
    #[arg(long, conflicts_with = "shadow")]
    dry_run: bool,

    /// Run next to kube-scheduler, write nothing, and report decisions that differ from those of this profile
    ///
    /// Each profile compares the decisions for pods with its scheduler name; with NAME, that profile compares
    /// them for all pods. Leader election is off.
    #[arg(long, value_name = "PROFILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    shadow: Option<String>,

    /// Output format of --dry-run and --shadow
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: ReportFormat,

    /// Interval of the summaries of --shadow, which are printed if there is something new
    #[arg(long, value_name = "DURATION", value_parser = flags::duration, default_value = "10m")]
    report_every: Duration,
}

/// Output format.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// Lines for users
    Table,
    /// JSON for programs, one object per line
    Json,
}

impl ReportFormat {
    /// Prints a value at once. `table` formats it for users.
    fn print<T: Serialize>(self, value: &T, table: impl FnOnce(&T) -> String) {
        let text = match self {
            ReportFormat::Table => table(value),
            ReportFormat::Json => json_line(value).unwrap_or_default() + "\n",
        };
        // If standard output is closed, the scheduler continues: metrics remain available.
        let _ = print_text(&text);
    }
}

/// The process in which a scheduler runs.
pub(super) struct Process<'a> {
    pub(super) metrics: &'a Metrics,
    pub(super) health: Health,
    /// Becomes true when the process must end.
    pub(super) stop: watch::Receiver<bool>,
}

impl ReadOnlyMode {
    /// Returns whether a read-only mode is on.
    pub(super) fn is_on(&self) -> bool {
        self.dry_run || self.shadow.is_some()
    }

    /// Returns the index of the profile that compares decisions for all pods. The value of `--shadow` is its name or,
    /// failing that, its scheduler name. Returns `None` without a value, and an error for an unknown profile.
    pub(super) fn profile(&self, profiles: &[ProfileInfo]) -> Result<Option<usize>, Failure> {
        let Some(name) = self.shadow.as_deref().filter(|name| !name.is_empty()) else { return Ok(None) };
        let known = || profiles.iter().map(|profile| profile.name).collect::<Vec<_>>().join(", ");
        profile_named(profiles, name)
            .map(Some)
            .ok_or_else(|| Failure::new(format_args!("--shadow={name}: no such profile; compiled in: {}", known())))
    }

    /// Runs in a read-only mode until it is stopped.
    pub(super) async fn run<S: StreamingTransport, H: DriverHooks>(
        self,
        bundle: &AnyBundle,
        setup: Setup<S>,
        other_hooks: H,
        process: Process<'_>,
    ) -> Result<(), Failure> {
        let Process { metrics, health, stop } = process;
        let (form, client) = (self.output, DryRunClient::new(setup.streams.clone()));
        if self.dry_run {
            let hooks = (
                other_hooks,
                Decisions::new(bundle.profiles, move |decision| form.print(decision, tables::read_only::decision)),
            );
            let driver = Driver::with_client(bundle, setup, client, PodRecords::default(), hooks)?;
            driver.with_health(health).run(stop).await;
            return Ok(());
        }
        let shadow_counts = ShadowCounts::default();
        metrics.count_shadow_decisions(shadow_counts.clone());
        let shadow = Shadow::new(bundle.profiles, shadow_counts.clone(), move |disagreement| {
            form.print(disagreement, tables::read_only::disagreement)
        });
        let hooks = (other_hooks, shadow);
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

/// Prints how often the decisions agree, at this interval and only if the counts have changed. Never ends.
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
