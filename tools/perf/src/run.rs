//! A workload from start to end.

use std::collections::{BTreeMap, HashSet};

use schedc_core::client::ApiError;
use schedc_core::erased::AnyBundle;
use schedc_core::profile::profile_for;
use schedc_core::scheduler;
use schedc_in_memory::server::{Key, Request};
use schedc_in_memory::{ApiServerOptions, Simulator, simulator};
use schedc_objects::manifests::SourceLocation;
use schedc_objects::{AnyObject, Sourced, default};

use crate::background::{BackgroundTask, PeriodicTask};
use crate::clock::Clock;
use crate::config::{ChurnMode, SelectedWorkload};
use crate::probe::Probe;
use crate::report::{Latency, Report};
use crate::{Error, measure};

/// Options of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Index of a profile that serves every pod, regardless of its scheduler name.
    pub profile: Option<usize>,
    /// Seed for the choice among equally good nodes.
    pub seed: u64,
}

/// Start time of workloads, in nanoseconds since 1970: a day in 2026.
const START: i64 = 1_780_000_000_000_000_000;

/// Runs and measures a workload with the profiles of a bundle. The reported memory is that of the process:
/// run one workload per process.
///
/// # Errors
/// Returns an error if the workload is invalid, if a wait times out, or if placements are invalid.
pub fn run(bundle: &AnyBundle, chosen: &SelectedWorkload<'_>, options: Options) -> Result<Report, Error> {
    let operations = chosen.operations()?;
    let place = format!("{}: workload `{}`", chosen.config.path.display(), chosen.name());
    let mut runner = Runner::new(bundle, chosen, options).map_err(|error| error.at(&place))?;
    for (index, operation) in operations.iter().enumerate() {
        runner.operate(index, &operation.op).map_err(|error| error.at(format_args!("{place}: {operation}")))?;
    }
    let probe = &mut runner.simulator.hooks;
    if probe.stop() {
        return Err(Error::new("metrics are still collected at the end; add stopCollectingMetrics").at(place));
    }
    if probe.decisions.count() == 0 {
        return Err(Error::new("no pod was attempted while metrics were collected").at(place));
    }
    let report = Report {
        name: chosen.name(),
        decisions_per_s: 1e9 / probe.decisions.mean(),
        pods_per_s: probe.bound as f64 / probe.time.as_secs_f64(),
        allocations_per_decision: probe.decisions.allocations(),
        latency_us: Latency::of(&mut probe.decisions),
        peak_rss_mb: measure::peak_memory(),
    };
    let placements = std::mem::take(&mut probe.placements);
    // Frees memory for the validation, which stores the cluster again.
    drop(runner);
    let profile = options.profile.or_else(|| profile_for(bundle.profiles, ""));
    placements.validate(profile.and_then(|profile| bundle.profiles.get(profile))).map_err(|error| error.at(place))?;
    Ok(report)
}

/// A running workload.
pub(crate) struct Runner<'a> {
    pub(crate) chosen: &'a SelectedWorkload<'a>,
    pub(crate) simulator: Simulator<Probe>,
    pub(crate) clock: Clock,
    pub(crate) background: Vec<PeriodicTask>,
    /// By namespace, the number of pods for which no operation has waited yet.
    pub(crate) unawaited: BTreeMap<String, usize>,
    /// Existing namespaces.
    namespaces: HashSet<String>,
    admission: default::Admission,
    /// Seed for the random choices that operations make.
    pub(crate) seed: u64,
    /// Number of generated names.
    generated_names: u32,
    /// Steps of the simulator since the last read of the clock.
    unclocked_steps: u32,
}

/// Number of steps of the simulator between reads of the clock.
const STEPS_PER_CLOCK_READ: u32 = 16;

impl<'a> Runner<'a> {
    fn new(bundle: &AnyBundle, chosen: &'a SelectedWorkload<'a>, options: Options) -> Result<Self, Error> {
        let seed = options.seed;
        let scheduler = scheduler::Options { seed: options.seed, serve_all: options.profile, ..Default::default() };
        let server =
            ApiServerOptions { grace: None, events_kept: 0, finalizers_hold: true, ..ApiServerOptions::default() };
        let options = simulator::Options { scheduler, server, start: START, ..Default::default() };
        let simulator = Simulator::new(bundle, options, Probe::default())?;
        Ok(Runner {
            chosen,
            simulator,
            clock: Clock::new(START),
            background: Vec::new(),
            unawaited: BTreeMap::new(),
            namespaces: HashSet::new(),
            admission: default::Admission::default(),
            seed,
            generated_names: 0,
            unclocked_steps: 0,
        })
    }

    /// Runs until a condition is met. Returns whether it was met within `limit` nanoseconds.
    pub(crate) fn run_until(&mut self, limit: i64, is_done: impl Fn(&Self) -> bool) -> Result<bool, Error> {
        let end = self.clock.now().saturating_add(limit);
        loop {
            if is_done(self) {
                return Ok(true);
            }
            if self.simulator.step() {
                self.unclocked_steps += 1;
                if self.unclocked_steps >= STEPS_PER_CLOCK_READ {
                    self.catch_up()?;
                    if self.clock.now() >= end {
                        return Ok(is_done(self));
                    }
                }
                continue;
            }
            // No work is left at this time.
            let now = self.clock.now();
            if now >= end {
                self.catch_up()?;
                return Ok(is_done(self));
            }
            let background = self.background.iter().map(|task| task.next).min();
            let next = self.simulator.next_time().into_iter().chain(background).min().unwrap_or(end);
            self.clock.advance(next.min(end));
            self.catch_up()?;
        }
    }

