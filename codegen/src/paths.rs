//! Paths as text.

use std::path::{Component, Path, PathBuf};

/// Returns the displayed path, with `/` as separator: relative to the package if it is inside.
pub(crate) fn display_path(path: &Path, manifest_dir: &Path) -> String {
    let path = normalize(path);
    let inside = path.strip_prefix(manifest_dir).unwrap_or(&path);
    inside.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}

/// Removes `.` and `x/..`, without access to the file system.
pub(crate) fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(normal.components().next_back(), Some(Component::Normal(_))) => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
