//! Profiles as files.

use std::env;
use std::path::PathBuf;

use schedc_codegen::{Options, select};

use super::failure::Failure;

/// Where profiles are, seen from the root of a package.
const FOLDER: &str = "profiles";

/// Returns the folder of profiles that names refer to: `profiles/` in the current folder, else in the package around it.
pub(crate) fn folder() -> PathBuf {
    let here = PathBuf::from(FOLDER);
    let of_package = options().manifest_dir.join(FOLDER);
    if !here.is_dir() && of_package.is_dir() { of_package } else { here }
}

/// The files that arguments stand for: names of profiles in `profiles/`, paths of files, folders of them. No arguments:
/// all of `profiles/`.
pub(crate) fn files(arguments: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    if arguments.is_empty() {
        return Ok(select(&folder(), None)?.profiles);
    }
    let mut files = Vec::new();
    for argument in arguments {
        let text = argument.to_string_lossy();
        if argument.is_dir() {
            files.extend(select(argument, None)?.profiles);
        } else if text.ends_with(".toml") || text.contains('/') {
            files.push(argument.clone());
        } else {
            files.extend(select(&folder(), Some(&text))?.profiles);
        }
    }
    Ok(files)
}

/// Profiles are those of the package around the current folder.
pub(crate) fn options() -> Options {
    let current = env::current_dir().unwrap_or_default();
    let package = current.ancestors().find(|folder| folder.join("Cargo.toml").is_file());
    Options { manifest_dir: package.unwrap_or(&current).to_owned() }
}
