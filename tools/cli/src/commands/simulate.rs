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
use super::rows::Rows;
use super::tables::simulation::{View, table};
use super::validate;
use crate::cluster::Skipped;
use crate::simulation::{self, simulate};
use crate::timeline::{self, Action, Span, Timeline};

/// Place all pending pods of a cluster, without an API server
///
/// Nodes come from manifests, and so do pods, volumes and whatever else scheduling looks at. Pods that are bound to a
/// node take their part of it. All others are placed in queue order, each by the profile whose scheduler name it asks
/// for, and tried again when something changes that may help them. If a pod fits nowhere, pods of lower priority may have
/// to make room for it; they are preempted, and not placed again. Claims get their volumes as the controllers of a
/// cluster would see to it. Skipped are pods that are bound, have finished, are being deleted, or ask for a scheduler that is none of the
/// profiles. Pods that a plugin holds back from the queue, such as those with scheduling gates, count as unschedulable.
#[derive(Args)]
pub(crate) struct Simulate {
    /// How to print the result
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: Format,

    /// Print every placement in the table, however many there are
    #[arg(long)]
    all: bool,

    /// Which of several equally good nodes is drawn: the same number, the same placements
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    rows: Rows,

    #[command(flatten)]
    time: Time,

    #[command(flatten)]
    input: objects::Input,
}

/// What happens to the cluster while time passes.
#[derive(Args)]
struct Time {
    /// Let objects come, change and go at times of the simulation, as this file says; `-` is standard input
    ///
    /// A list of events in YAML, JSON or lines of JSON, such as `{at: 12.5s, delete: {kind: Node, name: north-1}}`, or with
    /// `create`, `apply` or `update` and a manifest. Time is virtual: an hour passes in a moment. May be given several times.
    /// docs/simulate.md has the format.
    #[arg(long, value_name = "FILE")]
    events: Vec<PathBuf>,

    /// Let objects come and go when their annotations `trace/created` and `trace/deleted` say, in seconds
    #[arg(long)]
    trace: bool,

    /// Tell all that happens: pods come, are rejected and why, what wakes them, where they go
    #[arg(long)]
    log: bool,

    /// Stop after this time of the simulation, such as 90s or 1h30m
    ///
    /// Otherwise, it ends when nothing happens any more.
    #[arg(long, value_name = "DURATION", value_parser = Span::parse)]
    until: Option<Span>,

    /// When the simulation begins, such as 2026-01-31T12:00:00Z, for events with points in time
    ///
    /// Otherwise, it begins with the earliest of them.
    #[arg(long, value_name = "TIME", value_parser = timeline::point, requires = "events")]
    start: Option<Timestamp>,
}

impl Time {
    /// Whether it matters when things happen.
    fn matters(&self) -> bool {
        self.trace || self.log || !self.events.is_empty() || self.until.is_some()
    }
}

impl Simulate {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let start = Instant::now();
        let setup = self.input.setup(bundle)?;
        let mut objects = self.input.load(bundle)?;
        let view = View { all: self.all, times: self.time.matters() };
        let Time { events, trace, log, until, start: begin } = self.time;
        let sources = timeline::Sources { files: events, trace, start: begin };
        let timeline = Timeline::read(&sources, &mut objects)?;
        let mut ignored = std::mem::take(&mut objects.ignored);
        ignored.extend(timeline.ignored.clone());
        validate::warn(&ignored);
        if trace && timeline.traced == 0 {
            output::note("no object has an annotation `trace/created` or `trace/deleted`: --trace changes nothing");
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
        let later = timeline.events.iter().filter(is_pod).count();
        let mut progress = Progress::new(objects.pods.len() + later);
        let tell = |tried| progress.show(tried);
        let report = simulate(&setup.bundle, objects, timeline, options, tell)?;
        progress.end();
        objects::note_uncounted(&report.budgets);
        if report.summary.pods == report.summary.skipped {
            output::note(empty_simulation(&report.summary.skipped_by, &setup));
        }
        output::print(self.output, &report, |report| match self.rows.apply(report) {
            None => table(report, view),
            Some((rows, left_out)) => table(&rows, view) + &left_out,
        })
    }
}

/// What to think of it if no pod was to be placed.
fn empty_simulation(skipped: &Skipped, setup: &SchedulerSetup) -> String {
    if skipped.other_schedulers.is_empty() {
        return "there is no pod to place in the input".to_owned();
    }
    let known: Vec<&str> = setup.routes.profiles().iter().map(|profile| profile.scheduler_name).collect();
    let are = if setup.is_interpreted { "interpreted" } else { "compiled in" };
    format!("no pod asks for a scheduler that is {are} ({}); with --profile, one profile serves all", known.join(", "))
}

/// A bar on standard error, once it is worth it. It hides itself where there is no terminal.
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
