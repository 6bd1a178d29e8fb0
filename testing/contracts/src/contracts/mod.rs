//! Contracts of plugins, one module each.

mod add_pod;
mod cached_answers;
mod difference;
mod hints;
mod panics;
mod rebuilt;
mod reserve;

use std::env;

use schedc_core::engine::Engine;
use schedc_core::handle::Handle;
use schedc_core::profile::{Bundle, Profile};
use schedc_objects::Kinds;

use crate::history::{self, Step};
use crate::shrink;
use crate::test_cluster::TestCluster;
use crate::test_object::{self, TestObject};

/// A contract that plugins must satisfy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contract {
    /// AddPod and RemovePod undo each other, and Filter's verdict about a node with hypothetical pods equals that in a
    /// cluster with these pods.
    AddAndRemovePod,
    /// Unreserve and PostBind remove the state of Reserve and Permit: the plugin then decides like a new instance.
    ReserveAndUnreserve,
    /// The plugin wakes every pod that it rejected and that fits after an event.
    Hints,
    /// An updated cached answer equals a full evaluation.
    CachedAnswers,
    /// Columns and indexes after a series of events equal those of a rebuilt cluster.
    Rebuilt,
}

/// Default number of histories.
const CASES: u64 = 60;
/// Maximum number of attempts to shorten a failing history.
const MAX_SHRINK_ATTEMPTS: usize = 500;

/// Checks a plugin against a contract.
///
/// # Errors
/// Returns a problem of the manifests, or a violation of the contract with the history that causes it.
pub fn check<B: Bundle>(plugin: &str, contract: Contract, manifests: &str) -> Result<(), String> {
    let objects = test_object::read(manifests, Kinds::of::<B>())?;
    let name_in = |profile: usize| {
        let points = B::PROFILES[profile].points.iter();
        points.flat_map(|point| point.plugins).map(|(name, _)| *name).find(|name| *name == plugin)
    };
    let profiles: Vec<(usize, &'static str)> =
        (0..B::PROFILES.len()).filter_map(|profile| Some((profile, name_in(profile)?))).collect();
    if profiles.is_empty() {
        return Err(format!("no profile runs a plugin {plugin}"));
    }
    let (cases, first) =
        (number_from_environment("CONTRACT_CASES", CASES)?, number_from_environment("CONTRACT_SEED", 0)?);
    for seed in first..first.saturating_add(cases) {
        let (profile, plugin) = profiles[seed as usize % profiles.len()];
        let subject = PluginUnderTest { plugin, profile, seed };
        let steps = history::draw(seed, &objects);
        if play::<B>(&subject, contract, &steps, &objects).is_err() {
            return Err(report::<B>(&subject, contract, &steps, &objects));
        }
    }
    Ok(())
}

/// The plugin, the profile and the seed under test.
struct PluginUnderTest {
    plugin: &'static str,
    profile: usize,
    seed: u64,
}

/// Runs a history. A panic violates the contract, too.
fn play<B: Bundle>(
    subject: &PluginUnderTest,
    contract: Contract,
    steps: &[Step],
    objects: &[TestObject],
) -> Result<(), String> {
    panics::as_error(|| play_contract::<B>(subject, contract, steps, objects))
}

fn play_contract<B: Bundle>(
    subject: &PluginUnderTest,
    contract: Contract,
    steps: &[Step],
    objects: &[TestObject],
) -> Result<(), String> {
    let mut test_cluster = TestCluster::<B>::new(subject.profile)?;
    match contract {
        Contract::AddAndRemovePod => add_pod::play(&mut test_cluster, subject, steps, objects),
        Contract::ReserveAndUnreserve => reserve::play(&mut test_cluster, steps, objects),
        Contract::Hints => hints::play(&mut test_cluster, subject, steps, objects),
        Contract::CachedAnswers => cached_answers::play(&mut test_cluster, steps, objects),
        Contract::Rebuilt => rebuilt::play(&mut test_cluster, steps, objects),
    }
}

/// Describes a failing history after shortening it: the difference, the steps, and their manifests.
fn report<B: Bundle>(subject: &PluginUnderTest, contract: Contract, steps: &[Step], objects: &[TestObject]) -> String {
    let steps = shrink(steps, MAX_SHRINK_ATTEMPTS, |steps| play::<B>(subject, contract, steps, objects).is_err());
    let violation = play::<B>(subject, contract, &steps, objects).err().unwrap_or_default();
    let PluginUnderTest { plugin, profile, seed } = *subject;
    let profile = B::PROFILES[profile].name;
    format!(
        "{plugin} violates the contract {contract:?} in profile {profile}\n\n{violation}\n\n{}\n\
         CONTRACT_SEED={seed} CONTRACT_CASES=1 repeats this history.",
        history::describe(&steps, objects)
    )
}

fn number_from_environment(variable: &str, default: u64) -> Result<u64, String> {
    let Ok(text) = env::var(variable) else { return Ok(default) };
    text.parse().map_err(|_| format!("{variable}={text}: not a number"))
}

/// Returns an engine with new plugins and without cached answers.
fn new_engine<P: Profile>() -> Result<Engine<P>, String> {
    let mut engine =
        Engine::<P>::new(&Handle::default()).map_err(|errors| crate::test_cluster::describe_errors(&errors))?;
    engine.cache_answers = false;
    engine.percentage_of_nodes_to_score = 100;
    Ok(engine)
}

/// Returns all plugins of all profiles, without a scheduler.
fn bundle<B: Bundle>() -> Result<B, String> {
    B::new(&Handle::default()).map_err(|errors| crate::test_cluster::describe_errors(&errors))
}
