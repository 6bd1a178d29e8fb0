//! Dependencies whose folder depends on `Cargo.lock`: patched ones, and those from a registry.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::manifest::Manifest;

/// Name of the lock file, next to the root manifest.
pub(super) const FILE: &str = "Cargo.lock";

#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    /// Download source; `None` for a local package.
    source: Option<String>,
    /// `NAME`, `NAME VERSION` or `NAME VERSION (SOURCE)`: the shortest form that is unique.
    #[serde(default)]
    dependencies: Vec<String>,
}

/// Returns the folder of a dependency of `package` if it is unambiguous: the path in `[patch]`, or the unpacked
/// package in `cargo_home`.
pub(super) fn folder(root: &Manifest, package: &str, dependency: &str, cargo_home: Option<&Path>) -> Option<PathBuf> {
    let text = fs::read_to_string(root.folder.join(FILE)).ok()?;
    let lock: Lock = toml::from_str(&text).ok()?;
    let locked = lock.dependency(package, dependency)?;
    match &locked.source {
        None => {
            exactly_one(root.patches().filter(|patch| patch.package == dependency).filter_map(|patch| patch.folder))
        }
        Some(source) if source.starts_with("registry+") || source.starts_with("sparse+") => {
            let folder = format!("{}-{}", locked.name, locked.version);
            let registries = fs::read_dir(cargo_home?.join("registry").join("src")).ok()?;
            exactly_one(
                registries.flatten().map(|registry| registry.path().join(&folder)).filter(|folder| folder.is_dir()),
            )
        }
        Some(_) => None,
    }
}

impl Lock {
    fn dependency(&self, package: &str, dependency: &str) -> Option<&Locked> {
        let package =
            exactly_one(self.package.iter().filter(|locked| locked.name == package && locked.source.is_none()))?;
        let mut words = exactly_one(
            package
                .dependencies
                .iter()
                .map(|entry| entry.split(' '))
                .filter_map(|mut words| (words.next() == Some(dependency)).then_some(words)),
        )?;
        let (version, source) = (words.next(), words.next());
        let source = source.map(|source| source.trim_matches(['(', ')']));
        exactly_one(self.package.iter().filter(|locked| {
            locked.name == dependency
                && version.is_none_or(|version| version == locked.version)
                && source.is_none_or(|source| Some(source) == locked.source.as_deref())
        }))
    }
}

/// Returns the only item of an iterator; `None` if there is no item, or if there are several.
fn exactly_one<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}
