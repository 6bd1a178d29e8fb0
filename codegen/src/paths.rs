//! Paths as text.

use std::path::{Component, Path, PathBuf};

/// The path as diagnostics and generated code show it: relative to the package if it is inside, with `/`.
pub(crate) fn display_path(path: &Path, manifest_dir: &Path) -> String {
    let path = normalize(path);
    let inside = path.strip_prefix(manifest_dir).unwrap_or(&path);
    inside.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}

/// Without `.` and `x/..`, as far as can be told from the path alone.
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
