//! `schedc new`

mod example;
mod name;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::failure::Failure;
use super::origin::Origin;
use super::output;
use example::{Example, ExampleName};

/// Create a scheduler with a custom plugin: a crate that builds, with a test, a profile and a README
///
/// The program of the crate is the schedc command with the crate's profiles. `cargo test` tests the plugin, and `cargo
/// run -- simulate cluster/` runs it. The crate depends on the schedc that this program was built from: a checkout, a
/// repository, or a version on crates.io. --path or --git selects another one.
#[derive(Args)]
pub(crate) struct New {
    /// Name of the crate, or path of a new folder that ends with the name
    #[arg(value_name = "NAME")]
    folder: PathBuf,

    /// Depend on the checkout of schedc in this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "git")]
    path: Option<PathBuf>,

    /// Depend on the repository of schedc at this URL
    #[arg(long, value_name = "URL")]
    git: Option<String>,

    /// Commit of --git to depend on [default: the newest]
    #[arg(long, value_name = "COMMIT", requires = "git")]
    rev: Option<String>,

    /// Example plugin [default: a short filter]
    #[arg(long, value_name = "EXAMPLE")]
    with: Option<ExampleName>,
}

impl New {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let New { folder, path, git, rev, with } = self;
        let folder_name = folder.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let name = name::check(folder_name).map_err(Failure::new)?;
        let origin = match (path, git) {
            (Some(path), _) => Origin::at(&path)?,
            (None, Some(url)) => Origin::Git { url, rev },
            (None, None) => Origin::find()?,
        };
        refuse_to_overwrite(&folder)?;
        let fill = |text: &str| origin.fill(&text.replace("@NAME@", name).replace("@CRATE@", &name.replace('-', "_")));
        for (path, text) in Example::of(with).files() {
            write(&folder.join(fill(&path)), &fill(&text))?;
        }
        if let Some(lock) = origin.lock_file() {
            // The versions that schedc is tested with. Without this file, cargo resolves the newest ones.
            write(&folder.join("Cargo.lock"), &lock)?;
        }
        output::note(format_args!("wrote {}, which depends on {origin}", folder.display()));
        output::print_text(&format!("cd {}\ncargo test\ncargo run -- simulate cluster/\n", folder.display()))
    }
}

/// Returns an error if the folder exists, unless it is empty.
fn refuse_to_overwrite(folder: &Path) -> Result<(), Failure> {
    let is_free = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => !folder.exists(),
    };
    let taken = || Failure::new(format_args!("{} exists already: choose another name", folder.display()));
    is_free.then_some(()).ok_or_else(taken)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, text));
    written.map_err(|error| Failure::new(format_args!("cannot write {}: {error}", path.display())))
}
