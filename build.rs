//! Compiles the profiles in profiles/, or those that `SCHEDC_PROFILES` picks, into `OUT_DIR/pipelines.rs`.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use schedc_codegen::select::PROFILES_VARIABLE;
use schedc_codegen::{Diagnostics, Options, emit, load, select};

fn main() {
    println!("cargo::rerun-if-env-changed={PROFILES_VARIABLE}");
    let (manifest_dir, out_dir) = (folder("CARGO_MANIFEST_DIR"), folder("OUT_DIR"));
    let picked = env::var(PROFILES_VARIABLE).ok();
    let selection = select(&manifest_dir.join("profiles"), picked.as_deref()).unwrap_or_else(|errors| fail(&errors));
    watch(selection.profiles.iter().chain(&selection.watched));
    let compilation = load(&selection.profiles, &Options { manifest_dir }).unwrap_or_else(|errors| fail(&errors));
    watch(&compilation.watched);
    let code = emit::render(&compilation).unwrap_or_else(|error| stop(&error.to_string()));
    println!("cargo::rustc-env=SCHEDC_PROFILES_HASH={:016x}", digest(code.as_bytes()));
    let path = out_dir.join("pipelines.rs");
    fs::write(&path, code).unwrap_or_else(|error| stop(&format!("{}: {error}", path.display())));
}

fn folder(variable: &str) -> PathBuf {
    env::var_os(variable).map(PathBuf::from).unwrap_or_else(|| panic!("cargo sets {variable}"))
}

/// FNV-1a of 64 bits: it tells builds apart, and keeps nobody out.
fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |digest, byte| (digest ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

fn watch<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) {
    for path in paths {
        println!("cargo::rerun-if-changed={}", Path::display(path));
    }
}

fn fail(errors: &Diagnostics) -> ! {
    for line in errors.one_lines() {
        println!("cargo::error={line}");
    }
    stop(&errors.to_string())
}

fn stop(error: &str) -> ! {
    eprintln!("{error}");
    process::exit(1)
}
