//! Four ways to an answer agree after any changes: incremental evaluation, full evaluation, full evaluation
//! of a rebuilt cluster, and the reference implementation. The test covers every profile of profiles/, and
//! profiles of random plugins.
//!
//! Each seed determines a history. `INCREMENTAL_CASES` is the number of histories (default 60, or 600 with
//! `SCHEDC_SLOW_TESTS=1`); `INCREMENTAL_SEED` is the first seed, to repeat a history. A failing history is minimized
//! and printed as a scenario, which `schedc evaluate` also accepts. The final table counts, for each plugin and kind of
//! change, the changes that changed the plugin's results.
//!
//! ```sh
//! INCREMENTAL_CASES=100000 cargo test --release -p schedc-plugins --test main incremental -- --nocapture
//! INCREMENTAL_CASES=1 INCREMENTAL_SEED=4711 cargo test -p schedc-plugins --test main incremental
//! ```

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod check;
mod coverage;
mod generator;
mod history;
mod interpreted;
mod snapshot;
mod test_cluster;

/// The profiles of the repository, and profiles of random plugins.
#[allow(unreachable_pub, reason = "the macro writes code for libraries, too")]
mod scheduler {
    schedc_macros::profile!(
        "../profiles/binpack.toml",
        "../profiles/default.toml",
        "../profiles/edge.toml",
        "../examples/features.toml",
        "tests/incremental/profiles/subset-0.toml",
        "tests/incremental/profiles/subset-1.toml",
        "tests/incremental/profiles/subset-2.toml",
        "tests/incremental/profiles/subset-3.toml",
        "tests/incremental/profiles/subset-4.toml",
        "tests/incremental/profiles/subset-5.toml",
        "tests/incremental/profiles/subset-6.toml",
        "tests/incremental/profiles/subset-7.toml",
    );
}

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use schedc_core::handle::Handle;
use schedc_core::profile::Bundle;
use schedc_reference::{Args, Profile, evaluate};

use check::{Compare, Comparison};
use coverage::Coverage;
use history::{History, Step};
use scheduler::Profiles;
use test_cluster::TestCluster;

/// Number of histories that cover every change: with at least this many, the final table is checked.
const CASES: u64 = 600;
/// Number of histories without slow tests.
const FEW_CASES: u64 = 60;
/// Number of parts that the histories are divided into.
const PARTS: u64 = 8;
/// Maximum number of failures that are printed.
const SHOWN: usize = 3;
/// Maximum number of attempts to minimize a history.
const PATIENCE: usize = 3000;

/// Returns the reference implementation for a profile.
fn rules(profile: usize) -> Profile {
    let info = &Profiles::PROFILES[profile];
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(info.source);
    let args = Args::read(&std::fs::read_to_string(path).unwrap()).unwrap();
    let names = |point| info.plugins(point).iter().map(|(name, _)| *name);
    let scores = info.plugins("score").iter().map(|(name, weight)| (*name, weight.unwrap_or(1)));
    Profile::new(names("pre-filter"), names("filter"), scores, args).unwrap()
}

/// The result of a history.
#[derive(Default)]
struct Outcome {
    decisions: usize,
    cached: usize,
    differences: Vec<String>,
}

/// Applies the steps of a history, up to the first difference.
fn play(history: &[Step], profile: usize, rules: &Profile, mut coverage: Option<&mut Coverage>) -> Outcome {
    let mut outcome = Outcome::default();
    let mut cluster = TestCluster::default();
    let mut bundle = Profiles::new(&Handle::default()).unwrap();
    for (at, step) in history.iter().enumerate() {
        let before = coverage.as_mut().map(|coverage| coverage.before(&mut cluster, step));
        match step {
            Step::Set { manifest, .. } => cluster.set(manifest),
            Step::Delete { reference, .. } => cluster.delete(reference),
            Step::Schedule { pod, is_placed } => {
                let pod = cluster.pending(pod);
                let expected = evaluate(rules, &cluster.cluster, &cluster.cache.base.interner, &pod);
                let compare = Compare { cluster: &mut cluster, rules: &expected, pod: &pod, draw: at };
                let Comparison { differences, is_cached } = bundle.with(profile, compare);
                outcome.decisions += 1;
                outcome.cached += usize::from(is_cached);
                if !differences.is_empty() {
                    outcome.differences = differences;
                    outcome.differences.insert(0, format!("step {at}, {}:", pod.name));
                    return outcome;
                }
                if let (true, Some(node)) = (is_placed, expected.choices().first()) {
                    cluster.place(pod, node);
                }
            }
        }
        if let (Some(coverage), Some(before)) = (&mut coverage, before) {
            coverage.after(&mut cluster, step, before);
        }
    }
    outcome
}

