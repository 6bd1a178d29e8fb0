//! The library for other languages evaluates scenarios with the bytes of `schedc evaluate`.

use std::path::{Path, PathBuf};

use schedc::evaluation::Evaluator;
use schedc_core::profile::Bundle;

use crate::conformance::FAMILIES;
use crate::conformance::corpus::family_lines;
use crate::conformance::scheduler::Profiles;

#[test]
fn the_library_writes_the_lines_of_evaluate() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files: Vec<PathBuf> = Profiles::PROFILES.iter().map(|profile| folder.join(profile.source)).collect();
    let profiles = schedc_api::Profiles::read(&files).unwrap();
    let mut library = schedc_api::Evaluator::new(&profiles).unwrap();
    let mut compiled = Evaluator::of::<Profiles>().unwrap();
    let families = if slow_tests::is_enabled() { FAMILIES } else { &["claims", "taints"] };
    for line in families.iter().flat_map(|family| family_lines(family)) {
        let expected = compiled.evaluate_line(line.as_bytes()).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(library.evaluate(line.as_bytes()).unwrap(), expected, "{line}");
    }
}
