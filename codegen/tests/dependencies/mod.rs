//! Search for the crates of a profile: in manifests, through the lock file, and by cargo.
//!
//! No test uses the network, and most run without cargo ([`NO_CARGO`]).

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod cargo;
mod features;
mod lock_file;
mod manifests;
mod workspaces;

use std::fs;
use std::path::{Path, PathBuf};

use schedc_codegen::load::{CargoEnvironment, load_with};
use schedc_codegen::{Compilation, Diagnostics, Options};

/// A program that does not exist.
const NO_CARGO: &str = "no-cargo";

/// A folder with packages.
struct Folder {
    root: PathBuf,
    /// The folder of the package that compiles profiles, below `root`.
    app: &'static str,
    /// The environment of a build with an empty `home`.
    cargo: CargoEnvironment,
}

impl Folder {
    /// Writes files, each a path and a text.
    fn with(name: &str, files: &[(&str, &str)]) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dependencies").join(name);
        if root.exists() {
            fs::remove_dir_all(&root).unwrap();
        }
        let cargo = CargoEnvironment {
            program: NO_CARGO.into(),
            home: Some(root.join("home")),
            target: None,
            features: None,
            is_building: true,
            is_offline: false,
        };
        let folder = Self { root, app: "app", cargo };
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Writes a catalog without plugins into each folder.
    fn catalogs(self, folders: &[&str]) -> Self {
        for folder in folders {
            self.write(&format!("{folder}/schedc.toml"), "crate = \"plugins\"\n");
        }
        self
    }

    /// Compiles a profile of the package.
    fn load(&self, profile: &str) -> Result<Compilation, Diagnostics> {
        let manifest_dir = self.root.join(self.app);
        let profile = self.write(&format!("{}/profiles/p.toml", self.app), profile);
        load_with(&[profile], &Options { manifest_dir }, &self.cargo)
    }

    /// Returns the path of the catalog of a crate that a profile of the package names, or the errors.
    fn find(&self, name: &str) -> Result<String, String> {
        let found = self.load(&format!("crates = [\"{name}\"]\n"));
        let compilation = found.map_err(|errors| self.without_root(&errors.render(false)))?;
        let catalog = compilation.catalogs.last().unwrap();
        Ok(self.without_root(compilation.files.path(catalog.file)))
    }

    /// Compares the path of a crate's catalog. A path inside of the package is relative to it; other paths begin with
    /// `ROOT`.
    fn check(&self, name: &str, catalog: &str) {
        assert_eq!(self.find(name).as_deref(), Ok(catalog), "{name}");
    }

    fn without_root(&self, text: &str) -> String {
        text.replace(&*self.root.to_string_lossy(), "ROOT")
    }
}
