//! Simulations of several profiles and seeds on several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use schedc_core::erased::AnyBundle;
use schedc_core::profile::StartErrors;

use crate::report::{Run, Shard};
use crate::simulation::{Options, simulate};
use crate::workload::Workload;

/// A profile that serves all pods.
pub struct Contender {
    /// The bundle with the profile.
    pub bundle: AnyBundle,
    /// Index of the profile in `bundle`.
    pub profile: usize,
}

/// Simulations to run.
pub struct Plan<'a> {
    /// The workload.
    pub workload: &'a Workload,
    /// The profiles.
    pub profiles: &'a [Contender],
    /// The seeds of each profile.
    pub seeds: &'a [u64],
    /// Options; the profile and the seed are ignored.
    pub options: &'a Options,
    /// The shard whose simulations run; `None`: all simulations run.
    pub shard: Option<Shard>,
    /// Number of threads.
    pub threads: usize,
}

impl Shard {
    /// Returns whether the shard contains the simulation with this index in the list of all simulations.
    pub fn has(&self, at: usize) -> bool {
        at % self.of.max(1) as usize == self.number.saturating_sub(1) as usize
    }
}

impl Plan<'_> {
    /// Returns the simulations of the shard, each as the index of its profile and its seed.
    fn jobs(&self) -> Vec<(usize, u64)> {
        let all = (0..self.profiles.len()).flat_map(|profile| self.seeds.iter().map(move |seed| (profile, *seed)));
        let is_in_shard = |at: usize| self.shard.is_none_or(|shard| shard.has(at));
        all.enumerate().filter(|(at, _)| is_in_shard(*at)).map(|(_, job)| job).collect()
    }

    /// Returns the number of simulations of the shard.
    pub fn count(&self) -> usize {
        self.jobs().len()
    }

    /// Runs the simulations of the shard. `progress` is called after each of them, with the number of complete
    /// simulations. The order of the results does not depend on the number of threads.
    ///
    /// # Errors
    /// Returns the errors of plugins that cannot start.
    pub fn run(&self, progress: impl Fn(usize) + Sync) -> Result<Vec<Run>, StartErrors> {
        let jobs = self.jobs();
        let results: Vec<Mutex<Option<Result<Run, StartErrors>>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
        let (next, complete) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            while let Some((at, (profile, seed))) = next_job(&next, &jobs) {
                let result = self.run_one(profile, seed);
                if let Ok(mut slot) = results[at].lock() {
                    *slot = Some(result);
                }
                progress(complete.fetch_add(1, Ordering::Relaxed) + 1);
            }
        };
        thread::scope(|scope| {
            for _ in 1..self.threads.min(jobs.len()) {
                scope.spawn(work);
            }
            work();
        });
        // A thread that panics ends the scope with its panic, so all results exist.
        results.into_iter().filter_map(|slot| slot.into_inner().ok().flatten()).collect()
    }

    fn run_one(&self, profile: usize, seed: u64) -> Result<Run, StartErrors> {
        let Contender { bundle, profile: index } = &self.profiles[profile];
        let options = Options { serve_all: Some(*index), seed, ..self.options.clone() };
        let result = simulate(bundle, self.workload, &options)?.result;
        Ok(Run { profile, seed, result })
    }
}

fn next_job(next: &AtomicUsize, jobs: &[(usize, u64)]) -> Option<(usize, (usize, u64))> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(at).map(|job| (at, *job))
}
