//! The workspace of a package, found as cargo does.

use std::path::{Path, PathBuf};

use toml::Value;

use super::manifest::Manifest;
use crate::paths::normalize;

/// Returns the root manifest of a package's workspace; without a workspace, the manifest of the package
/// itself. Packages in `cargo_home` do not belong to a surrounding workspace.
pub(super) fn root(package: &Manifest, cargo_home: Option<&Path>) -> Result<Manifest, String> {
    if let Some(root) = root_by(package, &package.folder) {
        return Manifest::read(&root);
    }
    let above = package.folder.ancestors().skip(1);
    // `cargo package` builds a package in `target/package`, outside of any workspace.
    for folder in above.take_while(|folder| !folder.ends_with("target/package")) {
        if folder.join("Cargo.toml").is_file()
            && let Some(root) = root_by(&Manifest::read(folder)?, &package.folder)
        {
            return Manifest::read(&root);
        }
        if cargo_home == Some(folder) {
            break;
        }
    }
    Manifest::read(&package.folder)
}

/// Returns the root folder of the workspace of the package in `folder`, if `manifest` is the root manifest of this
/// workspace or points to it.
fn root_by(manifest: &Manifest, folder: &Path) -> Option<PathBuf> {
    match manifest.workspace() {
        Some(workspace) => {
            let is_in = |key| {
                let listed = workspace.get(key).and_then(Value::as_array).into_iter().flatten();
                listed.filter_map(Value::as_str).any(|listed| folder.starts_with(manifest.folder.join(listed)))
            };
            (!is_in("exclude") || is_in("members")).then(|| manifest.folder.clone())
        }
        None => {
            let pointer = manifest.package()?.get("workspace")?.as_str()?;
            Some(normalize(&manifest.folder.join(pointer)))
        }
    }
}
