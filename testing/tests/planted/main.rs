//! The contracts hold for a plugin that is right, and catch bugs that are planted in others like it.

extern crate self as planted;

#[allow(unreachable_pub, reason = "plugins are public, but these are in no library")]
mod plugins;

#[allow(unreachable_pub, reason = "the macro writes code for libraries, too")]
mod scheduler {
    schedc_macros::profile!(
        "tests/planted/profiles/sound.toml",
        "tests/planted/profiles/forgets.toml",
        "tests/planted/profiles/misses.toml",
        "tests/planted/profiles/leaks.toml",
        "tests/planted/profiles/stale.toml",
        "tests/planted/profiles/drifts.toml",
    );
}

use schedc_testing::{Contract, check};
use scheduler::Profiles;

const MANIFESTS: &str = include_str!("manifests.yaml");

schedc_testing::contracts!(Profiles, "Sound", MANIFESTS);

/// That a bug is caught by the contract that is about it, in a short history, with these words. Others may mind it, too.
#[track_caller]
fn caught(plugin: &str, by: Contract, words: &[&str]) {
    let told = check::<Profiles>(plugin, by, MANIFESTS).expect_err("a bug");
    words.iter().for_each(|words| assert!(told.contains(words), "{told}"));
    assert!(told.lines().count() < 12, "a short history:\n{told}");
}

#[test]
fn a_remove_pod_that_forgets_is_caught() {
    caught("Forgets", Contract::AddAndRemovePod, &["CONTRACT_SEED=", "the cycle state is another one"]);
}

#[test]
fn a_hint_that_misses_is_caught() {
    caught("Misses", Contract::Hints, &["goes", "was not woken by the last step, and fits on"]);
}

#[test]
fn an_unreserve_that_leaks_is_caught() {
    caught("Leaks", Contract::ReserveAndUnreserve, &["all tickets are out"]);
}

#[test]
fn an_update_that_does_nothing_is_caught() {
    caught("Stale", Contract::KeptAnswers, &["Stale does not keep KeptAnswers"]);
}

#[test]
fn an_index_that_does_not_follow_is_caught() {
    caught("Drifts", Contract::Rebuilt, &["in a cluster that is built anew, and in one that followed events"]);
}

#[test]
fn manifests_that_are_none_and_plugins_that_are_not_there_are_told() {
    let told = |plugin: &str, manifests: &str| check::<Profiles>(plugin, Contract::Hints, manifests).unwrap_err();
    assert_eq!(told("Other", MANIFESTS), "no profile runs a plugin Other");
    assert_eq!(told("Sound", "# nothing\n"), "there is nothing in the manifests");
    let unknown = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n";
    assert_eq!(told("Sound", unknown), "manifest 1: scheduling does not look at kind Secret");
    assert!(told("Sound", "kind: Node\n").contains("manifest 1"));
}
