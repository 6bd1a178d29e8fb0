//! The cargo package that contains the program.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use schedc_codegen::plan::Plan;
use serde::Deserialize;

use super::{cargo, no_cargo};
use crate::commands::failure::Failure;

/// Features of a scheduler's package that the command `run` needs. A package that does not declare one of them is built
/// without it.
const FEATURES: [&str; 2] = ["profiles", "run"];

/// Feature that a profile with extenders needs.
const EXTENDERS: &str = "extenders";

/// A package with the program of a scheduler.
pub(super) struct Package {
    pub(super) root: PathBuf,
    name: String,
    /// Name of the program.
    pub(super) program: String,
    features: Vec<String>,
    /// Crates that its code can name.
    crates: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<PackageMetadata>,
}

#[derive(Deserialize)]
struct PackageMetadata {
    name: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
    dependencies: Vec<Dependency>,
    features: serde_json::Map<String, serde_json::Value>,
    default_run: Option<String>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
    name: String,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    rename: Option<String>,
    kind: Option<String>,
}

impl Package {
    /// Returns the package whose manifest is in this folder.
    pub(super) fn of(root: &Path) -> Result<Self, Failure> {
        let mut command = cargo();
        command.args(["metadata", "--no-deps", "--format-version", "1", "--offline"]).current_dir(root);
        let output = command.output().map_err(no_cargo)?;
        if !output.status.success() {
            return Err(Failure::new(String::from_utf8_lossy(&output.stderr).trim()));
        }
        let metadata: Metadata = serde_json::from_slice(&output.stdout).map_err(Failure::new)?;
        let manifest = root.join("Cargo.toml");
        let is_at_root =
            |package: &PackageMetadata| package.manifest_path.canonicalize().ok() == manifest.canonicalize().ok();
        let no_package =
            || Failure::new(format_args!("{} is not a package: change to the folder of a package", manifest.display()));
        Package::new(metadata.packages.into_iter().find(is_at_root).ok_or_else(no_package)?, root)
    }

    fn new(package: PackageMetadata, root: &Path) -> Result<Self, Failure> {
        let PackageMetadata { name, targets, dependencies, features, default_run, .. } = package;
        let kind = |kind: &'static str| targets.iter().filter(move |target| target.kind.iter().any(|is| is == kind));
        let is_or_uses = |package: &str| name == package || dependencies.iter().any(|of| of.name == package);
        let is_scheduler =
            is_or_uses("schedc") && is_or_uses("schedc-codegen") && kind("custom-build").next().is_some();
        let programs: Vec<&str> = kind("bin").map(|target| target.name.as_str()).collect();
        let program = match (default_run.as_deref(), programs.as_slice()) {
            (Some(program), _) => program,
            (None, [only]) => only,
            (None, programs) => programs.iter().find(|program| **program == name).copied().unwrap_or_default(),
        };
        if !is_scheduler || program.is_empty() {
            return Err(Failure::new(format_args!(
                "package {name} is no scheduler: a scheduler has a program with schedc's command line, and a build script that \
                 compiles profiles; `schedc new` writes both"
            )));
        }
        let own_crate = name.replace('-', "_");
        let normal = dependencies.iter().filter(|of| of.kind.is_none());
        let crates = normal.map(|of| of.rename.as_ref().unwrap_or(&of.name).replace('-', "_")).chain([own_crate]);
        Ok(Package {
            root: root.to_owned(),
            program: program.to_owned(),
            features: features.into_iter().map(|(feature, _)| feature).collect(),
            crates: crates.collect(),
            name,
        })
    }

    /// Returns the features to enable for these profiles.
    pub(super) fn features(&self, plans: &[Plan]) -> String {
        let has_extenders = plans.iter().any(|plan| !plan.extenders.is_empty());
        let of_plugins = plans.iter().flat_map(|plan| &plan.plugins).filter_map(|plugin| plugin.entry.feature());
        let mut features: Vec<&str> = FEATURES.into_iter().chain(has_extenders.then_some(EXTENDERS)).collect();
        features.extend(of_plugins.collect::<BTreeSet<_>>());
        features.retain(|feature| self.features.iter().any(|own| own == feature));
        features.join(",")
    }

    /// Returns an error if the package lacks a plugin of the profiles.
    pub(super) fn check(&self, plans: &[Plan]) -> Result<(), Failure> {
        let missing = |plan: &Plan| {
            let mut entries = plan.plugins.iter().map(|plugin| &plugin.entry);
            let entry = entries.find(|entry| !self.crates.contains(&entry.crate_name))?;
            Some(format!(
                "{}: plugin {} is in crate `{}`, and package {} does not depend on it: build in a package that does",
                plan.path, entry.name, entry.crate_name, self.name
            ))
        };
        let missing: Vec<String> = plans.iter().filter_map(missing).collect();
        if missing.is_empty() { Ok(()) } else { Err(Failure::Message(missing.join("\n"))) }
    }
}

#[cfg(test)]
mod tests {
    use schedc_codegen::{NoCrates, SourceText, compile};
    use serde_json::json;

    use super::*;

    fn package(dependencies: &[&str], targets: &[(&str, &str)]) -> Result<Package, Failure> {
        let dependencies: Vec<_> = dependencies.iter().map(|name| json!({"name": name})).collect();
        let targets: Vec<_> = targets.iter().map(|(kind, name)| json!({"kind": [kind], "name": name})).collect();
        let described = json!({
            "name": "my-scheduler",
            "manifest_path": "/my-scheduler/Cargo.toml",
            "targets": targets,
            "dependencies": dependencies,
            "features": {"dynamic-resources": [], "extenders": [], "run": [], "tools": []},
        });
        Package::new(serde_json::from_value(described).expect("a package"), Path::new("/my-scheduler"))
    }

    #[test]
    fn a_scheduler_has_the_command_line_and_a_build_script() {
        let all = ["schedc", "schedc-codegen", "schedc-plugins"];
        let targets = [("custom-build", "build-script-build"), ("bin", "my-scheduler")];
        let package_of = |dependencies, targets| package(dependencies, targets).ok();
        let found = package_of(&all, &targets).expect("a scheduler");
        assert_eq!(found.program, "my-scheduler");
        assert_eq!(found.crates, ["schedc", "schedc_codegen", "schedc_plugins", "my_scheduler"]);
        let features = |profile: &str| {
            let text = profile.to_owned();
            let compiled = compile(&[SourceText { path: "p.toml".to_owned(), text }], &mut NoCrates);
            found.features(&compiled.expect("a right profile").plans)
        };
        assert_eq!(features(""), "run,dynamic-resources");
        let lean = "[plugins]\nmulti-point = { disabled = [\"DynamicResources\"] }\n";
        assert_eq!(features(lean), "run");
        let extender = "[[extender]]\nurl-prefix = \"http://a\"\nfilter-verb = \"filter\"\n";
        assert_eq!(features(&format!("{extender}{lean}")), "run,extenders");
        assert!(package_of(&all[1..], &targets).is_none(), "no command line");
        assert!(package_of(&all, &targets[..1]).is_none(), "no program");
        assert!(package_of(&all, &targets[1..]).is_none(), "no build script");
    }
}
