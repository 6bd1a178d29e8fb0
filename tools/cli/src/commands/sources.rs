//! Profiles, as arguments name them.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schedc_codegen::catalog::Catalog;
use schedc_codegen::load::{CargoEnvironment, Embedded, Input, load_inputs};
use schedc_codegen::{Compilation, Options, load_catalogs, select};
use schedc_core::erased::AnyBundle;
use schedc_core::profile::{ProfileInfo, ProfileSource};

use super::failure::Failure;

/// Where profiles are, seen from the root of a package.
const FOLDER: &str = "profiles";

/// A profile that an argument names.
pub(crate) enum Profile {
    /// The file at this path.
    File(PathBuf),
    /// A profile that is compiled in, and its text.
    CompiledIn(&'static ProfileInfo, &'static ProfileSource),
}

impl Profile {
    /// Finds the profile of a name: a file in [`folder`], else a profile that is compiled in.
    ///
    /// # Errors
    /// There is neither.
    pub(crate) fn named(bundle: &AnyBundle, name: &str) -> Result<Self, Failure> {
        let compiled_in: Vec<_> = bundle.profiles.iter().zip(bundle.sources).collect();
        let names: Vec<&str> = compiled_in.iter().map(|(profile, _)| profile.name).collect();
        let file = select::find(&folder(), name, &names)?;
        let compiled_in = compiled_in.into_iter().find(|(profile, _)| profile.name == name);
        match (file, compiled_in) {
            (None, Some((profile, source))) => Ok(Profile::CompiledIn(profile, source)),
            (file, _) => Ok(Profile::File(file.unwrap_or_else(|| PathBuf::from(name)))),
        }
    }

    fn input(self) -> Input {
        match self {
            Profile::File(path) => Input::File(path),
            Profile::CompiledIn(_, ProfileSource { path, lines, catalogs }) => Input::Embedded(Embedded {
                path: (*path).to_owned(),
                text: lines.join("\n"),
                catalogs: catalogs.iter().map(|(name, lines)| ((*name).to_owned(), lines.join("\n"))).collect(),
            }),
        }
    }
}

/// Whether an argument is the name of a profile, not a path.
pub(crate) fn is_name(argument: &str) -> bool {
    !argument.ends_with(".toml") && !argument.contains('/') && !is_other_file(Path::new(argument))
}

/// Returns the folder of profiles that names refer to: `profiles/` in the current folder, else in the package around it.
fn folder() -> PathBuf {
    let here = PathBuf::from(FOLDER);
    let of_package = options().manifest_dir.join(FOLDER);
    if !here.is_dir() && of_package.is_dir() { of_package } else { here }
}

/// The profiles that arguments stand for: names, paths of files, folders of them. No arguments: all of [`folder`].
///
/// # Errors
/// A name or a folder without a profile.
pub(crate) fn profiles(bundle: &AnyBundle, arguments: &[PathBuf]) -> Result<Vec<Profile>, Failure> {
    let all_of = |folder: &Path| Ok(select(folder, None)?.profiles.into_iter().map(Profile::File));
    if arguments.is_empty() {
        let folder = folder();
        return match folder.is_dir() {
            true => all_of(&folder).map(Iterator::collect),
            false => Err(Failure::new(
                "there is no folder `profiles` here, nor in a package around the current folder; name profiles, or go to \
                 their package",
            )),
        };
    }
    let mut profiles = Vec::new();
    for argument in arguments {
        let text = argument.to_string_lossy();
        if argument.is_dir() {
            profiles.extend(all_of(argument)?);
        } else if is_name(&text) {
            profiles.push(Profile::named(bundle, &text)?);
        } else {
            profiles.push(Profile::File(argument.clone()));
        }
    }
    Ok(profiles)
}

/// Loads the profiles that arguments stand for.
///
/// # Errors
/// As [`profiles`], and everything that is wrong in them.
pub(crate) fn load(bundle: &AnyBundle, arguments: &[PathBuf]) -> Result<Compilation, Failure> {
    Ok(load_inputs(&inputs(bundle, arguments)?, &options(), &CargoEnvironment::of_process())?)
}

/// Reads the catalogs of schedc, of the package around the current folder, and those that these profiles name.
///
/// # Errors
/// As [`profiles`], and everything that is wrong in the catalogs.
pub(crate) fn catalogs(bundle: &AnyBundle, arguments: &[PathBuf]) -> Result<Vec<Arc<Catalog>>, Failure> {
    let folder = folder();
    // Without profiles, the plugins of schedc and of the package are enough.
    let without =
        arguments.is_empty() && (!folder.is_dir() || select::profiles_in(&folder).is_ok_and(|p| p.is_empty()));
    let inputs = if without { Vec::new() } else { inputs(bundle, arguments)? };
    Ok(load_catalogs(&inputs, &options())?)
}

fn inputs(bundle: &AnyBundle, arguments: &[PathBuf]) -> Result<Vec<Input>, Failure> {
    Ok(profiles(bundle, arguments)?.into_iter().map(Profile::input).collect())
}

/// Whether this is a file with another extension, such as a configuration of kube-scheduler. The compiler reports what it is.
fn is_other_file(argument: &Path) -> bool {
    argument.extension().is_some() && argument.is_file()
}

/// Profiles are those of the package around the current folder.
fn options() -> Options {
    let current = env::current_dir().unwrap_or_default();
    let package = current.ancestors().find(|folder| folder.join("Cargo.toml").is_file());
    Options { manifest_dir: package.unwrap_or(&current).to_owned() }
}
