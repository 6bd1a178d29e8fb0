//! The interpreter and the compiled profile agree: verdicts, scores, messages, decisions and preemption. The histories
//! and profiles are those of the module `incremental`; the interpreter reads the profiles at run time.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schedc_codegen::Options;
use schedc_core::cache::{Cache, State};
use schedc_core::engine::{CachedAnswerSummary, Decision, Engine, UNTIMED};
use schedc_core::explain::Explanation;
use schedc_core::handle::Handle;
use schedc_core::model::Pod;
use schedc_core::profile::{Bundle, Profile, Visitor};
use schedc_interpret::Interpretation;

use super::generator;
use super::history::Step;
use super::scheduler::Profiles;
use super::test_cluster::TestCluster;

/// Profiles that omit plugins at single extension points. The reference implementation does not support them.
#[allow(unreachable_pub, reason = "the macro writes code for libraries, too")]
mod with_gaps {
    schedc_macros::profile!(
        "tests/incremental/profiles/gaps-0.toml",
        "tests/incremental/profiles/gaps-1.toml",
        "tests/incremental/profiles/gaps-2.toml",
        "tests/incremental/profiles/gaps-3.toml",
    );
}

/// Number of histories for the profiles of the module `incremental`.
const CASES: u64 = 200;
/// Number of histories for the profiles with gaps.
const CASES_WITH_GAPS: u64 = 80;
/// Without slow tests, the number of histories is divided by this number.
const FEWER: u64 = 4;

/// Returns the number of histories to apply.
fn number_of(cases: u64) -> u64 {
    if slow_tests::is_enabled() { cases } else { cases / FEWER }
}

/// Results for a pod.
#[derive(Debug, PartialEq)]
struct Results {
    /// The explanation with the first rejection of each node, and the one with all of them.
    explanations: [Explanation; 2],
    decision: Decision,
}

/// Results for a pod, and its cached answer.
type WithAnswer = (Results, Option<CachedAnswerSummary>);

/// Evaluates a pod with the profile of an engine.
struct Evaluate<'a, S> {
    pod: &'a Arc<Pod>,
    cache: &'a mut Cache<S>,
    draw: usize,
}

impl<S: State> Visitor<S> for Evaluate<'_, S> {
    type Output = WithAnswer;
    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) -> WithAnswer {
        let Evaluate { pod, cache, draw } = self;
        engine.percentage_of_nodes_to_score = 100;
        let explanations = [false, true].map(|all_filters| engine.explain(pod, cache, all_filters));
        let decision = engine.decide(pod, cache, UNTIMED, |n| draw % n);
        (Results { explanations, decision }, engine.cached_answer(pod, cache))
    }
}

/// A cluster and its scheduler, compiled or interpreted.
struct Side<B: Bundle> {
    bundle: B,
    cluster: TestCluster<B::State>,
}

impl<B: Bundle> Side<B> {
    fn new(bundle: B) -> Self {
        Side { bundle, cluster: TestCluster::default() }
    }

    /// Applies a step. Returns the results for a pod to be scheduled.
    fn apply(&mut self, step: &Step, profile: usize, draw: usize) -> Option<WithAnswer> {
        match step {
            Step::Set { manifest, .. } => self.cluster.set(manifest),
            Step::Delete { reference, .. } => self.cluster.delete(reference),
            Step::Schedule { pod, is_placed } => {
                let pod = self.cluster.pending(pod);
                let evaluate = Evaluate { pod: &pod, cache: &mut self.cluster.cache, draw };
                let results = self.bundle.with(profile, evaluate);
                if let (true, Decision::Node(node)) = (is_placed, &results.0.decision) {
                    let node = self.cluster.cache.base.name(*node).to_owned();
                    self.cluster.place(pod, &node);
                }
                return Some(results);
            }
        }
        None
    }
}

/// Numbers of compared results.
#[derive(Debug, Default)]
struct Compared {
    decisions: usize,
    preemptions: usize,
    cached_answers: usize,
}

/// Applies histories with the compiled and the interpreted profiles.
fn compare<B: Bundle>(cases: u64) -> Compared {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files: Vec<PathBuf> = B::PROFILES.iter().map(|profile| folder.join(profile.source)).collect();
    let options = Options { manifest_dir: folder.to_owned() };
    let interpretation = Interpretation::load(&files, &options).unwrap();
    let mut compared = Compared::default();
    for seed in 0..cases {
        let history = generator::history(seed, files.len());
        let profile = history.profile;
        let mut compiled = Side::new(B::new(&Handle::default()).unwrap());
        let mut interpreted = Side::new(interpretation.start(&Handle::default()).unwrap());
        for (at, step) in history.steps.iter().enumerate() {
            let expected = compiled.apply(step, profile, at);
            let actual = interpreted.apply(step, profile, at);
            let (Some((expected, of_compiled)), Some((actual, of_interpreted))) = (expected, actual) else { continue };
            let place = || format!("seed {seed}, step {at}, {}: {step}", files[profile].display());
            assert!(actual == expected, "{}\n{expected:?}\n{actual:?}", place());
            compared.decisions += 1;
            if let Decision::Unschedulable(failure) = &actual.decision {
                compared.preemptions += usize::from(!failure.victims().is_empty());
            }
            if let (Some(expected), Some(actual)) = (of_compiled, of_interpreted) {
                assert!(actual == expected, "{}\n{expected:?}\n{actual:?}", place());
                compared.cached_answers += 1;
            }
        }
    }
    compared
}

#[test]
fn the_interpreted_profile_decides_the_same() {
    let cases = number_of(CASES);
    let compared = compare::<Profiles>(cases);
    let has_preemptions = compared.preemptions > 0 || cases < CASES;
    assert!(compared.decisions > 10 * cases as usize && has_preemptions, "{compared:?}");
    assert!(compared.cached_answers * 2 > compared.decisions, "{compared:?}");
}

#[test]
fn the_interpreted_profile_decides_the_same_with_gaps() {
    let cases = number_of(CASES_WITH_GAPS);
    let compared = compare::<with_gaps::Profiles>(cases);
    assert!(compared.decisions > 10 * cases as usize, "{compared:?}");
    assert!(compared.cached_answers * 2 > compared.decisions, "{compared:?}");
}
