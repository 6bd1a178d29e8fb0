//! schedc makes the decisions of kube-scheduler 1.36.2, with equal results for each pod and node, equal scores and
//! messages.
//!
//! The corpora contain scenarios and the recorded decisions of kube-scheduler's framework; corpora/README.md has
//! details. Each file of a corpus is a family of scenarios, such as `taints`, and one test checks it. With
//! `CONFORMANCE_REPORT` set, tests also print how many results of each plugin agree:
//!
//! ```sh
//! CONFORMANCE_REPORT=1 cargo test --test main conformance::spread -- --nocapture
//! ```

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod compare;
mod corpus;
mod hints;
mod interpreted;
mod library;
mod report;

/// Profiles of the scenarios, imported by `schedc import` from the configurations of kube-scheduler.
mod scheduler {
    schedc_macros::profile!(
        "tools/import/tests/profiles/added-affinity.toml",
        "tools/import/tests/profiles/binpack.toml",
        "tools/import/tests/profiles/classic.toml",
        "tools/import/tests/profiles/default.toml",
        "tools/import/tests/profiles/edge.toml",
        "tools/import/tests/profiles/hard-affinity.toml",
        "tools/import/tests/profiles/ignored-resources.toml",
        "tools/import/tests/profiles/late-claims.toml",
        "tools/import/tests/profiles/no-preemption.toml",
        "tools/import/tests/profiles/ratio.toml",
        "tools/import/tests/profiles/reweighted.toml",
        "tools/import/tests/profiles/spread-list.toml",
    );
}

/// Variants of `edge` with one error each.
mod flipped {
    schedc_macros::profile!(
        "tests/conformance/flipped/other-weight.toml",
        "tests/conformance/flipped/without-filter.toml",
    );
}

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use report::Report;
use schedc::evaluation::Evaluator;
use schedc_core::profile::Bundle;

/// Evaluates a family, and compares all decisions.
fn check(family: &str) {
    let report = Report::of::<scheduler::Profiles>(family, |profile| Some(profile.to_owned()));
    if std::env::var_os("CONFORMANCE_REPORT").is_some() {
        println!("{report}");
    }
    assert!(report.agrees(), "{report}");
}

/// Evaluates a family's scenarios of the profile `edge` with the profile `stand_in` instead, and returns the report.
/// Panics if the report has no differences.
fn with_stand_in(family: &str, stand_in: &str) -> String {
    let stand_in = |profile: &str| (profile == "edge").then(|| stand_in.to_owned());
    let report = Report::of::<flipped::Profiles>(family, stand_in);
    assert!(!report.agrees());
    report.to_string()
}

macro_rules! families {
    ($($family:ident)*) => {
        /// All families.
        const FAMILIES: &[&str] = &[$(stringify!($family)),*];

        $(#[test]
        fn $family() {
            check(stringify!($family));
        })*
    };
}

families! {
    claims gates hostile images mixed nodeaffinity nodename podaffinity ports preemption resources sequence spread taints volumes
}

/// Every profile is imported, compiled into `scheduler`, and has recorded decisions.
#[test]
fn every_configuration_has_scenarios() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/import/tests/profiles");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let configurations = files.filter(|path| path.extension().is_some_and(|end| end == "yaml"));
    let configurations = configurations.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
    let compiled = scheduler::Profiles::PROFILES.iter().map(|profile| profile.name.to_owned());
    let tried: BTreeSet<String> = FAMILIES.iter().flat_map(|family| corpus::profiles(family)).collect();
    assert_eq!(configurations.collect::<BTreeSet<_>>(), tried);
    assert_eq!(compiled.collect::<BTreeSet<_>>(), tried);
}

#[test]
fn a_wrong_weight_is_detected() {
    let report = with_stand_in("nodeaffinity", "other-weight");
    assert!(report.contains("scores.NodeAffinity: expected 200, got 300"), "{report}");
}

#[test]
fn a_missing_filter_is_detected() {
    let report = with_stand_in("taints", "without-filter");
    assert!(report.contains("expected TaintToleration"), "{report}");
}

#[test]
fn a_wrong_reason_is_detected() {
    let only_default = |profile: &str| (profile == "default").then(|| profile.to_owned());
    let report = Report::by(Evaluator::of::<scheduler::Profiles>().unwrap(), "taints", only_default, |decision| {
        for reason in decision.nodes.values_mut().flat_map(|node| &mut node.answer.reasons) {
            *reason = reason.replace("untolerated taint(s)", "untolerated taints");
        }
    });
    assert!(!report.agrees());
    let report = report.to_string();
    assert!(report.contains("untolerated taints"), "{report}");
}
