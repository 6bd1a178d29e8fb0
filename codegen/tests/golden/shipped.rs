//! The code of every profile in profiles/ and of the example with all features, each compiled separately.

use std::path::{Path, PathBuf};

use expect_test::expect_file;
use schedc_codegen::{Options, emit, load, select};

fn rendered(profiles: &[PathBuf]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let profiles: Vec<PathBuf> = profiles.iter().map(|profile| root.join(profile)).collect();
    let compilation = load(&profiles, &Options { manifest_dir: root }).unwrap_or_else(|errors| panic!("{errors}"));
    emit::render(&compilation).unwrap_or_else(|error| panic!("{error}"))
}

fn shipped() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let mut profiles = select(&root.join("profiles"), None).unwrap_or_else(|errors| panic!("{errors}")).profiles;
    profiles.push(root.join("examples/features.toml"));
    profiles
}

#[test]
fn shipped_profiles_generate_the_golden_code() {
    for profile in shipped() {
        let stem = profile.file_stem().unwrap().to_str().unwrap();
        expect_file![format!("{stem}.rs.txt")].assert_eq(&rendered(std::slice::from_ref(&profile)));
    }
}

#[test]
fn generated_code_is_deterministic_and_portable() {
    let once = rendered(&shipped());
    assert_eq!(once, rendered(&shipped()));
    assert!(!once.contains(env!("CARGO_MANIFEST_DIR")));
}

#[test]
fn generated_code_holds_no_dyn() {
    let code = rendered(&shipped());
    assert!(code.contains("fn filter<"));
    assert!(!code.contains("dyn "));
}
