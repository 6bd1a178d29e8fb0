//! Packages, dependencies and features in a `Cargo.toml`.

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::paths::normalize;

/// The kinds of dependencies, with cargo's older spellings.
const KINDS: [&str; 5] =
    ["dependencies", "dev-dependencies", "dev_dependencies", "build-dependencies", "build_dependencies"];

/// A `Cargo.toml`.
pub(super) struct Manifest {
    /// The folder of the file.
    pub(super) folder: PathBuf,
    contents: Table,
}

/// A dependency of a package.
pub(super) struct Dependency {
    /// The key in the manifest.
    pub(super) name: String,
    /// The name of the package, which differs from the key if the dependency is renamed.
    pub(super) package: String,
    pub(super) optional: bool,
    /// The folder, if the manifest names it.
    pub(super) folder: Option<PathBuf>,
}

impl Manifest {
    /// Reads the manifest in a folder.
    pub(super) fn read(folder: &Path) -> Result<Self, String> {
        let path = folder.join("Cargo.toml");
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let contents = text.parse().map_err(|error: toml::de::Error| {
            let line = 1 + error.span().map_or(0, |span| text.bytes().take(span.start).filter(|b| *b == b'\n').count());
            format!("{}:{line}: {}", path.display(), error.message())
        })?;
        Ok(Self { folder: folder.to_owned(), contents })
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.join("Cargo.toml")
    }

    /// Returns `[package]`, which a workspace may lack.
    pub(super) fn package(&self) -> Option<&Value> {
        self.contents.get("package").or_else(|| self.contents.get("project"))
    }

    /// Returns the name of the package.
    pub(super) fn name(&self) -> Option<&str> {
        self.package()?.get("name")?.as_str()
    }

    /// Returns `[workspace]`.
    pub(super) fn workspace(&self) -> Option<&Value> {
        self.contents.get("workspace")
    }

    /// Returns the dependencies of all kinds and platforms. Some are inherited from `root`, the manifest of the
    /// workspace.
    pub(super) fn dependencies(&self, root: &Self) -> Vec<Dependency> {
        let platforms = table_entries(self.contents.get("target"));
        let platforms = platforms.filter_map(|(_, platform)| platform.as_table());
        let entries = std::iter::once(&self.contents)
            .chain(platforms)
            .flat_map(|section| KINDS.into_iter().flat_map(|kind| table_entries(section.get(kind))));
        let inherited = root.workspace().and_then(|workspace| workspace.get("dependencies"));
        let resolved = entries.map(|(name, entry)| {
            let inherits = is_true(entry, "workspace");
            let inherited = inherited.and_then(|all| all.get(name)).filter(|_| inherits);
            let (definition, folder) = inherited.map_or((entry, &self.folder), |entry| (entry, &root.folder));
            let optional = is_true(entry, "optional");
            Dependency { optional, ..Dependency::new(name, definition, folder) }
        });
        resolved.collect()
    }

    /// Returns the packages of `[patch]`, for all sources.
    pub(super) fn patches(&self) -> impl Iterator<Item = Dependency> {
        let sources = table_entries(self.contents.get("patch"));
        sources
            .flat_map(|(_, packages)| table_entries(Some(packages)))
            .map(|(name, definition)| Dependency::new(name, definition, &self.folder))
    }

    /// Returns whether `[features]` has this feature.
    pub(super) fn has_feature(&self, feature: &str) -> bool {
        table_entries(self.contents.get("features")).any(|(name, _)| name == feature)
    }

    /// Returns the features that enable an optional dependency.
    pub(super) fn features_with<'m>(&'m self, dependency: &'m str) -> Vec<&'m str> {
        let features = || {
            let features = table_entries(self.contents.get("features"));
            features.map(|(name, enabled)| (name, enabled.as_array().into_iter().flatten().filter_map(Value::as_str)))
        };
        let is_explicit = |enabled: &str| enabled.strip_prefix("dep:") == Some(dependency);
        let enables = |enabled: &str| is_explicit(enabled) || enabled.split('/').next() == Some(dependency);
        let with = features().filter(|(_, enabled)| enabled.clone().any(enables)).map(|(name, _)| name);
        // A dependency that no feature lists with `dep:` is a feature itself.
        let is_feature = !features().any(|(_, mut enabled)| enabled.any(is_explicit));
        with.chain(is_feature.then_some(dependency)).collect()
    }
}

impl Dependency {
    /// Reads a dependency of a manifest in `folder`.
    fn new(name: &str, definition: &Value, folder: &Path) -> Self {
        let text = |key| definition.get(key).and_then(Value::as_str);
        Self {
            name: name.to_owned(),
            package: text("package").unwrap_or(name).to_owned(),
            optional: is_true(definition, "optional"),
            folder: text("path").map(|path| normalize(&folder.join(path))),
        }
    }
}

/// Returns the entries of a table; empty if the value is missing or no table.
fn table_entries(table: Option<&Value>) -> impl Iterator<Item = (&str, &Value)> {
    table.and_then(Value::as_table).into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

fn is_true(definition: &Value, key: &str) -> bool {
    definition.get(key).and_then(Value::as_bool) == Some(true)
}
