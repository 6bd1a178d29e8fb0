//! Interpreted profiles make kube-scheduler's decisions, too: the same scenarios and profiles, read at run time.

use std::path::{Path, PathBuf};

use schedc::evaluation::Evaluator;
use schedc_codegen::Options;
use schedc_core::extenders::Overrides;
use schedc_core::profile::Bundle;
use schedc_interpret::Interpretation;

use crate::conformance::FAMILIES;
use crate::conformance::report::Report;
use crate::conformance::scheduler::Profiles;

#[test]
fn the_interpreted_profile_decides_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files: Vec<PathBuf> = Profiles::PROFILES.iter().map(|profile| folder.join(profile.source)).collect();
    let bundle = Interpretation::load(&files, &Options { manifest_dir: folder.to_owned() }).unwrap().bundle();
    let families = if slow_tests::is_enabled() { FAMILIES } else { &["mixed"] };
    for family in families {
        let evaluator = Evaluator::new(&bundle, Overrides::NONE).unwrap();
        let report = Report::by(evaluator, family, |profile| Some(profile.to_owned()), |_| {});
        assert!(report.agrees(), "{report}");
    }
}
