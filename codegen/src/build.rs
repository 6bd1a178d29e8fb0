//! API for build scripts.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use crate::diagnostic::Diagnostics;
use crate::emit;
use crate::link;
use crate::load::{Options, load};
use crate::select::{PROFILES_VARIABLE, select};

/// File in `OUT_DIR` that [`build`] writes.
const CODE: &str = "pipelines.rs";

/// Compiles profiles in a build script: those in `folder` of the package, or those that `SCHEDC_PROFILES`
/// selects. Writes `OUT_DIR/pipelines.rs`. Makes cargo run the script again when a file with an effect on the result
/// changes: a profile, or for example a catalog.
///
/// ```ignore
/// fn main() {
///     schedc_codegen::build("profiles");
/// }
/// ```
///
/// A module of the package must include the file: `include!(concat!(env!("OUT_DIR"), "/pipelines.rs"));`. If there
/// are errors, `build` reports all of them to cargo and ends the process.
pub fn build(folder: &str) {
    println!("cargo::rerun-if-env-changed={PROFILES_VARIABLE}");
    let (manifest_dir, out_dir) = (variable("CARGO_MANIFEST_DIR"), variable("OUT_DIR"));
    let picked = env::var(PROFILES_VARIABLE).ok();
    let selection = select(&manifest_dir.join(folder), picked.as_deref()).unwrap_or_else(|errors| fail(&errors));
    watch(selection.profiles.iter().chain(&selection.watched));
    let compilation = load(&selection.profiles, &Options { manifest_dir }).unwrap_or_else(|errors| fail(&errors));
    watch(&compilation.watched);
    let code = emit::render(&compilation).unwrap_or_else(|error| stop(&error.to_string()));
    let path = out_dir.join(CODE);
    fs::write(&path, code).unwrap_or_else(|error| stop(&format!("{}: {error}", path.display())));
    link::make_small(&out_dir);
}

fn variable(name: &str) -> PathBuf {
    let missing = || stop(&format!("{name} is not set: this function is only for build scripts, which cargo runs"));
    env::var_os(name).map_or_else(missing, PathBuf::from)
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
