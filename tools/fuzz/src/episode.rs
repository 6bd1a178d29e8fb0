//! Episodes: histories from consecutive seeds.

use std::fmt;
use std::panic::{self, AssertUnwindSafe};

use clap::ValueEnum;
use schedc_testing::shrink;

use crate::counts::RunCounts;
use crate::generator::Generator;
use crate::history::Step;
use crate::injected_bugs::InjectedBug;
use crate::invariants::Violation;
use crate::simulation::Simulation;

/// Number of steps within which every fault must happen.
const WINDOW: u64 = 50_000;
/// Maximum number of histories that are tried to find a shorter failing one.
const MAX_SHRINK_ATTEMPTS: usize = 4_000;

/// Options of a run.
#[derive(Clone, Copy, Debug)]
pub struct FuzzOptions {
    /// Seed of the first episode; each further episode has the next seed.
    pub seed: u64,
    /// Number of steps over all episodes.
    pub steps: u64,
    /// Bug to inject into the simulation.
    pub bug: Option<InjectedBug>,
    /// Whether to shrink a failing history.
    pub shrink: bool,
}

/// A history that violates an invariant.
#[derive(Clone, Debug)]
pub struct FuzzFailure {
    /// Seed of the episode.
    pub seed: u64,
    /// Number of steps in the episode.
    pub steps: usize,
    /// Number of steps over all episodes.
    pub total: u64,
    /// The injected bug.
    pub bug: Option<InjectedBug>,
    /// The violation at the end of `history`.
    pub violation: String,
    /// The violated invariant; `None` for a panic, or for a fault that did not happen.
    pub invariant: Option<crate::Invariant>,
    /// The shortest failing history that was found; empty for a fault that did not happen.
    pub history: Vec<Step>,
}

impl fmt::Display for FuzzFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n\nafter:", self.violation)?;
        for (at, step) in self.history.iter().enumerate() {
            writeln!(f, "{:>5}  {step}", at + 1)?;
        }
        let FuzzFailure { seed, steps, .. } = self;
        write!(f, "\nreplay: cargo run --release -p schedc-fuzz -- --seed {seed} --steps {steps}")?;
        match self.bug.and_then(|bug| bug.to_possible_value()) {
            Some(bug) => write!(f, " --bug {}", bug.get_name()),
            None => Ok(()),
        }
    }
}

/// Runs episodes. `progress` receives the number of steps so far.
///
/// # Errors
/// Returns the first failing history, or a fault that did not happen within 50,000 steps.
pub fn fuzz(options: FuzzOptions, mut progress: impl FnMut(u64)) -> Result<RunCounts, Box<FuzzFailure>> {
    let mut counts = RunCounts::default();
    let mut window = (0, RunCounts::default());
    let (mut seed, mut total) = (options.seed, 0);
    while total < options.steps {
        let limit = usize::try_from(options.steps - total).unwrap_or(usize::MAX);
        let (history, result) = episode(seed, limit, options.bug);
        total += history.len() as u64;
        match result {
            Ok(of_episode) => counts.add_all(&of_episode),
            Err(failure) => return Err(Box::new(report(&options, seed, total, history, failure))),
        }
        counts.add("simulated", "episodes");
        progress(total);
        if total - window.0 >= WINDOW {
            let since = counts.since(&window.1);
            if let Some(fault) = since.zeros("fault").next() {
                let violation = format!("in {} steps, this fault did not happen: {fault}", total - window.0);
                let steps = history.len();
                return Err(Box::new(FuzzFailure {
                    seed,
                    steps,
                    total,
                    bug: options.bug,
                    violation,
                    invariant: None,
                    history: Vec::new(),
                }));
            }
            window = (total, counts.clone());
        }
        seed = seed.wrapping_add(1);
    }
    counts.add_many("simulated", "steps", total);
    Ok(counts)
}

enum EpisodeFailure {
    Violation(Violation),
    Panic(String),
}

impl EpisodeFailure {
    /// Returns whether both violate the same invariant, or panicked with the same message.
    fn is_same_failure(&self, other: &EpisodeFailure) -> bool {
        match (self, other) {
            (EpisodeFailure::Violation(a), EpisodeFailure::Violation(b)) => a.invariant == b.invariant,
            (EpisodeFailure::Panic(a), EpisodeFailure::Panic(b)) => a == b,
            _ => false,
        }
    }
}

/// Generates and performs the steps of an episode. Returns the steps.
fn episode(seed: u64, limit: usize, bug: Option<InjectedBug>) -> (Vec<Step>, Result<RunCounts, EpisodeFailure>) {
    let mut generator = Generator::new(seed);
    let length = generator.length().min(limit);
    let mut history = Vec::with_capacity(length);
    let result = catch_panics(|| {
        let mut simulation = Simulation::new(seed, bug);
        while history.len() < length {
            let is_last = history.len() + 1 == length;
            let step = if is_last { Step::Settle } else { generator.next(&simulation.summary()) };
            history.push(step.clone());
            simulation.step(&step)?;
        }
        Ok(simulation.counts())
    });
    (history, result)
}

/// Performs the steps of a history.
///
/// # Errors
/// Returns the violation or the message of a panic.
pub fn replay(seed: u64, history: &[Step], bug: Option<InjectedBug>) -> Result<(), String> {
    run(seed, history, bug).map_err(|failed| text(&failed))
}

fn run(seed: u64, history: &[Step], bug: Option<InjectedBug>) -> Result<(), EpisodeFailure> {
    catch_panics(|| {
        let mut simulation = Simulation::new(seed, bug);
        history.iter().try_for_each(|step| simulation.step(step))
    })
}

/// Converts a panic to a failure.
fn catch_panics<T>(run: impl FnOnce() -> Result<T, Violation>) -> Result<T, EpisodeFailure> {
    match panic::catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result.map_err(EpisodeFailure::Violation),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().cloned();
            let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(EpisodeFailure::Panic(text.unwrap_or_default()))
        }
    }
}

fn text(failed: &EpisodeFailure) -> String {
    match failed {
        EpisodeFailure::Violation(violation) => violation.to_string(),
        EpisodeFailure::Panic(text) => format!("panicked: {text}"),
    }
}

fn report(options: &FuzzOptions, seed: u64, total: u64, history: Vec<Step>, failure: EpisodeFailure) -> FuzzFailure {
    let steps = history.len();
    let mut last = failure;
    let mut history = history;
    if options.shrink {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(|_| {}));
        history = shrink(&history, MAX_SHRINK_ATTEMPTS, |candidate| match run(seed, candidate, options.bug) {
            Err(failed) if failed.is_same_failure(&last) => {
                last = failed;
                true
            }
            _ => false,
        });
        panic::set_hook(hook);
    }
    let invariant = match &last {
        EpisodeFailure::Violation(violation) => Some(violation.invariant),
        EpisodeFailure::Panic(_) => None,
    };
    FuzzFailure { seed, steps, total, bug: options.bug, violation: text(&last), invariant, history }
}
