//! The output of `cargo metadata`. The command requires all locked packages for the platform, including those
//! that the current build does not use.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::environment::CargoEnvironment;
use super::manifest::Manifest;
use crate::compile::MissingCatalog;

/// The output of `cargo metadata`, restricted to the keys for finding crates.
#[derive(Deserialize)]
pub(super) struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Resolve {
    /// The package in cargo's working directory.
    root: String,
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    dependencies: Vec<String>,
}

impl Metadata {
    /// Runs cargo without the network. If that fails, runs it again with the network, if allowed.
    pub(super) fn request(
        cargo: &CargoEnvironment,
        package: &Manifest,
        all_features: bool,
    ) -> Result<Self, MissingCatalog> {
        let run = |more: &[&str]| {
            let mut command = Command::new(&cargo.program);
            command
                .args(["metadata", "--quiet", "--format-version", "1"])
                .args(["--filter-platform", cargo.target.as_deref().unwrap_or("host-tuple")])
                .args(all_features.then_some("--all-features"))
                // A build does not change the lock file.
                .args(cargo.is_building.then_some("--locked"))
                .args(more)
                // cargo looks for its configuration in the working directory and the folders above it. This folder is
                // also the working directory of build scripts.
                .current_dir(&package.folder);
            if let Some(home) = &cargo.home {
                command.env("CARGO_HOME", home);
            }
            let output = command.output().map_err(|error| format!("{}: {error}", cargo.program.display()))?;
            if !output.status.success() {
                return Err(single_line(&String::from_utf8_lossy(&output.stderr)));
            }
            serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
        };
        run(&["--offline"]).or_else(|offline| {
            let again = if cargo.is_offline { Err(offline.clone()) } else { run(&[]) };
            again.map_err(|online| MissingCatalog::NoMetadata { offline, online })
        })
    }

    /// Returns the folder of a dependency; `None` for a dependency of other platforms only.
    pub(super) fn folder(&self, dependency: &str) -> Option<PathBuf> {
        let node = self.resolve.nodes.iter().find(|node| node.id == self.resolve.root)?;
        let mut direct = self.packages.iter().filter(|package| node.dependencies.contains(&package.id));
        let found = direct.find(|package| package.name == dependency)?;
        found.manifest_path.parent().map(Path::to_owned)
    }
}

/// Joins an error and its causes.
fn single_line(error: &str) -> String {
    let lines = error.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "Caused by:");
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix("error: ").unwrap_or(line)).collect();
    lines.join(": ")
}
