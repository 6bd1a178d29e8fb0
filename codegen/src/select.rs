//! Selection of profiles to build: all of a folder, or those in `SCHEDC_PROFILES`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::messages;
use crate::source::Files;

/// The environment variable that selects profiles: names, or paths of files or folders, separated by commas.
pub const PROFILES_VARIABLE: &str = "SCHEDC_PROFILES";

/// The profiles to build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The profiles' files, in the order in which they are selected. All profiles of a folder are in the order of their
    /// names.
    pub profiles: Vec<PathBuf>,
    /// Folders to watch for changes, because all of their profiles are built.
    pub watched: Vec<PathBuf>,
}

/// Selects profiles: those in `picked` (the value of [`PROFILES_VARIABLE`]); if it is unset or blank, every
/// TOML file in `folder`. A name stands for `folder/NAME.toml`. A value that ends in `.toml` or contains a
/// `/` is a path, relative to the current folder; a folder stands for every TOML file in it.
///
/// # Errors
///
/// Every name without a profile and every path without a file; a folder that has no profiles or cannot be read; an empty
/// selection.
pub fn select(folder: &Path, picked: Option<&str>) -> Result<Selection, Diagnostics> {
    let known = profiles_in(folder).map_err(|error| fail(vec![messages::unreadable_file(folder, &error.to_string())]));
    let Some(picked) = picked.filter(|picked| !picked.trim().is_empty()) else {
        return match files(folder, &known?) {
            profiles if profiles.is_empty() => Err(fail(vec![messages::no_profiles(folder)])),
            profiles => Ok(Selection { profiles, watched: vec![folder.to_owned()] }),
        };
    };
    let known = known.unwrap_or_default();
    let (mut profiles, mut watched, mut found): (Vec<PathBuf>, _, _) = (Vec::new(), Vec::new(), Vec::new());
    for name in picked.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let path = Path::new(name);
        let is_path = name.ends_with(".toml") || name.contains('/');
        let paths = if known.iter().any(|known| known == name) {
            vec![folder.join(format!("{name}.toml"))]
        } else if is_path && path.is_file() {
            vec![path.to_owned()]
        } else if is_path && path.is_dir() {
            watched.push(path.to_owned());
            let names = profiles_in(path).map_err(|e| fail(vec![messages::unreadable_file(path, &e.to_string())]))?;
            if names.is_empty() {
                found.push(messages::no_profiles(path));
            }
            files(path, &names)
        } else {
            found.push(messages::unknown_profile(name, folder, &known));
            continue;
        };
        for path in paths {
            if !profiles.contains(&path) {
                profiles.push(path);
            }
        }
    }
    if profiles.is_empty() && found.is_empty() {
        found.push(messages::empty_selection(&known));
    }
    if found.is_empty() { Ok(Selection { profiles, watched }) } else { Err(fail(found)) }
}

/// Returns the file of a profile by its name: `folder/NAME.toml`. Returns `None` if there is no such file, but
/// the name is in `compiled_in`.
///
/// # Errors
///
/// No profile has this name.
pub fn find(folder: &Path, name: &str, compiled_in: &[&str]) -> Result<Option<PathBuf>, Diagnostics> {
    let known = profiles_in(folder).unwrap_or_default();
    if known.iter().any(|known| known == name) {
        return Ok(Some(folder.join(format!("{name}.toml"))));
    }
    match compiled_in.contains(&name) {
        true => Ok(None),
        false => Err(fail(vec![messages::unknown_name(name, folder, &known, compiled_in)])),
    }
}

fn fail(found: Vec<Diagnostic>) -> Diagnostics {
    Diagnostics::new(Files::default(), found)
}

fn files(folder: &Path, names: &[String]) -> Vec<PathBuf> {
    names.iter().map(|name| folder.join(format!("{name}.toml"))).collect()
}

/// Returns the names of the profiles in a folder, sorted.
///
/// # Errors
///
/// The folder cannot be read.
pub fn profiles_in(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml")
            && let Some(stem) = path.file_stem()
        {
            names.push(stem.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}
