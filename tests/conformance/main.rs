//! schedc decides as kube-scheduler 1.36.2 does: pod by pod, node by node, score by score, word by word.
//!
//! The corpora hold scenarios and what the real scheduler's framework decided in them; corpora/README.md has more. Each
//! family is one test. With `CONFORMANCE_REPORT` set, tests also print how many answers of each plugin agree:
//!
//! ```sh
//! CONFORMANCE_REPORT=1 cargo test --test conformance spread -- --nocapture
//! ```

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod compare;
mod corpus;
mod report;

/// The profiles that scenarios name.
#[allow(clippy::collapsible_if, reason = "a guard that some plugins have goes around code that all have")]
mod scheduler {
    schedc_macros::profile!(
        "tests/conformance/profiles/added-affinity.toml",
        "tests/conformance/profiles/binpack.toml",
        "tests/conformance/profiles/classic.toml",
        "tests/conformance/profiles/default.toml",
        "tests/conformance/profiles/edge.toml",
        "tests/conformance/profiles/hard-affinity.toml",
        "tests/conformance/profiles/ignored-resources.toml",
        "tests/conformance/profiles/no-preemption.toml",
        "tests/conformance/profiles/ratio.toml",
        "tests/conformance/profiles/reweighted.toml",
        "tests/conformance/profiles/spread-list.toml",
    );
}

/// The same as `edge`, each with one thing that is wrong.
#[allow(clippy::collapsible_if, reason = "a guard that some plugins have goes around code that all have")]
mod flipped {
    schedc_macros::profile!(
        "tests/conformance/flipped/other-weight.toml",
        "tests/conformance/flipped/without-filter.toml",
    );
}

use report::Report;

/// Evaluates a family, and compares all that was decided.
fn check(family: &str) {
    let reports = std::env::var_os("CONFORMANCE_REPORT").is_some();
    let everything = reports || !INCOMPLETE.contains(&family);
    let report =
        Report::of::<scheduler::Profiles>(family, |profile| (everything || profile == "edge").then_some(profile));
    if reports {
        println!("{report}");
    } else {
        assert!(report.agrees(), "{report}");
    }
}

/// Families that need plugins which are not there; of these, only scenarios of the profile `edge`.
const INCOMPLETE: [&str; 5] = ["hostile", "mixed", "preemption", "sequence", "volumes"];

macro_rules! families {
    ($($family:ident)*) => {
        $(#[test]
        fn $family() {
            check(stringify!($family));
        })*
    };
}

families! {
    gates hostile images mixed nodeaffinity nodename podaffinity ports preemption resources sequence spread taints volumes
}

#[test]
fn a_wrong_weight_is_noticed() {
    let report =
        Report::of::<flipped::Profiles>("nodeaffinity", |profile| (profile == "edge").then_some("other-weight"));
    assert!(!report.agrees());
    let text = report.to_string();
    assert!(text.contains("scores.NodeAffinity: expected 200, got 300"), "{text}");
}

#[test]
fn a_missing_filter_is_noticed() {
    let report = Report::of::<flipped::Profiles>("taints", |profile| (profile == "edge").then_some("without-filter"));
    assert!(!report.agrees());
    let text = report.to_string();
    assert!(text.contains("expected TaintToleration"), "{text}");
}
