//! Profiles as files.

use std::env;
use std::path::{Path, PathBuf};

use schedc_codegen::{Options, select};

use super::failure::Failure;

/// Where profiles are, seen from the root of a package.
pub(crate) const FOLDER: &str = "profiles";

/// The files that arguments stand for: names of profiles in `profiles/`, paths of files, folders of them. No arguments:
/// all of `profiles/`.
pub(crate) fn files(arguments: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    if arguments.is_empty() {
        return Ok(select(Path::new(FOLDER), None)?.profiles);
    }
    let mut files = Vec::new();
    for argument in arguments {
        let text = argument.to_string_lossy();
        if argument.is_dir() {
            files.extend(select(argument, None)?.profiles);
        } else if text.ends_with(".toml") || text.contains('/') {
            files.push(argument.clone());
        } else {
            files.extend(select(Path::new(FOLDER), Some(&text))?.profiles);
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