    /// Processes everything that is due now, with its consequences, without waiting.
    pub(crate) fn settle(&mut self) -> Result<(), Error> {
        while self.simulator.step() {}
        self.catch_up()
    }

    /// Advances the simulator to the time of the clock, and runs the background tasks that are due.
    pub(crate) fn catch_up(&mut self) -> Result<(), Error> {
        self.unclocked_steps = 0;
        let now = self.clock.now();
        self.simulator.advance_to(now);
        if self.background.iter().any(|background| background.next <= now) {
            let mut all = std::mem::take(&mut self.background);
            let mut kept = Vec::new();
            for mut background in all.drain(..) {
                let mut continues = true;
                while continues && background.next <= now {
                    continues = self.run_once(&mut background, now)?;
                }
                if continues {
                    kept.push(background);
                }
            }
            self.background = kept;
        }
        Ok(())
    }

    /// Runs the task once, and returns whether it continues.
    ///
    /// In scheduler_perf, tasks run in parallel with the scheduler, and their tickers drop ticks only while a request
    /// is under way. Here, requests take no time, and the task only waits until the scheduler's work at this time is
    /// done. Therefore all missed deletions are run, so the rate is kept. A churn can be endless, and would never catch
    /// up if each run took longer than its interval. Therefore, it drops missed runs except for the last ones.
    fn run_once(&mut self, task: &mut PeriodicTask, now: i64) -> Result<bool, Error> {
        task.next = task.next.saturating_add(task.interval);
        match &mut task.task {
            BackgroundTask::Churn { mode, namespace, factories, alive, number, turn } => {
                task.next = task.next.max(now.saturating_sub(task.interval));
                for (factory, alive) in factories.iter().zip(alive) {
                    let at = if *mode == ChurnMode::Recreate { *turn % *number } else { 0 };
                    match alive.get_mut(at).and_then(Option::take) {
                        Some(key) => _ = self.request(Request::Delete(key, None)),
                        None => {
                            let key = self.create(factory.make(0)?, namespace, true)?;
                            if let (ChurnMode::Recreate, Some(alive)) = (*mode, alive.get_mut(at)) {
                                *alive = Some(key);
                            }
                        }
                    }
                }
                *turn += 1;
                Ok(*mode == ChurnMode::Recreate || *number == 0 || *turn < *number)
            }
            BackgroundTask::Deletions { pods } => {
                if let Some(key) = pods.pop_front() {
                    // The pod may have been evicted since.
                    _ = self.request(Request::Delete(key, None));
                }
                Ok(!pods.is_empty())
            }
        }
    }

    /// Sends a request to the server.
    pub(crate) fn request(&mut self, request: Request) -> Result<(), ApiError> {
        self.simulator.request(request)
    }

    /// Completes and validates an object as an API server does.
    pub(crate) fn admit(&mut self, object: AnyObject) -> Result<AnyObject, Error> {
        let mut problems = Vec::new();
        let place = SourceLocation { file: "".into(), line: 0, item: None };
        let mut object = Sourced { object, place };
        self.admission.admit(&mut object, &mut problems);
        match problems.first() {
            None => Ok(object.object),
            Some(problem) => Err(Error::new(problem.to_string().trim_start_matches(": "))),
        }
    }

    /// Creates an object, which is admitted first if `to_admit`. A namespaced object is created in `namespace`.
    pub(crate) fn create(&mut self, mut object: AnyObject, namespace: &str, to_admit: bool) -> Result<Key, Error> {
        let kind = object.kind();
        let metadata = object.metadata_mut();
        if AnyObject::is_namespaced(kind) == Some(true) {
            metadata.namespace = Some(namespace.to_owned());
        }
        metadata.uid = None;
        let prefix = match metadata.name.as_deref() {
            None | Some("") => metadata.generate_name.clone(),
            Some(_) => None,
        };
        if let Some(prefix) = &prefix {
            metadata.name = Some(self.new_name(prefix));
        }
        if to_admit {
            object = self.admit(object)?;
        }
        let mut key = Key::of(&object);
        while let (Some(prefix), Some(_)) = (&prefix, self.simulator.server.get(&key)) {
            object.metadata_mut().name = Some(self.new_name(prefix));
            key = Key::of(&object);
        }
        if self.simulator.server.get(&key).is_some() {
            return Err(Error::new(format!("{} {} exists already", key.kind, key.name)));
        }
        self.simulator.add(object).map_err(Error::new)?;
        Ok(key)
    }

    /// Creates a namespace if it does not exist.
    pub(crate) fn ensure_namespace(&mut self, name: &str) -> Result<(), Error> {
        if self.namespaces.contains(name) {
            return Ok(());
        }
        let mut namespace = k8s_openapi::api::core::v1::Namespace::default();
        namespace.metadata.name = Some(name.to_owned());
        self.create_namespace(namespace.into())
    }

    pub(crate) fn create_namespace(&mut self, namespace: AnyObject) -> Result<(), Error> {
        if self.namespaces.insert(namespace.name().to_owned()) {
            self.create(namespace, "", true)?;
        }
        Ok(())
    }

    pub(crate) fn has_namespace(&self, name: &str) -> bool {
        self.namespaces.contains(name)
    }

    /// Returns a generated name: the prefix and five characters.
    pub(crate) fn new_name(&mut self, prefix: &str) -> String {
        const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
        let mut number = self.generated_names as usize;
        self.generated_names = self.generated_names.wrapping_add(1);
        let mut characters = [ALPHABET[0]; 5];
        for character in characters.iter_mut().rev() {
            *character = ALPHABET[number % ALPHABET.len()];
            number /= ALPHABET.len();
        }
        let mut name = String::with_capacity(prefix.len() + characters.len());
        name.push_str(prefix);
        name.extend(characters.map(char::from));
        name
    }
}
