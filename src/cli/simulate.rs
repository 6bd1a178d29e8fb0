//! `schedc simulate`

use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use schedc::cluster;
use schedc::pipelines::Profiles;
use schedc::simulation::{self, Summary, simulate};
use schedc_core::profile::Bundle;

use super::failure::Failure;
use super::objects;
use super::output::{self, Format};
use super::tables::simulation::table;

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
    #[command(flatten)]
    input: objects::Input,

    /// How to print the result
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: Format,

    /// Print every placement in the table, however many there are
    #[arg(long)]
    all: bool,

    /// Which of several equally good nodes is drawn: the same number, the same placements
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
}

impl Simulate {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let start = Instant::now();
        let routes = self.input.routes()?;
        let mut objects = self.input.load()?;
        let input = simulation::Input {
            objects: objects.others_by_kind(),
            other_kinds: std::mem::take(&mut objects.skipped),
            read: start.elapsed(),
        };
        let objects = cluster::objects(objects);
        let mut progress = Progress::new(objects.iter().filter(|object| object.kind() == "Pod").count());
        let report = simulate::<Profiles>(objects, &routes, self.seed, input, |decided| progress.show(decided))?;
        progress.end();
        if let Some(note) = nothing_to_do(&report.summary) {
            output::note(note);
        }
        output::print(self.output, &report, |report| table(report, self.all))
    }
}

/// What to think of it if no pod was to be placed.
fn nothing_to_do(summary: &Summary) -> Option<String> {
    if summary.placed + summary.unschedulable > 0 {
        return None;
    }
    if summary.skipped_by.other_schedulers.is_empty() {
        return Some("there is no pod to place in the input".to_owned());
    }
    let known: Vec<&str> = Profiles::PROFILES.iter().map(|profile| profile.scheduler_name).collect();
    Some(format!(
        "no pod asks for a scheduler that is compiled in ({}); with --profile, one profile serves all",
        known.join(", ")
    ))
}

/// A bar on standard error, once it is worth it. It hides itself where there is no terminal.
struct Progress {
    pods: usize,
    start: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    const PATIENCE: Duration = Duration::from_millis(500);

    fn new(pods: usize) -> Self {
        Progress { pods, start: Instant::now(), bar: None }
    }

    fn show(&mut self, decided: usize) {
        match &self.bar {
            Some(bar) => bar.set_position(decided as u64),
            None if decided.is_multiple_of(64) && self.start.elapsed() > Self::PATIENCE => {
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
