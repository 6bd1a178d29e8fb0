//! `schedc simulate`

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use k8s_openapi::jiff::Timestamp;
use schedc_core::erased::AnyBundle;
use schedc_objects::AnyObject;

use super::failure::Failure;
use super::objects::{self, SchedulerSetup};
use super::output::{self, Format};
use super::reports::{self, ReportFile};
use super::rows::Rows;
use super::tables::simulation::{View, table};
use super::validate;
use super::watch::simulation::Observers;
use crate::cluster::Skipped;
use crate::simulation::{self, simulate_with_hooks};
use crate::simulation_history::SimulationHistory;
use crate::timeline::{self, Action, Span, Timeline};

/// Place all pending pods of a cluster, without an API server
///
/// Nodes, pods, volumes and all other objects come from manifests. Pods that are bound to a node use its
/// resources. Pending pods are placed in queue order, each by the profile with its scheduler name.
/// Unschedulable pods are retried after events that may help them. Preemption may remove pods of lower
/// priority; these are not placed again. Volumes are bound and provisioned as by the controllers of a
/// cluster. Skipped pods are those that are bound, have finished, are being deleted, or have another
/// scheduler name. Gated pods, such as those with scheduling gates, count as unschedulable.
#[derive(Args)]
pub(crate) struct Simulate {
    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: Format,

    #[command(flatten)]
    report: ReportFile,

    /// Show throughput, queue and reasons of pending pods on the terminal while the simulation runs
    #[arg(long)]
    watch: bool,

    /// Print every placement in the table, however many there are
    #[arg(long)]
    all: bool,

    /// Seed for the choice among equally good nodes: equal seeds give equal placements
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    rows: Rows,

    #[command(flatten)]
    time: Time,

    #[command(flatten)]
    input: objects::Input,
}

/// Changes of the cluster over time.
#[derive(Args)]
struct Time {
    /// Create, update and delete objects at the times of this events file; `-` is standard input
    ///
    /// A list of events in YAML, JSON or JSON lines, such as `{at: 12.5s, delete: {kind: Node, name: north-1}}`, or
    /// with `create`, `apply` or `update` and a manifest. Time is virtual: waiting takes no real time. May be given
    /// several times. docs/simulate.md has the format.
    #[arg(long, value_name = "FILE")]
    events: Vec<PathBuf>,

    /// Create and delete objects at the times of their annotations `trace/created` and `trace/deleted`, in
    /// seconds
    #[arg(long)]
    trace: bool,

    /// Print all events: pods are created, rejected with reasons, woken by events, and placed
    #[arg(long)]
    log: bool,

    /// Stop after this virtual time, such as 90s or 1h30m
    ///
    /// By default, the simulation ends when no more changes can happen.
    #[arg(long, value_name = "DURATION", value_parser = Span::parse)]
    until: Option<Span>,

    /// Start of the simulation, such as 2026-01-31T12:00:00Z, for events with absolute times
    ///
    /// By default, the simulation starts at the earliest absolute time.
    #[arg(long, value_name = "TIME", value_parser = timeline::point, requires = "events")]
    start: Option<Timestamp>,
}

impl Time {
    /// Returns whether the tables show times.
    fn is_relevant(&self) -> bool {
        self.trace || self.log || !self.events.is_empty() || self.until.is_some()
    }
}

impl Simulate {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let start = Instant::now();
        let setup = self.input.setup(bundle)?;
        let mut objects = self.input.load(bundle)?;
        let view = View { all: self.all, times: self.time.is_relevant() };
        let Time { events, trace, log, until, start: begin } = self.time;
        let sources = timeline::Sources { files: events, trace, start: begin };
        let timeline = Timeline::read(&sources, &mut objects)?;
        let mut ignored = std::mem::take(&mut objects.ignored);
        ignored.extend(timeline.ignored.clone());
        validate::warn(&ignored);
        if trace && timeline.traced == 0 {
            output::note("no object has an annotation `trace/created` or `trace/deleted`: --trace has no effect");
        }
        self.rows.check(&objects, &timeline)?;
        let options = simulation::Options {
            routes: setup.routes,
            seed: self.seed,
            until,
            log,
            extenders: setup.extenders,
            read: start.elapsed(),
        };
        let is_pod = |event: &&timeline::Event| matches!(&event.action, Action::Create(AnyObject::Pod(_)));
        let later_pods = timeline.events.iter().filter(is_pod).count();
        let mut progress = Progress::new(objects.pods.len() + later_pods);
        let show_progress = |attempted| {
            if !self.watch {
                progress.show(attempted);
            }
        };
        let history = self.report.is_requested().then(|| SimulationHistory::new(setup.routes));
        let mut observers = Observers::new(history, self.watch)?;
        let input = simulation::SimulationInput { objects, timeline };
        let report = simulate_with_hooks(&setup.bundle, input, options, show_progress, &mut observers)?;
        progress.end();
        observers.end();
        objects::note_uncounted(&report.budgets);
        if report.summary.pods == report.summary.skipped {
            output::note(empty_simulation(&report.summary.skipped_by, &setup));
        }
        output::print(self.output, &report, |report| match self.rows.apply(report) {
            None => table(report, view),
            Some((rows, selection)) => table(&rows, view) + &selection,
        })?;
        let Some(history) = observers.history else { return Ok(()) };
        self.report.write(|| {
            let profiles: Vec<&str> = setup.routes.profiles().iter().map(|profile| profile.name).collect();
            let input = reports::names(self.input.files());
            let subtitle = format!("{input}; profiles: {}; seed {}", profiles.join(", "), self.seed);
            reports::simulation::page(&report, &history, subtitle)
        })
    }
}

/// Returns a note for a simulation in which no pod was to be placed.
fn empty_simulation(skipped: &Skipped, setup: &SchedulerSetup) -> String {
    if skipped.other_schedulers.is_empty() {
        return "the input has no pending pods".to_owned();
    }
    let known: Vec<&str> = setup.routes.profiles().iter().map(|profile| profile.scheduler_name).collect();
    let origin = if setup.is_interpreted { "interpreted" } else { "compiled in" };
    format!(
        "no pod has the scheduler name of a profile that is {origin} ({}); with --profile, one profile serves all pods",
        known.join(", ")
    )
}

/// A progress bar on standard error, for longer runs. It is hidden if standard error is not a terminal.
struct Progress {
    pods: usize,
    start: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    const SHOW_AFTER: Duration = Duration::from_millis(500);

    fn new(pods: usize) -> Self {
        Progress { pods, start: Instant::now(), bar: None }
    }

    fn show(&mut self, decided: usize) {
        match &self.bar {
            Some(bar) => bar.set_position(decided as u64),
            None if decided.is_multiple_of(64) && self.start.elapsed() > Self::SHOW_AFTER => {
                let bar = ProgressBar::with_draw_target(Some(self.pods as u64), ProgressDrawTarget::stderr());
                if let Ok(style) = ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len} pods, {eta} left") {
                    bar.set_style(style);
                }
                self.bar = Some(bar);
            }
            None => {}
        }
    }

    fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