/// Applies a history; a panic counts as a difference.
fn try_to_play(history: &[Step], profile: usize, rules: &Profile, coverage: Option<&mut Coverage>) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| play(history, profile, rules, coverage))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Outcome { differences: vec![format!("panic: {}", text.unwrap_or_default())], ..Outcome::default() }
    })
}

/// Minimizes a failing history, and returns its description.
fn report(history: &History, rules: &Profile) -> String {
    let fails = |steps: &[Step]| !try_to_play(steps, history.profile, rules, None).differences.is_empty();
    let steps = schedc_testing::shrink(&history.steps, PATIENCE, fails);
    let differences = try_to_play(&steps, history.profile, rules, None).differences;
    let profile = Profiles::PROFILES[history.profile].name;
    let short = History { steps, ..history.clone() };
    format!(
        "seed {} (INCREMENTAL_SEED={} INCREMENTAL_CASES=1), profile {profile}:\n{}\n{}",
        history.seed,
        history.seed,
        differences.join("\n    "),
        history::scenario(&short, profile)
    )
}

fn number(variable: &str, default: u64) -> u64 {
    env::var(variable).ok().map_or(default, |text| text.parse().unwrap())
}

/// The results of some histories.
#[derive(Default)]
struct Summary {
    coverage: Coverage,
    decisions: usize,
    cached: usize,
    failures: Vec<History>,
}

impl Summary {
    fn of(seeds: impl Iterator<Item = u64>, rules: &[Profile]) -> Summary {
        let mut summary = Summary::default();
        for seed in seeds {
            let history = generator::history(seed, Profiles::PROFILES.len());
            let rules = &rules[history.profile];
            let outcome = try_to_play(&history.steps, history.profile, rules, Some(&mut summary.coverage));
            summary.decisions += outcome.decisions;
            summary.cached += outcome.cached;
            if !outcome.differences.is_empty() {
                summary.failures.push(history);
            }
        }
        summary
    }

    fn add(&mut self, other: Summary) {
        self.coverage.add(&other.coverage);
        self.decisions += other.decisions;
        self.cached += other.cached;
        self.failures.extend(other.failures);
    }
}

#[test]
fn cached_full_rebuilt_and_reference_answers_are_equal() {
    let default = if slow_tests::is_enabled() { CASES } else { FEW_CASES };
    let (cases, first) = (number("INCREMENTAL_CASES", default), number("INCREMENTAL_SEED", 0));
    let rules: Vec<Profile> = (0..Profiles::PROFILES.len()).map(rules).collect();
    let start = Instant::now();
    // The counts depend on the parts, not on the number of threads.
    let next_part = AtomicU64::new(0);
    let work = || {
        let mut summary = Summary::default();
        loop {
            let part = next_part.fetch_add(1, Ordering::Relaxed);
            if part >= PARTS {
                return summary;
            }
            summary.add(Summary::of((first..first + cases).filter(|seed| seed % PARTS == part), &rules));
        }
    };
    let mut summary = Summary::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().for_each(|thread| summary.add(thread.join().unwrap()));
    });
    let Summary { coverage, decisions, cached, mut failures } = summary;
    println!(
        "{coverage}\n{cases} histories, {decisions} decisions, {cached} by cached answers, {:.1?}",
        start.elapsed()
    );
    failures.sort_unstable_by_key(|history| history.seed);
    let shown: Vec<_> = failures.iter().take(SHOWN).map(|history| report(history, &rules[history.profile])).collect();
    let seeds: Vec<u64> = failures.iter().map(|history| history.seed).collect();
    assert!(failures.is_empty(), "{} histories fail: {seeds:?}\n{}", seeds.len(), shown.join("\n\n"));
    assert!(cached * 2 > decisions, "few answers are cached");
    if cases >= CASES {
        coverage.check();
    }
}
