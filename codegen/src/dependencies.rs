//! Folders of the crates that profiles name: the package that compiles the profiles, and its dependencies.
//!
//! `cargo metadata` finds all of these folders, but requires more downloaded packages than a build does: also those
//! that only tests, optional features or other members of the workspace use. Therefore it is the last resort.
//!
//! | crate | found through | module |
//! |---|---|---|
//! | the package itself | its manifest | `manifest` |
//! | dependency with a path | the manifest, and that of the workspace | `manifest`, `workspace` |
//! | dependency that is patched with a path | the lock file, and the manifest of the workspace | `lock` |
//! | dependency from a registry | the lock file, and the sources that cargo unpacked | `lock` |
//! | any other | `cargo metadata` | `metadata` |

mod environment;
mod lock;
mod manifest;
mod metadata;
mod workspace;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{self, Path, PathBuf};

pub use environment::CargoEnvironment;

use crate::compile::MissingCatalog;
use manifest::{Dependency, Manifest};
use metadata::Metadata;

/// Finds crates by their names.
pub(crate) struct Dependencies<'a> {
    /// The folder of the package that compiles the profiles.
    folder: &'a Path,
    cargo: &'a CargoEnvironment,
    /// The package in `folder`, read at the first look-up.
    package: OnceCell<Result<Package, String>>,
    /// The output of `cargo metadata`, by whether all optional dependencies were requested.
    metadata: BTreeMap<bool, Result<Metadata, MissingCatalog>>,
}

/// Reason why generated code cannot refer to a crate.
pub(crate) enum Unavailable {
    NotADependency {
        package: String,
    },
    /// The dependency is optional, and this feature would enable it.
    FeatureOff {
        package: String,
        feature: String,
    },
}

impl<'a> Dependencies<'a> {
    /// Creates a finder for the dependencies of the package in `folder`.
    pub(crate) fn new(folder: &'a Path, cargo: &'a CargoEnvironment) -> Self {
        Self { folder, cargo, package: OnceCell::new(), metadata: BTreeMap::new() }
    }

    /// Returns the folder of a dependency, or of the package itself.
    pub(crate) fn find(&mut self, name: &str) -> Result<PathBuf, MissingCatalog> {
        let package = self.package.get_or_init(|| Package::read(self.folder, self.cargo)).as_ref();
        let package = package.map_err(|error| MissingCatalog::NoManifest { error: error.clone() })?;
        if have_same_rust_name(&package.name, name) {
            return Ok(self.folder.to_owned());
        }
        let named: Vec<&Dependency> = package.named(name).collect();
        let Some(dependency) = named.first().map(|dependency| dependency.package.as_str()) else {
            let (package, dependencies) = (package.name.clone(), package.dependency_names());
            return Err(MissingCatalog::NotADependency { package, dependencies });
        };
        let by_path = || named.iter().find_map(|dependency| dependency.folder.clone());
        let by_lock = || lock::folder(&package.root, &package.name, dependency, self.cargo.home.as_deref());
        if let Some(folder) = by_path().or_else(by_lock) {
            return Ok(folder);
        }
        let all_features = named.iter().all(|dependency| dependency.optional);
        let metadata = self.metadata.entry(all_features);
        let metadata = metadata.or_insert_with(|| Metadata::request(self.cargo, &package.manifest, all_features));
        let folder = metadata.as_ref().map_err(Clone::clone)?.folder(dependency);
        folder.ok_or_else(|| MissingCatalog::OtherPlatform { package: package.name.clone() })
    }

    /// Returns the manifests and the lock file that determine the crates' folders; empty if no crate was looked up, or if
    /// the package's manifest cannot be read.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let Some(Ok(package)) = self.package.get() else { return Vec::new() };
        let mut files = vec![package.manifest.path(), package.root.path(), package.root.folder.join(lock::FILE)];
        files.dedup();
        files.retain(|file| file.is_file());
        files
    }

    /// Returns why generated code cannot refer to a crate. `None`: it can, or the manifest or the enabled features are
    /// unknown. If they are unknown, rustc reports a missing crate.
    pub(crate) fn unavailable(&self, name: &str) -> Option<Unavailable> {
        let package = self.package()?;
        let mut named = package.named(name).peekable();
        if have_same_rust_name(&package.name, name) {
            return None;
        }
        if named.peek().is_none() {
            return Some(Unavailable::NotADependency { package: package.name.clone() });
        }
        let dependency = named.find(|dependency| dependency.optional)?;
        let features = package.manifest.features_with(&dependency.name);
        if features.iter().any(|feature| self.cargo.has_feature(feature) != Some(false)) {
            return None;
        }
        let feature = (*features.first()?).to_owned();
        Some(Unavailable::FeatureOff { package: package.name.clone(), feature })
    }

    /// Returns the name of the package if `feature` is one of its features and the build does not enable this feature.
    pub(crate) fn disabled_feature(&self, feature: &str) -> Option<&str> {
        if self.cargo.has_feature(feature) != Some(false) {
            return None;
        }
        self.package().filter(|package| package.manifest.has_feature(feature)).map(|package| package.name.as_str())
    }

    /// Returns the package that compiles the profiles, if its manifest can be read.
    fn package(&self) -> Option<&Package> {
        self.package.get_or_init(|| Package::read(self.folder, self.cargo)).as_ref().ok()
    }
}

/// A package with its workspace.
struct Package {
    name: String,
    manifest: Manifest,
    /// The manifest of the workspace; without a workspace, that of the package.
    root: Manifest,
    dependencies: Vec<Dependency>,
}

impl Package {
    fn read(folder: &Path, cargo: &CargoEnvironment) -> Result<Self, String> {
        let folder = path::absolute(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let manifest = Manifest::read(&folder)?;
        let name =
            manifest.name().ok_or_else(|| format!("{}: no `[package]` with a name", manifest.path().display()))?;
        let root = workspace::root(&manifest, cargo.home.as_deref())?;
        Ok(Self { name: name.to_owned(), dependencies: manifest.dependencies(&root), manifest, root })
    }

    /// Returns the dependencies on a package: several if it is listed under several names, kinds or platforms.
    fn named(&self, name: &str) -> impl Iterator<Item = &Dependency> {
        self.dependencies.iter().filter(move |dependency| have_same_rust_name(&dependency.package, name))
    }

    fn dependency_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.dependencies.iter().map(|dependency| dependency.package.clone()).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// Returns whether two packages have the same name in Rust.
fn have_same_rust_name(a: &str, b: &str) -> bool {
    a.replace('-', "_") == b.replace('-', "_")
}
