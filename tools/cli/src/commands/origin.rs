//! The location of schedc's own packages, for crates that depend on them.
//!
//! No path is compiled in: a shipped binary would reveal the paths of the build machine, which are wrong
//! elsewhere. The location is derived from the path of the program and from cargo's environment and records.

use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

use serde_json::Value;

use super::failure::Failure;

/// Packages that a scheduler depends on, with their folders in a checkout.
const PACKAGES: [(&str, &str); 5] = [
    ("schedc", ""),
    ("schedc-codegen", "codegen"),
    ("schedc-core", "core"),
    ("schedc-plugins", "plugins"),
    ("schedc-testing", "testing/contracts"),
];

/// File in which cargo records installed programs, next to the folder of the programs.
const INSTALL_RECORD: &str = ".crates2.json";

/// Source of packages from crates.io in [`INSTALL_RECORD`].
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Location of schedc's packages.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A checkout.
    Folder(PathBuf),
    /// A repository.
    Git { url: String, rev: Option<String> },
    /// A version on crates.io.
    CratesIo { version: String },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Folder(folder) => write!(f, "{}", folder.display()),
            Origin::Git { url, rev: None } => write!(f, "{url}"),
            Origin::Git { url, rev: Some(rev) } => write!(f, "{url} at {rev}"),
            Origin::CratesIo { version } => write!(f, "version {version} on crates.io"),
        }
    }
}

impl Origin {
    /// Returns the checkout in the folder of `--path`.
    pub(crate) fn at(folder: &Path) -> Result<Self, Failure> {
        if !is_checkout(folder) {
            return Err(Failure::new(format_args!("--path={}: not a checkout of schedc", folder.display())));
        }
        let folder = folder.canonicalize();
        folder.map(Origin::Folder).map_err(|error| Failure::new(format_args!("--path: {error}")))
    }

    /// Returns the checkout, repository or published version that this program was built from. If it cannot be
    /// determined, returns the checkout that contains the current folder.
    pub(crate) fn find() -> Result<Self, Failure> {
        let program = env::current_exe().and_then(fs::canonicalize).unwrap_or_default();
        // `cargo run` sets this variable to the folder of the package. Without it, a program in `target` is inside the
        // checkout.
        let package_folder = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let current = env::current_dir().unwrap_or_default();
        let candidates = package_folder.iter().map(PathBuf::as_path).chain(program.ancestors());
        let checkout = |folder: &&Path| is_checkout(folder);
        if let Some(folder) = candidates.into_iter().find(checkout) {
            return Ok(Origin::Folder(folder.to_owned()));
        }
        let installed = program.ancestors().nth(2).and_then(|root| fs::read_to_string(root.join(INSTALL_RECORD)).ok());
        installed
            .and_then(|record| Origin::recorded(&record))
            .filter(|origin| !matches!(origin, Origin::Folder(folder) if !is_checkout(folder)))
            .or_else(|| current.ancestors().find(checkout).map(|folder| Origin::Folder(folder.to_owned())))
            .ok_or_else(|| {
                Failure::new(
                    "the sources of schedc that built this program were not found: use --path with the folder of a checkout, \
                     or --git with the URL of a repository",
                )
            })
    }

    /// Returns the source that `cargo install` recorded for schedc; `None` for another registry than crates.io.
    fn recorded(record: &str) -> Option<Self> {
        let record: Value = serde_json::from_str(record).ok()?;
        let id = record["installs"].as_object()?.keys().find(|id| id.starts_with("schedc "))?;
        let (package, source) = id.strip_suffix(')')?.split_once(" (")?;
        if let Some(path) = source.strip_prefix("path+file://") {
            return Some(Origin::Folder(PathBuf::from(path)));
        }
        if source == CRATES_IO {
            let (_, version) = package.split_once(' ')?;
            return Some(Origin::CratesIo { version: version.to_owned() });
        }
        let (url, rev) = source.strip_prefix("git+")?.split_once('#')?;
        let url = url.split_once('?').map_or(url, |(url, _)| url);
        Some(Origin::Git { url: url.to_owned(), rev: Some(rev.to_owned()) })
    }

