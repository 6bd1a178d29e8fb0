//! Reading profiles and the catalogs that they name.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use cargo_metadata::{Metadata, MetadataCommand, Package};

use crate::compile::{CatalogFinder, Compilation, FoundCatalog, MissingCatalog, SourceText, compile};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::messages;
use crate::parse::RawCrate;
use crate::paths::{displayed, normal};
use crate::source::{Files, Span};

/// The name of a crate's catalog, in the folder of its manifest.
const CATALOG: &str = "schedc.toml";

/// The crate that calls extenders.
const EXTENDER_CRATE: &str = "schedc-extender";

/// How to load profiles.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of the manifest of the package that compiles the profiles. Crates are looked up among its
    /// dependencies, and paths are displayed relative to it. Inside a build script: `CARGO_MANIFEST_DIR`.
    pub manifest_dir: PathBuf,
}

/// Compiles the profiles in these files. What is read is in [`Compilation::watched`].
///
/// # Errors
///
/// All errors of all files: unreadable ones, and whatever is wrong in them.
pub fn load(inputs: &[PathBuf], options: &Options) -> Result<Compilation, Diagnostics> {
    let mut sources = Vec::new();
    let mut unreadable = Vec::new();
    let mut paths = HashMap::new();
    for input in inputs {
        match fs::read_to_string(input) {
            Err(error) => unreadable.push(messages::unreadable_file(input, &error.to_string())),
            Ok(text) => {
                let path = displayed(input, &options.manifest_dir);
                paths.insert(path.clone(), input.clone());
                sources.push(SourceText { path, text });
            }
        }
    }
    let mut finder = Finder { options, profiles: &paths, metadata: None, catalogs: Vec::new() };
    let result = compile(&sources, &mut finder);
    let result = result.and_then(|compilation| finder.can_call_extenders(compilation));
    let catalogs = finder.catalogs;
    match result {
        Err(diagnostics) => Err(diagnostics.and(unreadable)),
        Ok(_) if !unreadable.is_empty() => Err(Diagnostics::new(Files::default(), unreadable)),
        Ok(mut compilation) => {
            compilation.watched = inputs.iter().cloned().chain(catalogs).collect();
            Ok(compilation)
        }
    }
}

/// Finds catalogs through cargo, and in folders.
struct Finder<'a> {
    options: &'a Options,
    profiles: &'a HashMap<String, PathBuf>,
    /// What cargo said, asked once.
    metadata: Option<Result<Metadata, String>>,
    catalogs: Vec<PathBuf>,
}

impl CatalogFinder for Finder<'_> {
    fn find(&mut self, wanted: &RawCrate, profile: &str) -> Result<FoundCatalog, MissingCatalog> {
        let folder = match wanted {
            RawCrate::Path(path) => {
                let profile = self.profiles.get(profile).map_or(Path::new(profile), PathBuf::as_path);
                normal(&profile.parent().unwrap_or(Path::new("")).join(&path.value))
            }
            RawCrate::Name(name) => self.dependency(&name.value)?,
        };
        let path = folder.join(CATALOG);
        match fs::read_to_string(&path) {
            Err(_) => Err(MissingCatalog::NoCatalog { looked_at: path }),
            Ok(text) => {
                let displayed = displayed(&path, &self.options.manifest_dir);
                if !self.catalogs.contains(&path) {
                    self.catalogs.push(path);
                }
                Ok(FoundCatalog { path: displayed, text })
            }
        }
    }
}

