//! Profiles that arguments name.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schedc_codegen::catalog::Catalog;
use schedc_codegen::load::{CargoEnvironment, Embedded, Input, load_inputs};
use schedc_codegen::{Compilation, Options, load_catalogs, select};
use schedc_core::erased::AnyBundle;
use schedc_core::profile::{ProfileInfo, ProfileSource};

use super::failure::Failure;

/// Folder of profiles in a package.
const FOLDER: &str = "profiles";

/// A profile that an argument names.
pub(crate) enum Profile {
    /// The file at this path.
    File(PathBuf),
    /// A compiled-in profile with its text.
    CompiledIn(&'static ProfileInfo, &'static ProfileSource),
}

impl Profile {
    /// Returns the profile with a name: a file in [`folder`] or, failing that, a compiled-in profile.
    fn named(bundle: &AnyBundle, name: &str) -> Result<Self, Failure> {
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

/// Returns whether an argument is the name of a profile rather than a path.
fn is_name(argument: &str) -> bool {
    !argument.ends_with(".toml") && !argument.contains('/') && !is_other_file(Path::new(argument))
}

/// Returns the folder that profile names refer to: `profiles/` in the current folder, else in the package
/// around it.
fn folder() -> PathBuf {
    let here = PathBuf::from(FOLDER);
    let in_package = options().manifest_dir.join(FOLDER);
    if !here.is_dir() && in_package.is_dir() { in_package } else { here }
}

/// Returns the profiles that arguments name. An argument is a name, the path of a file, or a folder. Without arguments,
/// returns all profiles in [`folder`].
///
/// # Errors
/// Returns an error for an unknown name, and for a folder without a profile. Without arguments, returns an error if
/// there is no [`folder`].
pub(crate) fn profiles(bundle: &AnyBundle, arguments: &[PathBuf]) -> Result<Vec<Profile>, Failure> {
    let all_of = |folder: &Path| Ok(select(folder, None)?.profiles.into_iter().map(Profile::File));
    if arguments.is_empty() {
        let folder = folder();
        return match folder.is_dir() {
            true => all_of(&folder).map(Iterator::collect),
            false => Err(Failure::new(
                "no folder `profiles` in the current folder or the package around it; name profiles, or change to \
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

/// Compiles the profiles that arguments name.
///
/// # Errors
/// Returns the errors of [`profiles`], and all errors in the profiles.
pub(crate) fn load(bundle: &AnyBundle, arguments: &[PathBuf]) -> Result<Compilation, Failure> {
    compile(profiles(bundle, arguments)?)
}

/// Compiles profiles.
///
/// # Errors
/// Returns all errors in the profiles.
pub(crate) fn compile(profiles: Vec<Profile>) -> Result<Compilation, Failure> {
    Ok(load_inputs(&inputs(profiles), &options(), &CargoEnvironment::of_process())?)
}

/// Reads the catalogs of schedc, of the package that contains the current folder, and of the crates that these profiles
/// name.
///
/// # Errors
/// Returns the errors of [`profiles`], and all errors in the catalogs.
pub(crate) fn catalogs(bundle: &AnyBundle, arguments: &[PathBuf]) -> Result<Vec<Arc<Catalog>>, Failure> {
    let folder = folder();
    // Without arguments and without profiles in the folder, only the catalogs of schedc and of the package are read.
    let has_no_profiles =
        arguments.is_empty() && (!folder.is_dir() || select::profiles_in(&folder).is_ok_and(|p| p.is_empty()));
    let inputs = if has_no_profiles { Vec::new() } else { inputs(profiles(bundle, arguments)?) };
    Ok(load_catalogs(&inputs, &options())?)
}

fn inputs(profiles: Vec<Profile>) -> Vec<Input> {
    profiles.into_iter().map(Profile::input).collect()
}

/// Returns whether this is an existing file with an extension, such as a configuration of kube-scheduler. Such a file
/// is passed to the compiler, which reports an error.
fn is_other_file(argument: &Path) -> bool {
    argument.extension().is_some() && argument.is_file()
}

/// Returns the options to compile profiles of the package that contains the current folder.
fn options() -> Options {
    let current = env::current_dir().unwrap_or_default();
    let package = current.ancestors().find(|folder| folder.join("Cargo.toml").is_file());
    Options { manifest_dir: package.unwrap_or(&current).to_owned() }
}