    /// Returns the folder of a checkout; `None` for other origins.
    pub(crate) fn folder(self) -> Option<PathBuf> {
        match self {
            Origin::Folder(folder) => Some(folder),
            Origin::Git { .. } | Origin::CratesIo { .. } => None,
        }
    }

    /// Replaces the placeholders of packages in a text.
    pub(crate) fn fill(&self, text: &str) -> String {
        let place = |folder: &str| match self {
            Origin::Folder(root) => format!("path = {:?}", root.join(folder).to_string_lossy().trim_end_matches('/')),
            Origin::Git { url, rev: None } => format!("git = {url:?}"),
            Origin::Git { url, rev: Some(rev) } => format!("git = {url:?}, rev = {rev:?}"),
            Origin::CratesIo { version } => format!("version = {version:?}"),
        };
        PACKAGES
            .iter()
            .fold(text.to_owned(), |text, (package, folder)| text.replace(&format!("@{package}@"), &place(folder)))
    }

    /// Returns the lock file of a checkout, with the tested versions of all other packages; `None` for other origins.
    pub(crate) fn lock_file(&self) -> Option<String> {
        match self {
            Origin::Folder(root) => fs::read_to_string(root.join("Cargo.lock")).ok(),
            Origin::Git { .. } | Origin::CratesIo { .. } => None,
        }
    }
}

/// Returns whether a folder contains schedc's sources.
fn is_checkout(folder: &Path) -> bool {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let has_packages = PACKAGES.iter().all(|(_, subfolder)| folder.join(subfolder).join("Cargo.toml").is_file());
    has_packages && manifest.lines().any(|line| line == "name = \"schedc\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_of_cargo_install_has_the_origin() {
        let check = |id: &str, expected: Option<Origin>| {
            let record = format!(r#"{{"installs": {{"other 1.0.0 (path+file:///x)": {{}}, "{id}": {{}}}}}}"#);
            assert_eq!(Origin::recorded(&record), expected, "{id}");
        };
        let git = |rev: &str| Origin::Git { url: "https://example.com/schedc".to_owned(), rev: Some(rev.to_owned()) };
        check("schedc 0.1.0 (path+file:///home/me/schedc)", Some(Origin::Folder("/home/me/schedc".into())));
        check("schedc 0.1.0 (git+https://example.com/schedc#1a2b)", Some(git("1a2b")));
        check("schedc 0.1.0 (git+https://example.com/schedc?branch=main#1a2b)", Some(git("1a2b")));
        let version = Origin::CratesIo { version: "0.1.0".to_owned() };
        check("schedc 0.1.0 (registry+https://github.com/rust-lang/crates.io-index)", Some(version));
        check("schedc 0.1.0 (registry+https://example.com/index)", None);
    }

    #[test]
    fn packages_have_a_path_repository_or_version() {
        let text = "schedc = { @schedc@ }\nschedc-core = { @schedc-core@ }\n";
        let check = |origin: Origin, expected: &str| assert_eq!(origin.fill(text), expected);
        check(
            Origin::Folder("/src/schedc".into()),
            "schedc = { path = \"/src/schedc\" }\nschedc-core = { path = \"/src/schedc/core\" }\n",
        );
        let url = || "https://example.com/schedc".to_owned();
        check(
            Origin::Git { url: url(), rev: Some("1a2b".to_owned()) },
            "schedc = { git = \"https://example.com/schedc\", rev = \"1a2b\" }\n\
             schedc-core = { git = \"https://example.com/schedc\", rev = \"1a2b\" }\n",
        );
        check(
            Origin::Git { url: url(), rev: None },
            "schedc = { git = \"https://example.com/schedc\" }\nschedc-core = { git = \"https://example.com/schedc\" }\n",
        );
        check(
            Origin::CratesIo { version: "0.1.0".to_owned() },
            "schedc = { version = \"0.1.0\" }\nschedc-core = { version = \"0.1.0\" }\n",
        );
    }
}