impl Finder<'_> {
    /// Holds profiles with extenders against what the package depends on. What cargo cannot say, rustc will.
    fn can_call_extenders(&mut self, compilation: Compilation) -> Result<Compilation, Diagnostics> {
        let extenders: Vec<Span> =
            compilation.plans.iter().filter_map(|plan| plan.extenders.first()).map(|extender| extender.at).collect();
        if extenders.is_empty() {
            return Ok(compilation);
        }
        let found: Vec<Diagnostic> = match self.dependency(EXTENDER_CRATE) {
            Err(MissingCatalog::NotADependency { package, .. }) => {
                extenders.into_iter().map(|at| messages::extender_crate_missing(at, &package)).collect()
            }
            _ => match self.feature_that_is_off(EXTENDER_CRATE) {
                Some((package, feature)) => {
                    extenders.into_iter().map(|at| messages::extender_crate_off(at, &package, &feature)).collect()
                }
                None => return Ok(compilation),
            },
        };
        Err(Diagnostics::new(compilation.files, found))
    }

    /// The package, and its feature that brings an optional dependency in, if it is off: cargo tells build scripts which are on.
    fn feature_that_is_off(&self, dependency: &str) -> Option<(String, String)> {
        env::var_os("TARGET")?;
        let metadata = self.metadata.as_ref()?.as_ref().ok()?;
        let package = package_of(metadata, &self.options.manifest_dir.join("Cargo.toml"))?;
        if !package.dependencies.iter().any(|of| of.name == dependency && of.optional) {
            return None;
        }
        let names = [format!("dep:{dependency}"), dependency.to_owned()];
        let features = || package.features.iter().filter(|(_, brings)| brings.iter().any(|it| names.contains(it)));
        let variable = |feature: &str| format!("CARGO_FEATURE_{}", feature.to_uppercase().replace('-', "_"));
        let is_on = features().any(|(feature, _)| env::var_os(variable(feature)).is_some());
        let (feature, _) = features().next().filter(|_| !is_on)?;
        Some((package.name.to_string(), feature.clone()))
    }

    /// The folder of a dependency, or of the package itself.
    fn dependency(&mut self, name: &str) -> Result<PathBuf, MissingCatalog> {
        let manifest = self.options.manifest_dir.join("Cargo.toml");
        let metadata = self.metadata.get_or_insert_with(|| {
            let mut command = MetadataCommand::new();
            command.manifest_path(&manifest).other_options(metadata_options());
            command.exec().map_err(|error| error.to_string())
        });
        let metadata = match metadata {
            Ok(metadata) => metadata,
            Err(error) => return Err(MissingCatalog::NoMetadata { error: error.clone() }),
        };
        let Some(package) = package_of(metadata, &manifest) else {
            let error = format!("{} is not a package", manifest.display());
            return Err(MissingCatalog::NoMetadata { error });
        };
        let same = |other: &Package| other.name.as_str().replace('-', "_") == name.replace('-', "_");
        let dependencies = dependencies(metadata, package);
        std::iter::once(package)
            .chain(dependencies.iter().copied())
            .find(|other| same(other))
            .and_then(|found| found.manifest_path.parent())
            .map(|folder| folder.as_std_path().to_owned())
            .ok_or_else(|| MissingCatalog::NotADependency {
                package: package.name.to_string(),
                dependencies: dependencies.iter().map(|package| package.name.to_string()).collect(),
            })
    }
}

/// What cargo has fetched is all it needs, if it is asked about one platform only.
fn metadata_options() -> Vec<String> {
    let mut options = vec!["--offline".to_owned()];
    options.extend(platform().into_iter().flat_map(|platform| ["--filter-platform".to_owned(), platform]));
    options
}

/// The platform that is compiled for, which cargo tells build scripts; else that of the compiler.
fn platform() -> Option<String> {
    env::var("TARGET").ok().or_else(|| {
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let version = Command::new(rustc).arg("-vV").output().ok()?;
        let version = String::from_utf8(version.stdout).ok()?;
        version.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned)
    })
}

fn package_of<'m>(metadata: &'m Metadata, manifest: &Path) -> Option<&'m Package> {
    let wanted = manifest.canonicalize().ok()?;
    metadata
        .packages
        .iter()
        .find(|package| package.manifest_path.as_std_path().canonicalize().is_ok_and(|manifest| manifest == wanted))
}

fn dependencies<'m>(metadata: &'m Metadata, package: &Package) -> Vec<&'m Package> {
    let resolve = metadata.resolve.as_ref();
    let node = resolve.and_then(|resolve| resolve.nodes.iter().find(|node| node.id == package.id));
    let ids = node.map_or(&[][..], |node| &node.dependencies);
    metadata.packages.iter().filter(|package| ids.contains(&package.id)).collect()
}
